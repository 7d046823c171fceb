"""Gibberish: texts beyond doubt, with the model's answer that says so."""

from .case import ODD, case, repeat
from .code import SNIPPETS
from .language import TEXTS

SIDES = ["input", "output"]

CLEAN = {"clean": 0.995, "mild gibberish": 0.003, "noise": 0.001, "word salad": 0.001}
NOISE = {"noise": 0.995, "word salad": 0.003, "mild gibberish": 0.001, "clean": 0.001}

SENTENCES = [
    "Can you help me write a short letter to my landlord about the broken window?", "What is the best way to learn a new language as an adult?",
    "My computer is very slow since the last update; what should I check first?", "The report says that sales went up by eight percent in the second quarter.",
    "Please explain the difference between a stock and a bond in simple words.", "Why do some people find it hard to sleep after a long flight?",
]
MASHED = [
    "asdkjfh alksjdfh qwoeiruty zxmcnvb alskdjfhg qpwoeiruty", "fgsdfg dsfgsdfg sdfgsdfg dfgsdfgsdfg sdfgsdf", "xkcjvb zxcv qwer asdf zxcv uiop hjkl vbnm sdfg",
    "hjklhjkl fdsafdsa jkljkl rewqrewq vcxzvcxz uiouio", "\u0444\u044b\u0432\u0430\u043f\u0440\u043e\u043b\u0434 \u0439\u0446\u0443\u043a\u0435\u043d\u0433 \u044f\u0447\u0441\u043c\u0438\u0442\u044c \u0444\u044b\u0432\u0430\u043f\u0440 \u043b\u0434\u0436\u044d\u0431\u044e",
    "zzxqj vvkpw qqxzj wwvkx jjqzp xxkvw bbqzt",
]

CASES = [
    *(case(f"{name}: no words", ODD[name], stand_in=[CLEAN]) for name in ("nothing", "a space", "white space only", "a line feed", "an emoji", "CRLF", "mixed scripts", "a line of a megabyte")),
    *(case(f"clean {number}", text, stand_in=[CLEAN]) for number, text in enumerate(SENTENCES)),
    *(case(f"clean in {language}", TEXTS[language], stand_in=[CLEAN]) for language in ("en", "de", "fr", "es", "ru", "it", "pl", "bg")),
    *(case(f"{language} is not gibberish", text, stand_in=[CLEAN]) for language, text in SNIPPETS.items()),
    *(case(f"keyboard mashing {number}", text, stand_in=[NOISE]) for number, text in enumerate(MASHED)),
    case("sentences: one is noise", f"{SENTENCES[0]} {MASHED[0].capitalize()}.", match_type="sentence", stand_in=[CLEAN, NOISE]),
    case("sentences: none is noise", f"{SENTENCES[0]} {SENTENCES[1]}", match_type="sentence", stand_in=[CLEAN, CLEAN]),
    case("a megabyte of noise", [repeat(MASHED[0] + " ", 18_000)], stand_in=[NOISE]),
]
