//! Placeholders and what they stand for.

use guard_core::rules::placeholders::{self, Matching, Occurrences};
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::error;
use crate::off_thread::OffThread;
use crate::places::{Span, place, spans};
use crate::rules::RuleMatch;

/// How placeholders are recognized.
#[napi(string_enum = "snake_case")]
#[derive(Clone, Copy)]
pub enum PlaceholderMatching {
    Exact,
    CaseInsensitive,
    Fuzzy,
}

/// The placeholders of a text, and the text with what they stand for.
#[napi(object)]
pub struct Restoration {
    /// `rule` is the index of the placeholder.
    pub matches: Vec<RuleMatch>,
    /// Absent where there is nothing to restore.
    pub restored: Option<String>,
    /// How far the text was searched, in UTF-16 code units.
    pub searched: u32,
}

/// Restores what placeholders stand for; the originals are in the order of the placeholders.
#[napi]
pub fn restore_placeholders(
    text: String,
    placeholders: Vec<String>,
    originals: Vec<String>,
    matching: PlaceholderMatching,
) -> Result<Restoration> {
    restore(&text, &placeholders, &originals, matching)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<Restoration>")]
pub fn restore_placeholders_long(
    text: String,
    placeholders: Vec<String>,
    originals: Vec<String>,
    matching: PlaceholderMatching,
) -> AsyncTask<OffThread<Restoration>> {
    OffThread::new(move || restore(&text, &placeholders, &originals, matching))
}

fn restore(
    text: &str,
    placeholders: &[String],
    originals: &[String],
    matching: PlaceholderMatching,
) -> Result<Restoration> {
    if placeholders.len() != originals.len() {
        return Err(error("GUARD_VALIDATION", "each placeholder needs an original"));
    }
    let matching = match matching {
        PlaceholderMatching::Exact => Matching::Exact,
        PlaceholderMatching::CaseInsensitive => Matching::CaseInsensitive,
        PlaceholderMatching::Fuzzy => Matching::Fuzzy,
    };
    let Occurrences { found, searched } =
        placeholders::find(text, placeholders, matching).map_err(|cause| error("GUARD_VALIDATION", cause))?;
    let restored = (!found.is_empty()).then(|| placeholders::replace(text, &found, originals));
    let matches = found
        .iter()
        .zip(spans(text, found.iter().map(|item| item.range.clone())))
        .map(|(item, Span { start, end })| RuleMatch {
            start,
            end,
            rule: item.placeholder as u32,
            view: None,
        })
        .collect();
    Ok(Restoration {
        matches,
        restored,
        searched: place(text, searched),
    })
}
