"""InvisibleText."""

from .case import NO_PROBABILITY, ODD, case, repeat

SIDES = ["input"]


def differs(answer):
    return ({"score": -1}, NO_PROBABILITY) if answer.get("score") == 0 else None


TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all")

FAMILY = "an emoji family"


def stays(name, text, why):
    return case(name, text, expected={"isValid": True, "score": -1, "sanitized": text}, why=why)


CASES = [
    *(stays(name, text, "joiners in emoji are needed") if name == FAMILY else case(name, text) for name, text in ODD.items()),
    case("a tag message", f"What is the weather?{TAGS}"),
    case("tags only", TAGS),
    stays("a flag of tags", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "the tags of a flag are needed"),
    case("a zero-width space", "pass\u200bword"),
    case("a zero-width joiner and a non-joiner", "a\u200db\u200cc"),
    stays("a Persian non-joiner", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "Persian words need the non-joiner"),
    case("a word joiner", "a\u2060b"),
    stays("a byte order mark", "\ufeffhello", "a byte order mark at the start of a text is ordinary"),
    stays("a soft hyphen", "ex\u00adample", "a soft hyphen inside of a word is ordinary"),
    case("bidi controls", "abc\u202edef\u202c \u2066x\u2069"),
    case("left-to-right mark", "a\u200eb\u200f"),
    stays("Arabic letter mark and number signs", "\u061c\u0600\u06dd", "number signs are visible, and the mark stands beside them"),
    case("private use", "icon \ue000 \uf8ff"),
    case("private use of the last planes", "\U000f0000 \U0010fffd"),
    case("a noncharacter", "a\uffffb\ufdd0"),
    case("an unassigned code point", "a\u0378b"),
    case("the first code point of Unicode 15", "a\U0001e4d0b", expected={"isValid": True, "score": -1, "sanitized": "a\U0001e4d0b"},
         why="Python 3.11 knows Unicode 14; this letter was assigned in Unicode 15"),
    case("one variation selector", "\u2764\ufe0f ok"),
    case("a run of variation selectors", "\U0001f600\ufe00\ufe01\U000e0100\U000e0101", expected={"isValid": False, "score": 1, "sanitized": "\U0001f600"},
         why="a run of variation selectors carries bytes behind one visible character"),
    case("no-break space and em space stay", "a\u00a0b\u2003c"),
    case("an ideographic space stays", "\u4f60\u3000\u597d"),
    case("line separator stays", "a\u2028b"),
    case("the Mongolian vowel separator", "a\u180eb"),
    case("the Hangul filler is a letter", "a\u3164b", expected={"isValid": False, "score": 1, "sanitized": "ab"}, why="it looks like nothing"),
    case("a combining grapheme joiner is a mark", "a\u034fb", expected={"isValid": False, "score": 1, "sanitized": "ab"},
         why="it is invisible, and between letters it has no use"),
    case("interlinear annotation", "a\ufff9b\ufffac\ufffb"),
    case("invisible times and plus", "a\u2062b\u2064c"),
    case("musical and shorthand controls", "\U0001d173\U0001bca0"),
    case("the replacement character stays", "a\ufffdb"),
    case("repeated", "\u200ba\u200b\u200bb\u200b"),
    case("between CRLF", "a\u200b\r\n\u200bb"),
    case("a hundred thousand", ["a", repeat("\u200b", 100_000), "b"]),
    case("in every word of a megabyte", [repeat("word\u200b \u00e9", 100_000)]),
]
