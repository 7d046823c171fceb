//! Applies rules to a text and to its views.
//!
//! ```
//! use std::convert::Infallible;
//! use guard_core::rules::view_search::{Selection, search_views};
//!
//! // A rule that finds the word "secret", in a text that contains it in base64.
//! let find = |text: &str| {
//!     Ok::<_, Infallible>(text.match_indices("secret").map(|(at, word)| (0, at..at + word.len())).collect())
//! };
//! let matches = search_views("read dGhlIHNlY3JldCBwbGFu now", Selection::All, find)?;
//! assert_eq!(matches[0].range, 5..25);
//! assert_eq!(matches[0].view.as_deref(), Some("base64"));
//! # Ok::<(), Infallible>(())
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::text::views::visit;

/// A match of a rule.
pub trait RuleMatch {
    /// The number of the rule.
    fn rule(&self) -> usize;
    /// The matched byte range of the searched text, on character boundaries.
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
pub struct ViewMatch<M> {
    /// The match; its range is one of the view.
    pub found: M,
    /// The range in the original text. For decoded text, it is the whole encoded piece.
    pub range: Range<usize>,
    /// The name of the view ([`crate::text::views::View::name`]); `None` for the text itself.
    pub view: Option<String>,
}

/// Which matches are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All matches in all views.
    All,
    /// For each rule, the match that begins first in the original text, disguised or not.
    First,
    /// For each rule, the first match in the text itself, or else in the first view that has one.
    Nearest,
}

/// Applies `find` to `text` and then to each of its views ([`crate::text::views::views`]). Returns the matches, those
/// in the text itself first.
///
/// With [`Selection::All`], a match in a view is dropped if earlier matches of its rule cover its original range. A
/// match that only overlaps them stays, since a redaction must cover it too. An empty match in a view counts only if
/// its rule has no other match.
///
/// With [`Selection::First`], of matches that begin at the same byte, the one in the text itself wins, then the one of
/// the first view. `find` must return all matches then, because a view may turn a passage around.
///
/// `find` is called on up to [`crate::text::views::MAX_VIEWS`] views, each of at most
/// [`crate::text::views::MAX_GROWTH`] times the bytes of the text. Ordinary prose has no views.
///
/// # Errors
///
/// The first error of `find`, in the text or in a view.
pub fn search_views<M: RuleMatch, E>(
    text: &str,
    selection: Selection,
    find: impl FnMut(&str) -> Result<Vec<M>, E>,
) -> Result<Vec<ViewMatch<M>>, E> {
    search_views_and_variants(text, selection, find, |_| Ok(Vec::new()))
}

