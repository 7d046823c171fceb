//! Targets of rules.

use std::sync::LazyLock;
use std::time::Duration;

use guard_core::rules::overlap::{self, Options as OverlapOptions};
use guard_core::rules::phrases::{self as phrase_rules, Phrases};
use guard_core::rules::placeholders::{self, Matching};
use guard_core::rules::regex::{MatchType, Patterns, Syntax};
use guard_core::rules::secrets::{self as secret_rules, RedactMode, Secrets};
use guard_core::rules::substrings::{MatchType as Where, Substrings};
use guard_core::rules::urls as url_rules;

use crate::steps::{check, linear};

/// The time limit of a search; exceeding it is no failure.
const LIMIT: Duration = Duration::from_millis(100);

/// The first line is a pattern, and the rest is searched. The pattern is rejected or searched for, and matches are in
/// order.
pub fn regex(input: &str) {
    let (pattern, text) = input.split_once('\n').unwrap_or((input, input));
    for syntax in [Syntax::Python, Syntax::Ecmascript] {
        let Ok(patterns) = Patterns::compile_as(&[pattern], syntax) else {
            continue;
        };
        for match_type in [MatchType::Search, MatchType::FullMatch, MatchType::All] {
            let found = patterns.find_within(text, match_type, LIMIT).unwrap_or_default();
            check(text, found.iter().map(|found| &found.range), true);
        }
    }
}

static SECRETS: LazyLock<Secrets> =
    LazyLock::new(|| Secrets::new(&secret_rules::Options::default()).expect("the embedded rules"));

/// Secrets are in order, and a redacted text contains none of them.
pub fn secrets(text: &str) {
    for deobfuscate in [false, true] {
        let found = linear(text, 4000, || SECRETS.find(text, deobfuscate)).unwrap_or_default();
        check(text, found.iter().map(|secret| &secret.range), true);
        let hidden = secret_rules::redact(text, &found, RedactMode::All);
        for secret in &found {
            let value = &text[secret.range.clone()];
            // A shorter secret may be part of its replacement, or of an ordinary word.
            assert!(
                value.len() < 10 || !hidden.contains(value),
                "{value:?} is left of {text:?}"
            );
        }
    }
}

/// Heads of documents whose secrets a parser finds.
const HEADS: [&str; 4] = [
    "kind: Secret\ndata:\n  a: ",
    "{\"kind\": \"Secret\", \"data\": {\"a\": \"",
    "insert into t (name, password) values (",
    "password = \"",
];

/// Secrets in documents for parsers are in order, and a redacted text contains none of them.
pub fn secret_documents(text: &str) {
    for head in HEADS {
        secrets(&format!("{head}{text}"));
    }
}

static WORDS: [&str; 5] = ["ignore", "Acme Corp", "c++", "坏人", "straße"];

/// Occurrences are ordered by their starts, and their text is the substring in some case.
pub fn substrings(text: &str) {
    for place in [Where::Str, Where::Word, Where::Name] {
        for case_sensitive in [true, false] {
            let substrings = Substrings::new(&WORDS, place, case_sensitive).expect("substrings");
            let found = linear(text, 100, || substrings.find(text, true));
            check(text, found.iter().map(|found| &found.range), false);
            if case_sensitive && place != Where::Name {
                assert!(
                    found
                        .iter()
                        .all(|found| &text[found.range.clone()] == WORDS[found.substring])
                );
            }
            let seen = linear(text, 4000, || substrings.find_in_views(text, true));
            check(text, seen.iter().map(|seen| &seen.range), false);
        }
    }
}

static PHRASES: LazyLock<[&'static Phrases; 2]> = LazyLock::new(|| {
    [
        phrase_rules::REFUSALS.get().expect("embedded"),
        phrase_rules::ORDERS.get().expect("embedded"),
    ]
});

/// Phrases are in the text, including those in views.
pub fn phrases(text: &str) {
    for phrases in PHRASES.iter() {
        let found = linear(text, 2000, || phrases.find(text)).unwrap_or_default();
        check(text, found.iter().map(|found| &found.range), false);
        let seen = linear(text, 20_000, || phrases.find_in_views(text)).unwrap_or_default();
        check(text, seen.iter().map(|seen| &seen.range), false);
    }
}

/// URLs are in order, without overlaps, and have a host or are found again after serialization.
pub fn urls(text: &str) {
    let found = linear(text, 400, || url_rules::find(text));
    check(text, found.iter().map(|found| &found.range), true);
    for found in found {
        assert!(!found.range.is_empty());
        if let Some(host) = found.url.host_str() {
            // The root dot, as in `example.org.`, belongs to no registrar.
            assert!(
                host.trim_end_matches('.')
                    .ends_with(url_rules::registrable_domain(host).trim_end_matches('.'))
            );
        }
    }
}

/// The first line is a placeholder. Occurrences are in order, and an exact search leaves no placeholder.
pub fn placeholders(input: &str) {
    let (own, text) = input.split_once('\n').unwrap_or(("", input));
    let all = [own, "[REDACTED_PERSON_1]", "[REDACTED_PERSON_2]", "<EMAIL_1>"];
    for matching in [Matching::Exact, Matching::CaseInsensitive, Matching::Fuzzy] {
        let occurrences = linear(text, 400, || placeholders::find(text, &all, matching)).expect("few placeholders");
        assert!(occurrences.searched <= text.len());
        check(text, occurrences.found.iter().map(|found| &found.range), true);
        let same = placeholders::replace(text, &occurrences.found, &all);
        if matching == Matching::Exact {
            assert_eq!(same, text);
        }
    }
}

/// The rest may repeat the first line. Passages are in the text, and shares are valid.
pub fn overlap(input: &str) {
    let (other, text) = input.split_once('\n').unwrap_or((input, input));
    for deobfuscate in [false, true] {
        let options = OverlapOptions {
            minimum: 2,
            deobfuscate,
            ..OverlapOptions::default()
        };
        let found = linear(text, 4000 + other.len(), || overlap::overlap(text, &[other], &options));
        check(text, found.passages.iter().map(|passage| &passage.range), false);
        assert!((0.0..=1.0).contains(&found.share));
        assert!(found.others.iter().all(|repeated| repeated.words <= repeated.of));
    }
}
