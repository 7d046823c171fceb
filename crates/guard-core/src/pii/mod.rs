//! Personal data in texts: numbers, addresses and other things with a form of their own, and how what different sources find
//! becomes one list.
//!
//! What is looked for is data: `recognizers.toml` has one entry per form, with its source and with texts that it must and must
//! not match. Names of people and places have no form; models find those, and [`merge`] brings both together.

pub mod checks;

mod context;
mod detector;
mod email;
mod lookalikes;
mod merge;
mod narrow;
mod options;
mod prefixes;
mod recognizer;
mod recognizers;

#[cfg(test)]
mod generated;

use std::ops::Range;
use std::sync::Arc;

pub use detector::{Detection, Detector, HIDDEN, numbers};
pub use lookalikes::Lookalikes;
pub use merge::merge;
pub use options::{CustomPattern, Options};
pub use recognizer::{Source, sources};
pub use recognizers::Recognizers;

/// Something personal in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// What it is: `CREDIT_CARD`, `PERSON`.
    pub entity: Arc<str>,
    /// How sure that is, from 0 to 1.
    pub score: f64,
    /// The id of the recognizer, or of the model, that found it.
    pub recognizer: Arc<str>,
}

/// Why options can not be used, or a text not be searched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct PiiError {
    /// Where in the options the value at fault stands: `patterns.2.expressions.0`.
    pub path: String,
    /// What is wrong with it, in one line.
    pub message: String,
}
