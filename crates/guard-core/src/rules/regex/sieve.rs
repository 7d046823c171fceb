//! A prefilter for all patterns of a list.

use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, PatternSet};

use super::relaxation::without_boundaries;
use crate::rules::automaton::{Automaton, Limits};

/// A larger automaton is not worth its time.
const LIMITS: Limits = Limits {
    largest: 16 * 1024 * 1024,
    cache: 4 * 1024 * 1024,
    clears: Some((2, 64)),
};

/// One automaton that selects the patterns that may match in a text, in one pass.
///
/// It ignores word boundaries (see [`without_boundaries`]), so it selects too many patterns, never too few.
#[derive(Debug)]
pub(super) struct Sieve(Automaton);

impl Sieve {
    /// Returns `None` if separate searches are better: with one pattern, or if each begins with a literal that is
    /// quickly found; or if the automaton would be too large.
    pub(super) fn new(sources: &[&str]) -> Option<Self> {
        if sources.len() < 2 || sources.iter().all(|source| begins_with_literals(source)) {
            return None;
        }
        let relaxed = sources.iter().map(|source| without_boundaries(source));
        let relaxed: Vec<String> = relaxed
            .zip(sources)
            .map(|(relaxed, source)| relaxed.unwrap_or_else(|| (*source).to_owned()))
            .collect();
        Automaton::new(&relaxed, &LIMITS).ok().map(Self)
    }

    /// The patterns that may match in `text`; `None` if that takes too many states.
    pub(super) fn suspects(&self, text: &str) -> Option<PatternSet> {
        self.0.search(|dfa, cache| {
            let mut suspects = PatternSet::new(dfa.pattern_len());
            let searched = dfa.try_which_overlapping_matches(cache, &Input::new(text), &mut suspects);
            searched.is_ok().then_some(suspects)
        })
    }
}

fn begins_with_literals(source: &str) -> bool {
    let hir = regex_syntax::Parser::new().parse(source).ok();
    let prefilter = hir.and_then(|hir| Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &hir));
    prefilter.is_some_and(|prefilter| prefilter.is_fast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn suspects(patterns: &[&str], text: &str) -> Vec<usize> {
        let found = Sieve::new(patterns).unwrap().suspects(text).unwrap();
        found.iter().map(|pattern| pattern.as_usize()).collect()
    }

    #[test]
    fn only_what_can_match_is_named() {
        let patterns = [r"\b\d{3}-\d{2}\b", r"[\w.]+@\w+", r"\bдом\b"];
        assert!(suspects(&patterns, "nothing of it, 12-34").is_empty());
        assert_eq!(suspects(&patterns, "ада@почта, дома"), [1, 2]);
        assert_eq!(suspects(&patterns, "x123-45, @"), [0]);
    }

    #[test]
    fn what_is_quick_anyway_is_left_alone() {
        assert!(Sieve::new(&[r"\d+x"]).is_none());
        assert!(Sieve::new(&[r"\bAKIA\w{16}", "Bearer .*"]).is_none());
        assert!(Sieve::new(&[r"\bAKIA\w{16}", r"\d+x"]).is_some());
    }

    #[test]
    fn too_many_states_are_given_up() {
        let bombs = ["(?:[ab]{1,100}c?){100}x", "(?:[ab]{1,99}c?){99}y"];
        let sieve = Sieve::new(&bombs);
        assert!(sieve.is_none_or(|sieve| sieve.suspects(&"abbab".repeat(2_000)).is_none()));
    }

    proptest! {
        #[test]
        fn nothing_is_missed(
            pieces in prop::collection::vec(
                prop::sample::select(vec![r"\b", r"\B", "a", "é", "(b|a)", "+", "?", "^", "$", r"\w", "|", r"\d", ""]),
                2..12,
            ),
            text in "[aébÉ 1_\n-]{0,12}",
        ) {
            let (first, second) = pieces.split_at(pieces.len() / 2);
            let (first, second) = (first.concat(), second.concat());
            if let (Ok(one), Ok(other)) = (regex::Regex::new(&first), regex::Regex::new(&second))
                && let Some(sieve) = Sieve::new(&[&first, &second])
            {
                let named = sieve.suspects(&text).unwrap();
                for (index, regex) in [one, other].iter().enumerate() {
                    prop_assert!(named.iter().any(|id| id.as_usize() == index) || !regex.is_match(&text));
                }
            }
        }
    }
}
