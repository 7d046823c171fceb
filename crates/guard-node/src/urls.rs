//! URLs in texts.

use guard_core::rules::urls;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;
use crate::places::{Span, spans};

/// A URL in a text, and what a browser understands by it.
#[napi(object)]
pub struct NativeFoundUrl {
    pub start: u32,
    pub end: u32,
    pub url: String,
}

/// Finds the URLs of a text.
#[napi]
pub fn find_urls(text: String) -> Vec<NativeFoundUrl> {
    find(&text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<Array<NativeFoundUrl>>")]
pub fn find_urls_long(text: String) -> AsyncTask<OffThread<Vec<NativeFoundUrl>>> {
    OffThread::new(move || Ok(find(&text)))
}

fn find(text: &str) -> Vec<NativeFoundUrl> {
    let found = urls::find(text);
    let places = spans(text, found.iter().map(|found| found.range.clone()));
    found
        .into_iter()
        .zip(places)
        .map(|(found, Span { start, end })| NativeFoundUrl {
            start,
            end,
            url: found.url.into(),
        })
        .collect()
}
