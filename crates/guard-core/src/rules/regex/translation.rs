//! A pattern translated to the syntax of the engines.

use super::PatternError;

/// A pattern in engine syntax that maps its bytes to the original.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub text: String,
    /// For every byte of `text`, the original byte; then the length of the original.
    pub origin: Vec<usize>,
    /// Whether it has Python's `$`.
    pub dollar: bool,
    /// Whether it needs the backtracking engine because the linear one would misread it.
    pub backtracks: bool,
    /// Whether verbose mode is on at the end of the pattern.
    pub verbose: bool,
}

impl Translation {
    /// Writes `text`, which comes from the byte `origin` of the original.
    pub fn push(&mut self, text: &str, origin: usize) {
        self.text.push_str(text);
        self.origin.extend((0..text.len()).map(|_| origin));
    }

    /// The pattern anchored at both ends of the text.
    pub fn anchored_text(&self) -> String {
        // A comment at the end would swallow the parenthesis.
        let end = if self.verbose { "\n" } else { "" };
        format!("\\A(?:{}{end})\\z", self.text)
    }

    /// Maps the position of an error to the original pattern.
    pub fn locate(&self, mut error: PatternError) -> PatternError {
        if let PatternError::Syntax { position, .. } = &mut error {
            *position = position.map(|at| self.origin[at.min(self.origin.len() - 1)]);
        }
        error
    }
}
