"""What a case is, and the texts that several scanners are asked about."""

from __future__ import annotations

import dataclasses
from typing import Any

# A text is a string or, if it is long, a list of strings and repetitions.
Text = Any

# Reasons for differences from llm-guard that apply to many cases.
EMPTY = "the empty text passes everywhere"
NO_PROBABILITY = "a pass without a probability is -1, not 0"
SIGN = "rounding never crosses 0, so that the sign alone tells the verdict"
ALL_PATTERNS = "every pattern is applied; llm-guard stops at the first that matches and leaves what the others match"
FIRST = "redact replaces the first occurrence; redact_all is what llm-guard does"


def repeat(text: str, times: int) -> dict[str, Any]:
    """A part of a text that is repeated, written in the table without being spelled out."""
    return {"repeat": [text, times]}


@dataclasses.dataclass
class Case:
    """One question to a scanner.

    params are llm-guard's, with its names; guard gets them as well, and those in guard besides. standIn holds what the
    stand-in of a model answers. expected holds what of guard's answer differs from llm-guard's, and why says the reason.
    """

    name: str
    text: Text
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    guard: dict[str, Any] | None = None
    prompt: Text | None = None
    vault: list[list[str]] | None = None
    stand_in: list[Any] | None = None
    expected: dict[str, Any] | None = None
    why: str | None = None


def case(name: str, text: Text, **fields: Any) -> Case:
    """A case; fields are those of Case, the others are parameters of the scanner."""
    own = {field.name for field in dataclasses.fields(Case)}
    params = {key: value for key, value in fields.items() if key not in own}
    rest = {key: value for key, value in fields.items() if key in own}
    return Case(name, text, {**params, **rest.pop("params", {})}, **rest)


# Unusual texts, which most scanners must pass.
ODD: dict[str, Text] = {
    "nothing": "",
    "a space": " ",
    "white space only": " \t\r\n\u00a0\u2003 ",
    "a line feed": "\n",
    "an emoji": "\U0001f600",
    "an emoji family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "flags and skin tones": "\U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "combining marks": "e\u0301a\u0308 n\u0303o\u0302",
    "many combining marks": ["Z", repeat("\u0335\u0489", 200)],
    "CRLF": "one\r\ntwo\r\n\r\nthree\r\n",
    "control characters": "a\x00b\x07c\x1bd\x7f",
    "line separators": "a\u2028b\u2029c\x85d",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "mixed scripts": "Hello \u041f\u0440\u0438\u0432\u0435\u0442 \u4f60\u597d \u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u0928\u092e\u0938\u094d\u0924\u0947",
    "mathematical letters": "\U0001d407\U0001d41e\U0001d425\U0001d425\U0001d428",
    "one character a million times": [repeat("a", 1_000_000)],
    "a line of a megabyte": [repeat("The quick brown fox jumps. ", 40_000)],
}