/// Like [`search_views`], for rules that also match variants of their terms: `also` returns matches in a text with the
/// name of the variant.
///
/// # Errors
///
/// The first error of `find` or `also`, in the text or in a view.
pub(super) fn search_views_and_variants<M: RuleMatch, E>(
    text: &str,
    selection: Selection,
    mut find: impl FnMut(&str) -> Result<Vec<M>, E>,
    mut also: impl FnMut(&str) -> Result<Vec<(M, &'static str)>, E>,
) -> Result<Vec<ViewMatch<M>>, E> {
    let mut collection = Collection::new(selection);
    for found in find(text)? {
        let range = found.range();
        collection.add(found, range, false, || None);
    }
    for (found, variant) in also(text)? {
        let range = found.range();
        collection.add(found, range, true, || Some(variant.to_owned()));
    }
    visit(text, |view| {
        for found in find(view.text())? {
            let at = found.range();
            let range = view.original(at.clone());
            collection.add(found, range, true, || {
                let name = view.name_of(at);
                // A match in a copied part matches because of its surroundings, so it gets the name of the whole view.
                Some(if name.is_empty() { view.name() } else { name })
            });
        }
        for (found, variant) in also(view.text())? {
            let at = found.range();
            let range = view.original(at.clone());
            collection.add(found, range, true, || match view.name_of(at).as_str() {
                "" => Some(variant.to_owned()),
                name => Some(format!("{name}>{variant}")),
            });
        }
        Ok(())
    })?;
    Ok(collection.matches)
}

/// The matches so far.
struct Collection<M> {
    selection: Selection,
    matches: Vec<ViewMatch<M>>,
    /// With [`Selection::All`], the parts that each rule matched.
    known: HashMap<usize, CoveredRanges>,
    /// With [`Selection::First`] and [`Selection::Nearest`], the index of the match of each rule.
    firsts: HashMap<usize, usize>,
}

impl<M: RuleMatch> Collection<M> {
    fn new(selection: Selection) -> Self {
        Self {
            selection,
            matches: Vec::new(),
            known: HashMap::new(),
            firsts: HashMap::new(),
        }
    }

    /// Adds a match if it is selected. `range` is in the original text.
    fn add(&mut self, found: M, range: Range<usize>, in_view: bool, view: impl FnOnce() -> Option<String>) {
        let rule = found.rule();
        match self.selection {
            Selection::All => {
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
            Selection::First | Selection::Nearest => {
                if let Some(&first) = self.firsts.get(&rule) {
                    if self.selection == Selection::First && range.start < self.matches[first].range.start {
                        let view = view();
                        self.matches[first] = ViewMatch { found, range, view };
                    }
                    return;
                }
                self.firsts.insert(rule, self.matches.len());
            }
        }
        let view = view();
        self.matches.push(ViewMatch { found, range, view });
    }
}

/// The parts of a text that a rule matched.
#[derive(Default)]
struct CoveredRanges {
    any: bool,
    /// The ends of the parts by their starts, without overlaps.
    parts: BTreeMap<usize, usize>,
}

impl CoveredRanges {
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

    fn found<'a>(text: &'a str, list: &[&str], selection: Selection) -> Vec<(usize, &'a str, Option<String>)> {
        let substrings = Substrings::new(list, MatchType::Str, false).unwrap();
        let find = |text: &str| -> Result<Vec<(usize, Range<usize>)>, ()> {
            let found = substrings.find(text, selection == Selection::All);
            Ok(found.into_iter().map(|m| (m.substring, m.range)).collect())
        };
        let matches = search_views(text, selection, find).unwrap();
        matches
            .into_iter()
            .map(|view_match| (view_match.found.0, &text[view_match.range], view_match.view))
            .collect()
    }

    #[test]
    fn the_text_itself_comes_first() {
        let text = "bomb, b0mb and Ym9tYiBib21iIGJvbWI=";
        assert_eq!(
            found(text, &["bomb"], Selection::All),
            [
                (0, "bomb", None),
                (0, "b0mb", Some("leetspeak".into())),
                (0, "Ym9tYiBib21iIGJvbWI=", Some("base64".into())),
            ]
        );
        assert_eq!(found(text, &["bomb"], Selection::First), [(0, "bomb", None)]);
        assert_eq!(
            found("b0mb, bomb", &["bomb"], Selection::First),
            [(0, "b0mb", Some("leetspeak".into()))]
        );
        assert_eq!(found("b0mb, bomb", &["bomb"], Selection::Nearest), [(0, "bomb", None)]);
    }

    #[test]
    fn what_repeats_the_text_is_left_out() {
        assert_eq!(
            found("say secret, b0mb", &["secret"], Selection::All),
            [(0, "secret", None)]
        );
        assert_eq!(
            found("ｓecret", &["ecret", "secret"], Selection::All),
            [(0, "ecret", None), (1, "ｓecret", Some("normalized".into()))]
        );
    }

    #[test]
    fn errors_are_passed_on() {
        let find = |text: &str| match text {
            "b0mb" => Ok(Vec::<(usize, Range<usize>)>::new()),
            other => Err(other.to_owned()),
        };
        assert_eq!(search_views("b0mb", Selection::All, find), Err("bomb".to_owned()));
    }
}
