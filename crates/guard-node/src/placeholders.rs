//! Finds placeholders whose values are restored.

use guard_core::rules::placeholders::{self, Matching, Occurrences};
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, NOTHING, on_text_with};
use crate::error::{Code, Failure};
use crate::spans::{Rows, position, rows};

/// How exactly a placeholder must be written.
#[napi(string_enum = "snake_case")]
#[derive(Clone, Copy)]
pub enum PlaceholderMatching {
    Exact,
    CaseInsensitive,
    Fuzzy,
}

/// The placeholders of a text.
#[napi(object)]
pub struct Restoration {
    /// For each occurrence: the start, the end, and the index of the placeholder.
    pub matches: Rows,
    /// The position up to which the text was searched, in UTF-16 code units.
    pub searched: u32,
}

/// Finds placeholders. There must be an original for each of them, in the same order.
#[napi]
pub fn restore_placeholders(
    text: JsString<'_>,
    placeholders: Vec<String>,
    originals: Vec<String>,
    matching: PlaceholderMatching,
) -> Result<Answer<'_, Restoration>> {
    let (matching, cost) = match matching {
        PlaceholderMatching::Exact => (Matching::Exact, Cost(20)),
        PlaceholderMatching::CaseInsensitive => (Matching::CaseInsensitive, Cost(20)),
        PlaceholderMatching::Fuzzy => (Matching::Fuzzy, Cost::HIGH),
    };
    on_text_with(&NOTHING, cost, text, move |(), text| {
        restore(text, &placeholders, &originals, matching)
    })
}

fn restore(
    text: &str,
    placeholders: &[String],
    originals: &[String],
    matching: Matching,
) -> std::result::Result<Restoration, Failure> {
    if placeholders.len() != originals.len() {
        return Err(Failure::new(Code::Validation, "each placeholder needs an original"));
    }
    let Occurrences { found, searched } = placeholders::find(text, placeholders, matching)?;
    Ok(Restoration {
        matches: rows(
            text,
            &found,
            |item| item.range.clone(),
            |item| [item.placeholder as f64],
        ),
        searched: position(text, searched),
    })
}
