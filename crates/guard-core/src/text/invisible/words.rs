//! Soft hyphens and joiners that a word may have a few of.

use super::kind::Kind;
use super::neighbors::is_mark;
use super::suspect::{Need, Run, Suspect};

/// The most joiners of a word that its script does not require. Persian compounds have two at places where a letter does not join
/// anyway; more of them are hidden between the letters.
const MOST_JOINERS: usize = 2;

/// A word, which is a run of letters and marks with invisible characters in it.
#[derive(Default)]
struct Word {
    /// Its joiners that its script does not require.
    joiners: Vec<usize>,
    /// Its soft hyphens, each with the number of letters and marks between it and the one before.
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

    /// Ends the word and decides about what is in it.
    fn end(&mut self, suspects: &mut [Suspect]) {
        let word = std::mem::take(self);
        if word.joiners.is_empty() && word.hyphens.is_empty() {
            return;
        }
        let settle = |is_needed: bool| if is_needed { Need::Yes } else { Need::No };
        for &joiner in &word.joiners {
            suspects[joiner].need = settle(word.joiners.len() <= MOST_JOINERS);
        }
        // Hyphenation puts a single letter between two hyphens at times ("eu-ro-pä-i-sche"), but never two such pieces beside each
        // other: the patterns of TeX (hyph-utf8) have no language in which this happens.
        let pieces = word.hyphens.iter().map(|&(_, letters)| letters);
        let pieces: Vec<usize> = pieces.chain((word.letters > 0).then_some(word.letters)).collect();
        let is_spelled = pieces.windows(2).any(|pair| pair.iter().all(|&letters| letters <= 1));
        for &(hyphen, _) in &word.hyphens {
            suspects[hyphen].need = settle(!is_spelled);
        }
    }
}
