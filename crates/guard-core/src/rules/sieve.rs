//! One look at a text for all patterns of a list.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, PatternSet};

use super::relaxed::without_boundaries;

/// Bytes that the automaton of all patterns together may take; one that takes more is not worth its time.
const LARGEST: usize = 16 * 1024 * 1024;
/// Bytes of the states that one search keeps; they are made as they are met.
const CACHE: usize = 4 * 1024 * 1024;
/// How often the states may be thrown away for want of room before each has to serve for this many bytes of text.
const CLEARED: usize = 2;
const BYTES_PER_STATE: usize = 64;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// One automaton for many patterns that says which of them can match in a text, in one pass.
///
/// It leaves out word boundaries (see [`without_boundaries`]), so it names too many patterns and never too few.
pub(super) struct Sieve {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Sieve {
    /// `None` where a search for one pattern after the other does better: with one pattern, or when each begins with a literal
    /// that is quickly looked for; and where the automaton would be too large.
    pub(super) fn new(sources: &[&str]) -> Option<Self> {
        if sources.len() < 2 || sources.iter().all(|source| begins_with_literals(source)) {
            return None;
        }
        let relaxed = sources.iter().map(|source| without_boundaries(source));
        let relaxed: Vec<String> = relaxed
            .zip(sources)
            .map(|(relaxed, source)| relaxed.unwrap_or_else(|| (*source).to_owned()))
            .collect();
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(CLEARED))
            .minimum_bytes_per_state(Some(BYTES_PER_STATE));
        let dfa = DFA::builder()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(LARGEST)))
            .build_many(&relaxed)
            .ok()?;
        let new_cache: NewCache = {
            let dfa = dfa.clone();
            Box::new(move || dfa.create_cache())
        };
        Some(Self {
            dfa,
            caches: Pool::new(new_cache),
        })
    }

    /// For each pattern whether it may match in `text`; `None` when that takes too many states to find out.
    pub(super) fn suspects(&self, text: &str) -> Option<PatternSet> {
        let mut suspects = PatternSet::new(self.dfa.pattern_len());
        let searched = self
            .dfa
            .try_which_overlapping_matches(&mut self.caches.get(), &Input::new(text), &mut suspects);
        searched.is_ok().then_some(suspects)
    }
}

impl std::fmt::Debug for Sieve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sieve").finish_non_exhaustive()
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
