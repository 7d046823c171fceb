"""Sentiment."""

from .case import ODD, SIGN, case, repeat

SIDES = ["input", "output"]

CASES = [
    *(case(name, text) for name, text in ODD.items() if name not in ("one character a million times", "a line of a megabyte")),
    *(case(text, text) for text in [
        "I love this wonderful day!", "I hate this terrible, awful thing.", "This is a table.", "It is not good.", "It is not bad at all.",
        "VADER is VERY SMART, handsome, and FUNNY!!!", "The book was kind of good.", "The plot was good, but the characters are uncompelling and the dialog is not great.",
        "At least it isn't a horrible book.", "Make sure you :) or :D today!", "Today SUX!", "Today only kinda sux! But I'll get by, lol",
        "Catch utf-8 emoji such as \U0001f498 and \U0001f48b and \U0001f601", "Not bad at all", "I am so happy!!! :)", "This is disgusting and horrible :(",
        "never so good", "without doubt the best", "He is a bad, evil, cruel murderer.", "GREAT WORK", "great work", "You are the worst!!!!",
        "I don't hate you", "least favourite", "no problem", "\u042f \u043d\u0435\u043d\u0430\u0432\u0438\u0436\u0443 \u044d\u0442\u043e", "\u6211\u8ba8\u538c\u8fd9\u4e2a",
        "bad\r\nbad\r\nbad", "hate?????", "stop it, you idiot", "cut the mustard", "the bomb", "yeah right", "Sentiment is OK.",
    ]),
    case("a higher threshold", "This is a table.", threshold=0.5),
    case("a lower threshold", "I hate this terrible, awful thing.", threshold=-0.95),
    case("a threshold of 0 and a neutral text", "This is a table.", threshold=-0.0001),
    case("a threshold above the score", "I love this wonderful day!", threshold=0.95),
    case("a hundred sad words", [repeat("sad ", 100)]),
    case("good after bad, a hundred times", [repeat("good bad ", 100)]),
]

# Differences from llm-guard, with reasons.
OVERLAY = {
    "a higher threshold": ({"score": 0.1}, SIGN),
    "a threshold above the score": ({"score": 0.1}, SIGN),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
