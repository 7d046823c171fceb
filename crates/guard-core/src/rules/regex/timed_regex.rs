//! Linear searches with a time limit.
//!
//! The time of a linear search is states times bytes, and a pattern such as `(?:[ab]{1,100}c?){100}` has tens of
//! thousands of states. The engine of the `regex` crate usually avoids that work, but otherwise it can't be stopped.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::stop;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::StateID;
use regex_automata::{Input, Match, MatchError, MatchErrorKind};

/// Steps between two looks at the clock; less than 1 ms.
const STEPS: usize = 1 << 16;
/// The time that a fast pattern still has when the shared time is used up.
const GRACE: Duration = Duration::from_millis(500);
/// The most time per text for finding possible starts of matches.
const SCOUTING: Duration = Duration::from_millis(200);
/// The most caches that a pattern keeps for later searches, and the most bytes of all caches of the process.
const KEPT: usize = 2;
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The bytes of all kept caches.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The time limit for all matches of one pattern. Each search is fast, but may read the rest of the text. If other
/// patterns used up the time, a pattern still has [`GRACE`], since a text must not switch off fast rules.
pub(super) struct Patience {
    until: Instant,
    started: Instant,
}

impl Patience {
    pub(super) fn new(until: Instant) -> Self {
        Self {
            until,
            started: Instant::now(),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let now = Instant::now();
        now > self.until && now.duration_since(self.started) > GRACE
    }
}

/// A pattern without back-references and look-around, searched under a time limit.
#[derive(Debug)]
pub(super) struct TimedRegex {
    regex: Regex,
    /// The caches of earlier searches, with their bytes. For a short text, filling a cache takes longer than the
    /// search.
    kept: Mutex<Vec<(Cache, usize)>>,
}

impl TimedRegex {
    /// Compiles a pattern of about `states` states; `None` if it can't be compiled.
    pub(super) fn new(pattern: &str, states: usize) -> Option<Self> {
        // Building a DFA state takes up to as many steps as the pattern has states. A state that serves fewer bytes is
        // not worth it.
        let dfa = DFA::config()
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(0))
            .minimum_bytes_per_state(Some((states / 16).max(10)));
        let regex = Regex::builder().dfa(dfa).build(pattern).ok()?;
        Some(Self {
            regex,
            kept: Mutex::new(Vec::new()),
        })
    }

    fn take_cache(&self) -> Cache {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some((cache, bytes)) => {
                KEPT_BYTES.fetch_sub(bytes, Ordering::Relaxed);
                cache
            }
            None => self.regex.create_cache(),
        }
    }

    fn keep(&self, cache: Cache) {
        let bytes = cache.memory_usage();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            return;
        }
        match KEPT_BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_KEPT_BYTES {
            true => kept.push((cache, bytes)),
            false => _ = KEPT_BYTES.fetch_sub(bytes, Ordering::Relaxed),
        }
    }

    /// Finds at most `limit` matches without overlaps, like `regex::Regex::find_iter`; `None` if the time runs out.
    /// `relaxed` is a faster pattern that matches wherever this one does, and limits where this one is tried.
    pub(super) fn find(
        &self,
        text: &str,
        limit: usize,
        until: Instant,
        relaxed: Option<&Self>,
    ) -> Option<Vec<Range<usize>>> {
        let mut cache = self.take_cache();
        let mut scout = relaxed.map(Scout::new);
        let found = self.find_with(&mut cache, scout.as_mut(), text, limit, until);
        self.keep(cache);
        if let Some(scout) = scout {
            scout.timed.keep(scout.cache);
        }
        found
    }

    fn find_with(
        &self,
        cache: &mut Cache,
        mut scout: Option<&mut Scout<'_>>,
        text: &str,
        limit: usize,
        until: Instant,
    ) -> Option<Vec<Range<usize>>> {
        let mut simulation = None;
        let mut gave_up = false;
        let mut search = |input: &Input<'_>| {
            let mut input = input.clone();
            if let Some(scout) = scout.as_deref_mut() {
                let Some(start) = scout.next(text, input.start()) else {
                    return Ok(None);
                };
                input.set_start(start);
            }
            if !gave_up {
                match self.regex.try_search(cache, &input) {
                    Ok(found) => return Ok(found),
                    Err(error) => gave_up = matches!(error.kind(), MatchErrorKind::GaveUp { .. }),
                }
            }
            simulation
                .get_or_insert_with(|| Simulation::new(self.regex.forward().get_nfa(), until))
                .find(text, &input, scout.as_deref_mut())
        };
        let patience = Patience::new(until);
        let mut searcher = Searcher::new(Input::new(text));
        let mut found = Vec::new();
        while found.len() < limit {
            stop::point();
            match searcher.try_advance(&mut search).ok()? {
                Some(hit) => found.push(hit.range()),
                None => break,
            }
            if patience.is_over() {
                return None;
            }
        }
        Some(found)
    }
}

