"""Deanonymize."""

from .case import ODD, case, repeat

SIDES = ["output"]

PEOPLE = [["[REDACTED_PERSON_1]", "John Doe"], ["[REDACTED_PERSON_2]", "Jane Roe"], ["[REDACTED_EMAIL_ADDRESS_1]", "john@doe.com"]]


def each(strategy, name, text, vault=None, **fields):
    return case(name, text, vault=PEOPLE if vault is None else vault, matching_strategy=strategy, **fields)


CASES = [
    *(each("exact", name, text) for name, text in ODD.items()),
    *(each(strategy, f"{strategy}: {name}", text, vault)
      for strategy in ("exact", "case_insensitive", "fuzzy", "combined_exact_fuzzy")
      for name, text, vault in [
          ("one", "Hello [REDACTED_PERSON_1]!", None),
          ("several and repeated", "[REDACTED_PERSON_1] wrote to [REDACTED_PERSON_2] and [REDACTED_PERSON_1].", None),
          ("none", "Nothing to restore here.", None),
          ("an empty vault", "Hello [REDACTED_PERSON_1]!", []),
          ("faked names", "Dear Keanu Reeves, call Anna Smith.", [["Keanu Reeves", "Ivan Petrov"], ["Anna Smith", "\u4f60\u597d"]]),
          ("faked names in other case", "dear KEANU REEVES", [["Keanu Reeves", "Ivan Petrov"]]),
          ("faked names with a slip", "dear Kaenu Reves, how are you", [["Keanu Reeves", "Ivan Petrov"]]),
          ("emoji and combining marks around", "\U0001f600Keanu Reeves\u0301\U0001f600", [["Keanu Reeves", "Ivan Petrov"]]),
          ("Cyrillic", "\u041f\u0440\u0438\u0432\u0435\u0442, \u0418\u0412\u0410\u041d \u041f\u0435\u0442\u0440\u043e\u0432", [["\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432", "Mr X"]]),
          ("CRLF around", "a\r\nKeanu Reeves\r\nb", [["Keanu Reeves", "x"]]),
      ]),
    each("exact", "an original that is a placeholder", "A", [["A", "B"], ["B", "C"]]),
    each("exact", "one placeholder within another", "[REDACTED_PERSON_1] [REDACTED_PERSON_10]", [["[REDACTED_PERSON_1]", "a"], ["[REDACTED_PERSON_10]", "b"]]),
    each("exact", "placeholders without brackets", "PERSON_1 PERSON_10", [["PERSON_1", "a"], ["PERSON_10", "b"]]),
    each("case_insensitive", "backslashes in the original", "give X1 back", [["x1", "C:\\new\\1"]]),
    each("case_insensitive", "special characters in the placeholder", "mail (a+b) now", [["(a+b)", "x"]]),
    each("exact", "special characters", "mail (a+b) now $1", [["(a+b)", "$1 \\1"]]),
    each("exact", "an original of several lines", "<ADDRESS>", [["<ADDRESS>", "1 Main St\r\nTown"]]),
    each("exact", "at the end of a megabyte", [repeat("word ", 200_000), "[REDACTED_PERSON_1]"]),
    each("exact", "ten thousand times", [repeat("[REDACTED_PERSON_1] ", 10_000)]),
]

# Differences from llm-guard, with reasons.
LITERAL = "placeholders are literal; llm-guard takes them for regular expressions, and [REDACTED_PERSON_1] for a class of letters"
ONCE = "all placeholders are replaced in one pass, longer ones first"
CLEAR = "what could be one placeholder as well as another is never guessed, and digits have to be right"
OVERLAY = {
    "case_insensitive: one": ({"sanitized": "Hello John Doe!"}, LITERAL),
    "case_insensitive: several and repeated": ({"sanitized": "John Doe wrote to Jane Roe and John Doe."}, LITERAL),
    "case_insensitive: none": ({"sanitized": "Nothing to restore here."}, LITERAL),
    "case_insensitive: emoji and combining marks around": ({"sanitized": "\U0001f600Keanu Reeves\u0301\U0001f600"}, "a letter with a combining mark is another letter (Unicode, UAX #15)"),
    "fuzzy: several and repeated": ({"sanitized": "John Doe wrote to Jane Roe and John Doe."}, CLEAR),
    "fuzzy: Cyrillic": ({"sanitized": "\u041f\u0440\u0438\u0432\u0435\u0442, \u0418\u0412\u0410\u041d \u041f\u0435\u0442\u0440\u043e\u0432"}, "at most a quarter of a placeholder may be wrong"),
    "combined_exact_fuzzy: Cyrillic": ({"sanitized": "\u041f\u0440\u0438\u0432\u0435\u0442, \u0418\u0412\u0410\u041d \u041f\u0435\u0442\u0440\u043e\u0432"}, "at most a quarter of a placeholder may be wrong"),
    "an original that is a placeholder": ({"sanitized": "B"}, ONCE),
    "placeholders without brackets": ({"sanitized": "a b"}, ONCE),
    "backslashes in the original": ({"isValid": True, "score": -1, "sanitized": "give C:\\new\\1 back"}, "originals are literal; llm-guard takes them for templates of regular expressions and ends with an error"),
    "special characters in the placeholder": ({"sanitized": "mail x now"}, LITERAL),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
