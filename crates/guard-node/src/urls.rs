//! Finds URLs in texts.

use guard_core::lang::url_triage::{self, UrlTriage};
use guard_core::rules::urls;
use napi::bindgen_prelude::Uint8Array;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_if_ready, on_texts};
use crate::spans::{Rows, rows};

/// The URLs of a text, in order.
#[napi(object)]
pub struct FoundUrls {
    /// The start and the end of each URL.
    pub spans: Rows,
    /// The URLs, serialized by the URL standard, one per line: a serialized URL has no line break.
    pub urls: String,
}

/// Nanoseconds per byte of a text without URLs, and of one that may have some; see [`Cost`].
const PREFILTER: Cost = Cost(5);
const SEARCH: Cost = Cost(80);

/// Finds the URLs of a text, parsed like in a browser; null if there are none.
#[napi]
pub fn find_urls(text: JsString<'_>) -> Result<Answer<'_, Option<FoundUrls>>> {
    let now = |text: &str| match urls::has_no_url(text) {
        true => Ok(Some(None)),
        false => Ok(SEARCH.is_low(text.len()).then(|| found_in(text))),
    };
    on_text_if_ready(PREFILTER, text, now, |text| Ok(found_in(text)))
}

fn found_in(text: &str) -> Option<FoundUrls> {
    let found = urls::find(text);
    let serialized: Vec<&str> = found.iter().map(|found| found.url.as_str()).collect();
    (!found.is_empty()).then(|| FoundUrls {
        spans: rows(text, &found, |found| found.range.clone(), |_| []),
        urls: serialized.join("\n"),
    })
}

/// The decisions about URLs before a model classifies them; see guard-core.
#[napi(object)]
pub struct TriagedUrls {
    /// For each URL: 0 if it is harmless, 1 for a homograph, 2 if a model must classify it.
    pub classes: Uint8Array,
    /// The texts that the model classifies in place of the undecided URLs, in order.
    pub model_texts: Vec<String>,
}

/// Decides about each URL. The URLs are serialized as by [`find_urls`].
#[napi]
pub fn triage_urls(env: &Env, urls: Vec<String>) -> Result<Answer<'_, TriagedUrls>> {
    on_texts(env, Cost(100), urls, |urls| {
        let mut model_texts = Vec::new();
        let number = |url: &String| match url_triage::triage(url) {
            UrlTriage::Harmless => 0,
            UrlTriage::Homograph => 1,
            UrlTriage::Undecided { model_text } => {
                model_texts.push(model_text);
                2
            }
        };
        let classes: Vec<u8> = urls.iter().map(number).collect();
        Ok(TriagedUrls {
            classes: classes.into(),
            model_texts,
        })
    })
}

/// The registrable domain of each of these hosts; see `registrable_domain` of guard-core.
#[napi]
pub fn registrable_domains(hosts: Vec<String>) -> Vec<String> {
    hosts
        .iter()
        .map(|host| urls::registrable_domain(host).to_owned())
        .collect()
}
