//! URLs in texts.

use guard_core::lang::url_standing::{self, UrlStanding};
use guard_core::rules::urls;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text, on_texts};
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
    on_text(Cost(80), text, |text| {
        let found = urls::find(text);
        let url = |found: urls::FoundUrl, Span { start, end }| NativeFoundUrl {
            start,
            end,
            url: found.url.into(),
        };
        Ok(with_spans(text, found, |found| found.range.clone(), url))
    })
}

/// What is known of a URL before a model judges it; see `UrlStanding` of guard-core.
#[napi(object)]
pub struct NativeUrlStanding {
    /// `harmless`, `homograph` or `open`.
    pub standing: String,
    /// The URL as a model should read it; only where the standing is open.
    pub judged_as: Option<String>,
}

/// The standing of each of these URLs, which are serialized as [`find_urls`] returns them.
#[napi(js_name = "urlStandings")]
pub fn url_standings(env: &Env, urls: Vec<String>) -> Result<Answer<'_, Vec<NativeUrlStanding>>> {
    on_texts(env, Cost(100), urls, |urls| {
        let standing = |url: &String| {
            let (standing, judged_as) = match url_standing::standing(url) {
                UrlStanding::Harmless => ("harmless", None),
                UrlStanding::Homograph => ("homograph", None),
                UrlStanding::Open { judged_as } => ("open", Some(judged_as)),
            };
            NativeUrlStanding {
                standing: standing.to_owned(),
                judged_as,
            }
        };
        Ok(urls.iter().map(standing).collect())
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
