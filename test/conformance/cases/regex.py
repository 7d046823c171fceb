"""Regex, which has the same answers on both sides."""

from .case import ALL_PATTERNS, EMPTY, ODD, case, repeat

SIDES = ["input", "output"]

BEARER = r"Bearer [A-Za-z0-9\-._~+/]+"
EMAIL = r"[\w.+-]+@[\w-]+\.\w+"


def each(match_type, *rest, **fields):
    return case(*rest, match_type=match_type, **fields)


CASES = [
    *(each("all", name, text, patterns=[r"\d+"]) for name, text in ODD.items()),
    each("search", "search: the first of several", "Bearer abc and Bearer def", patterns=[BEARER]),
    each("all", "all: every one", "Bearer abc and Bearer def", patterns=[BEARER]),
    each("fullmatch", "fullmatch: a part is no match", "Bearer abc and", patterns=[BEARER]),
    each("fullmatch", "fullmatch: the whole text", "Bearer abc", patterns=[BEARER]),
    each("fullmatch", "fullmatch: the longer alternative", "ab", patterns=["a|ab"]),
    each("fullmatch", "fullmatch: a line feed at the end is a part", "abc\n", patterns=["abc"]),
    each("search", "dollar matches before a last line feed", "secret\n", patterns=["^secret$"]),
    each("search", "dollar does not match before CRLF", "secret\r\n", patterns=["^secret$"]),
    each("all", "dollar twice", "x\n", patterns=["x?$"], expected={"sanitized": "[REDACTED]\n"}, why="an empty match redacts nothing"),
    each("search", r"\Z is the very end", "secret\n", patterns=[r"secret\Z"]),
    each("all", "lines by (?m)", "key=1\nkey=2\r\nkey=3", patterns=[r"(?m)^key=\d$"]),
    each("all", "dot stops at a line feed only", "a\rb\nc\u2028d", patterns=["a.+"]),
    each("all", "dot of (?s)", "<a>\n</a> <a>", patterns=["(?s)<a>.*?</a>"]),
    each("all", "upper and lower case", "PassWord PASSWORD \u041f\u0410\u0420\u041e\u041b\u042c", patterns=["(?i)password|\u043f\u0430\u0440\u043e\u043b\u044c"]),
    each("all", "case of letters beyond the alphabet", "\u017f\u212a s K", patterns=["(?i)s|k"]),
    each("all", "digits of any script", "\u0663\u0664 \u0967\u0968 \uff11 12 \u00b2", patterns=[r"\d+"]),
    each("all", "words of any script", "\u043c\u0438\u0440 \u4e16\u754c caf\u00e9", patterns=[r"\w+"]),
    each("all", "a word with combining marks", "cafe\u0301!", patterns=[r"\w+"]),
    each("all", "Devanagari words", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e", patterns=[r"\w+"]),
    each("all", "white space of any kind", "a\u00a0b\u2003c\x1cd\x85e\u200bf", patterns=[r"\s"]),
    each("all", "word boundaries", "cat concat cats \u043acat cat\u0301", patterns=[r"\bcat\b"]),
    each("all", "an emoji class", "\U0001f600\U0001f601 ok \U0001f680", patterns=["[\U0001f600-\U0001f64f]"]),
    each("all", "an escape of a code point", "caf\u00e9 \U0001f600", patterns=["\\u00e9|\\U0001F600"]),
    each("all", "overlapping occurrences", "aaaa", patterns=["aa"]),
    each("all", "adjacent matches", "abab", patterns=["ab"]),
    each("all", "lookahead", "price 10 EUR, 20 USD", patterns=[r"\d+(?= EUR)"]),
    each("all", "lookbehind", "user: bob, pass: hunter2", patterns=[r"(?<=pass: )\w+"]),
    each("all", "negative lookahead", "foobar foobaz", patterns=[r"foo(?!bar)\w+"]),
    each("all", "a back-reference", "hello hello world world wide", patterns=[r"\b(\w+) \1\b"]),
    each("all", "a named back-reference", "'a' \"b\" 'c\"", patterns=[r"(?P<q>['\"]).(?P=q)"]),
    each("all", "a condition", "<a> b <c", patterns=[r"(<)?[ac](?(1)>|$)"]),
    each("all", "an atomic group", "aaab aaa", patterns=["(?>a+)b"]),
    each("all", "a possessive quantifier", "aaab aaa", patterns=["a++b"]),
    each("all", "a comment in the pattern", "a1 b2", patterns=[r"[a-z](?#a letter)\d"]),
    each("all", "(?x)", "a1 b2", patterns=["(?x) [a-z]  # a letter\n \\d"]),
    each("all", "a repetition without a lower end", "xaaay", patterns=["xa{,3}y"]),
    each("all", "a brace that is no repetition", "a{b} a{,x}", patterns=[r"a{b}|a{,x}"]),
    each("all", "an open bracket in a class", "a[b&&c--d~~e", patterns=["[[&~]"]),
    each("all", "ampersands in a class", "a&b", patterns=["[a&&b]"]),
    each("all", "an escaped slash, quote and space", "a/b \"c\" d-e", patterns=[r"a\/b|\"c\"|\ d\-e"]),
    each("all", "octal and null", "a\x00b\nc", patterns=[r"\0|\012"]),
    each("all", "an ASCII class by (?a)", "caf\u00e9 \u0663 5", patterns=[r"(?a)\w+"]),
    each("all", "e-mail addresses", "a@b.co, x.y+z@sub-domain.org; not@", patterns=[EMAIL]),
    each("search", "two patterns, both match", "id 12, mail a@b.co", patterns=[r"\d+", EMAIL],
         expected={"sanitized": "id [REDACTED], mail [REDACTED]"}, why=ALL_PATTERNS),
    each("all", "two patterns, the second matches", "mail a@b.co and c@d.eu", patterns=[r"\d{4}", EMAIL]),
    each("search", "not redacted", "Bearer abc", patterns=[BEARER], redact=False),
    each("search", "allowed and there", "ticket 42: broken", patterns=[r"^ticket \d+"], is_blocked=False),
    each("search", "allowed and not there", "hello", patterns=[r"^ticket \d+"], is_blocked=False),
    each("search", "allowed, the second is there", "order 7", patterns=[r"^ticket \d+", r"^order \d+"], is_blocked=False),
    each("fullmatch", "allowed and more than there", "ticket 42 now", patterns=[r"ticket \d+"], is_blocked=False),
    each("search", "allowed, nothing given", "", patterns=[r"\d"], is_blocked=False, expected={"isValid": True, "score": -1}, why=EMPTY),
    each("fullmatch", "the empty text by a pattern that it matches", "", patterns=["a*"], expected={"isValid": True, "score": -1, "sanitized": ""}, why=EMPTY),
    each("all", "a pattern that can match nothing", "bab", patterns=["a*"], expected={"sanitized": "b[REDACTED]b"}, why="an empty match redacts nothing"),
    each("all", "at the end of a megabyte", [repeat("\u00e9", 500_000), "Bearer abc"], patterns=[BEARER]),
    each("all", "a hundred thousand matches", [repeat("x1 ", 2_000)], patterns=[r"\d"]),
    each("search", "a range from high to low is an error", "abc", patterns=["[z-a]"]),
    each("search", "an open group is an error", "abc", patterns=["(abc"]),
    each("search", "nothing to repeat is an error", "abc", patterns=["*a"]),
    each("search", "an unknown match type is an error", "abc", patterns=["a"], params={"match_type": "some"}),
]

# Differences from llm-guard, with reasons.
WORDS = "letters have their combining marks with them (UTS #18), so that a word of Hindi is one word"
OVERLAY = {
    "a word with combining marks": ({"sanitized": "[REDACTED]!"}, WORDS),
    "Devanagari words": ({"sanitized": "[REDACTED] [REDACTED]"}, WORDS),
    "word boundaries": ({"sanitized": "[REDACTED] concat cats \u043acat cat\u0301"}, WORDS),
    "white space of any kind": ({"sanitized": "a[REDACTED]b[REDACTED]c\x1cd[REDACTED]e\u200bf"}, "white space is what Unicode says, and information separators are not"),
    "an ASCII class by (?a)": ({"error": "GuardValidationError"}, "this flag is refused, never ignored: [0-9A-Za-z_] is the same everywhere"),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
