//! URLs in texts.

use guard_core::rules::urls;
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, on_text};
use crate::spans::{Span, with_spans};

/// A URL in a text, and what a browser understands by it.
#[napi(object)]
pub struct NativeFoundUrl {
    pub start: u32,
    pub end: u32,
    /// The URL as the URL standard serializes it.
    pub url: String,
}

/// Finds the URLs of a text, in order.
#[napi]
pub fn find_urls(text: JsString<'_>) -> Result<Answer<'_, Vec<NativeFoundUrl>>> {
    on_text(text, |text| {
        let found = urls::find(text);
        let url = |found: urls::FoundUrl, Span { start, end }| NativeFoundUrl {
            start,
            end,
            url: found.url.into(),
        };
        Ok(with_spans(text, found, |found| found.range.clone(), url))
    })
}
