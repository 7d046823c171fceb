"""TokenLimit."""

from .case import ODD, case, repeat

SIDES = ["input"]


def differs(answer):
    """What guard does otherwise in every case: the expected change and the reason."""
    cut = answer.get("sanitized")
    return ({"sanitized": cut.rstrip("\ufffd")}, WHOLE) if isinstance(cut, str) and cut.endswith("\ufffd") else None


EXACT = "a text of exactly limit tokens passes, as the documentation says"
WHOLE = "no character is cut: llm-guard leaves U+FFFD in its place"
PROSE = "The quick brown fox jumps over the lazy dog. It's 12345 o'clock, isn't it?\r\n\r\n  Indented\tline."

CASES = [
    # There is no case with a limit of 0: llm-guard then loops until memory ends, and guard throws an error.
    *(case(name, text, limit=500_000) for name, text in ODD.items()),
    *(case(f"{name}, cut", ODD[name], limit=limit)
      for name, limit in [("an emoji family", 4), ("flags and skin tones", 3), ("many combining marks", 9), ("CRLF", 3), ("control characters", 4),
                          ("line separators", 3), ("right to left", 5), ("mixed scripts", 12), ("mathematical letters", 6), ("a line of a megabyte", 99)]),
    *(case(f"{encoding}: cut at {limit}", PROSE, limit=limit, encoding_name=encoding)
      for encoding in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base", "p50k_edit")
      for limit in (1, 7, 19)),
    case("below the limit", "one two three", limit=4),
    case("exactly the limit", "one two three", limit=3, expected={"isValid": True, "score": -1, "sanitized": "one two three"}, why=EXACT),
    case("one above the limit", "one two three four", limit=3),
    case("the default limit", [repeat("word ", 5_000)]),
    case("the encoding of gpt-4o", PROSE, limit=5, model_name="gpt-4o"),
    case("the encoding of gpt-4", PROSE, limit=5, model_name="gpt-4"),
    case("the encoding of gpt-3.5-turbo-0613", PROSE, limit=5, model_name="gpt-3.5-turbo-0613"),
    case("the encoding of text-davinci-003", PROSE, limit=5, model_name="text-davinci-003"),
    case("the encoding of o1", PROSE, limit=5, model_name="o1"),
    case("model before encoding", PROSE, limit=5, model_name="gpt-4o", encoding_name="r50k_base"),
    case("an unknown encoding is an error", "a", encoding_name="none"),
    case("an unknown model is an error", "a", model_name="no-such-model"),
    case("cut in an emoji", "\U0001f9d1\u200d\U0001f680 ok", limit=1),
    case("cut between emoji", "\U0001f600\U0001f600\U0001f600", limit=2),
    case("cut in a Chinese character", "\u9f98\u9f98\u9f98", limit=1),
    case("Chinese", "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002", limit=4),
    case("Arabic", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", limit=3),
    case("code", "def f(x):\n    return x ** 2  # square\n", limit=8),
    case("CRLF", "a\r\n\r\nb\r\nc", limit=2),
    case("a special token is text", "a<|endoftext|>b", limit=100, expected={"isValid": True, "score": -1}, why="llm-guard raises an error: a prompt must not be able to break the scan"),
    case("spaces", ["a", repeat(" ", 200), "b"], limit=2),
    case("one long word", [repeat("abc", 3_000)], limit=10),
    case("digits", [repeat("1234567890", 30)], limit=10),
    case("combining marks", "e\u0301e\u0301e\u0301e\u0301", limit=3),
    case("a megabyte of prose", [repeat("The quick brown fox jumps over the lazy dog. ", 22_000)], limit=1_000),
    case("a megabyte of Cyrillic", [repeat("\u0421\u044a\u0435\u0448\u044c \u0436\u0435 \u0435\u0449\u0451. ", 30_000)], limit=1_000),
]
