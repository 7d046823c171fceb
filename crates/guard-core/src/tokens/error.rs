//! Errors of tokenizers.

use crate::model_files::ModelFileError;

/// An error of loading a tokenizer or of tokenizing a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizeError {
    /// The tokenizer file is missing or invalid.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// A length limit leaves no room for text besides the special tokens.
    #[error("{what} of {length} tokens leaves no room for text")]
    NoRoom {
        /// The limit: "a maximum input length" or "a window".
        what: &'static str,
        /// The limit in tokens, special ones included.
        length: usize,
    },
    /// The tokenizer rejected a text.
    #[error("tokenization failed: {message}")]
    Refused {
        /// The reason.
        message: String,
    },
}

impl TokenizeError {
    /// Creates the error of a rejected text.
    pub(super) fn from_refusal(reason: impl ToString) -> Self {
        Self::Refused {
            message: reason.to_string(),
        }
    }
}
