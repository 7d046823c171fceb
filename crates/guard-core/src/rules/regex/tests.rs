//! Tests of user patterns in both syntaxes.

use std::ops::Range;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::error::{MAX_BYTES, MAX_PATTERNS};
use super::patterns::{FEW, TIME_LIMIT};
use super::*;

fn find(patterns: &[&str], text: &str, match_type: MatchType) -> Vec<(usize, Range<usize>)> {
    let patterns = Patterns::compile(patterns).unwrap();
    patterns
        .find(text, match_type)
        .unwrap()
        .into_iter()
        .map(|m| (m.pattern, m.range))
        .collect()
}

fn texts<'a>(pattern: &str, text: &'a str) -> Vec<&'a str> {
    find(&[pattern], text, MatchType::All)
        .into_iter()
        .map(|(_, range)| &text[range])
        .collect()
}

#[test]
fn every_pattern_is_reported() {
    let text = "Bearer abc123 и Bearer def456, 密码";
    assert_eq!(
        find(&[r"Bearer \w+", "密码", "x"], text, MatchType::All),
        [(0, 0..13), (0, 17..30), (1, 32..38)]
    );
    assert_eq!(
        find(&[r"Bearer \w+", "密码", "x"], text, MatchType::Search),
        [(0, 0..13), (1, 32..38)]
    );
    assert_eq!(find(&[], text, MatchType::All), []);
}

#[test]
fn full_match_tries_every_alternative() {
    assert_eq!(find(&["a|ab"], "ab", MatchType::FullMatch), [(0, 0..2)]);
    assert_eq!(find(&["a|ab"], "abc", MatchType::FullMatch), []);
    assert_eq!(find(&["a(?=b)b|a"], "ab", MatchType::FullMatch), [(0, 0..2)]);
    assert_eq!(find(&["(?x) a b # comment"], "ab", MatchType::FullMatch), [(0, 0..2)]);
    assert_eq!(find(&["(?x: a ) #"], "a #", MatchType::FullMatch), [(0, 0..3)]);
    assert_eq!(find(&["(?i)привет"], "ПРИВЕТ", MatchType::FullMatch), [(0, 0..12)]);
    assert_eq!(find(&["a*"], "", MatchType::FullMatch), [(0, 0..0)]);
    assert_eq!(find(&["a$"], "a\n", MatchType::FullMatch), []);
}

#[test]
fn backtracking_features_work() {
    assert_eq!(texts(r"(?<!\w)\d{4}(?!\d)", "1234 a5678 90123 4567"), ["1234", "4567"]);
    assert_eq!(
        texts(r"(?P<word>\w+) (?P=word)", "the the cat cat"),
        ["the the", "cat cat"]
    );
    assert_eq!(texts(r"(?<=密码：)\w+", "密码：秘密"), ["秘密"]);
}

#[test]
fn syntax_of_python_is_understood() {
    assert_eq!(texts(r"(?P<n>a)\Z", "aa"), ["a"]);
    assert_eq!(texts(r"\<script\>", "<script> script"), ["<script>"]);
    assert_eq!(texts("{{.*?}}", "a {{b}} c"), ["{{b}}"]);
    assert_eq!(texts("a{,2}b", "aab"), ["aab"]);
    assert_eq!(texts("[[a]+", "x[a["), ["[a["]);
    assert_eq!(texts("[a&&b]+", "&a"), ["&a"]);
    assert_eq!(texts("[]a]+", "]a"), ["]a"]);
    assert_eq!(texts("[+--]+", "+,-a"), ["+,-"]);
    assert_eq!(texts("[[:digit:]]+", "a12"), ["12"]);
    assert_eq!(texts("(?x) [ ] a # b", "b a"), [" a"]);
    assert_eq!(texts("a(?#comment)b", "ab"), ["ab"]);
    assert_eq!(texts(r"\p{L}{2}", "éà"), ["éà"]);
    assert_eq!(texts(r"\é", "é"), ["é"]);
    assert_eq!(texts(r"^secret$", "secret\n"), ["secret"]);
    assert_eq!(texts(r"\n$", "a\n\n"), ["\n", "\n"]);
    assert_eq!(texts(r"\w+$|b|^", "a b c\n"), ["", "b", "c"]);
    assert_eq!(find(&["$"], "a\n", MatchType::All), [(0, 1..1), (0, 2..2)]);
}

