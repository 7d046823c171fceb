"""JSON."""

from .case import ODD, case, repeat

SIDES = ["output"]

CASES = [
    *(case(name, text) for name, text in ODD.items()),
    case("none, one is required", "No JSON here.", required_elements=1),
    case("one, one is required", 'Here: {"a": 1}', required_elements=1),
    case("one, two are required", 'Here: {"a": 1}', required_elements=2),
    case("two, two are required", '{"a": 1} and {"b": [1, 2]}', required_elements=2),
    case("nested objects are one", '{"a": {"b": {"c": {}}}}', required_elements=2),
    case("an empty object", "{}", required_elements=1),
    case("in a code fence", '```json\n{"name": "Ada",\n "age": 36}\n```', required_elements=1),
    case("in prose with CRLF", 'Sure!\r\n{"a": 1,\r\n "b": 2}\r\nDone.', required_elements=1),
    case("an array of objects", '[{"a": 1}, {"a": 2}]', required_elements=2),
    case("single quotes are repaired", "{'a': 1}"),
    case("a trailing comma is repaired", '{"a": 1,}'),
    case("a missing comma is repaired", '{"a": 1 "b": 2}'),
    case("a key without quotes is repaired", "{a: 1, b: \"x\"}"),
    case("Python's constants are repaired", '{"a": True, "b": None}'),
    case("a comment is repaired", '{"a": 1 /* one */, "b": 2}'),
    case("without repair", '{"a": 1,}', repair=False),
    case("without repair, one of two is valid", '{"a": 1} {"b": 2,}', repair=False),
    case("without repair, valid", '{"a": 1}', repair=False, required_elements=1),
    case("one valid and one repaired", '{"a": 1} then {"b": 2,}', required_elements=2),
    case("repaired twice", "{'a': 1} and {'a': 1}", required_elements=2),
    case("emoji and mixed scripts", '{"\u043a\u043b\u044e\u0447": "\U0001f600 \u4f60\u597d", "e\u0301": 1}', required_elements=1),
    case("escapes in strings", r'{"a": "\"quoted\" \\ \u00e9 \n"}', required_elements=1),
    case("braces in strings, balanced", '{"a": "{x}"}', required_elements=1),
    case("a brace in a string", '{"a": "}"}', required_elements=1),
    case("an open brace", 'Look: {"a": 1', required_elements=1),
    case("a brace that is never closed before one that is", '{ "x { {"a": 1}', required_elements=1),
    case("numbers of all kinds", '{"a": -1.5e+10, "b": 0, "c": 1E400}', required_elements=1),
    case("NaN and Infinity", '{"a": NaN, "b": Infinity}', required_elements=1),
    case("a leading zero", '{"a": 01}', repair=False, required_elements=1),
    case("the same key twice", '{"a": 1, "a": 2}', required_elements=1),
    case("a control character in a string", '{"a": "x\x01y"}', repair=False, required_elements=1),
    case("a line feed in a string", '{"a": "x\ny"}', repair=False, required_elements=1),
    case("a null character between", '{"a":\x001}', repair=False, required_elements=1),
    case("an escaped brace", '\\{"a": 1}'),
    case("an escaped backslash before the brace", '\\\\{"a": 1}'),
    case("code is no JSON", "function f() { return 1; }", repair=False),
    case("a template placeholder", "Hello {name}!", repair=False),
    case("a CSS block", "body { color: red; }", repair=False),
    case("a big number", '{"a": 123456789012345678901234567890}', required_elements=1),
    case("deep", [repeat('{"a":', 50), "1", repeat("}", 50)], required_elements=1),
    case("a megabyte in one string", ['{"a": "', repeat("x\u00e9", 500_000), '"}'], required_elements=1),
    case("a thousand objects", [repeat('{"a": 1}\n', 1_000)], required_elements=1_000),
    case("a thousand objects, one short", [repeat('{"a": 1}\n', 999)], required_elements=1_000),
    case("white space around", '  \n {"a": 1} \n ', required_elements=1),
]

# Differences from llm-guard, with reasons.
OUTERMOST = "objects and arrays count, the outermost of them"
CODE = "what does not begin like JSON is not JSON"
OVERLAY = {
    "an array of objects": ({"isValid": False, "score": 1}, OUTERMOST),
    "Python's constants are repaired": ({"sanitized": '{"a": true, "b": null}'}, "llm-guard makes a string of None"),
    "a comment is repaired": ({"sanitized": '{"a": 1 , "b": 2}'}, "what is valid stays as it is written"),
    "a brace in a string": ({"sanitized": '{"a": "}"}'}, "this is valid; llm-guard does not know strings and breaks it"),
    "an open brace": ({"isValid": True, "score": -1, "sanitized": 'Look: {"a": 1}'}, "JSON that was cut off is repaired; llm-guard does not see it"),
    "NaN and Infinity": ({"isValid": False, "score": 1}, "they are not JSON (RFC 8259), and null and a string are both possible repairs"),
    "an escaped backslash before the brace": ({"sanitized": '\\\\{"a": 1}'}, "llm-guard takes the backslashes before for a part of the JSON and removes them"),
    "code is no JSON": ({"isValid": True, "score": -1}, CODE),
    "a template placeholder": ({"isValid": True, "score": -1}, CODE),
    "a CSS block": ({"isValid": True, "score": -1}, CODE),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
