//! What a text is to its reader: how long it takes, how it sounds.

use guard_core::text::{reading, sentiment};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;
use crate::places::place;

/// The time that a text takes.
#[napi(object)]
pub struct ReadingTime {
    pub minutes: f64,
    /// Where its longest beginning ends that takes no longer than the limit, in UTF-16 code units.
    pub end: u32,
}

/// Measures a text against a limit in minutes.
#[napi]
pub fn reading_time(text: String, limit: f64) -> ReadingTime {
    measure(&text, limit)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<ReadingTime>")]
pub fn reading_time_long(text: String, limit: f64) -> AsyncTask<OffThread<ReadingTime>> {
    OffThread::new(move || Ok(measure(&text, limit)))
}

fn measure(text: &str, limit: f64) -> ReadingTime {
    let reading::Reading { minutes, end } = reading::measure(text, limit);
    ReadingTime {
        minutes,
        end: place(text, end),
    }
}

/// VADER's compound score: -1 (negative) to 1 (positive).
#[napi]
pub fn sentiment(text: String) -> f64 {
    sentiment::compound(&text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<number>")]
pub fn sentiment_long(text: String) -> AsyncTask<OffThread<f64>> {
    OffThread::new(move || Ok(sentiment::compound(&text)))
}
