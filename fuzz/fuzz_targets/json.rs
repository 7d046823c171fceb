//! JSON in any text: candidates stand in the text, in order and without overlaps.

#![no_main]

use guard_core::text::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut end = 0;
    for found in json::find(text) {
        assert!(found.range.start >= end && text.get(found.range.clone()).is_some());
        end = found.range.end;
        if let Some(problem) = found.problem {
            assert!(problem.at <= text.len());
        }
    }
});
