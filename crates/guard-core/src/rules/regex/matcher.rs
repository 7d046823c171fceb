//! Compiles one pattern for the linear engine or the backtracking one.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::Instant;

use super::PatternError;
use super::backtracking::backtrack;
use super::relaxation::without_boundaries;
use super::timed_regex::{Patience, TimedRegex};
use crate::stop;

/// The most backtracking steps of one search; about 30 ms if each is cheap.
const STEP_LIMIT: usize = 1_000_000;
/// The most bytes of a compiled pattern that is surely fast on a short text.
const SMALL: usize = 256 * 1024;
/// Size limits that are tried in turn, to estimate the size of a compiled pattern; and the least bytes of one state
/// with its transitions.
const SIZES: [usize; 3] = [4 * 1024, 32 * 1024, SMALL];
const STATE: usize = 24;
/// A linear search with at most this product of states and bytes ends within 0.5 s, for any pattern. Longer searches
/// check the clock.
const WORK: usize = 1 << 25;

/// A compiled pattern.
#[derive(Debug)]
pub(super) enum Matcher {
    Linear {
        regex: regex::Regex,
        /// The most states of the compiled pattern.
        states: usize,
        /// Compiled on first use, since only long texts need it.
        timed: OnceLock<Option<Box<TimedRegex>>>,
        /// Rules out a match in most non-ASCII texts; compiled on first use.
        relaxed: OnceLock<Option<Box<TimedRegex>>>,
    },
    Backtracking(Box<fancy_regex::Regex>),
}

impl Matcher {
    /// Compiles for the linear engine, or for the backtracking one if the pattern needs its features or `backtracks`.
    pub fn compile(index: usize, source: &str, limit: usize, backtracks: bool) -> Result<Self, PatternError> {
        if backtracks {
            return Self::new_backtracking(source, limit).map_err(|error| refusal(index, &error));
        }
        let build = |limit| regex::RegexBuilder::new(source).size_limit(limit).build();
        let tries = SIZES.iter().copied().filter(|&size| size < limit).chain([limit]);
        let mut built = tries.map(|size| (build(size), size / STATE));
        let (built, states) = built
            .find(|(built, _)| !matches!(built, Err(regex::Error::CompiledTooBig(_))))
            .unwrap_or_else(|| (Err(regex::Error::CompiledTooBig(limit)), 0));
        let problem = match built {
            Ok(regex) => {
                return Ok(Self::Linear {
                    regex,
                    states,
                    timed: OnceLock::new(),
                    relaxed: OnceLock::new(),
                });
            }
            Err(regex::Error::CompiledTooBig(_)) => return Err(PatternError::TooLarge { pattern: index }),
            Err(error) => error.to_string(),
        };
        match Self::new_backtracking(source, limit) {
            Ok(matcher) => Ok(matcher),
            Err(fancy_regex::Error::CompileError(error)) if too_large(&error) => {
                Err(PatternError::TooLarge { pattern: index })
            }
            Err(error) if problem.contains("look-around") || problem.contains("backreferences") => {
                Err(refusal(index, &error))
            }
            Err(_) => {
                let (message, position) = explain(&problem, source);
                Err(PatternError::Syntax {
                    pattern: index,
                    message,
                    position,
                })
            }
        }
    }

    fn new_backtracking(source: &str, limit: usize) -> Result<Self, fancy_regex::Error> {
        let regex = fancy_regex::RegexBuilder::new(source)
            .backtrack_limit(STEP_LIMIT)
            .delegate_size_limit(limit)
            .max_prog_size(limit / 100)
            .build()?;
        Ok(Self::Backtracking(Box::new(regex)))
    }

    /// The most bytes of the compiled pattern; `None` if it backtracks.
    pub fn linear_size(&self) -> Option<usize> {
        match self {
            Self::Linear { states, .. } => Some(states * STATE),
            Self::Backtracking(_) => None,
        }
    }

