//! A finding of personal data.

use std::ops::Range;
use std::sync::Arc;

/// A piece of personal data in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The type: `CREDIT_CARD`, `PERSON`.
    pub entity: Arc<str>,
    /// The confidence, from 0 to 1.
    pub score: f64,
    /// The id of the recognizer or model.
    pub recognizer: Arc<str>,
    /// Whether the value only has the form of its type, and a wrong checksum.
    pub is_form_only: bool,
}
