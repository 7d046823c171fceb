//! Questions to a model.

use std::sync::Arc;

use crate::tokens::LongTextStrategy;

/// A question to a model. Equal concurrent questions share one answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Question {
    /// Classify a text, reading at most this many windows; see
    /// [`TextReader::rows_within`](crate::tokens::TextReader::rows_within).
    Text(Arc<str>, LongTextStrategy, usize),
    /// The same with early-exit heads only, see [`Head::early_exit`](super::Head::early_exit). The other heads return
    /// nothing. A model without such heads uses all heads.
    Alone(Arc<str>, LongTextStrategy, usize),
    /// Classify each claim together with each window of the premise, which is tokenized once.
    Claims(Arc<str>, Arc<[Arc<str>]>),
}

impl Question {
    /// The text to which the ranges of the answer refer.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text, ..) | Self::Alone(text, ..) | Self::Claims(text, _) => text,
        }
    }
}
