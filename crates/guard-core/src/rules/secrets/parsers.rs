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

impl Parser {
    /// The secrets in a text, in order, without overlaps.
    pub(super) fn find(self, text: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::KubernetesSecret => kubernetes::secret_values(text),
            Self::SqlInsert => sql::inserted_passwords(text),
        }
    }
}
