//! Invisible characters, before it is decided whether they are needed.

use std::ops::Range;

use super::kind::Kind;

/// An invisible character that may be part of correct writing.
pub(super) struct Suspect {
    pub start: usize,
    pub character: char,
    pub kind: Kind,
    pub need: Need,
}

impl Suspect {
    pub fn end(&self) -> usize {
        self.start + self.character.len_utf8()
    }
}

/// Whether writing needs an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    No,
    Yes,
    /// The other characters of this kind in the word decide.
    InWord,
}

/// The invisible characters between two visible ones.
pub(super) struct Run {
    /// The indices of the suspects; at least one.
    pub suspects: Range<usize>,
    /// The bytes of the run in the text.
    pub bytes: Range<usize>,
    /// The visible character before; `None` at the start of the text.
    pub left: Option<char>,
    /// The visible character after; `None` at the end of the text.
    pub right: Option<char>,
}

/// Groups the invisible characters between two visible ones.
pub(super) fn runs(text: &str, suspects: &[Suspect]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (index, suspect) in suspects.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.bytes.end == suspect.start => {
                run.bytes.end = suspect.end();
                run.suspects.end = index + 1;
            }
            _ => runs.push(Run {
                suspects: index..index + 1,
                bytes: suspect.start..suspect.end(),
                left: text[..suspect.start].chars().next_back(),
                right: None,
            }),
        }
    }
    for run in &mut runs {
        run.right = text[run.bytes.end..].chars().next();
    }
    runs
}
