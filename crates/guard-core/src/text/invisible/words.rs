//! Decides about soft hyphens and joiners. A word may contain a few of them.

use super::kind::Kind;
use super::neighbors::is_mark;
use super::suspect::{Need, Run, Suspect};

/// The most joiners of a word that its script does not require. Persian compounds have two after letters that do not
/// join anyway; more may hide data between the letters.
const MAX_JOINERS: usize = 2;

/// A run of letters and marks with invisible characters in it.
#[derive(Default)]
struct Word {
    /// The joiners that the script does not require.
    joiners: Vec<usize>,
    /// The soft hyphens, each with the number of letters and marks since the previous one.
    hyphens: Vec<(usize, usize)>,
    /// The letters and marks since the last soft hyphen.
    letters: usize,
}

/// Decides about the characters whose need is [`Need::InWord`].
pub(super) fn judge(text: &str, runs: &[Run], suspects: &mut [Suspect]) {
    if suspects.iter().all(|suspect| suspect.need != Need::InWord) {
        return;
    }
    let mut word = Word::default();
    let mut at = 0;
    for run in runs {
        word.read(&text[at..run.bytes.start], suspects);
        at = run.bytes.end;
        for index in run
            .suspects
            .clone()
            .filter(|&index| suspects[index].need == Need::InWord)
        {
            if suspects[index].kind == Kind::SoftHyphens {
                word.hyphens.push((index, std::mem::take(&mut word.letters)));
            } else {
                word.joiners.push(index);
            }
        }
    }
    word.read(&text[at..], suspects);
    word.end(suspects);
}

impl Word {
    /// Reads visible text up to the next invisible character.
    fn read(&mut self, piece: &str, suspects: &mut [Suspect]) {
        for character in piece.chars() {
            if character.is_alphabetic() || is_mark(character) {
                self.letters += 1;
            } else {
                self.end(suspects);
            }
        }
    }

    /// Ends the word and decides about its characters.
    fn end(&mut self, suspects: &mut [Suspect]) {
        let word = std::mem::take(self);
        if word.joiners.is_empty() && word.hyphens.is_empty() {
            return;
        }
        let settle = |is_needed: bool| if is_needed { Need::Yes } else { Need::No };
        for &joiner in &word.joiners {
            suspects[joiner].need = settle(word.joiners.len() <= MAX_JOINERS);
        }
        // Hyphenation may put a single letter between two hyphens ("eu-ro-pä-i-sche"), but never two such pieces in a
        // row: no language in TeX's patterns (hyph-utf8) does that.
        let pieces = word.hyphens.iter().map(|&(_, letters)| letters);
        let pieces: Vec<usize> = pieces.chain((word.letters > 0).then_some(word.letters)).collect();
        let is_spelled = pieces.windows(2).any(|pair| pair.iter().all(|&letters| letters <= 1));
        for &(hyphen, _) in &word.hyphens {
            suspects[hyphen].need = settle(!is_spelled);
        }
    }
}
