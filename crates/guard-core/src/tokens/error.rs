//! What can go wrong between a text and its tokens.

use crate::model_files::ModelFileError;

/// An error of loading a tokenizer or of reading a text with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizeError {
    /// The tokenizer file is missing, or is no tokenizer that can be used.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// So few tokens leave no room for text beside the special tokens.
    #[error("{what} of {length} tokens leaves no room for text")]
    NoRoom {
        /// What is that short: "a maximum input length" or "a window".
        what: &'static str,
        /// The tokens that were asked for, special ones included.
        length: usize,
    },
    /// The tokenizer refused a text.
    #[error("tokenization failed: {message}")]
    Refused {
        /// The reason.
        message: String,
    },
}

impl TokenizeError {
    /// The error of a text that the tokenizer refused.
    pub(super) fn refused(reason: impl ToString) -> Self {
        Self::Refused {
            message: reason.to_string(),
        }
    }
}
