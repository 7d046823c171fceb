"""ReadingTime: 200 words a minute."""

from .case import ODD, case, repeat

SIDES = ["output"]

CASES = [
    *(case(name, text, max_time=5) for name, text in ODD.items()),
    *(case(f"{name}, cut", ODD[name], max_time=0.01, truncate=True) for name in ODD),
    case("exactly the time", [repeat("word ", 200)], max_time=1),
    case("one word more", [repeat("word ", 201)], max_time=1),
    case("one word more, cut", [repeat("word ", 201)], max_time=1, truncate=True,),
    case("a line of a megabyte, cut", ODD["a line of a megabyte"], max_time=2, truncate=True),
    case("half a minute", [repeat("a b ", 51)], max_time=0.5, truncate=True),
    case("words between line feeds", "one\ntwo\r\nthree\tfour\u00a0five\u2003six", max_time=0.01, truncate=True),
    case("no time at all", "one two", max_time=0, truncate=True),
    case("no time at all, not cut", "one two", max_time=0),
    case("no time and no words", "   ", max_time=0, truncate=True),
    case("Chinese is counted by spaces", [repeat("\u4f60\u597d\u4e16\u754c", 200)], max_time=1),
    case("Chinese with spaces", [repeat("\u4f60 ", 201)], max_time=1),
    case("emoji are words", [repeat("\U0001f600 ", 201)], max_time=1, truncate=True),
    case("punctuation alone is a word", [repeat("- ", 201)], max_time=1),
    case("a zero-width space is no space", "a\u200bb c\u200bd e", max_time=0.01, truncate=True),
    case("information separators are spaces", "a\x1cb\x1dc\x1ed\x1fe f", max_time=0.01, truncate=True),
    case("next line is a space", "a\x85b\x85c", max_time=0.01, truncate=True),
    case("ideographic spaces", "\u4f60\u3000\u597d\u3000\u5417", max_time=0.01, truncate=True),
    case("a byte order mark is no space", "\ufeffa \ufeffb c", max_time=0.01, truncate=True),
]

# Differences from llm-guard, with reasons.
KEPT = "what remains stays as it is; llm-guard replaces its white space by single spaces"
SEPARATORS = "white space is what Unicode says, and information separators are not"
CHINESE = "Chinese is counted in characters, 255 a minute: it has no spaces"
OVERLAY = {
    "CRLF, cut": ({"sanitized": "one\r\ntwo"}, KEPT),
    "line separators, cut": ({"sanitized": "a\u2028b"}, KEPT),
    "words between line feeds": ({"sanitized": "one\ntwo"}, KEPT),
    "next line is a space": ({"sanitized": "a\x85b"}, KEPT),
    "ideographic spaces": ({"sanitized": "\u4f60\u3000\u597d"}, KEPT),
    "information separators are spaces": ({"sanitized": "a\x1cb"}, KEPT),
    "Chinese is counted by spaces": ({"isValid": False, "score": 1}, CHINESE),
    "Chinese with spaces": ({"isValid": True, "score": -1}, CHINESE),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
