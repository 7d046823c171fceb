//! Reading time and sentiment of texts.

use guard_core::text::{reading_time, sentiment};
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text};
use crate::spans::position;

/// The reading time of a text.
#[napi(object)]
pub struct ReadingTime {
    pub minutes: f64,
    /// The end of the longest prefix that fits the limit, in UTF-16 code units.
    pub end: u32,
}

/// Measures the reading time of a text against a limit in minutes.
#[napi]
pub fn reading_time(text: JsString<'_>, limit: f64) -> Result<Answer<'_, ReadingTime>> {
    on_text(Cost(10), text, move |text| {
        let reading_time::ReadingTime { minutes, end } = reading_time::measure(text, limit);
        Ok(ReadingTime {
            minutes,
            end: position(text, end),
        })
    })
}

/// VADER's compound score of a text: from -1 (negative) to 1 (positive).
#[napi]
pub fn sentiment(text: JsString<'_>) -> Result<Answer<'_, f64>> {
    on_text(Cost(30), text, |text| Ok(sentiment::compound(text)))
}
