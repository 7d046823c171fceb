//! Rules applied to every view of a text.
//!
//! ```
//! use std::convert::Infallible;
//! use guard_core::rules::across::{Wanted, across_views};
//!
//! // A rule that looks for the word "secret", in a text that has it in base64.
//! let find = |text: &str| {
//!     Ok::<_, Infallible>(text.match_indices("secret").map(|(at, word)| (0, at..at + word.len())).collect())
//! };
//! let sightings = across_views("read dGhlIHNlY3JldCBwbGFu now", Wanted::All, find)?;
//! assert_eq!(sightings[0].range, 5..25);
//! assert_eq!(sightings[0].view.as_deref(), Some("base64"));
//! # Ok::<(), Infallible>(())
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::text::views::visit;

/// A match of a rule in some text.
pub trait RuleMatch {
    /// The number of the rule.
    fn rule(&self) -> usize;
    /// The matched byte range of the text that was searched, on character boundaries.
    fn range(&self) -> Range<usize>;
}

impl RuleMatch for (usize, Range<usize>) {
    fn rule(&self) -> usize {
        self.0
    }

    fn range(&self) -> Range<usize> {
        self.1.clone()
    }
}

/// A match in a text or in one of its views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting<M> {
    /// The match as it was found; its range is one of the view.
    pub found: M,
    /// The bytes of the original text that it was found in: all of an encoded piece, where it was in one.
    pub range: Range<usize>,
    /// How the view was made there (see [`crate::text::views::View::name`]); `None` for the text itself.
    pub view: Option<String>,
}

/// How much of what the views show is of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What `find` returns, for each view.
    All,
    /// For each rule, only the match that begins first in the original text, whether it is disguised there or not.
    First,
    /// For each rule, only the first match in the text itself or else in the first view that has one.
    Nearest,
}

/// Applies `find` to `text` and then to every view of it ([`crate::text::views::views`]), and returns what it found, the
/// matches in the text itself first.
///
/// With [`Wanted::All`], a match in a view is left out if earlier matches of the same rule cover its range in the original: it
/// shows nothing new. A match that only overlaps them stays, since a redaction has to cover it too. An empty match in a view
/// counts only if nothing else of its rule was found.
///
/// With [`Wanted::First`], of matches that begin at the same byte the one in the text itself counts, then that of the first
/// view. Where a view turns a passage around, `find` must return all matches in it for the first one to be known.
///
/// `find` is called up to [`crate::text::views::MOST`] times more, with at most
/// [`crate::text::views::LONGEST`] times the bytes of the text each; for ordinary prose it is called once.
///
/// # Errors
///
/// The first error of `find`, in the text or in a view.
pub fn across_views<M: RuleMatch, E>(
    text: &str,
    wanted: Wanted,
    find: impl FnMut(&str) -> Result<Vec<M>, E>,
) -> Result<Vec<Sighting<M>>, E> {
    across_readings(text, wanted, find, |_| Ok(Vec::new()))
}

