//! Directional marks and controls, which texts with right-to-left letters need (UAX #9).

use super::kind::{Kind, is_right_to_left};
use super::suspect::{Need, Run, Suspect};

/// The most adjacent marks.
const MAX_MARKS: usize = 2;

/// The greatest nesting depth of isolates and embeddings.
const MAX_DEPTH: usize = 4;

/// Decides about directional marks and controls.
pub(super) fn judge(text: &str, runs: &[Run], suspects: &mut [Suspect]) {
    let is_directional = |suspect: &Suspect| matches!(suspect.kind, Kind::DirectionalMarks | Kind::DirectionalControls);
    if !suspects.iter().any(is_directional) {
        return;
    }
    let mut paragraph = Paragraph::default();
    let mut has_right_to_left = false;
    let mut at = 0;
    for (index, run) in runs.iter().enumerate() {
        has_right_to_left |= paragraph.read(&text[at..run.bytes.start], suspects);
        at = run.bytes.end;
        for suspect in run
            .suspects
            .clone()
            .filter(|&at| suspects[at].kind == Kind::DirectionalControls)
        {
            paragraph.control(suspect, index, run, suspects[suspect].character);
        }
    }
    has_right_to_left |= paragraph.read(&text[at..], suspects);
    paragraph.end(suspects);
    if !has_right_to_left {
        return;
    }
    for run in runs.iter().filter(|run| !is_inside_word(run)) {
        let marks = suspects[run.suspects.clone()].iter_mut();
        for mark in marks.filter(|s| s.kind == Kind::DirectionalMarks).take(MAX_MARKS) {
            mark.need = Need::Yes;
        }
    }
}

/// Whether letters or digits of the same direction surround the run, so that no direction changes there.
fn is_inside_word(run: &Run) -> bool {
    match (run.left, run.right) {
        (Some(left), Some(right)) => {
            left.is_alphanumeric() && right.is_alphanumeric() && is_right_to_left(left) == is_right_to_left(right)
        }
        _ => false,
    }
}

/// An isolate or embedding that is open.
struct Open {
    suspect: usize,
    /// The index of its run.
    run: usize,
    character: char,
    /// Whether its place is valid, provided that it is closed.
    is_fit: bool,
    /// Whether it is the first one of its paragraph.
    is_first: bool,
}

impl Open {
    fn is_isolate(&self) -> bool {
        matches!(self.character, '\u{2066}'..='\u{2068}')
    }

    fn is_override(&self) -> bool {
        matches!(self.character, '\u{202D}' | '\u{202E}')
    }
}

/// A paragraph. The end of a line closes everything that is open (UAX #9, X8).
#[derive(Default)]
struct Paragraph {
    open: Vec<Open>,
    /// The suspects that are needed if the paragraph has right-to-left letters.
    needed: Vec<usize>,
    has_right_to_left: bool,
}

impl Paragraph {
    /// Reads visible text up to the next invisible character. Returns whether it has right-to-left letters.
    fn read(&mut self, piece: &str, suspects: &mut [Suspect]) -> bool {
        let mut found = false;
        for character in piece.chars() {
            if matches!(character, '\n' | '\r' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2029}') {
                self.end(suspects);
            } else if is_right_to_left(character) {
                self.has_right_to_left = true;
                found = true;
            }
        }
        found
    }

    /// Pairs a control with the one that it closes (UAX #9, BD9 and X7).
    fn control(&mut self, suspect: usize, index: usize, run: &Run, character: char) {
        let closed = match character {
            '\u{202C}' => self.open.pop_if(|open| !open.is_isolate()),
            '\u{2069}' => match self.open.iter().rposition(Open::is_isolate) {
                Some(at) => self.open.drain(at..).next(),
                None => None,
            },
            _ => {
                let is_fit = !is_inside_word(run) && self.open.len() < MAX_DEPTH;
                let is_first = self.open.is_empty() && run.left.is_none_or(|c| matches!(c, '\n' | '\r' | '\u{2029}'));
                let run = index;
                self.open.push(Open {
                    suspect,
                    run,
                    character,
                    is_fit,
                    is_first,
                });
                return;
            }
        };
        if let Some(open) = closed
            && open.is_fit
            && !open.is_override()
            && !is_inside_word(run)
            && open.run != index
        {
            self.needed.extend([open.suspect, suspect]);
        }
    }

    /// Ends the paragraph and decides about its controls.
    fn end(&mut self, suspects: &mut [Suspect]) {
        let paragraph = std::mem::take(self);
        if !paragraph.has_right_to_left {
            return;
        }
        // Word processors and subtitle editors begin a line with an embedding that the end of the line closes.
        let first = paragraph
            .open
            .first()
            .filter(|open| open.is_first && !open.is_isolate() && !open.is_override());
        for suspect in paragraph.needed.into_iter().chain(first.map(|open| open.suspect)) {
            suspects[suspect].need = Need::Yes;
        }
    }
}
