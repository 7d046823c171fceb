"""LanguageSame: the text is the output, the prompt its question."""

from .case import case, repeat
from .language import TEXTS, UNSURE, sure

SIDES = ["output"]

LANGUAGES = list(TEXTS)

CASES = [
    *(case(f"{language} and {language}", TEXTS[language], prompt=TEXTS[language], stand_in=[sure(language)] * 2) for language in LANGUAGES),
    *(case(f"{one} and {other}", TEXTS[other], prompt=TEXTS[one], stand_in=[sure(one), sure(other)])
      for one, other in [("en", "fr"), ("de", "nl"), ("ru", "en"), ("zh", "ja"), ("ar", "el"), ("es", "de"), ("hi", "th"), ("pl", "it"), ("vi", "tr"), ("sw", "en")]),
    case("an empty output", "", prompt=TEXTS["en"], stand_in=[]),
    case("an output of spaces", " \r\n ", prompt=TEXTS["en"], stand_in=[], expected={"sanitized": " \r\n "}, why="llm-guard returns the prompt in place of a blank output"),
    case("an empty prompt", TEXTS["en"], prompt="", stand_in=[], expected={"sanitized": TEXTS["en"]}, why="llm-guard returns the prompt in place of the output"),
    case("a prompt of spaces", TEXTS["en"], prompt=" \n", stand_in=[], expected={"sanitized": TEXTS["en"]}, why="llm-guard returns the prompt in place of the output"),
    case("an output of emoji", "\U0001f600\U0001f601\U0001f602", prompt=TEXTS["en"], stand_in=[sure("en"), {"en": 0.09, "fr": 0.08}]),
    case("a prompt of emoji", TEXTS["en"], prompt="\U0001f600\U0001f601\U0001f602", stand_in=[{"en": 0.09, "fr": 0.08}, sure("en")]),
    case("CRLF", TEXTS["en"].replace(" ", "\r\n"), prompt=TEXTS["en"], stand_in=[sure("en")] * 2),
    case("a megabyte", [repeat(TEXTS["de"] + " ", 11_000)], prompt=TEXTS["de"], stand_in=[sure("de")] * 2),
    case("a megabyte of another", [repeat(TEXTS["de"] + " ", 11_000)], prompt=TEXTS["ru"], stand_in=[sure("ru"), sure("de")]),
]

# Differences from llm-guard, with reasons.
SILENT = "where one of the two has no letters there is nothing to compare"
OVERLAY = {
    "an empty output": ({"sanitized": ""}, "llm-guard returns the prompt in place of an empty output"),
    "an output of emoji": ({"isValid": True, "score": -1}, SILENT),
    "a prompt of emoji": ({"isValid": True, "score": -1}, SILENT),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
