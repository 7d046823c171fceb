//! A pattern in the syntax of the engines, which knows where its parts come from.

use super::PatternError;

/// A pattern, rewritten for the engines used here.
#[derive(Debug, Default)]
pub(super) struct Translated {
    pub text: String,
    /// For every byte of `text`, the byte of the original that it comes from, and the original's length at the end.
    pub origin: Vec<usize>,
    /// Whether `$` occurs as an assertion of Python.
    pub dollar: bool,
    /// Whether it needs the backtracking engine, although the linear one would read it, as something else.
    pub backtracks: bool,
    /// Whether white space and comments are ignored at the end of the pattern.
    pub verbose: bool,
}

impl Translated {
    /// Writes `text`, which comes from the byte `origin` of the original.
    pub fn push(&mut self, text: &str, origin: usize) {
        self.text.push_str(text);
        self.origin.extend((0..text.len()).map(|_| origin));
    }

    /// The pattern such that it matches nothing but a whole text, whichever alternative that takes.
    pub fn anchored(&self) -> String {
        // A comment at the end would swallow the parenthesis.
        let end = if self.verbose { "\n" } else { "" };
        format!("\\A(?:{}{end})\\z", self.text)
    }

    /// The error with its position in the original pattern.
    pub fn locate(&self, mut error: PatternError) -> PatternError {
        if let PatternError::Syntax { position, .. } = &mut error {
            *position = position.map(|at| self.origin[at.min(self.origin.len() - 1)]);
        }
        error
    }
}