impl Drop for TimedRegex {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        let bytes = kept.iter().map(|(_, bytes)| bytes).sum();
        KEPT_BYTES.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Finds possible starts of matches with a faster, relaxed pattern.
struct Scout<'a> {
    timed: &'a TimedRegex,
    cache: Cache,
    /// Up to here, a match may begin anywhere.
    seen: usize,
    /// The time left.
    left: Duration,
}

impl<'a> Scout<'a> {
    fn new(timed: &'a TimedRegex) -> Self {
        Self {
            timed,
            cache: timed.take_cache(),
            seen: 0,
            left: SCOUTING,
        }
    }

    /// The first character boundary from `at` on where a match may begin, if there is one.
    fn next(&mut self, text: &str, at: usize) -> Option<usize> {
        if at < self.seen || self.left.is_zero() {
            return Some(at);
        }
        let start = Instant::now();
        let found = self
            .timed
            .regex
            .try_search(&mut self.cache, &Input::new(text).range(at..));
        // Each look may read the rest of the text. If that happens often, it costs more than it saves.
        self.left = self.left.saturating_sub(start.elapsed());
        match found {
            Ok(Some(hit)) => {
                self.seen = hit.end();
                Some(hit.start())
            }
            Ok(None) => None,
            Err(_) => {
                self.left = Duration::ZERO;
                Some(at)
            }
        }
    }
}

/// Simulates the NFA: all threads step through the text together, the preferred ones first (Pike; Cox, "Regular
/// Expression Matching: the Virtual Machine Approach", 2009).
struct Simulation<'a> {
    nfa: &'a NFA,
    until: Instant,
    steps: usize,
    now: Threads,
    next: Threads,
}

impl<'a> Simulation<'a> {
    fn new(nfa: &'a NFA, until: Instant) -> Self {
        let threads = || Threads {
            states: Vec::new(),
            indices: vec![0; nfa.states().len()],
            starts: vec![0; nfa.states().len()],
            waiting: Vec::new(),
        };
        Self {
            nfa,
            until,
            steps: 0,
            now: threads(),
            next: threads(),
        }
    }

    /// The leftmost match, or an error if the time is up.
    fn find(
        &mut self,
        text: &str,
        input: &Input<'_>,
        mut scout: Option<&mut Scout<'_>>,
    ) -> Result<Option<Match>, MatchError> {
        let bytes = text.as_bytes();
        self.now.states.clear();
        let mut found = None;
        let mut at = input.start();
        while at <= input.end() {
            // A match never begins within a character.
            if found.is_none() && text.is_char_boundary(at) {
                if self.now.states.is_empty()
                    && let Some(scout) = scout.as_deref_mut()
                {
                    match scout.next(text, at) {
                        Some(start) => at = start,
                        None => break,
                    }
                }
                self.now.follow(self.nfa, self.nfa.start_anchored(), at, bytes, at);
            }
            found = self.advance(bytes, at, at == input.end()).or(found);
            self.check_time(at)?;
            if found.is_some() && self.next.states.is_empty() {
                break;
            }
            std::mem::swap(&mut self.now, &mut self.next);
            at += 1;
        }
        Ok(found)
    }

    /// Moves all threads over the byte at `at`. Returns the match of the most preferred thread that has one; the
    /// threads after it end.
    fn advance(&mut self, bytes: &[u8], at: usize, is_end: bool) -> Option<Match> {
        let Self {
            nfa, steps, now, next, ..
        } = self;
        next.states.clear();
        let mut found = None;
        for &state in &now.states {
            let start = now.starts[state.as_usize()];
            let reached = match nfa.state(state) {
                State::Match { pattern_id } => {
                    found = Some(Match::new(*pattern_id, start..at));
                    break;
                }
                _ if is_end => None,
                State::ByteRange { trans } => trans.matches(bytes, at).then_some(trans.next),
                State::Sparse(transitions) => transitions.matches(bytes, at),
                State::Dense(transitions) => transitions.matches(bytes, at),
                _ => None,
            };
            if let Some(reached) = reached {
                *steps += next.follow(nfa, reached, start, bytes, at + 1);
            }
        }
        *steps += now.states.len() + 1;
        found
    }

