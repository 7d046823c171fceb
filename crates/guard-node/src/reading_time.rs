//! What a text is to the person who reads it: how long it takes, and how it sounds.

use guard_core::text::{reading_time, sentiment};
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text};
use crate::spans::position;

/// The time that a text takes to read.
#[napi(object)]
pub struct ReadingTime {
    pub minutes: f64,
    /// The position where its longest beginning ends that takes no longer than the limit, in UTF-16 code units.
    pub end: u32,
}

/// Measures how long a text takes to read, against a limit in minutes.
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
