//! Feeds texts that libFuzzer makes up to one part of guard-core, which the variable `GUARD_FUZZ` of the environment names.
//!
//! It is one program for all parts, since compiling guard-core with the instrumentation of libFuzzer takes minutes.

#![no_main]

mod personal;
mod rules;
mod steps;
mod text;
mod tokens;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

/// Runs one text through a part and panics where something does not hold.
type Target = fn(&str);

const TARGETS: &[(&str, Target)] = &[
    ("views", text::views),
    ("json", text::json),
    ("offsets", text::offsets),
    ("invisible", text::invisible),
    ("sentences", text::sentences),
    ("redact", text::redact),
    ("repeats", text::repeats),
    ("regex", rules::regex),
    ("secrets", rules::secrets),
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
