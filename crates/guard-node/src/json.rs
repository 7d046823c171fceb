//! JSON in a text.

use guard_core::text::json;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;
use crate::places::spans;

/// A piece of a text that is JSON, or means to be, in UTF-16 code units.
#[napi(object)]
pub struct JsonCandidate {
    pub start: u32,
    pub end: u32,
    /// What is wrong with it; absent when it is valid.
    pub message: Option<String>,
    /// Where in the text.
    pub at: u32,
    /// Whether a repair may be tried.
    pub repairable: bool,
}

/// Finds the outermost objects and arrays of a text.
#[napi]
pub fn find_json(text: String) -> Vec<JsonCandidate> {
    find(&text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<JsonCandidate[]>")]
pub fn find_json_long(text: String) -> AsyncTask<OffThread<Vec<JsonCandidate>>> {
    OffThread::new(move || Ok(find(&text)))
}

fn find(text: &str) -> Vec<JsonCandidate> {
    let found = json::find(text);
    // Each up to its problem and from there on.
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
