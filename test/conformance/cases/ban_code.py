"""BanCode: code and prose beyond doubt, with the model's answer that says so."""

from .case import ODD, case, repeat
from .code import PYTHON, SHELL_LIKE_PROSE, SNIPPETS
from .language import TEXTS

SIDES = ["input", "output"]

CODE = {"CODE": 0.999, "NL": 0.001}
NL = {"NL": 0.999, "CODE": 0.001}

CASES = [
    *(case(name, text, stand_in=[NL]) for name, text in ODD.items()),
    case("prose", SHELL_LIKE_PROSE, stand_in=[NL]),
    *(case(f"prose in {language}", text, stand_in=[NL]) for language, text in TEXTS.items()),
    *(case(language, text, stand_in=[CODE]) for language, text in SNIPPETS.items()),
    case("prose with a list", "Buy:\n1. milk\n2. bread\n- eggs (twelve of them)\n", stand_in=[NL]),
    case("prose about code", "Could you explain what a Python decorator is and when I should use one?", stand_in=[NL]),
    case("CRLF", PYTHON.replace("\n", "\r\n"), stand_in=[CODE]),
    case("a megabyte of Python", [repeat(PYTHON, 6_000)], stand_in=[CODE]),
]
