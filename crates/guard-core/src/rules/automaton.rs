//! A lazy automaton for many patterns.

use regex_automata::MatchKind;
use regex_automata::hybrid::BuildError;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::Pool;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Limits of an automaton.
pub(crate) struct Limits {
    /// The most bytes of the compiled patterns.
    pub(crate) largest: usize,
    /// The most bytes of the states that one search caches.
    pub(crate) cache: usize,
    /// How often a search may clear its states, and for how many bytes of text each state must serve after that;
    /// otherwise the search fails. `None`: a search never fails.
    pub(crate) clears: Option<(usize, usize)>,
}

/// A lazy DFA that finds all matches of all patterns. Concurrent searches have caches of their own.
pub(crate) struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Automaton {
    /// Compiles `patterns`, in the syntax of the `regex` crate.
    ///
    /// # Errors
    ///
    /// An invalid pattern, or patterns over the limits.
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

    /// Runs a search with a cache of its own.
    pub(crate) fn search<T>(&self, search: impl FnOnce(&DFA, &mut Cache) -> T) -> T {
        search(&self.dfa, &mut self.caches.get())
    }
}

impl std::fmt::Debug for Automaton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Automaton").finish_non_exhaustive()
    }
}
