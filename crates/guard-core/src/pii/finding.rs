//! Personal data in a text.

use std::ops::Range;
use std::sync::Arc;

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
