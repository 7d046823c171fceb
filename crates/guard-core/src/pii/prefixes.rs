//! One automaton for all patterns, tried at every place where something can begin.

use regex_automata::hybrid::dfa::{Cache, DFA, OverlappingState};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind};

/// Bytes that the automaton, and the states that one search keeps, may take.
const LARGEST: usize = 32 * 1024 * 1024;
const CACHE: usize = 16 * 1024 * 1024;
/// Bytes of the longest match: an address of a street with everything.
const LONGEST: usize = 320;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Patterns that are matched where something begins. A search from one place ends as soon as none can match any more, and
/// reads [`LONGEST`] bytes at most, so the cost is linear in the length of the text.
pub(super) struct Prefixes {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Prefixes {
    /// Compiles `patterns`.
    ///
    /// # Errors
    ///
    /// The index of the pattern at fault, where it is one, and what is wrong.
    pub(super) fn new(patterns: &[String]) -> Result<Self, (Option<usize>, String)> {
        for (index, pattern) in patterns.iter().enumerate() {
            regex_syntax::parse(pattern).map_err(|error| (Some(index), error.to_string()))?;
        }
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true);
        let dfa = DFA::builder()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(LARGEST)))
            .build_many(patterns)
            .map_err(|error| (None, error.to_string()))?;
        let new_cache: NewCache = {
            let dfa = dfa.clone();
            Box::new(move || dfa.create_cache())
        };
        Ok(Self {
            dfa,
            caches: Pool::new(new_cache),
        })
    }

    /// Calls `seen` with each place of `starts` and with all that match there: patterns and where they end, the shortest first.
    ///
    /// # Errors
    ///
    /// The search was given up, which no pattern here makes it do.
    pub(super) fn search(
        &self,
        text: &str,
        starts: impl Iterator<Item = usize>,
        mut seen: impl FnMut(usize, &[(usize, usize)]),
    ) -> Result<(), String> {
        let mut cache = self.caches.get();
        let mut ends = Vec::new();
        for start in starts {
            let input = Input::new(text)
                .anchored(Anchored::Yes)
                .range(start..text.len().min(start + LONGEST));
            let mut state = OverlappingState::start();
            ends.clear();
            loop {
                self.dfa
                    .try_search_overlapping_fwd(&mut cache, &input, &mut state)
                    .map_err(|error| error.to_string())?;
                let Some(found) = state.get_match() else { break };
                ends.push((found.pattern().as_usize(), found.offset()));
            }
            if !ends.is_empty() {
                seen(start, &ends);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Prefixes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prefixes").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ends_at_every_start() {
        let prefixes = Prefixes::new(&["[0-9]{2,3}".to_owned(), "1[a-z]{0,2}".to_owned()]).unwrap();
        let mut found = Vec::new();
        let seen = |start, ends: &[(usize, usize)]| found.push((start, ends.to_vec()));
        prefixes.search("1ab 123", [0, 4].into_iter(), seen).unwrap();
        assert_eq!(found[0], (0, vec![(1, 1), (1, 2), (1, 3)]));
        assert_eq!(found[1].0, 4);
        let mut ends = found[1].1.clone();
        ends.sort_unstable();
        assert_eq!(ends, [(0, 6), (0, 7), (1, 5)]);
    }

    #[test]
    fn a_match_has_a_bound() {
        let prefixes = Prefixes::new(&["a+".to_owned()]).unwrap();
        let mut longest = 0;
        let seen = |_, ends: &[(usize, usize)]| longest = ends.iter().map(|&(_, end)| end).max().unwrap();
        prefixes.search(&"a".repeat(1000), [0].into_iter(), seen).unwrap();
        assert_eq!(longest, LONGEST);
        assert_eq!(Prefixes::new(&["a".to_owned(), "(".to_owned()]).unwrap_err().0, Some(1));
    }
}
