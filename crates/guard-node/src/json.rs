//! JSON in a text.

use guard_core::text::json;
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text};
use crate::spans::spans;

/// A piece of a text that is JSON, or was meant to be.
#[napi(object)]
pub struct JsonCandidate {
    pub start: u32,
    pub end: u32,
    /// What is wrong with it; absent when it is valid.
    pub message: Option<String>,
    /// The position in the text where it goes wrong; `end` when it is valid.
    pub at: u32,
    /// Whether a repair may be tried.
    pub repairable: bool,
}

/// Finds the outermost objects and arrays of a text.
#[napi]
pub fn find_json(text: JsString<'_>) -> Result<Answer<'_, Vec<JsonCandidate>>> {
    on_text(Cost(5), text, |text| Ok(find(text)))
}

fn find(text: &str) -> Vec<JsonCandidate> {
    let found = json::find(text);
    // Each candidate in two halves, up to its problem and from there on, so that one conversion gives all three offsets.
    let halves = found.iter().flat_map(|json::Candidate { range, problem }| {
        let at = problem.as_ref().map_or(range.end, |problem| problem.at);
        [range.start..at, at..range.end]
    });
    found
        .iter()
        .zip(spans(text, halves).chunks_exact(2))
        .map(|(json::Candidate { problem, .. }, halves)| JsonCandidate {
            start: halves[0].start,
            end: halves[1].end,
            message: problem.as_ref().map(|problem| problem.message.to_owned()),
            at: halves[1].start,
            repairable: problem.as_ref().is_some_and(|problem| problem.repairable),
        })
        .collect()
}
