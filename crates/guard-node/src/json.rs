//! JSON in a text.

use guard_core::text::json;
use napi::bindgen_prelude::Float64Array;
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text};
use crate::spans::{Names, spans};

/// The pieces of a text that are JSON, or were meant to be.
#[napi(object)]
pub struct JsonCandidates {
    /// The start and the end of each; the position in the text where it goes wrong, which is the end where it is valid; the index
    /// of the message that says what is wrong, or -1 where it is valid; 1 where a repair may be tried, else 0.
    pub pieces: Float64Array,
    /// What is wrong with pieces.
    pub messages: Vec<String>,
}

/// Finds the outermost objects and arrays of a text.
#[napi]
pub fn find_json(text: JsString<'_>) -> Result<Answer<'_, JsonCandidates>> {
    on_text(Cost(5), text, |text| Ok(find(text)))
}

fn find(text: &str) -> JsonCandidates {
    let found = json::find(text);
    // Each candidate in two halves, up to its problem and from there on, so that one conversion gives all three offsets.
    let halves = found.iter().flat_map(|json::Candidate { range, problem }| {
        let at = problem.as_ref().map_or(range.end, |problem| problem.at);
        [range.start..at, at..range.end]
    });
    let mut messages = Names::default();
    let pieces: Vec<f64> = found
        .iter()
        .zip(spans(text, halves).chunks_exact(2))
        .flat_map(|(json::Candidate { problem, .. }, halves)| {
            let message = messages.index_of(problem.as_ref().map(|problem| problem.message));
            let is_repairable = problem.as_ref().is_some_and(|problem| problem.repairable);
            let offsets = [halves[0].start, halves[1].end, halves[1].start].map(f64::from);
            [
                offsets[0],
                offsets[1],
                offsets[2],
                message,
                f64::from(u8::from(is_repairable)),
            ]
        })
        .collect();
    JsonCandidates {
        pieces: pieces.into(),
        messages: messages.into_list(),
    }
}
