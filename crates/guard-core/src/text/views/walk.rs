//! Derives the views of a text, step by step.

use std::collections::HashSet;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};

use super::view::{MAX_GROWTH, View};
use super::{
    base85, bidi, caesar, encodings, flips, hidden_text, leet, letter_spacing, markup, morse, normalization, rot47,
    spelling_alphabet, turned_letters, uuencode,
};
use crate::stop;

/// The greatest decoding depth: base64 of base64 of base64 is still decoded.
pub const DEPTH: usize = 3;

/// The most views of a text.
pub const MAX_VIEWS: usize = 48;

/// Lists the views of a text, the closest to the text first.
///
/// The steps, in order:
///
/// 1. Put text with directional overrides into display order.
/// 2. Turn upside-down letters.
/// 3. Normalize look-alike and invisible characters.
/// 4. Decode base85, uuencode and rot47, whose characters include those of markup.
/// 5. Join words that are cut by tags, comments, special tokens and breaks of strings or lines.
/// 6. Join words that are spelled letter by letter, with letters, with words of the spelling alphabet or in Morse code.
/// 7. Decode base64, hexadecimal digits, numbers of characters, percent encoding and so on.
/// 8. Decode passages in rot13 or written backwards, or lines in another Caesar cipher or in Atbash, once until another
///    step changes something.
///
/// Then the steps repeat on the result, until nothing changes or [`DEPTH`] is reached. The text after each step is a
/// view. A text with leetspeak replaced is also a view, from which no step continues. If the text has hidden
/// characters, the whole walk happens twice: without them, and with them decoded in place.
///
/// There are at most [`MAX_VIEWS`] views, each of at most [`MAX_GROWTH`] times the bytes of the text. The time is
/// linear in the length of the text. Ordinary prose in ASCII has no views.
pub fn views(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    let Ok(()) = visit(text, |view| {
        views.push(view.clone());
        Ok::<_, Infallible>(())
    });
    views
}

/// Passes every view of [`views`] to `see`, in the same order, with at most two of them in memory.
///
/// # Errors
///
/// The first error of `see`, which ends the visit.
pub fn visit<E>(text: &str, see: impl FnMut(&View) -> Result<(), E>) -> Result<(), E> {
    let hasher = RandomState::new();
    let mut walk = Walk {
        text,
        seen: HashSet::from([hasher.hash_one(text)]),
        hasher,
        see,
    };
    walk.follow(None)?;
    match walk.add(None, hidden_text::reveal)? {
        Some(revealed) => walk.follow(Some(revealed)),
        None => Ok(()),
    }
}

/// A walk through the views of a text.
struct Walk<'a, F> {
    text: &'a str,
    /// Hashes of the text and of the views so far.
    seen: HashSet<u64>,
    hasher: RandomState,
    see: F,
}

impl<E, F: FnMut(&View) -> Result<(), E>> Walk<'_, F> {
    /// Visits the views that derive from a view, or from the text itself.
    fn follow(&mut self, mut at: Option<View>) -> Result<(), E> {
        for depth in 0..=DEPTH {
            let mut changed = depth == 0;
            for step in [
                bidi::order,
                turned_letters::turn,
                normalization::normalize,
                base85::decode,
                uuencode::decode,
                rot47::turn,
                markup::strip,
            ] {
                let next = self.add(at.as_ref(), step)?;
                changed |= next.is_some();
                at = next.or(at);
            }
            for step in [letter_spacing::join, spelling_alphabet::read, morse::read] {
                let next = self.add(at.as_ref(), step)?;
                changed |= next.is_some();
                at = next.or(at);
            }
            for read in leet::read(at.as_ref().map_or(self.text, View::text)) {
                self.add(at.as_ref(), |_| read)?;
            }
            if depth == DEPTH {
                break;
            }
            let decoded = self.add(at.as_ref(), encodings::decode)?;
            changed |= decoded.is_some();
            // Text that was flipped before and not changed since is as likely as it gets. Flipping more would be
            // chance.
            let turned = match changed {
                true => {
                    let from = decoded.as_ref().or(at.as_ref());
                    let turned = self.add(from, flips::turn)?;
                    match turned {
                        Some(turned) => Some(turned),
                        None => self.add(from, caesar::decode)?,
                    }
                }
                false => None,
            };
            at = match turned.or(decoded) {
                Some(next) => Some(next),
                None => break,
            };
        }
        Ok(())
    }

    /// Passes on and returns the result of `step` on a view, unless the same text was seen before.
    fn add(&mut self, at: Option<&View>, step: impl FnOnce(&str) -> Option<View>) -> Result<Option<View>, E> {
        stop::point();
        let view = match at {
            None => step(self.text),
            Some(at) => step(at.text()).map(|view| view.compose(at)),
        };
        let fits = |view: &View| self.seen.len() <= MAX_VIEWS && view.text().len() <= self.text.len() * MAX_GROWTH;
        let Some(view) = view.filter(fits) else {
            return Ok(None);
        };
        if !self.seen.insert(self.hasher.hash_one(view.text())) {
            return Ok(None);
        }
        (self.see)(&view)?;
        Ok(Some(view))
    }
}
