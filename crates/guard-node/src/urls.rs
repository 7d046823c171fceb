//! URLs in texts.

use guard_core::lang::url_standing::{self, UrlStanding};
use guard_core::rules::urls;
use napi::bindgen_prelude::Uint8Array;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_if_ready, on_texts};
use crate::spans::{Rows, rows};

/// The URLs of a text, in order.
#[napi(object)]
pub struct NativeFoundUrls {
    /// The start and the end of each.
    pub places: Rows,
    /// Each as the URL standard serializes it, one a line: a serialized URL has no line break.
    pub urls: String,
}

/// Nanoseconds for each byte of a text that shows no URL, and of one that may have some; see [`Cost`].
const GLANCE: Cost = Cost(5);
const SEARCH: Cost = Cost(80);

/// Finds the URLs of a text, and what a browser understands by them; null where there are none.
#[napi]
pub fn find_urls(text: JsString<'_>) -> Result<Answer<'_, Option<NativeFoundUrls>>> {
    let now = |text: &str| match urls::shows_none(text) {
        true => Ok(Some(None)),
        false => Ok(SEARCH.is_low(text.len()).then(|| found_in(text))),
    };
    on_text_if_ready(GLANCE, text, now, |text| Ok(found_in(text)))
}

fn found_in(text: &str) -> Option<NativeFoundUrls> {
    let found = urls::find(text);
    let serialized: Vec<&str> = found.iter().map(|found| found.url.as_str()).collect();
    (!found.is_empty()).then(|| NativeFoundUrls {
        places: rows(text, &found, |found| found.range.clone(), |_| []),
        urls: serialized.join("\n"),
    })
}

/// What is known of URLs before a model judges them; see `UrlStanding` of guard-core.
#[napi(object)]
pub struct NativeUrlStandings {
    /// For each URL: 0 where it is harmless, 1 for a homograph, 2 where its standing is open.
    pub standings: Uint8Array,
    /// Those whose standing is open, in their order, as a model should read them.
    pub judged_as: Vec<String>,
}

/// The standing of each of these URLs, which are serialized as [`find_urls`] returns them.
#[napi(js_name = "urlStandings")]
pub fn url_standings(env: &Env, urls: Vec<String>) -> Result<Answer<'_, NativeUrlStandings>> {
    on_texts(env, Cost(100), urls, |urls| {
        let mut judged_as = Vec::new();
        let standing = |url: &String| match url_standing::standing(url) {
            UrlStanding::Harmless => 0,
            UrlStanding::Homograph => 1,
            UrlStanding::Open { judged_as: text } => {
                judged_as.push(text);
                2
            }
        };
        let standings: Vec<u8> = urls.iter().map(standing).collect();
        Ok(NativeUrlStandings {
            standings: standings.into(),
            judged_as,
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
