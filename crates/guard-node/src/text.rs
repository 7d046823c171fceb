//! Texts as such: sentences, invisible characters and other readings.

use std::sync::Arc;

use guard_core::text::offsets::{self, Unit};
use guard_core::text::views::{self, Telling, View};
use guard_core::text::{invisible, sentences};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::off_thread::OffThread;
use crate::places::{Span, spans};

/// The sentences of a text, in order, without the white space between them.
#[napi]
pub fn split_sentences(text: String) -> Vec<Span> {
    spans(&text, sentences::split(&text))
}

/// A run of invisible characters of one kind.
#[napi(object)]
pub struct InvisibleRun {
    pub start: u32,
    pub end: u32,
    pub kind: String,
}

/// What is invisible in a text, and the text without it.
#[napi(object)]
pub struct InvisibleScan {
    pub runs: Vec<InvisibleRun>,
    /// Absent where there is nothing to remove.
    pub visible: Option<String>,
}

/// Finds invisible characters.
#[napi]
pub fn scan_invisible(text: String) -> InvisibleScan {
    find_invisible(&text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<InvisibleScan>")]
pub fn scan_invisible_long(text: String) -> AsyncTask<OffThread<InvisibleScan>> {
    OffThread::new(move || Ok(find_invisible(&text)))
}

fn find_invisible(text: &str) -> InvisibleScan {
    let found = invisible::find(text);
    let runs = found
        .iter()
        .zip(spans(text, found.iter().map(|run| run.range.clone())))
        .map(|(run, Span { start, end })| InvisibleRun {
            start,
            end,
            kind: run.kind.as_str().to_owned(),
        })
        .collect();
    let visible = (!found.is_empty()).then(|| invisible::remove(text));
    InvisibleScan { runs, visible }
}

/// A reading of a text that says what the text, as it is written, does not.
#[napi]
pub struct TextReading {
    original: Arc<str>,
    view: View,
    is_whole: bool,
}

/// What a part of a reading was made from.
#[napi(object)]
pub struct ReadingPlace {
    pub start: u32,
    pub end: u32,
    /// How it was made.
    pub view: String,
}

#[napi]
impl TextReading {
    #[napi(getter)]
    pub fn text(&self) -> &str {
        self.view.text()
    }

    /// Whether it may take the place of the text; see `Telling` of guard-core.
    #[napi(getter)]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Where parts of the reading come from in the original text, all in UTF-16 code units.
    #[napi]
    pub fn locate(&self, parts: Vec<Span>) -> Vec<ReadingPlace> {
        let mut bytes: Vec<usize> = parts
            .iter()
            .flat_map(|part| [part.start as usize, part.end as usize])
            .collect();
        offsets::convert_back(self.view.text(), Unit::Utf16, &mut bytes);
        let parts: Vec<_> = bytes.chunks_exact(2).map(|at| at[0]..at[1]).collect();
        let places = spans(
            &self.original,
            parts.iter().map(|part| self.view.original(part.clone())),
        );
        let place = |(part, Span { start, end })| {
            let name = self.view.name_of(part);
            ReadingPlace {
                start,
                end,
                // What is copied reads otherwise only for what was left out around it.
                view: if name.is_empty() { self.view.name() } else { name },
            }
        };
        parts.into_iter().zip(places).map(place).collect()
    }
}

/// The readings of a text that a classifier should see besides the text; see `telling` of guard-core.
#[napi]
pub fn telling_readings(text: String) -> Vec<TextReading> {
    tell(text)
}

/// The same off the event loop.
#[napi(ts_return_type = "Promise<Array<TextReading>>")]
pub fn telling_readings_long(text: String) -> AsyncTask<OffThread<Vec<TextReading>>> {
    OffThread::new(move || Ok(tell(text)))
}

fn tell(text: String) -> Vec<TextReading> {
    let told = views::telling(&text);
    let original: Arc<str> = text.into();
    let reading = |Telling { view, is_whole }| TextReading {
        original: Arc::clone(&original),
        view,
        is_whole,
    };
    told.into_iter().map(reading).collect()
}
