//! Patterns of the text directly next to a match: "aged" before 34, or "years old" after it.

use std::ops::Range;

use regex::Regex;

use super::recognizer::Source;
use crate::rules::RuleErrorKind;

/// The most bytes before and after a match that are read, which bounds the cost of a match.
pub(super) const REACH: usize = 96;

/// The adjacent patterns of one recognizer.
#[derive(Debug, Default)]
pub(super) struct AdjacentPatterns {
    before: Option<Regex>,
    behind: Option<Regex>,
}

impl AdjacentPatterns {
    /// # Errors
    ///
    /// An invalid pattern.
    pub(super) fn from_source(source: &Source) -> Result<Self, RuleErrorKind> {
        let before = source.before.as_ref();
        let behind = source.behind.as_ref();
        Ok(Self {
            before: before
                .map(|before| Regex::new(&format!(r"(?:{before})\z")))
                .transpose()?,
            behind: behind
                .map(|behind| Regex::new(&format!(r"\A(?:{behind})")))
                .transpose()?,
        })
    }

    /// Whether the text around `range` matches.
    pub(super) fn match_around(&self, text: &str, range: &Range<usize>) -> bool {
        let is_before = |before: &Regex| {
            let from = text.ceil_char_boundary(range.start.saturating_sub(REACH));
            before.is_match(&text[from..range.start])
        };
        let is_behind = |behind: &Regex| {
            let to = text.floor_char_boundary(text.len().min(range.end + REACH));
            behind.is_match(&text[range.end..to])
        };
        self.before.as_ref().is_none_or(is_before) && self.behind.as_ref().is_none_or(is_behind)
    }
}
