//! Feeds texts from libFuzzer to one target in guard-core, selected by the environment variable `GUARD_FUZZ`.
//!
//! One program contains all targets, since compiling guard-core with libFuzzer's instrumentation takes minutes.

#![no_main]

mod personal;
mod rules;
mod steps;
mod text;
mod tokens;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

/// Runs a target on one text, and panics if a property is violated.
type Target = fn(&str);

const TARGETS: &[(&str, Target)] = &[
    ("views", text::views),
    ("json", text::json),
    ("json_repair", text::json_repair),
    ("canonical", text::canonical),
    ("offsets", text::offsets),
    ("invisible", text::invisible),
    ("sentences", text::sentences),
    ("redact", text::redact),
    ("repeats", text::repeats),
    ("regex", rules::regex),
    ("secrets", rules::secrets),
    ("secret_documents", rules::secret_documents),
    ("substrings", rules::substrings),
    ("phrases", rules::phrases),
    ("urls", rules::urls),
    ("placeholders", rules::placeholders),
    ("overlap", rules::overlap),
    ("pii", personal::detector),
    ("windows", tokens::windows),
];

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var("GUARD_FUZZ").unwrap_or_default();
        let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = TARGETS.iter().map(|(known, _)| *known).collect();
            eprintln!("GUARD_FUZZ must be one of {}", names.join(", "));
            std::process::exit(2);
        };
        TARGET.get_or_init(|| *target);
    },
    |bytes: &[u8]| {
        if let Some(target) = TARGET.get() {
            target(&String::from_utf8_lossy(bytes));
        }
    }
);
