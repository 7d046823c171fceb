//! Narrows ranges of a text.

use std::ops::Range;

/// A range without white space at its ends.
pub(super) fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let shown = text[range.clone()].trim_ascii_end();
    let start = range.start + (shown.len() - shown.trim_ascii_start().len());
    start..range.start + shown.len()
}

/// The content of a range that is a string in quotes.
pub(super) fn quoted(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    match &text[range.clone()] {
        [open @ (b'"' | b'\''), .., close] if open == close => Some(range.start + 1..range.end - 1),
        _ => None,
    }
}