/// The same for rules that know other ways to read a text or a view than views are: `also` returns what it finds in the text that it is
/// given, with the name of the way.
///
/// # Errors
///
/// The first error of `find` or `also`, in the text or in a view.
pub(super) fn across_readings<M: RuleMatch, E>(
    text: &str,
    wanted: Wanted,
    mut find: impl FnMut(&str) -> Result<Vec<M>, E>,
    mut also: impl FnMut(&str) -> Result<Vec<(M, &'static str)>, E>,
) -> Result<Vec<Sighting<M>>, E> {
    let mut kept = Kept::new(wanted);
    for found in find(text)? {
        let range = found.range();
        kept.add(found, range, false, || None);
    }
    for (found, way) in also(text)? {
        let range = found.range();
        kept.add(found, range, true, || Some(way.to_owned()));
    }
    visit(text, |view| {
        for found in find(view.text())? {
            let at = found.range();
            let range = view.original(at.clone());
            kept.add(found, range, true, || {
                let name = view.name_of(at);
                // A match in a part that the view only copies has no name of its own: it matches because of what the view has
                // around it.
                Some(if name.is_empty() { view.name() } else { name })
            });
        }
        for (found, way) in also(view.text())? {
            let at = found.range();
            let range = view.original(at.clone());
            kept.add(found, range, true, || match view.name_of(at).as_str() {
                "" => Some(way.to_owned()),
                name => Some(format!("{name}>{way}")),
            });
        }
        Ok(())
    })?;
    Ok(kept.sightings)
}

/// What was found so far.
struct Kept<M> {
    wanted: Wanted,
    sightings: Vec<Sighting<M>>,
    /// With [`Wanted::All`], where each rule was found.
    known: HashMap<usize, Covered>,
    /// With [`Wanted::First`] and [`Wanted::Nearest`], the index of the only sighting of each rule.
    firsts: HashMap<usize, usize>,
}

impl<M: RuleMatch> Kept<M> {
    fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            sightings: Vec::new(),
            known: HashMap::new(),
            firsts: HashMap::new(),
        }
    }

    /// Keeps a match if it is wanted; `range` is one of the original text.
    fn add(&mut self, found: M, range: Range<usize>, in_view: bool, view: impl FnOnce() -> Option<String>) {
        let rule = found.rule();
        match self.wanted {
            Wanted::All => {
                let covered = self.known.entry(rule).or_default();
                let seen = if range.is_empty() {
                    covered.any
                } else {
                    covered.contains(&range)
                };
                if in_view && seen {
                    return;
                }
                covered.add(range.clone());
            }
            Wanted::First | Wanted::Nearest => {
                if let Some(&first) = self.firsts.get(&rule) {
                    if self.wanted == Wanted::First && range.start < self.sightings[first].range.start {
                        let view = view();
                        self.sightings[first] = Sighting { found, range, view };
                    }
                    return;
                }
                self.firsts.insert(rule, self.sightings.len());
            }
        }
        let view = view();
        self.sightings.push(Sighting { found, range, view });
    }
}

/// The parts of a text that a rule was found in.
#[derive(Default)]
struct Covered {
    any: bool,
    /// Where the parts end, by where they begin; they do not overlap.
    parts: BTreeMap<usize, usize>,
}

impl Covered {
    fn contains(&self, range: &Range<usize>) -> bool {
        let before = self.parts.range(..=range.start).next_back();
        before.is_some_and(|(_, &end)| range.end <= end)
    }

    fn add(&mut self, range: Range<usize>) {
        self.any = true;
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&other, &last)) = self.parts.range(..end).next_back()
            && last > start
        {
            self.parts.remove(&other);
            start = start.min(other);
            end = end.max(last);
        }
        if start < end {
            self.parts.insert(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::substrings::{MatchType, Substrings};

    fn found<'a>(text: &'a str, list: &[&str], wanted: Wanted) -> Vec<(usize, &'a str, Option<String>)> {
        let substrings = Substrings::new(list, MatchType::Str, false).unwrap();
        let find = |text: &str| -> Result<Vec<(usize, Range<usize>)>, ()> {
            let found = substrings.find(text, wanted == Wanted::All);
            Ok(found.into_iter().map(|m| (m.substring, m.range)).collect())
        };
        let sightings = across_views(text, wanted, find).unwrap();
        sightings
            .into_iter()
            .map(|sighting| (sighting.found.0, &text[sighting.range], sighting.view))
            .collect()
    }

    #[test]
    fn the_text_itself_comes_first() {
        let text = "bomb, b0mb and Ym9tYiBib21iIGJvbWI=";
        assert_eq!(
            found(text, &["bomb"], Wanted::All),
            [
                (0, "bomb", None),
                (0, "b0mb", Some("leetspeak".into())),
                (0, "Ym9tYiBib21iIGJvbWI=", Some("base64".into())),
            ]
        );
        assert_eq!(found(text, &["bomb"], Wanted::First), [(0, "bomb", None)]);
        assert_eq!(
            found("b0mb, bomb", &["bomb"], Wanted::First),
            [(0, "b0mb", Some("leetspeak".into()))]
        );
        assert_eq!(found("b0mb, bomb", &["bomb"], Wanted::Nearest), [(0, "bomb", None)]);
    }

    #[test]
    fn what_repeats_the_text_is_left_out() {
        assert_eq!(
            found("say secret, b0mb", &["secret"], Wanted::All),
            [(0, "secret", None)]
        );
        assert_eq!(
            found("ｓecret", &["ecret", "secret"], Wanted::All),
            [(0, "ecret", None), (1, "ｓecret", Some("normalized".into()))]
        );
    }

    #[test]
    fn errors_are_passed_on() {
        let find = |text: &str| match text {
            "b0mb" => Ok(Vec::<(usize, Range<usize>)>::new()),
            other => Err(other.to_owned()),
        };
        assert_eq!(across_views("b0mb", Wanted::All, find), Err("bomb".to_owned()));
    }
}
