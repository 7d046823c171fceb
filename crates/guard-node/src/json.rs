//! Finds JSON in texts, and repairs it.

use guard_core::text::json;
use guard_core::text::json_repair;
use napi::bindgen_prelude::Float64Array;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text, on_texts};
use crate::spans::{Names, spans};

/// The pieces of a text that are JSON, valid or broken.
#[napi(object)]
pub struct JsonCandidates {
    /// For each piece: the start; the end; the position of the error, or the end if it is valid; the index of the error
    /// message, or -1 if it is valid; 1 if a repair may be tried, else 0.
    pub pieces: Float64Array,
    /// The error messages.
    pub messages: Vec<String>,
}

/// Finds the outermost objects and arrays of a text.
#[napi]
pub fn find_json(text: JsString<'_>) -> Result<Answer<'_, JsonCandidates>> {
    on_text(Cost(5), text, |text| Ok(find(text)))
}

/// Repairs broken pieces of JSON. The result is null for each piece that has no reading, or two.
#[napi]
pub fn repair_json(env: &Env, pieces: Vec<String>) -> Result<Answer<'_, Vec<Option<String>>>> {
    on_texts(env, Cost(40), pieces, |pieces| {
        Ok(pieces.iter().map(|piece| json_repair::repair(piece)).collect())
    })
}

fn find(text: &str) -> JsonCandidates {
    let found = json::find(text);
    // Each candidate in two halves, at its error, so that one conversion returns all three offsets.
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
