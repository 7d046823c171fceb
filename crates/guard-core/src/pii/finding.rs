//! A finding of personal data.

use std::ops::Range;
use std::sync::Arc;

use crate::rules::CheckResult;

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
    /// Why the recognizer reports it, besides its pattern.
    pub evidence: Evidence,
}

/// The evidence for a finding besides the pattern of its recognizer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// The word near the finding that raised its score, or the name directly before it. It comes from the data, so it
    /// quotes nothing of the text, and it may be the beginning of a word.
    pub context: Option<Arc<str>>,
    /// The check of the value. A failed one means that the value only has the form of its type.
    pub check: Option<CheckResult>,
}
