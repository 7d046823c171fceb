"""Sensitive with llm-guard's pattern recognizers: no model runs on either side."""

import re

from .anonymize import ONE_TYPE, OURS
from .case import case
from .personal import TEXTS, otherwise

SIDES = ["output"]
PROMPT = "the text stays as it is; llm-guard returns the prompt in the place of a blank one"


def special(name, text):
    if text and not text.strip():
        return {"expected": {"sanitized": text}, "why": PROMPT}
    return otherwise(name, "<{}>")


CASES = [
    *(case(name, text, guard=OURS, redact=True, **special(name, text)) for name, text in TEXTS.items()),
    case("no redaction", "Write to john.doe@example.com today.", guard=OURS),
    case("one type only", "me@example.org has 4111111111111111", guard=OURS, redact=True, entity_types=["EMAIL_ADDRESS"]),
]


def differs(answer):
    text = answer.get("sanitized")
    if not isinstance(text, str):
        return None
    ours = re.sub(r"_RE>", ">", text)
    return None if ours == text else ({"sanitized": ours}, ONE_TYPE)
