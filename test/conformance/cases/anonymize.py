"""Anonymize with llm-guard's pattern recognizers: no model runs on either side."""

import re

from .case import case
from .personal import TEXTS, otherwise

SIDES = ["input"]
OURS = {"recognizer_conf": []}

CASES = [
    *(case(name, text, vault=[], guard=OURS, **otherwise(name, "[REDACTED_{}_1]")) for name, text in TEXTS.items()),
    case("a hidden name", "Project Aurora starts.", vault=[], guard=OURS, hidden_names=["Aurora"]),
    case("a hidden name in a word", "The auroras start.", vault=[], guard=OURS, hidden_names=["Aurora"]),
    case("an allowed value", "Ask info@example.org or me@example.org.", vault=[], guard=OURS, allowed_names=["info@example.org"]),
    case("one type only", "me@example.org has 4111111111111111", vault=[], guard=OURS, entity_types=["EMAIL_ADDRESS"]),
    case("a preamble", "Ask me@example.org", vault=[], guard=OURS, preamble="Keep the placeholders. "),
    case("a preamble for nothing", "Ask me", vault=[], guard=OURS, preamble="Keep the placeholders. "),
    case(
        "a value of the vault",
        "Ask me@example.org and you@example.org",
        vault=[["[REDACTED_EMAIL_ADDRESS_1]", "you@example.org"]],
        guard=OURS,
    ),
    case(
        "a pattern of the user",
        "Employee E-12345 left.",
        vault=[],
        guard=OURS,
        entity_types=["STAFF"],
        regex_patterns=[{"name": "staff", "expressions": [r"E-\d{5}"], "score": 0.9, "context": [], "languages": ["en"]}],
    ),
]

ONE_TYPE = "what is one thing has one type, whichever rule found it"


def differs(answer):
    text = answer.get("sanitized")
    if not isinstance(text, str):
        return None
    ours = re.sub(r"_RE(_\d+\])", r"\1", text)
    return None if ours == text else ({"sanitized": ours}, ONE_TYPE)
