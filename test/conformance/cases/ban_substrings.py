"""BanSubstrings, which has the same answers on both sides. llm-guard's redact is guard's redact_all."""

from .case import FIRST, NO_PROBABILITY, ODD, case, repeat

SIDES = ["input", "output"]
EQUIVALENT = "canonically equivalent spellings are one text (Unicode, UAX #15)"


def differs(answer):
    return ({"score": -1}, NO_PROBABILITY) if answer.get("score") == 0 else None



def redacted(name, text, **fields):
    """Redaction of all occurrences: the same in both."""
    return case(name, text, redact=True, guard={"redact_all": True}, **fields)


CASES = [
    *(case(name, text, substrings=["ransomware", "backdoor"]) for name, text in ODD.items()),
    case("anywhere in a word", "concatenate", substrings=["cat"]),
    case("whole words: not in a word", "concatenate", substrings=["cat"], match_type="word"),
    case("whole words: beside punctuation", "the cat, asleep", substrings=["cat"], match_type="word"),
    case("whole words: beside an underscore", "my_cat", substrings=["cat"], match_type="word"),
    case("whole words: beside a Cyrillic letter", "\u043acat", substrings=["cat"], match_type="word"),
    case("whole words: beside a digit", "cat5", substrings=["cat"], match_type="word"),
    case("whole words: only the second stands alone", "concat cat", substrings=["cat"], match_type="word"),
    case("whole words: a phrase over two lines", "a back\ndoor", substrings=["back door"], match_type="word"),
    case("whole words: an edge that is no letter", "I love c++!", substrings=["c++"], match_type="word",
         expected={"isValid": False, "score": 1}, why="an edge that is no word character needs no boundary; in llm-guard such a substring is all but never found"),
    case("whole words: Chinese", "\u6211\u662f\u574f\u4eba\u5417", substrings=["\u574f\u4eba"], match_type="word",
         expected={"isValid": False, "score": 1}, why="scripts written without spaces have no boundaries to ask for"),
    case("upper case in the text", "Install the RANSOMWARE", substrings=["ransomware"]),
    case("upper case in the substring", "install the ransomware", substrings=["RansomWare"]),
    case("Cyrillic case", "\u041f\u0420\u0418\u0412\u0415\u0422", substrings=["\u043f\u0440\u0438\u0432\u0435\u0442"]),
    case("Greek final sigma", "\u039f\u0394\u039f\u03a3", substrings=["\u03bf\u03b4\u03cc\u03c2", "\u03bf\u03b4\u03bf\u03c2"]),
    case("German sharp s", "STRASSE", substrings=["stra\u00dfe"]),
    case("capital sharp s", "STRA\u1e9eE", substrings=["stra\u00dfe"]),
    case("Turkish dotted I", "\u0130STANBUL", substrings=["istanbul"],
         expected={"isValid": False, "score": 1}, why="case is compared by simple case mappings, as Python's re does and llm-guard's own redaction; str.lower makes two characters of this letter"),
    case("the Kelvin sign", "\u212aELVIN", substrings=["kelvin"]),
    case("the long s", "\u017fecret", substrings=["secret"],
         expected={"isValid": False, "score": 1}, why="case is compared by simple case mappings, as Python's re does and llm-guard's own redaction"),
    case("case matters", "Hello", substrings=["hello"], case_sensitive=True),
    case("case matters and is right", "Hello", substrings=["Hello"], case_sensitive=True),
    case("special characters are literal", "aXbbbc x 5", substrings=["a.b*c", "(x)", "$5", "[a-z]", "\\d"]),
    case("special characters are found", "costs $5 (x)", substrings=["a.b*c", "(x)", "$5"]),
    case("a backslash", "C:\\Windows\\System32\\Config\\SAM", substrings=["Windows\\System32\\Config\\SAM"]),
    case("an emoji", "ok \U0001f513JAILBREAK]", substrings=["\U0001f513jailbreak"]),
    case("an emoji in a family", "\U0001f468\u200d\U0001f469\u200d\U0001f467", substrings=["\U0001f469"]),
    case("composed and decomposed", "cafe\u0301", substrings=["caf\u00e9"], expected={"isValid": False, "score": 1}, why=EQUIVALENT),
    case("a letter before a combining mark", "cafe\u0301", substrings=["cafe"], expected={"isValid": True, "score": -1}, why=EQUIVALENT),
    case("CRLF within", "one\r\ntwo", substrings=["one\ntwo"]),
    case("CRLF in the substring", "one\r\ntwo", substrings=["one\r\ntwo"]),
    case("a space as substring", "a b", substrings=[" "]),
    case("a null character", "a\x00b", substrings=["\x00"]),
    case("full width is another letter", "\uff42ackdoor", substrings=["backdoor"]),
    redacted("all occurrences", "Foo and bar and foo", substrings=["foo", "bar"]),
    case("the first occurrence", "Foo and bar and foo", substrings=["foo", "bar"], redact=True,
         expected={"sanitized": "[REDACTED] and [REDACTED] and foo"}, why=FIRST),
    case("the only occurrence", "a foo here", substrings=["foo"], redact=True),
    redacted("repeated without a gap", "foofoofoo", substrings=["foo"]),
    redacted("overlapping with itself", "aaaaa", substrings=["aa"]),
    redacted("one within the other", "I am a superman", substrings=["super", "superman"],
             expected={"sanitized": "I am a [REDACTED]"}, why="occurrences are looked for in the text, not in what is left of it after the other substrings"),
    redacted("overlapping with another", "abcde", substrings=["abc", "cde"],
             expected={"sanitized": "[REDACTED]"}, why="occurrences are looked for in the text, not in what is left of it after the other substrings"),
    redacted("a substring of the replacement", "red foo", substrings=["foo", "red"],
             expected={"sanitized": "[REDACTED] [REDACTED]"}, why="llm-guard redacts within its own replacement: [[REDACTED]ACTED]"),
    redacted("special characters", "costs $5 (x) or $5", substrings=["$5", "(x)"]),
    redacted("case of Cyrillic", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043f\u0440\u0438\u0432\u0435\u0442!", substrings=["\u041f\u0420\u0418\u0412\u0415\u0422"]),
    redacted("emoji around", "\U0001f600foo\U0001f600", substrings=["foo"]),
    redacted("whole words are found, parts are redacted too", "cat concat", substrings=["cat"], match_type="word",
             expected={"sanitized": "[REDACTED] concat"}, why="only what was found is redacted; llm-guard forgets match_type when it redacts"),
    case("all of them: one is missing", "red only", substrings=["red", "blue"], contains_all=True),
    case("all of them: all there", "red and Blue", substrings=["red", "blue"], contains_all=True),
    redacted("all of them, redacted", "red and Blue, blue", substrings=["red", "blue"], contains_all=True),
    case("all of them: the same twice", "red", substrings=["red", "RED"], contains_all=True),
    case("at the end of a megabyte", [repeat("\u0436", 500_000), " password"], substrings=["Password"]),
    redacted("ten thousand times", [repeat("foo ", 10_000)], substrings=["foo"]),
    case("many substrings", "the word 499 is here: w499x", substrings=[f"w{n}x" for n in range(500)]),
    case("an unknown match type is an error", "a", substrings=["a"], match_type="any"),
]