    /// Returns an error if the time is up. The clock is read every [`STEPS`] steps.
    fn check_time(&mut self, at: usize) -> Result<(), MatchError> {
        if self.steps >= STEPS {
            self.steps = 0;
            stop::point();
            if Instant::now() > self.until {
                return Err(MatchError::gave_up(at));
            }
        }
        Ok(())
    }
}

/// The states of the threads, the preferred ones first.
struct Threads {
    states: Vec<StateID>,
    /// For each state, its index in `states`, if it has a thread.
    indices: Vec<usize>,
    /// For each state with a thread, the start of its match.
    starts: Vec<usize>,
    waiting: Vec<StateID>,
}

impl Threads {
    /// Adds threads for `state` and for the states that it reaches without reading a byte. Returns the number of steps.
    fn follow(&mut self, nfa: &NFA, state: StateID, start: usize, bytes: &[u8], at: usize) -> usize {
        let mut steps = 0;
        self.waiting.push(state);
        while let Some(state) = self.waiting.pop() {
            steps += 1;
            let index = self.indices[state.as_usize()];
            if self.states.get(index) == Some(&state) {
                continue;
            }
            self.indices[state.as_usize()] = self.states.len();
            self.starts[state.as_usize()] = start;
            self.states.push(state);
            match nfa.state(state) {
                State::Look { look, next } if nfa.look_matcher().matches(*look, bytes, at) => self.waiting.push(*next),
                State::Union { alternates } => self.waiting.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => self.waiting.extend([alt2, alt1]),
                State::Capture { next, .. } => self.waiting.push(*next),
                _ => {}
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::relaxation::without_boundaries;
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// All matches by the DFA where possible, and by the simulation only; with a scout if there is one.
    fn both(pattern: &str, text: &str) -> [Vec<Range<usize>>; 2] {
        let timed = TimedRegex::new(pattern, 100).unwrap();
        let relaxed = without_boundaries(pattern).map(|relaxed| TimedRegex::new(&relaxed, 100).unwrap());
        let mut scout = relaxed.as_ref().map(Scout::new);
        let mut simulation = Simulation::new(timed.regex.forward().get_nfa(), soon());
        let simulated = Searcher::new(Input::new(text))
            .into_matches_iter(|input| simulation.find(text, input, scout.as_mut()))
            .map(|found| found.unwrap().range());
        let simulated = simulated.collect();
        [
            timed.find(text, usize::MAX, soon(), relaxed.as_ref()).unwrap(),
            simulated,
        ]
    }

    #[test]
    fn word_boundaries_beside_other_scripts_are_found() {
        let text = "да, дата — да";
        assert_eq!(both(r"\bда\b", text), [vec![0..4, 19..23], vec![0..4, 19..23]]);
    }

    #[test]
    fn what_takes_too_long_is_given_up() {
        let bomb = TimedRegex::new("(?:[ab]{1,100}c?){100}x", 30_000).unwrap();
        let text = "ab".repeat(50_000);
        assert_eq!(bomb.find(&text, 1, Instant::now(), None), None);
        assert_eq!(bomb.find("ab", 1, soon(), None), Some(vec![]));
    }

    proptest! {
        #[test]
        fn the_same_is_found_as_by_regex(
            pattern in r"(\(\?:)?([abé.]|\[ab\]|\\b|\\B|\^|\$|\\w|\|\||){0,3}(a|b)?(\)|)([*+?]|\*\?|\{1,2\})?([abé.]|\\b|\|a|)[*?]?",
            text in "[abé \n😀]{0,12}",
        ) {
            if let Ok(regex) = regex::Regex::new(&pattern) {
                let expected: Vec<_> = regex.find_iter(&text).map(|found| found.range()).collect();
                prop_assert_eq!(both(&pattern, &text), [expected.clone(), expected]);
            }
        }
    }
}
