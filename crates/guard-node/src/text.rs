//! Texts as such: sentences and invisible characters.

use guard_core::text::{invisible, sentences};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;
use crate::places::{Span, spans};

/// The sentences of a text, in order, without the white space between them.
#[napi]
pub fn split_sentences(text: String) -> Vec<Span> {
    spans(&text, sentences::split(&text))
}

/// A run of invisible characters of one kind.
#[napi(object)]
pub struct InvisibleRun {
    pub start: u32,
    pub end: u32,
    pub kind: String,
}

/// What is invisible in a text, and the text without it.
#[napi(object)]
pub struct InvisibleScan {
    pub runs: Vec<InvisibleRun>,
    /// Absent where there is nothing to remove.
    pub visible: Option<String>,
}

/// Finds invisible characters.
#[napi]
pub fn scan_invisible(text: String) -> InvisibleScan {
    find_invisible(&text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<InvisibleScan>")]
pub fn scan_invisible_long(text: String) -> AsyncTask<OffThread<InvisibleScan>> {
    OffThread::new(move || Ok(find_invisible(&text)))
}

fn find_invisible(text: &str) -> InvisibleScan {
    let found = invisible::find(text);
    let runs = found
        .iter()
        .zip(spans(text, found.iter().map(|run| run.range.clone())))
        .map(|(run, Span { start, end })| InvisibleRun {
            start,
            end,
            kind: run.kind.as_str().to_owned(),
        })
        .collect();
    let visible = (!found.is_empty()).then(|| invisible::remove(text));
    InvisibleScan { runs, visible }
}
