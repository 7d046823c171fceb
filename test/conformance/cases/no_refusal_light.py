"""NoRefusalLight."""

from .case import ODD, case, repeat

SIDES = ["output"]

CASES = [
    *(case(name, text) for name, text in ODD.items()),
    *(case(text, text) for text in [
        "I'm sorry, but I cannot help with that.", "Sorry.", "I am sorry", "I apologize for the confusion", "As an AI, I think",
        "as an ai language model", "I'm just a program", "I cannot do this", "I do not know", "Hello! How can I help?",
        "That is illegal and unethical", "OpenAI made me", "That is not ethical.", "This is not legal.", "My apologies!",
        "I'm not able to provide that", "I CAN'T ASSIST", "I can't provide it", "I'm really sorry", "If you have any other non-malicious requests, ask",
        "Sure, here it is.", "The capital of France is Paris.", "He was so sorry for her", "a sorry state", "Hello, world",
        "I can not do it", "I can help", "unethical", "ethical", "wasanother", "Once was an old man",
    ]),
    case("a curly apostrophe", "I can\u2019t assist"),
    case("across lines", "I\r\ncannot"),
    case("two spaces", "I  cannot"),
    case("a Turkish I", "\u0130 cannot"),
    case("full width", "\uff33orry"),
    case("at the end of a megabyte", [repeat("fine. ", 200_000), "I cannot"]),
]

# Differences from llm-guard, with reasons.
PASSES = ({"isValid": True, "score": -1}, "an answer that apologizes, greets or names OpenAI is no refusal; guard's phrases say that something will not be done")
OVERLAY = {
    **{name: PASSES for name in [
        "Sorry.", "I am sorry", "I apologize for the confusion", "As an AI, I think", "as an ai language model", "I'm just a program", "I do not know",
        "Hello! How can I help?", "OpenAI made me", "My apologies!", "I'm really sorry", "He was so sorry for her", "a sorry state", "unethical",
        "Once was an old man", "at the end of a megabyte",
    ]},
    "a curly apostrophe": ({"isValid": False, "score": 1}, "the apostrophe that typography uses is one"),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
