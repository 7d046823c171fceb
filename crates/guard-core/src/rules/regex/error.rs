//! An error in a pattern.

/// The most patterns in a list; compiling more takes seconds.
pub(super) const MAX_PATTERNS: usize = 10_000;
/// The most bytes of all patterns of a list together, before compilation.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// An error in a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is not a valid regular expression.
    #[error("pattern {pattern} is not a valid regular expression: {message}")]
    Syntax {
        /// The index of the pattern.
        pattern: usize,
        /// The reason, in one line.
        message: String,
        /// The byte offset of the error in the pattern, if known.
        position: Option<usize>,
    },
    /// The search took too much time or too many steps in this text.
    #[error("pattern {pattern} takes too long in this text")]
    StepLimit {
        /// The index of the pattern.
        pattern: usize,
    },
    /// The pattern is valid, but its compiled form is too large.
    #[error("pattern {pattern} is too large when compiled")]
    TooLarge {
        /// The index of the pattern.
        pattern: usize,
    },
    /// The pattern needs look-around, back-references or another feature of backtracking, which the list does not allow.
    #[error("pattern {pattern} needs backtracking (look-around or back-references), which takes more than linear time")]
    NotLinear {
        /// The index of the pattern.
        pattern: usize,
    },
    /// The list has too many patterns.
    #[error("too many patterns: at most {MAX_PATTERNS}, of {MAX_BYTES} bytes together")]
    TooMany {
        /// The index of the first pattern over the limit.
        pattern: usize,
    },
}

impl PatternError {
    /// The index of the invalid pattern in its list.
    pub fn pattern(&self) -> usize {
        match self {
            Self::Syntax { pattern, .. }
            | Self::StepLimit { pattern }
            | Self::TooLarge { pattern }
            | Self::NotLinear { pattern }
            | Self::TooMany { pattern } => *pattern,
        }
    }
}
