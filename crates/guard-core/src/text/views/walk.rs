//! The walk through the views of a text, step by step.

use std::collections::HashSet;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};

use super::view::View;
use super::{bidi, encoded, flipped, hidden, leet, markup, normalize, spaced, upside_down};
use crate::stop;

/// How often a text is decoded: base64 of base64 of base64 is still read.
pub const DEPTH: usize = 3;

/// The most views of a text.
pub const MOST: usize = 48;

/// The most bytes of one view, as a multiple of the bytes of the text.
pub const LONGEST: usize = 4;

/// Every view of a text that differs from it, those closest to it first.
///
/// These steps follow one another:
///
/// 1. The text is put into the order in which it is shown, where directional overrides change it.
/// 2. Upside-down letters are turned.
/// 3. Look-alike and invisible characters are normalized.
/// 4. Words that are cut into pieces by tags, comments, special tokens and breaks of strings or lines are joined.
/// 5. Words that are spelled letter by letter are joined.
/// 6. What is encoded is decoded: base64, hexadecimal digits, numbers of characters, percent encoding and so on.
/// 7. Passages in rot13 or written backwards are turned. What was turned before is turned again only if another step changed
///    something since.
///
/// Then they start again with what came out, until nothing changes or [`DEPTH`] is reached. The text after each step is a view.
/// So is a text in which leetspeak is replaced; no step follows on that. All of this is done twice where something is hidden in
/// invisible characters: without it, and with it decoded in place.
///
/// There are at most [`MOST`] views, each of at most [`LONGEST`] times the bytes of the text, and the time is linear in its
/// length. Ordinary prose in ASCII has no views.
pub fn views(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    let Ok(()) = visit(text, |view| {
        views.push(view.clone());
        Ok::<_, Infallible>(())
    });
    views
}

/// Shows every view of [`views`] to `see`, in the same order, and keeps no more than two of them in memory.
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
    match walk.add(None, hidden::reveal)? {
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
    /// Shows the views that follow from a view, or from the text itself.
    fn follow(&mut self, mut at: Option<View>) -> Result<(), E> {
        for depth in 0..=DEPTH {
            let mut changed = depth == 0;
            for step in [bidi::order, upside_down::turn, normalize::normalize, markup::strip] {
                let next = self.add(at.as_ref(), step)?;
                changed |= next.is_some();
                at = next.or(at);
            }
            let joined = self.add(at.as_ref(), spaced::join)?;
            changed |= joined.is_some();
            at = joined.or(at);
            for read in leet::read(at.as_ref().map_or(self.text, View::text)) {
                self.add(at.as_ref(), |_| read)?;
            }
            if depth == DEPTH {
                break;
            }
            let decoded = self.add(at.as_ref(), encoded::decode)?;
            changed |= decoded.is_some();
            // What was turned before and has not changed since is as likely as it gets. To turn more of it would be chance.
            let turned = match changed {
                true => self.add(decoded.as_ref().or(at.as_ref()), flipped::turn)?,
                false => None,
            };
            at = match turned.or(decoded) {
                Some(next) => Some(next),
                None => break,
            };
        }
        Ok(())
    }

    /// Shows and returns what `step` makes of a view, unless the same text was shown before.
    fn add(&mut self, at: Option<&View>, step: impl FnOnce(&str) -> Option<View>) -> Result<Option<View>, E> {
        stop::point();
        let view = match at {
            None => step(self.text),
            Some(at) => step(at.text()).map(|view| view.after(at)),
        };
        let fits = |view: &View| self.seen.len() <= MOST && view.text().len() <= self.text.len() * LONGEST;
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