    /// Whether a search may take long even in a text of a few kB.
    pub fn is_costly(&self) -> bool {
        !matches!(self, Self::Linear { states, .. } if states * STATE <= SMALL)
    }

    /// A faster pattern that matches wherever this one does, for texts in which this one is slow.
    fn relaxed_regex(&self, text: &str) -> Option<&TimedRegex> {
        match self {
            Self::Linear {
                regex, states, relaxed, ..
            } if !text.is_ascii() => {
                let build = |source: String| TimedRegex::new(&source, *states).map(Box::new);
                let relaxed = relaxed.get_or_init(|| without_boundaries(regex.as_str()).and_then(build));
                relaxed.as_deref()
            }
            _ => None,
        }
    }

    /// Finds all matches without overlaps, or the first one only. `suspected` says that a prefilter found possible
    /// matches. Returns an error if the search does not end by `until`.
    pub fn find(
        &self,
        index: usize,
        text: &str,
        all: bool,
        suspected: bool,
        until: Instant,
    ) -> Result<Vec<Range<usize>>, PatternError> {
        let limit = if all { usize::MAX } else { 1 };
        let relaxed = self.relaxed_regex(text);
        // If this search runs out of time, the one below does too, and reports it.
        let nothing = |relaxed: &TimedRegex| relaxed.find(text, 1, until, None).is_some_and(|found| found.is_empty());
        match self {
            Self::Linear { .. } if !suspected && relaxed.is_some_and(nothing) => Ok(Vec::new()),
            Self::Linear { regex, states, .. }
                if relaxed.is_none() && states.saturating_mul(text.len()) <= WORK && Instant::now() <= until =>
            {
                let patience = Patience::new(until);
                let mut found = Vec::new();
                for hit in stop::iterate(regex.find_iter(text).take(limit)) {
                    found.push(hit.range());
                    if patience.is_over() {
                        return Err(PatternError::StepLimit { pattern: index });
                    }
                }
                Ok(found)
            }
            Self::Linear {
                regex, states, timed, ..
            } => {
                let timed = timed.get_or_init(|| TimedRegex::new(regex.as_str(), *states).map(Box::new));
                let timed = timed.as_ref().ok_or(PatternError::TooLarge { pattern: index })?;
                timed
                    .find(text, limit, until, relaxed)
                    .ok_or(PatternError::StepLimit { pattern: index })
            }
            Self::Backtracking(regex) => {
                backtrack(regex, text, limit, until).ok_or(PatternError::StepLimit { pattern: index })
            }
        }
    }
}

/// The error of a pattern that the backtracking engine rejects.
fn refusal(pattern: usize, error: &fancy_regex::Error) -> PatternError {
    let position = match error {
        fancy_regex::Error::CompileError(error) if too_large(error) => return PatternError::TooLarge { pattern },
        fancy_regex::Error::ParseError(position, _) => Some(*position),
        _ => None,
    };
    PatternError::Syntax {
        pattern,
        message: error.to_string(),
        position,
    }
}

fn too_large(error: &fancy_regex::CompileError) -> bool {
    match error {
        fancy_regex::CompileError::PatternTooComplex => true,
        fancy_regex::CompileError::InnerError(inner) => inner.size_limit().is_some(),
        _ => false,
    }
}

/// The one-line reason in an error message of the `regex` crate, and the position of its caret.
fn explain(problem: &str, source: &str) -> (String, Option<usize>) {
    let message = problem.rsplit("error: ").next().unwrap_or(problem).trim().to_owned();
    // The message shows a one-line pattern after four spaces, and marks columns below it.
    let position = problem
        .lines()
        .find(|line| !line.is_empty() && line.chars().all(|c| c == ' ' || c == '^') && line.contains('^'))
        .filter(|_| !source.contains('\n'))
        .and_then(|line| line.find('^')?.checked_sub(4))
        .and_then(|column| {
            source
                .char_indices()
                .map(|(at, _)| at)
                .chain([source.len()])
                .nth(column)
        });
    (message, position)
}
