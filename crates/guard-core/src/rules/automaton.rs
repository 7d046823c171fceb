//! One automaton for many patterns, whose states are made as a search needs them.

use regex_automata::MatchKind;
use regex_automata::hybrid::BuildError;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// What an automaton may take.
pub(crate) struct Limits {
    /// Bytes of the patterns together.
    pub(crate) largest: usize,
    /// Bytes of the states that one search keeps; they are made as they are met.
    pub(crate) cache: usize,
    /// How often a search may throw its states away for want of room, and for how many bytes of text each state has to serve
    /// after that, or the search is given up. `None`: a search is never given up.
    pub(crate) clears: Option<(usize, usize)>,
}

/// A lazy DFA that finds all matches of all patterns, with the states of its searches. Searches on several threads do not wait for
/// each other.
pub(crate) struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Automaton {
    /// Compiles `patterns`, in the syntax of the `regex` crate.
    ///
    /// # Errors
    ///
    /// A pattern that cannot be read, or patterns that together take more than `limits` allow.
    pub(crate) fn new<P: AsRef<str>>(patterns: &[P], limits: &Limits) -> Result<Self, Box<BuildError>> {
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(limits.cache)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(limits.clears.map(|(clears, _)| clears))
            .minimum_bytes_per_state(limits.clears.map(|(_, bytes)| bytes));
        let dfa = DFA::builder()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(limits.largest)))
            .build_many(patterns)
            .map_err(Box::new)?;
        let new_cache: NewCache = {
            let dfa = dfa.clone();
            Box::new(move || dfa.create_cache())
        };
        Ok(Self {
            dfa,
            caches: Pool::new(new_cache),
        })
    }

    /// A search with states that no other search uses meanwhile.
    pub(crate) fn search<T>(&self, search: impl FnOnce(&DFA, &mut Cache) -> T) -> T {
        search(&self.dfa, &mut self.caches.get())
    }
}

impl std::fmt::Debug for Automaton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Automaton").finish_non_exhaustive()
    }
}