/// A result of `python_re/generate.py`: Python rejects the pattern, or its matches in the texts that have any.
#[derive(serde::Deserialize)]
struct PythonCase {
    pattern: String,
    #[serde(default)]
    refused: bool,
    #[serde(default)]
    found: std::collections::HashMap<String, (usize, usize)>,
}

/// Patterns that Python accepts, and that are an error here.
const REFUSED: [&str; 4] = [r"\N{BULLET}", r"[\N{BULLET}]", r"(?a)\w", r"(?a:\w)"];
/// Patterns that Python rejects, and that mean the same everywhere else.
const MORE: [&str; 2] = [r"a\z", r"(?P<n>a)\k<n>"];

#[test]
fn patterns_find_what_python_finds_or_are_refused() {
    let mut lines = include_str!("python_re/cases.jsonl").lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let cases: Vec<PythonCase> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wrong = Vec::new();
    for case in &cases {
        let name = &*case.pattern;
        let Ok(patterns) = Patterns::compile(&[name]) else {
            if !case.refused && !REFUSED.contains(&name) {
                wrong.push(format!("{name} is refused"));
            }
            continue;
        };
        if REFUSED.contains(&name) || case.refused && !MORE.contains(&name) {
            wrong.push(format!("{name} is not refused"));
        }
        for text in texts.iter().filter(|_| !case.refused) {
            let found = patterns.find(text, MatchType::Search).unwrap();
            let found = found.first().map(|found| (found.range.start, found.range.end));
            let expected = case.found.get(text).copied();
            if found != expected {
                wrong.push(format!("{name} in {text:?}: {found:?}, in Python {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_read_as_in_python_says_so() {
    for (pattern, expected) in [
        (
            r"ab\N{BULLET}",
            "names of characters are not supported; write the character itself, or its number, such as \\u2022",
        ),
        (r"ab(?a:\w)", "the flag a is not supported"),
        (r"ab\h", "unknown escape \\h"),
        (r"ab(?i)", "flags of the whole pattern stand at its beginning"),
        (r"ab\1", "there is no group 1 yet"),
        (r"ab(?(3)c)", "there is no group 3"),
    ] {
        let error = Patterns::compile(&[pattern]).unwrap_err();
        let PatternError::Syntax { message, position, .. } = &error else {
            panic!("{error}");
        };
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(*position, Some(2), "{pattern}");
    }
}

#[test]
fn syntax_of_ecmascript_is_understood() {
    let found = |pattern: &str, text: &str| {
        let patterns = Patterns::compile_as(&[pattern], Syntax::Ecmascript).unwrap();
        !patterns.find(text, MatchType::Search).unwrap().is_empty()
    };
    for (pattern, matched, other) in [
        (r"^(user|guest)$", "user", "user\n"),
        (r"^\d{4}$", "2024", "٢٠٢٤"),
        (r"^\D$", "٢", "2"),
        (r"^\w+$", "az_09", "é"),
        (r"^[\w-]+$", "a-b", "é-b"),
        (r"^[^\W\d]$", "a", "1"),
        (r"^[\D]$", "٢", "2"),
        (r"\bb", "éb", "ab"),
        (r"a\Bb", "ab", "a b"),
        (r"é\B", "é ", "éa"),
        (r"^\s$", "\u{FEFF}", "\u{85}"),
        (r"^[\s]$", "\u{2003}", "\u{180E}"),
        (r"^\S$", "\u{85}", "\u{FEFF}"),
        (r"^.$", "\u{85}", "\u{2028}"),
        (r"^.$", "😀", "\r"),
        (r"^[^]$", "\n", ""),
        (r"^a[]?$", "a", "a]"),
        (r"^[[a]$", "[", "]"),
        (r"^[a&&b]$", "&", "c"),
        (r"^[--/]$", ".", "0"),
        (r"^[a-c-e]$", "-", "d"),
        (r"^[\b\-]$", "\u{8}", "b"),
        (r"^\u0041\u{1F600}\x42\cJ\0$", "A😀B\n\0", "A"),
        (r"^[\uD83D\uDE00-\uD83D\uDE02]$", "😁", "😃"),
        (r"^\p{Lu}\P{L}[\p{Script=Greek}]$", "É1λ", "é1λ"),
        (r"^(?<année>a)(?:b)\/\-\<$", "ab/-<", "ab/-"),
        (r"^a{2,}?b{0}c{1,2}$", "aac", "ac"),
        (r"^ # $", " # ", "#"),
    ] {
        assert!(found(pattern, matched), "{pattern} {matched:?}");
        assert!(!found(pattern, other), "{pattern} {other:?}");
    }
}

#[test]
fn what_ecmascript_does_not_know_is_refused() {
    for (pattern, position, message) in [
        (r"é(?=a)", 2, "look-around"),
        (r"(?<!a)b", 0, "look-around"),
        (r"(a)\1", 3, "back-references"),
        (r"(?<n>a)\k<n>", 7, "back-references"),
        (r"(?i)a", 0, "unknown kind of group"),
        (r"(?P<n>a)", 0, "unknown kind of group"),
        (r"(?<1>a)", 0, "bad name"),
        (r"a\Z", 1, "no character"),
        (r"a\", 1, "nothing to escape"),
        (r"\x4", 0, "no character"),
        (r"\uD83D", 0, "no character"),
        (r"\u{110000}", 0, "no character"),
        (r"[\B]", 1, "no character"),
        (r"\pL", 0, "property"),
        (r"a\p{Nope}", 1, "property"),
        (r"a**", 2, "nothing to repeat"),
        (r"^*", 1, "nothing to repeat"),
        (r"a{,2}", 1, "begins no repetition"),
        (r"a{2,1}", 1, "ascend"),
        (r"[b-a]", 1, "ascend"),
        (r"[a-\d]", 1, "ascend"),
        (r"[[:alpha:]]", 10, "closes nothing"),
        (r"a[b", 1, "unclosed"),
        (r"a[b-", 1, "unclosed"),
        (r"(a", 0, "unclosed"),
        (r"a)", 1, "unopened"),
    ] {
        let (found, at) = match Patterns::compile_as(&["ok", pattern], Syntax::Ecmascript).unwrap_err() {
            PatternError::Syntax {
                pattern: 1,
                message,
                position,
            } => (message, position),
            other => panic!("{pattern} {other}"),
        };
        assert!(found.contains(message), "{pattern} {found}");
        assert_eq!(at, Some(position), "{pattern} {found}");
    }
}

#[test]
fn syntax_errors_say_where() {
    let error = |pattern: &str| match Patterns::compile(&["ok", pattern]).unwrap_err() {
        PatternError::Syntax {
            pattern: 1,
            message,
            position,
        } => (message, position),
        other => panic!("{other}"),
    };
    assert_eq!(error("é(a"), ("unclosed group".to_owned(), Some(2)));
    assert_eq!(error("a{,2}b)").1, Some(6));
    assert_eq!(error("a**"), ("multiple repeat".to_owned(), Some(2)));
    assert_eq!(error("[z-a]").1, Some(1));
    assert!(error("(?=(a)").1.is_some());
    assert!(!error("(?<=a)(").0.contains('\n'));
}

#[test]
fn large_patterns_are_refused() {
    assert_eq!(
        Patterns::compile(&[r"\w{9999}"]).unwrap_err(),
        PatternError::TooLarge { pattern: 0 }
    );
    assert_eq!(
        Patterns::compile(&[r"(?=a)\w{9999}"]).unwrap_err(),
        PatternError::TooLarge { pattern: 0 }
    );
}

#[test]
fn long_lists_are_refused() {
    let too_many = vec!["a"; MAX_PATTERNS + 1];
    assert_eq!(
        Patterns::compile(&too_many).unwrap_err(),
        PatternError::TooMany { pattern: MAX_PATTERNS }
    );
    let alternation = "word|".repeat(MAX_BYTES / 5 + 1);
    assert_eq!(
        Patterns::compile(&["a", &alternation]).unwrap_err(),
        PatternError::TooMany { pattern: 1 }
    );
    let large = vec![r"\w{100}"; 1_000];
    assert_eq!(
        Patterns::compile(&large).unwrap_err(),
        PatternError::TooLarge { pattern: 0 }
    );
}

#[test]
fn costly_patterns_are_known() {
    let costly = |patterns: &[&str]| Patterns::compile(patterns).unwrap().are_costly();
    assert!(!costly(&[r"\bsk-[A-Za-z0-9_\-]{20,}", r"(?i)\w+@\w+"]));
    assert!(costly(&["(?:[ab]{1,100}c?){100}x"]));
    assert!(costly(&[r"(a)\1"]));
    assert!(costly(&["a"; FEW + 1]));
}

#[test]
fn time_is_limited_over_all_readings() {
    let patterns = Patterns::compile(&[r"(?=.*x)z"]).unwrap();
    let past = Instant::now().checked_sub(TIME_LIMIT);
    let error = past.map(|past| patterns.find_until("aaa", MatchType::All, past).unwrap_err());
    assert!(error.is_none_or(|error| error == PatternError::StepLimit { pattern: 0 }));
}

#[test]
fn time_is_limited_for_costly_patterns_only() {
    let patterns = Patterns::compile(&[r"(?:[ab]{1,100}c?){100}x"]).unwrap();
    let text = "ab".repeat(20_000);
    let error = patterns
        .find_until(&text, MatchType::Search, Instant::now())
        .unwrap_err();
    assert_eq!(error, PatternError::StepLimit { pattern: 0 });
    let patterns = Patterns::compile(&[r"\bsecret-\w+", r"(\w+)@(\w+)\.com"]).unwrap();
    let text = "no ".repeat(100_000) + "secret-key of me@example.com";
    let late = patterns.find_until(&text, MatchType::All, Instant::now()).unwrap();
    assert_eq!(late.len(), 2);
    assert_eq!(late, patterns.find(&text, MatchType::All).unwrap());
}

#[test]
fn less_time_may_be_given() {
    let patterns = Patterns::compile(&[r"(?:[ab]{1,100}c?){100}x", "b$"]).unwrap();
    let find = |text: &str| patterns.find_within(text, MatchType::Search, Duration::ZERO);
    assert_eq!(find(&"ab".repeat(20_000)), Err(PatternError::StepLimit { pattern: 0 }));
    assert_eq!(find("ab").unwrap().len(), 1);
}

#[test]
fn quick_searches_that_each_read_all_that_is_left_are_an_error() {
    let patterns = Patterns::compile(&["x[^y]*y|x"]).unwrap();
    for length in [30_000, 300_000] {
        let error = patterns
            .find_until(&"x".repeat(length), MatchType::All, Instant::now())
            .unwrap_err();
        assert_eq!(error, PatternError::StepLimit { pattern: 0 });
    }
}

#[test]
fn expensive_backtracking_is_an_error() {
    let patterns = Patterns::compile(&["x", r"^(a|a?)+(?=b)c$"]).unwrap();
    let error = patterns.find(&"a".repeat(5_000), MatchType::All).unwrap_err();
    assert_eq!(error, PatternError::StepLimit { pattern: 1 });
}

#[test]
fn time_is_limited_within_one_search() {
    // It takes few steps, but each reads the rest of the text.
    let patterns = Patterns::compile(&[r"(?:(?=.*!)a)*b"]).unwrap();
    for length in [400, 20_000] {
        let text = "a".repeat(length) + "!";
        let until = Instant::now() + Duration::from_millis(1);
        let error = patterns.find_until(&text, MatchType::Search, until).unwrap_err();
        assert_eq!(error, PatternError::StepLimit { pattern: 0 });
    }
    // A search that ran out of time does not affect the next one.
    assert_eq!(patterns.find("aab!", MatchType::Search).unwrap().len(), 1);
    assert_eq!(
        patterns.find(&("a".repeat(400) + "!"), MatchType::Search),
        Ok(Vec::new())
    );
}

#[test]
fn long_texts_are_searched_like_short_ones() {
    let text = format!("{}foo {}", "word éa ".repeat(4_000), "xfoo foo");
    let found = texts(r"(?<!\w)foo\b", &text);
    assert_eq!(found, ["foo", "foo"]);
    assert_eq!(texts(r"(?=z)|(?<=q)$", &text), [""; 0]);
}

#[test]
fn readings_are_searched_too() {
    let patterns = Patterns::compile(&[r"ignore (all|previous)", "^all$"]).unwrap();
    let text = "ignore all aWdub3JlIGFsbA==";
    let found = |match_type| {
        let matches = patterns.find_in_views(text, match_type).unwrap().into_iter();
        matches
            .map(|s| (s.found.pattern, &text[s.range], s.view))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(MatchType::Search), [(0, "ignore all", None)]);
    assert_eq!(
        found(MatchType::All),
        [
            (0, "ignore all", None),
            (0, "aWdub3JlIGFsbA==", Some("base64".to_owned()))
        ]
    );
    assert_eq!(found(MatchType::FullMatch), []);
}

proptest! {
    #[test]
    fn ranges_are_valid(
        text in ".{0,60}",
        pattern in prop::sample::select(vec![r"\w+", r"(?<=a).", "", r"(?=\w)", r"(.)\1", "$", "[^a]*"]),
    ) {
        for match_type in [MatchType::Search, MatchType::FullMatch, MatchType::All] {
            let found = find(&[pattern], &text, match_type);
            for (_, range) in &found {
                prop_assert!(text.get(range.clone()).is_some());
            }
            prop_assert!(found.windows(2).all(|pair| pair[0].1.end <= pair[1].1.start));
            prop_assert!(match_type == MatchType::All || found.len() <= 1);
        }
    }

    #[test]
    fn no_pattern_panics(pattern in r"[()\[\]{}?*+|^$.\\#:<>=!&~aZx0-9, é-]{0,16}", text in "[a-z0 é]{0,12}") {
        for syntax in [Syntax::Python, Syntax::Ecmascript] {
            if let Ok(patterns) = Patterns::compile_as(&[&pattern], syntax) {
                let _ = patterns.find(&text, MatchType::All);
                let _ = patterns.find(&text, MatchType::FullMatch);
            }
        }
    }
}

#[test]
fn equivalent_spellings_match() {
    for (pattern, text, range) in [
        ("N[ée]stora", "un Ne\u{301}stora", 3..12),
        ("Ne\u{301}stora", "un Néstora", 3..11),
        ("Ne\u{301}stora", "un Ne\u{301}stora", 3..12),
        (r"\bcaf\w\b", "cafe\u{301}", 0..6),
    ] {
        let patterns = Patterns::compile(&[pattern]).unwrap();
        let found = patterns.find(text, MatchType::All).unwrap();
        assert!(found.iter().any(|found| found.range == range), "{pattern}: {found:?}");
        assert_eq!(patterns.find(text, MatchType::Search).unwrap().len(), 1, "{pattern}");
    }
    // A class of accents keeps its meaning.
    let accents = Patterns::compile(&["[e\u{301}]"]).unwrap();
    assert_eq!(accents.find("e", MatchType::All).unwrap().len(), 1);
}
