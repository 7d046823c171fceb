//! What a model can be asked.

use std::sync::Arc;

use crate::tokens::Reading;

/// A question to a model. Equal questions that are in flight at the same time are answered together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Question {
    /// What the heads say of a text, of which no more is read than so many windows; see
    /// [`TextReader::rows_within`](crate::tokens::TextReader::rows_within).
    Text(Arc<str>, Reading, usize),
    /// The same of those heads alone for which rows may leave the model early, see [`Head::early_exit`](super::Head::early_exit). The other
    /// heads say nothing then. A model without such heads is asked about all of them.
    Alone(Arc<str>, Reading, usize),
    /// What the heads say of each claim together with the premise, which is read in windows. The premise is tokenized once
    /// for all of the claims.
    Claims(Arc<str>, Arc<[Arc<str>]>),
}

impl Question {
    /// The text that the ranges of the answer are ranges of.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text, ..) | Self::Alone(text, ..) | Self::Claims(text, _) => text,
        }
    }
}
