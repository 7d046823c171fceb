//! One automaton for all patterns, which is tried at possible starts only.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input, MatchError};

use crate::rules::RuleErrorKind;
use crate::rules::automaton::{Automaton, Limits};
use crate::stop;

const LIMITS: Limits = Limits {
    largest: 32 * 1024 * 1024,
    cache: 16 * 1024 * 1024,
    clears: None,
};
/// The most bytes of a match: a full street address.
const LONGEST: usize = 320;

/// Patterns that are matched at given starts. A search from one position ends when no pattern can match any more, and
/// reads at most [`LONGEST`] bytes, so the cost is linear in the length of the text.
#[derive(Debug)]
pub(super) struct Prefixes(Automaton);

/// Compiled patterns in use, by their sources.
static IN_USE: LazyLock<Mutex<HashMap<Vec<String>, Weak<Prefixes>>>> = LazyLock::new(Mutex::default);

impl Prefixes {
    /// Compiles `patterns`, or shares compiled ones that are in use: the embedded recognizers take 0.2 s and some MB,
    /// and a server has several scanners with them.
    ///
    /// # Errors
    ///
    /// Those of [`Prefixes::new`].
    pub(super) fn shared(patterns: &[String]) -> Result<Arc<Self>, (Option<usize>, RuleErrorKind)> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = in_use.get(patterns).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let compiled = Arc::new(Self::new(patterns)?);
        in_use.retain(|_, known| known.strong_count() > 0);
        in_use.insert(patterns.to_vec(), Arc::downgrade(&compiled));
        Ok(compiled)
    }

    /// Compiles `patterns`.
    ///
    /// # Errors
    ///
    /// The index of the invalid pattern, if there is one, and the reason.
    pub(super) fn new(patterns: &[String]) -> Result<Self, (Option<usize>, RuleErrorKind)> {
        for (index, pattern) in patterns.iter().enumerate() {
            regex_syntax::parse(pattern).map_err(|error| (Some(index), error.into()))?;
        }
        let automaton = Automaton::new(patterns, &LIMITS).map_err(|error| (None, error.into()))?;
        Ok(Self(automaton))
    }

    /// Calls `seen` with each of `starts` and all matches that begin there: the indices of their patterns and their
    /// ends, the shortest first.
    ///
    /// # Errors
    ///
    /// The search failed, which no embedded pattern causes.
    pub(super) fn search(
        &self,
        text: &str,
        starts: impl Iterator<Item = usize>,
        mut seen: impl FnMut(usize, &[(usize, usize)]),
    ) -> Result<(), RuleErrorKind> {
        self.0.search(|dfa, cache| {
            let mut ends = Vec::new();
            for start in starts {
                stop::point();
                ends.clear();
                find_ends(dfa, cache, text, start, &mut ends)?;
                if !ends.is_empty() {
                    seen(start, &ends);
                }
            }
            Ok(())
        })
    }
}

/// Adds all matches that begin at `start`, the shortest first. Most searches end after a few bytes, so the automaton is
/// stepped here: entering its own search takes longer than that.
fn find_ends(
    dfa: &DFA,
    cache: &mut Cache,
    text: &str,
    start: usize,
    ends: &mut Vec<(usize, usize)>,
) -> Result<(), RuleErrorKind> {
    let bytes = text.as_bytes();
    let end = bytes.len().min(start + LONGEST);
    let input = Input::new(text).anchored(Anchored::Yes).range(start..end);
    let mut state = dfa.start_state_forward(cache, &input)?;
    // A match is known one byte behind its end, even if the search ends there.
    for at in start..=end {
        state = match bytes.get(at) {
            Some(&byte) => dfa.next_state(cache, state, byte),
            None => dfa.next_eoi_state(cache, state),
        }
        .map_err(|_| MatchError::gave_up(at))?;
        if !state.is_tagged() {
            continue;
        }
        if state.is_match() {
            let patterns = (0..dfa.match_len(cache, state)).map(|index| dfa.match_pattern(cache, state, index));
            ends.extend(patterns.map(|pattern| (pattern.as_usize(), at)));
        } else if state.is_dead() {
            break;
        } else if state.is_quit() {
            return Err(MatchError::quit(bytes[at], at).into());
        }
    }
    Ok(())
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
    fn equal_patterns_are_compiled_once_while_they_are_used() {
        let patterns = ["[a-f]{3}-once".to_owned()];
        let first = Prefixes::shared(&patterns).unwrap();
        assert!(Arc::ptr_eq(&first, &Prefixes::shared(&patterns).unwrap()));
        let unused = Arc::downgrade(&first);
        drop(first);
        assert!(unused.upgrade().is_none());
        assert_eq!(Prefixes::shared(&["(".to_owned()]).unwrap_err().0, Some(0));
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
