//! URLs in texts.

use guard_core::rules::urls;
use guard_core::text::offsets::{self, Unit};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;

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
    let mut bytes: Vec<usize> = found
        .iter()
        .flat_map(|found| [found.range.start, found.range.end])
        .collect();
    offsets::convert(text, Unit::Utf16, &mut bytes);
    found
        .into_iter()
        .zip(bytes.chunks_exact(2))
        .map(|(found, at)| NativeFoundUrl {
            start: at[0] as u32,
            end: at[1] as u32,
            url: found.url.into(),
        })
        .collect()
}
