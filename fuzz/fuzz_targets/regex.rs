//! Any pattern in any text: a pattern is refused or searched for, and what it matches stands in the text.

#![no_main]

use std::time::Duration;

use guard_core::rules::regex::{MatchType, Patterns, Syntax};
use libfuzzer_sys::fuzz_target;

/// Time for one search: those that take longer are given up, which is no finding.
const LIMIT: Duration = Duration::from_millis(100);

fuzz_target!(|input: (&str, &str)| {
    let (pattern, text) = input;
    for syntax in [Syntax::Python, Syntax::Ecmascript] {
        let Ok(patterns) = Patterns::compile_as(&[pattern], syntax) else {
            continue;
        };
        for match_type in [MatchType::Search, MatchType::FullMatch, MatchType::All] {
            let found = patterns.find_within(text, match_type, LIMIT).unwrap_or_default();
            for found in &found {
                assert!(text.get(found.range.clone()).is_some());
            }
            assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        }
    }
});
