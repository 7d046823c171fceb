use proptest::prelude::*;
use serde_json::{Value, json};

use super::repair;

#[track_caller]
fn value(broken: &str) -> Value {
    let repaired = repair(broken).unwrap_or_else(|| panic!("{broken} is not repaired"));
    serde_json::from_str(&repaired).unwrap_or_else(|error| panic!("{repaired}: {error}"))
}

#[test]
fn adds_what_is_missing() {
    for (broken, repaired) in [
        (r#"{"a": [1, 2"#, r#"{"a": [1, 2]}"#),
        (r#"{"a": [1, {"b": "x"#, r#"{"a": [1, {"b": "x"}]}"#),
        (r#"{"a": 1,"#, r#"{"a": 1}"#),
        (r#"{"a": 1, "b":"#, r#"{"a": 1, "b": null}"#),
        (r#"{"a": 1, "b"#, r#"{"a": 1, "b": null}"#),
        (r#"{"a": tru"#, r#"{"a": true}"#),
        (r#"{"a": 12."#, r#"{"a": 12}"#),
        (r#"{"a": "x\u00"#, r#"{"a": "x"}"#),
        (r#"{"a": 1 "b": 2}"#, r#"{"a": 1, "b": 2}"#),
        ("{\"a\": \"x\"\n\"b\": 2}", "{\"a\": \"x\",\n\"b\": 2}"),
        (r#"[{"a": 1} {"a": 2}]"#, r#"[{"a": 1}, {"a": 2}]"#),
        ("[1\n2\n]", "[1,\n2\n]"),
        (r#"{"a": [1, 2}"#, r#"{"a": [1, 2]}"#),
        (r#"[{"a": 1]"#, r#"[{"a": 1}]"#),
        ("{\"a\": [\"x\"\n}", "{\"a\": [\"x\"]\n}"),
        (r#"{a: 1, b-c: "d"}"#, r#"{"a": 1, "b-c": "d"}"#),
        (r#"{"a": Ada Lovelace}"#, r#"{"a": "Ada Lovelace"}"#),
        (
            r#"{"a": 2024-05-01, "b": 1.2.3}"#,
            r#"{"a": "2024-05-01", "b": "1.2.3"}"#,
        ),
    ] {
        assert_eq!(repair(broken).as_deref(), Some(repaired), "{broken}");
    }
}

#[test]
fn valid_json_with_long_keys_stays() {
    let key = "API key of the second server in the data centre of the north, {as written on its label};".repeat(3);
    for valid in [
        format!(r#"{{"name":"H", "{key}": null}}"#),
        r#"{"a": "say \"yes\", {or} no;", "b": [1,  2.50, 1e3]}"#.to_owned(),
        "[ ]".to_owned(),
    ] {
        assert_eq!(repair(&valid).as_deref(), Some(valid.as_str()));
    }
}

#[test]
fn removes_what_json_lacks() {
    for (broken, repaired) in [
        ("{'a': 1,}", r#"{"a": 1}"#),
        ("[1, 2,\n]", "[1, 2\n]"),
        ("{\"a\": 1 // one\n, /* two */ \"b\": 2}", "{\"a\": 1 \n,  \"b\": 2}"),
        ("{\"a\": 1, # one\n\"b\": True}", "{\"a\": 1, \n\"b\": true}"),
        ("{“a”: ‘b’, „c“: `d`}", r#"{"a": "b", "c": "d"}"#),
        (r#"{"a": .5, "b": +1, "c": 2.}"#, r#"{"a": 0.5, "b": 1, "c": 2}"#),
        (
            r#"{"a": None, "b": undefined, "c": FALSE}"#,
            r#"{"a": null, "b": null, "c": false}"#,
        ),
        (r#"{\"a\": \"b \\\" c\"}"#, r#"{"a": "b \" c"}"#),
        ("{\u{A0}\"a\": 1,\u{3000}\"b\": 2,}", "{ \"a\": 1, \"b\": 2}"),
    ] {
        assert_eq!(repair(broken).as_deref(), Some(repaired), "{broken}");
    }
}

#[test]
fn the_content_of_strings_stays() {
    for (broken, expected) in [
        (
            "{'a': 'Let's go', 'b': 'l'été'}",
            json!({"a": "Let's go", "b": "l'été"}),
        ),
        ("{‘a’: ‘she’s in’}", json!({"a": "she’s in"})),
        (r#"{"a": 'Pat O'Hara', "b": "7"}"#, json!({"a": "Pat O'Hara", "b": "7"})),
        (r"{'a': 'it\'s'}", json!({"a": "it's"})),
        (r#"{"a": "it\'s",}"#, json!({"a": "it's"})),
        (r#"{"re": "^\w+\.\d{2}$"}"#, json!({"re": r"^\w+\.\d{2}$"})),
        (r#"{"dir": "D:\Data\Projects"}"#, json!({"dir": r"D:\Data\Projects"})),
        (r#"{"tex": "\alpha \sum"}"#, json!({"tex": r"\alpha \sum"})),
        ("{\"a\": \"x\ty\nz\r\u{1}\"}", json!({"a": "x\ty\nz\r\u{1}"})),
        (
            r#"{"a": "he said "hi" to me", "b": 1}"#,
            json!({"a": "he said \"hi\" to me", "b": 1}),
        ),
        (r#"{"a": "say "yes", or no"}"#, json!({"a": "say \"yes\", or no"})),
        (r#"{"a": "the word "no""}"#, json!({"a": "the word \"no\""})),
        (
            r#"{'a': 'say "x"', 'b': '{"c": 1}'}"#,
            json!({"a": "say \"x\"", "b": "{\"c\": 1}"}),
        ),
        (
            r#"{"url": "http://a.b/c", "d": "a # b",}"#,
            json!({"url": "http://a.b/c", "d": "a # b"}),
        ),
        (r#"{"a": "\u00e9\n\\",}"#, json!({"a": "é\n\\"})),
        ("{'a': '', 'b': ''}", json!({"a": "", "b": ""})),
    ] {
        assert_eq!(value(broken), expected, "{broken}");
    }
}

#[test]
fn text_with_two_readings_stays() {
    for broken in [
        r#"{"path": "D:\Temp\new"}"#,
        r#"{"path": "D:\Temp\\data"}"#,
        r#"{"a": "\x41"}"#,
        "{\"a\": \"x\\\ny\"}",
        r#"{ "text": "It is 70", which is a lot" }"#,
        r#"{"a": 1 // one}"#,
        r#"{"a": "x" #1"}"#,
        r#"["say "yes", he said", "b"]"#,
        r#"{"a": "5'10""}"#,
        "{'a': 'the dogs' toys'}",
        r#"{"a": "b}"#,
        r#"{"a": "b, "c": 1}"#,
        "{\"a\": \"b,\n\"c\": 1}",
        r#"["a" "b"]"#,
        "[1 2]",
        r#"{"a": 1; "b": 2}"#,
        r#"{"a": 007}"#,
        r#"{"a": 1_000}"#,
        r#"{"a": 0x1F}"#,
        r#"{"a": NaN, "b": -Infinity}"#,
        r#"{"a": , "b": 1}"#,
        r#"{"a": }"#,
        r#"{"a" 1}"#,
        r#"{"a": "x" + "y"}"#,
        r#"{"a": f(1)}"#,
        r#"{"a": x > 1}"#,
        "[1, 2, ...]",
        "[1,,2]",
        "[,1]",
        "{,}",
        "{x}",
        "{x, y}",
        r#"{"a": `${x}`}"#,
        r#"{"a": 1}}"#,
        r#"{"a": 1} x"#,
        "x",
        "",
    ] {
        assert_eq!(repair(broken), None, "{broken}");
    }
    let deep = "[".repeat(1001);
    assert_eq!(repair(&deep), None);
}

#[test]
fn hostile_texts_are_read_in_linear_time() {
    for unit in [
        "\"",
        "'",
        "\"/*",
        "\" ,",
        "{'a':",
        "[",
        "[1\n",
        "/*",
        "\\",
        "\"\n",
        "'a' ",
        "\", \"",
        "{\"a\": \"x\" ",
        "”",
        "“ :",
        "a:",
        "tru\n",
        "\",/*",
    ] {
        let text = format!("{{\"a\": \"{}", unit.repeat(1_000_000 / unit.len()));
        repair(&text);
        repair(&format!("[{}", unit.repeat(1_000_000 / unit.len())));
    }
}

fn values() -> impl Strategy<Value = Value> {
    let text = "[a-zA-Z0-9 ,:;{}\\[\\]/#.é😀“’'\"\\\\\\n\\t-]{0,12}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::String),
    ];
    let nested = leaf.prop_recursive(3, 20, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((text, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    });
    nested.prop_filter("an object or array", |value| value.is_object() || value.is_array())
}

/// Writes a value as a Python program prints it, with trailing commas.
fn python(value: &Value, out: &mut String) {
    let quoted = |text: &str, out: &mut String| {
        out.push('\'');
        for character in text.chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                '\'' => out.push_str("\\'"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                _ => out.push(character),
            }
        }
        out.push('\'');
    };
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => quoted(text, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                python(item, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (key, member) in members {
                quoted(key, out);
                out.push_str(": ");
                python(member, out);
                out.push_str(", # more\n");
            }
            out.push('}');
        }
    }
}

/// The strings of a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            found.push(key.clone());
            strings(member, found);
        }),
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_repaired_text_parses(text in r#"[\[{]([\[\]{}",:'\\/#\n`a1é😀“” -]|'a'|"a":|true|None|, |.){0,40}"#) {
        if let Some(repaired) = repair(&text) {
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&repaired).is_ok(), "{}", repaired);
            // A second repair changes nothing.
            let again = repair(&repaired);
            prop_assert_eq!(again.as_deref(), Some(repaired.as_str()));
        }
    }

    #[test]
    fn valid_json_stays(value in values()) {
        let text = value.to_string();
        let repaired = repair(&text);
        prop_assert_eq!(repaired.as_deref(), Some(text.as_str()));
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let repaired = repair(&pretty);
        prop_assert_eq!(repaired.as_deref(), Some(pretty.as_str()));
    }

    #[test]
    fn printed_values_of_python_are_read(value in values()) {
        let mut printed = String::new();
        python(&value, &mut printed);
        let repaired = repair(&printed).map(|repaired| serde_json::from_str::<Value>(&repaired).unwrap());
        prop_assert_eq!(repaired, Some(value), "{}", printed);
    }

    #[test]
    fn every_whole_string_of_a_cut_text_survives(value in values(), cut in any::<prop::sample::Index>()) {
        let whole = value.to_string();
        let mut at = cut.index(whole.len()) + 1;
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        if let Some(repaired) = repair(&whole[..at]) {
            let (mut of_whole, mut of_cut) = (Vec::new(), Vec::new());
            strings(&value, &mut of_whole);
            strings(&serde_json::from_str(&repaired).unwrap(), &mut of_cut);
            // Objects sort their keys, and the last string may be cut off.
            for text in &of_cut {
                prop_assert!(of_whole.iter().any(|whole| whole.starts_with(text.as_str())), "{}", text);
            }
        }
    }

    #[test]
    fn letters_and_digits_stay(text in r#"[\[{]([\[\]{}",:'\n“” -]|[abc]|'a'|"b": |\\d|, ){0,40}"#) {
        if let Some(repaired) = repair(&text) {
            let kept = |text: &str| text.replace("\\n", " ").chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let added = kept(&repaired).replace("null", "");
            prop_assert_eq!(added, kept(&text).replace("null", ""), "{}", repaired);
        }
    }
}
