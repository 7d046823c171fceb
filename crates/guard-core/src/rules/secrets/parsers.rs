//! Parsers of documents in which a pattern can't find the secrets.

use std::ops::Range;

use serde::Deserialize;

use super::{kubernetes, sql};

/// A parser of a kind of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parser {
    /// The values of Kubernetes Secrets.
    KubernetesSecret,
    /// The strings that statements of SQL insert into columns of credentials.
    SqlInsert,
}

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

impl Parser {
    /// The secrets in a text, in order, without overlaps.
    pub(super) fn find(self, text: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::KubernetesSecret => kubernetes::secret_values(text),
            Self::SqlInsert => sql::inserted_passwords(text),
        }
    }
}
