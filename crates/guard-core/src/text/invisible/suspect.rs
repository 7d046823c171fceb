//! Invisible characters of a text before it is decided whether writing needs them.

use std::ops::Range;

use super::kind::Kind;

/// An invisible character of a text, of which it is to be decided whether writing needs it.
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
    /// It depends on the other characters of this kind in the word.
    InWord,
}

/// The invisible characters between two visible ones.
pub(super) struct Run {
    /// Which of the suspects these are; at least one.
    pub suspects: Range<usize>,
    /// Their bytes in the text.
    pub bytes: Range<usize>,
    /// The visible character before; `None` at the start of the text.
    pub left: Option<char>,
    /// The visible character behind; `None` at the end of the text.
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
