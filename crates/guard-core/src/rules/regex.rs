//! Regular expressions written by users.
//!
//! Patterns are in the syntax of Python's `re`, as in llm-guard; what the `regex` crate and JavaScript add to it
//! (`\p{L}`, `(?<name>…)`) works too. They run in linear time unless they need look-around, back-references or another
//! feature of backtracking; then they run with a limit, and reaching it is an error, so that a text can not switch a
//! rule off by being expensive. So do patterns whose linear time has a large factor, as `(?:[ab]{1,100}c?){100}x`.
//!
//! [`Syntax::Ecmascript`] is for the patterns of JSON Schema, which mean something else where they look the same.
//!
//! llm-guard stops at the first pattern that matches, which leaves in the redacted text what later patterns match.
//! [`Patterns::find`] therefore returns the matches of every pattern.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use fancy_regex::{Input, RegexInput};
use regex_automata::PatternID;

use super::across::{RuleMatch, Sighting, Wanted, across_views};
use super::relaxed::without_boundaries;
use super::sieve::Sieve;
use super::timed::{Patience, Timed};

/// Steps back that one search with a backtracking pattern may take; about 30 ms, where none of them reads much.
const STEP_LIMIT: usize = 1_000_000;
/// Time that all searches of costly patterns in one text and its readings may take together.
///
/// Steps alone do not bound the time: a part without backtracking, such as the body of `(?=.*x)`, counts as one step and
/// may read the whole text. So may what lies between two steps: `(?:(?=.*x)a)*` reads it again for every `a`.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Up to this many bytes, a backtracking pattern is searched for in one go, and all places share its steps. In longer texts
/// every place is tried by itself and has steps of its own: it takes one at least, and there may be more places than steps.
const ONE_GO: usize = 16 * 1024;
/// Bytes that a backtracking pattern reads at most between two looks at the clock, some milliseconds; and how often it is
/// given the text between them at least and at most, whatever its length.
const UNWATCHED: usize = 4 * 1024 * 1024;
const LEAST_READS: usize = 16;
const MOST_READS: usize = 1024;
/// Bytes that one compiled pattern may take, and one of a list of more than [`FEW`] at least.
const SIZE_LIMIT: usize = 10 * 1024 * 1024;
const LEAST_SIZE: usize = 128 * 1024;
/// Patterns that may all be as large as [`SIZE_LIMIT`] says; those of a longer list share what these may take.
const FEW: usize = 100;
/// Bytes of a compiled pattern that is surely fast on a short text.
const SMALL: usize = 256 * 1024;
/// Bytes that patterns are tried to be compiled in, one after the other, to learn about how large they are; and those that
/// one state takes at least, with its transitions.
const SIZES: [usize; 3] = [4 * 1024, 32 * 1024, SMALL];
const STATE: usize = 24;
/// States times bytes up to which a search in linear time ends within half a second, whatever the pattern. What may take more
/// watches the clock.
const WORK: usize = 1 << 25;
/// Bytes of a text from which on one look for all patterns at once pays, and on which a quick look for one of them does.
const LONG: usize = 8 * 1024;
/// Patterns in a list, and bytes that all of them may have as they are written: compiling them takes seconds.
const MOST_PATTERNS: usize = 10_000;
const MOST_BYTES: usize = 1024 * 1024;

/// The syntax that patterns are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// That of Python's `re`, with what the `regex` crate and JavaScript add to it.
    Python,
    /// That of ECMA-262 with the flag `u`, as JSON Schema has it: `$` is the very end, and `\d`, `\w` and `\b` know ASCII
    /// only. Two things differ: what needs backtracking (look-around and back-references) is an error, and any
    /// punctuation of ASCII may be escaped, as people write `\-`.
    Ecmascript,
}

/// How a pattern is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The first match anywhere in the text (`re.search`).
    Search,
    /// One match that is the whole text (`re.fullmatch`).
    FullMatch,
    /// All matches that do not overlap, from left to right (`re.finditer`).
    All,
}

/// One match of one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The index of the pattern in the list given to [`Patterns::compile`].
    pub pattern: usize,
    /// The matched UTF-8 byte range, on character boundaries; empty for a pattern that matched nothing but a place.
    pub range: Range<usize>,
}

impl RuleMatch for PatternMatch {
    fn rule(&self) -> usize {
        self.pattern
    }

    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Why a pattern can not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is not a valid regular expression.
    #[error("pattern {pattern} is not a valid regular expression: {message}")]
    Syntax {
        /// The index of the pattern.
        pattern: usize,
        /// What is wrong, in one line.
        message: String,
        /// The byte offset in the pattern at which it is wrong, where known.
        position: Option<usize>,
    },
    /// A pattern took too much time in this text, or a backtracking one too many steps.
    #[error("pattern {pattern} takes too long in this text")]
    StepLimit {
        /// The index of the pattern.
        pattern: usize,
    },
    /// The pattern is valid, but its compiled form is too large.
    #[error("pattern {pattern} is too large when compiled")]
    TooLarge {
        /// The index of the pattern.
        pattern: usize,
    },
    /// There are more patterns than one list may have.
    #[error("too many patterns: at most {MOST_PATTERNS}, of {MOST_BYTES} bytes together")]
    TooMany {
        /// The index of the first pattern that is too much.
        pattern: usize,
    },
}

impl PatternError {
    /// The index of the pattern at fault in its list.
    pub fn pattern(&self) -> usize {
        match self {
            Self::Syntax { pattern, .. }
            | Self::StepLimit { pattern }
            | Self::TooLarge { pattern }
            | Self::TooMany { pattern } => *pattern,
        }
    }
}

/// Compiled patterns.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// Says of a long text which patterns can match in it; compiled on first use.
    sieve: OnceLock<Option<Sieve>>,
}

impl Patterns {
    /// Compiles all patterns, in the syntax of Python: at most 10,000, of 1 MiB together.
    ///
    /// # Errors
    ///
    /// [`PatternError::TooMany`], or the first pattern that is invalid ([`PatternError::Syntax`]) or too large
    /// ([`PatternError::TooLarge`]): more than 10 MiB when compiled, and less in a list of more than a hundred.
    pub fn compile<S: AsRef<str>>(patterns: &[S]) -> Result<Self, PatternError> {
        Self::compile_as(patterns, Syntax::Python)
    }

    /// The same for patterns in the given syntax.
    ///
    /// # Errors
    ///
    /// Those of [`Patterns::compile`].
    pub fn compile_as<S: AsRef<str>>(patterns: &[S], syntax: Syntax) -> Result<Self, PatternError> {
        let mut bytes = 0;
        let excess = patterns.iter().enumerate().position(|(index, source)| {
            bytes += source.as_ref().len();
            bytes > MOST_BYTES || index >= MOST_PATTERNS
        });
        if let Some(pattern) = excess {
            return Err(PatternError::TooMany { pattern });
        }
        let limit = (SIZE_LIMIT * FEW / patterns.len().max(FEW)).max(LEAST_SIZE);
        let patterns = patterns
            .iter()
            .enumerate()
            .map(|(index, source)| Pattern::compile(index, source.as_ref(), syntax, limit));
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            sieve: OnceLock::new(),
        })
    }

    /// Whether a search may take long even in a text of some kilobytes: with many patterns, with one that needs
    /// backtracking, or with one that is large when compiled, as `(?:[ab]{1,100}c?){100}` is. Linear time then has a
    /// large factor.
    pub fn are_costly(&self) -> bool {
        self.patterns.len() > FEW
            || self
                .patterns
                .iter()
                .any(|pattern| !matches!(pattern.search, Engine::Linear { states, .. } if states * STATE <= SMALL))
    }

    /// Returns the matches of every pattern in `text`, in the order of the patterns and then of the text.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] when a pattern that needs backtracking, or a very large one, is too expensive in this
    /// text. The text must then be treated as if it matched.
    pub fn find(&self, text: &str, match_type: MatchType) -> Result<Vec<PatternMatch>, PatternError> {
        self.find_until(text, match_type, Instant::now() + TIME_LIMIT)
    }

    /// The same in at most about so much time, where that is less than a search may take otherwise: for texts that share
    /// a limit.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] as in [`Patterns::find`].
    pub fn find_within(
        &self,
        text: &str,
        match_type: MatchType,
        limit: Duration,
    ) -> Result<Vec<PatternMatch>, PatternError> {
        self.find_until(text, match_type, Instant::now() + limit.min(TIME_LIMIT))
    }

    /// The matches in `text` and in its other readings, as [`across_views`] has them: with [`MatchType::All`] all of them,
    /// else of each pattern those in the first reading that it matches. A pattern that is to match the whole text may
    /// match the whole of a reading.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] as in [`Patterns::find`]; the limit of time is one for all readings.
    pub fn find_across_views(
        &self,
        text: &str,
        match_type: MatchType,
    ) -> Result<Vec<Sighting<PatternMatch>>, PatternError> {
        let end = Instant::now() + TIME_LIMIT;
        let wanted = match match_type {
            MatchType::All => Wanted::All,
            MatchType::Search | MatchType::FullMatch => Wanted::First,
        };
        across_views(text, wanted, |text| self.find_until(text, match_type, end))
    }

    fn find_until(&self, text: &str, match_type: MatchType, until: Instant) -> Result<Vec<PatternMatch>, PatternError> {
        let suspects = self.suspects(text, match_type);
        let mut found = Vec::new();
        for (index, pattern) in self.patterns.iter().enumerate() {
            let suspected = suspects.as_ref().map(|suspects| suspects[index]);
            let ranges = match suspected {
                Some(false) => continue,
                Some(true) | None => pattern.find(index, text, match_type, suspected.is_some(), until)?,
            };
            found.extend(ranges.into_iter().map(|range| PatternMatch { pattern: index, range }));
        }
        Ok(found)
    }

    /// For each pattern whether it may match in `text`; `None` where that is best found out one by one.
    fn suspects(&self, text: &str, match_type: MatchType) -> Option<Vec<bool>> {
        if text.len() < LONG || match_type == MatchType::FullMatch || self.patterns.len() > FEW {
            return None;
        }
        let linear = |pattern: &Pattern| matches!(pattern.search, Engine::Linear { .. });
        let sieve = self.sieve.get_or_init(|| {
            let patterns = self.patterns.iter().filter(|pattern| linear(pattern));
            Sieve::new(&patterns.map(|pattern| pattern.source.text.as_str()).collect::<Vec<_>>())
        });
        let sifted = sieve.as_ref()?.suspects(text)?;
        let mut sifted = (0..sifted.capacity()).map(|index| PatternID::new(index).is_ok_and(|id| sifted.contains(id)));
        let suspects = self.patterns.iter().map(|pattern| {
            let suspected = !linear(pattern) || sifted.next().unwrap_or(true);
            // Before a newline that ends the text, `$` matches in Python only.
            suspected || pattern.source.dollar && text.ends_with('\n')
        });
        Some(suspects.collect())
    }
}

#[derive(Debug)]
struct Pattern {
    source: Translated,
    /// Bytes that it may take when compiled.
    limit: usize,
    search: Engine,
    /// Compiled on first use, since few rules need it.
    full: OnceLock<Result<Engine, PatternError>>,
}

impl Pattern {
    fn compile(index: usize, pattern: &str, syntax: Syntax, limit: usize) -> Result<Self, PatternError> {
        let source = match syntax {
            Syntax::Python => Translated::new(pattern),
            Syntax::Ecmascript => Ecmascript::translate(index, pattern)?,
        };
        let search = Engine::compile(index, &source.text, limit).map_err(|error| source.locate(error))?;
        Ok(Self {
            source,
            limit,
            search,
            full: OnceLock::new(),
        })
    }

    fn find(
        &self,
        index: usize,
        text: &str,
        match_type: MatchType,
        suspected: bool,
        until: Instant,
    ) -> Result<Vec<Range<usize>>, PatternError> {
        if match_type == MatchType::FullMatch {
            let full = self
                .full
                .get_or_init(|| Engine::compile(index, &self.source.anchored(), self.limit));
            let engine = full.as_ref().map_err(Clone::clone)?;
            return engine.find(index, text, false, false, until);
        }
        let all = match_type == MatchType::All;
        let mut found = self.search.find(index, text, all, suspected, until)?;
        // In Python, `$` also matches before a newline that ends the text, and here only after it.
        if let Some(line) = text.strip_suffix('\n').filter(|_| self.source.dollar) {
            let before = self.search.find(index, line, all, suspected, until)?;
            let known = found.clone();
            found.extend(before.into_iter().filter(|range| {
                // Both lists ascend without overlaps, so only the first that ends behind can be in the way.
                let near = known.partition_point(|other| other.end < range.end.min(range.start + 1));
                !known[near..]
                    .iter()
                    .take(2)
                    .any(|other| other == range || other.start < range.end && range.start < other.end)
            }));
            found.sort_by_key(|range| (range.start, range.end));
            if !all {
                found.truncate(1);
            }
        }
        Ok(found)
    }
}

#[derive(Debug)]
enum Engine {
    Linear {
        regex: regex::Regex,
        /// States of the compiled pattern, at most.
        states: usize,
        /// Compiled on first use, since only long texts need it.
        timed: OnceLock<Option<Box<Timed>>>,
        /// Says in most texts outside ASCII that there is no match; compiled on first use.
        relaxed: OnceLock<Option<Box<Timed>>>,
    },
    Backtracking(Box<fancy_regex::Regex>),
}

impl Engine {
    /// Compiles with the linear engine, and with the backtracking one what the first does not know.
    fn compile(index: usize, source: &str, limit: usize) -> Result<Self, PatternError> {
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
        let backtracking = fancy_regex::RegexBuilder::new(source)
            .backtrack_limit(STEP_LIMIT)
            .delegate_size_limit(limit)
            .max_prog_size(limit / 100)
            .build();
        match backtracking {
            Ok(regex) => Ok(Self::Backtracking(Box::new(regex))),
            Err(fancy_regex::Error::CompileError(error)) if too_large(&error) => {
                Err(PatternError::TooLarge { pattern: index })
            }
            Err(error) if problem.contains("look-around") || problem.contains("backreferences") => {
                let position = match error {
                    fancy_regex::Error::ParseError(position, _) => Some(position),
                    _ => None,
                };
                Err(PatternError::Syntax {
                    pattern: index,
                    message: error.to_string(),
                    position,
                })
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

    /// The quicker pattern that matches wherever this one does, for texts in which this one is slow.
    fn relaxed(&self, text: &str) -> Option<&Timed> {
        match self {
            Self::Linear {
                regex, states, relaxed, ..
            } if !text.is_ascii() => {
                let build = |source: String| Timed::new(&source, *states).map(Box::new);
                let relaxed = relaxed.get_or_init(|| without_boundaries(regex.as_str()).and_then(build));
                relaxed.as_deref()
            }
            _ => None,
        }
    }

    /// All matches that do not overlap, or the first one only. `suspected`: a quick look has found that there may be some.
    fn find(
        &self,
        index: usize,
        text: &str,
        all: bool,
        suspected: bool,
        until: Instant,
    ) -> Result<Vec<Range<usize>>, PatternError> {
        let limit = if all { usize::MAX } else { 1 };
        let relaxed = self.relaxed(text);
        // Whoever runs out of time here does so there too, and says so.
        let nothing = |relaxed: &Timed| relaxed.find(text, 1, until, None).is_some_and(|found| found.is_empty());
        match self {
            Self::Linear { .. } if !suspected && relaxed.is_some_and(nothing) => Ok(Vec::new()),
            Self::Linear { regex, states, .. }
                if states.saturating_mul(text.len()) <= WORK
                    && (relaxed.is_none() || text.len() < LONG)
                    && Instant::now() <= until =>
            {
                let patience = Patience::new(until);
                let mut found = Vec::new();
                for place in regex.find_iter(text).take(limit) {
                    found.push(place.range());
                    if patience.is_over() {
                        return Err(PatternError::StepLimit { pattern: index });
                    }
                }
                Ok(found)
            }
            Self::Linear {
                regex, states, timed, ..
            } => {
                let timed = timed.get_or_init(|| Timed::new(regex.as_str(), *states).map(Box::new));
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

fn too_large(error: &fancy_regex::CompileError) -> bool {
    match error {
        fancy_regex::CompileError::PatternTooComplex => true,
        fancy_regex::CompileError::InnerError(inner) => inner.size_limit().is_some(),
        _ => false,
    }
}

/// A text that watches the clock while a backtracking pattern reads it. The engine has no other way to be stopped within a
/// search: it asks for the bytes at every place, and once time is up it gets none, but [`OutOfTime`] by unwinding.
struct Watched<'a> {
    text: &'a str,
    until: Instant,
    /// How often the text may still be read before the next look at the clock.
    left: Cell<usize>,
}

/// Unwinds a search, without being a panic.
struct OutOfTime;

impl<'a> Watched<'a> {
    fn new(text: &'a str, until: Instant) -> Self {
        let left = Cell::new(0);
        Self { text, until, left }
    }

    fn look(&self) {
        if Instant::now() > self.until {
            resume_unwind(Box::new(OutOfTime));
        }
        let reads = UNWATCHED / self.text.len().max(1);
        self.left.set(reads.clamp(LEAST_READS, MOST_READS));
    }
}

impl Input for Watched<'_> {
    type Match<'t>
        = fancy_regex::Match<'t>
    where
        Self: 't;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => self.look(),
        }
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        Input::prev_codepoint_ix(self.text, at)
    }

    fn make_match<'t>(&'t self, start: usize, end: usize) -> Self::Match<'t> {
        Input::make_match(self.text, start, end)
    }

    fn advance_position(&self, at: usize) -> usize {
        Input::advance_position(self.text, at)
    }
}

/// At most `limit` matches of a backtracking pattern, or `None` when that is too expensive or not done in time.
fn backtrack(regex: &fancy_regex::Regex, text: &str, limit: usize, until: Instant) -> Option<Vec<Range<usize>>> {
    let watched = Watched::new(text, until);
    // Each search sets up the state of the engine anew.
    match catch_unwind(AssertUnwindSafe(|| places(regex, &watched, limit))) {
        Ok(found) => found,
        Err(cause) if cause.is::<OutOfTime>() => None,
        Err(cause) => resume_unwind(cause),
    }
}

fn places(regex: &fancy_regex::Regex, watched: &Watched<'_>, limit: usize) -> Option<Vec<Range<usize>>> {
    let text = watched.text;
    let one_go = text.len() <= ONE_GO;
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while found.len() < limit && at <= text.len() {
        if Instant::now() > watched.until {
            return None;
        }
        let input = RegexInput::new(watched).from_pos(at).anchored(!one_go);
        match regex.find_input(input).ok()? {
            // An empty match at the end of the last match is part of it, as in `regex`.
            Some(place) if place.start() == place.end() && found.last().is_some_and(|l| l.end == place.start()) => {
                at = after(text, place.end());
            }
            Some(place) => {
                at = if place.start() == place.end() {
                    after(text, place.end())
                } else {
                    place.end()
                };
                found.push(place.range());
            }
            None if one_go => break,
            None => at = after(text, at),
        }
    }
    Some(found)
}

/// The start of the character after the one at `at`, beyond the end of the text when there is none.
fn after(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at + 1).max(at + 1)
}

/// The one-line reason in an error message of the `regex` crate, and the place that its caret line points to.
fn explain(problem: &str, source: &str) -> (String, Option<usize>) {
    let message = problem.rsplit("error: ").next().unwrap_or(problem).trim().to_owned();
    // The message repeats a pattern of one line after four spaces and marks columns below it.
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

/// A pattern, rewritten for the engines used here.
#[derive(Debug, Default)]
struct Translated {
    text: String,
    /// For every byte of `text`, the byte of the original that it comes from, and the original's length at the end.
    origin: Vec<usize>,
    /// Whether `$` occurs as an assertion of Python.
    dollar: bool,
    /// Whether white space and comments are ignored at the end of the pattern.
    verbose: bool,
}

impl Translated {
    /// Rewrites what Python and the `regex` crate read differently in a pattern of Python:
    ///
    /// * `\Z` is the very end (`\z`);
    /// * `\<` and `\>` are literal characters, not the ends of a word, and so is an escaped character outside ASCII;
    /// * in a class, `[`, `&`, `~` and a doubled `-` are literal, except a POSIX class like `[:alpha:]`, and white space
    ///   and `#` are literal even in verbose mode;
    /// * a `{` that does not start a repetition is literal, and `{,n}` is `{0,n}`;
    /// * `(?#…)` is a comment.
    fn new(pattern: &str) -> Self {
        let mut this = Self::default();
        let mut outer: Vec<bool> = Vec::new();
        let mut at = 0;
        while let Some(c) = pattern[at..].chars().next() {
            let rest = &pattern[at..];
            let mut used = c.len_utf8();
            match c {
                '\\' => used = this.escape(rest, at),
                '[' => used = this.class(rest, at),
                '#' if this.verbose => used = rest.find('\n').unwrap_or(rest.len()),
                '(' => {
                    if rest.starts_with("(?#") {
                        used = rest.find(')').map_or(rest.len(), |end| end + 1);
                    } else {
                        let (flags, verbose) = flags(rest, this.verbose);
                        if !rest[..flags].ends_with(')') {
                            outer.push(this.verbose);
                        }
                        this.verbose = verbose;
                        used = flags;
                        this.push(&rest[..used], at);
                    }
                }
                ')' => {
                    this.verbose = outer.pop().unwrap_or(this.verbose);
                    this.push(")", at);
                }
                '{' => match repetition(rest) {
                    Some(length) => {
                        let written = &rest[..length];
                        let open = written.starts_with("{,");
                        this.push(if open { "{0" } else { "{" }, at);
                        this.push(&written[1..], at + 1);
                        used = length;
                    }
                    None => this.push("\\{", at),
                },
                _ => {
                    this.dollar |= c == '$';
                    this.push(&rest[..used], at);
                }
            }
            at += used;
        }
        this.origin.push(pattern.len());
        this
    }

    fn push(&mut self, text: &str, origin: usize) {
        self.text.push_str(text);
        self.origin.extend((0..text.len()).map(|_| origin));
    }

    /// Copies an escape outside a class and returns its length.
    fn escape(&mut self, rest: &str, at: usize) -> usize {
        let Some(escaped) = rest.chars().nth(1) else {
            self.push("\\", at);
            return 1;
        };
        let mut length = 1 + escaped.len_utf8();
        match escaped {
            'Z' => self.push("\\z", at),
            '<' => self.push("\\x3C", at),
            '>' => self.push("\\x3E", at),
            _ if !escaped.is_ascii() => self.push(&rest[1..length], at),
            _ => {
                // The braces of `\p{L}` and the like are no repetition.
                if matches!(escaped, 'p' | 'P' | 'x' | 'u' | 'U' | 'N') && rest[length..].starts_with('{') {
                    length = rest.find('}').map_or(rest.len(), |end| end + 1);
                }
                self.push(&rest[..length], at);
            }
        }
        length
    }

    /// Copies a bracketed class and returns its length.
    fn class(&mut self, rest: &str, start: usize) -> usize {
        self.push("[", start);
        let mut at = 1;
        if rest[at..].starts_with('^') {
            self.push("^", start + at);
            at += 1;
        }
        let first = at;
        while let Some(c) = rest[at..].chars().next() {
            let here = start + at;
            match c {
                ']' if at > first => {
                    self.push("]", here);
                    return at + 1;
                }
                ']' => self.push("\\]", here),
                '\\' => {
                    at += self.escape(&rest[at..], here);
                    continue;
                }
                '[' => {
                    let posix = rest[at..].starts_with("[:").then(|| rest[at..].find(":]")).flatten();
                    let name = posix.map(|end| &rest[at + 2..at + end]);
                    if let Some(name) =
                        name.filter(|n| n.trim_start_matches('^').chars().all(|c| c.is_ascii_lowercase()))
                    {
                        let length = name.len() + 4;
                        self.push(&rest[at..at + length], here);
                        at += length;
                        continue;
                    }
                    self.push("\\[", here);
                }
                '-' if at == first && rest[at..].starts_with("--") || at > first && rest[..at].ends_with('-') => {
                    self.push("\\-", here);
                }
                '&' | '~' | '#' => {
                    self.push("\\", here);
                    self.push(&rest[at..=at], here);
                }
                ' ' => self.push("\\x20", here),
                '\n' => self.push("\\n", here),
                '\t' => self.push("\\t", here),
                _ => self.push(&rest[at..at + c.len_utf8()], here),
            }
            at += c.len_utf8();
        }
        at
    }

    /// The pattern such that it matches nothing but a whole text, whichever alternative that takes.
    fn anchored(&self) -> String {
        // A comment at the end would swallow the parenthesis.
        let end = if self.verbose { "\n" } else { "" };
        format!("\\A(?:{}{end})\\z", self.text)
    }

    /// The error with its position in the original pattern.
    fn locate(&self, mut error: PatternError) -> PatternError {
        if let PatternError::Syntax { position, .. } = &mut error {
            *position = position.map(|at| self.origin[at.min(self.origin.len() - 1)]);
        }
        error
    }
}

/// The length of what opens the group at the start of `rest`, with its flags, and whether they leave verbose mode on.
fn flags(rest: &str, verbose: bool) -> (usize, bool) {
    let Some(after) = rest.strip_prefix("(?") else {
        return (1, verbose);
    };
    let length = after
        .bytes()
        .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
        .count();
    if !matches!(after.as_bytes().get(length), Some(b':' | b')')) {
        return (2, verbose);
    }
    let (on, off) = after[..length].split_once('-').unwrap_or((&after[..length], ""));
    (length + 3, (verbose || on.contains('x')) && !off.contains('x'))
}

/// The length of the repetition `{m}`, `{m,}`, `{,n}`, `{,}` or `{m,n}` at the start of `rest`, if it is one.
fn repetition(rest: &str) -> Option<usize> {
    let inner = &rest[1..rest.find('}')?];
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!inner.is_empty() && digits(low) && digits(high)).then_some(inner.len() + 2)
}

/// `\d`, `\w` and `\s` of ECMA-262 (CharacterClassEscape; WhiteSpace and LineTerminator), as classes of the `regex` crate.
const DIGIT: &str = "[0-9]";
const WORD: &str = "[0-9A-Za-z_]";
const SPACE: &str =
    "[\\t-\\r\\x{20}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}]";

/// What is wrong with a pattern of ECMAScript, and at which byte.
type Refusal = (&'static str, usize);

/// A part of a pattern that matches one character.
#[derive(Clone, Copy)]
enum Atom<'p> {
    Character(char),
    /// A class in the syntax of the `regex` crate, which may stand in another one.
    OneOf(&'p str),
    NoneOf(&'p str),
}

/// A pattern of ECMAScript while it is rewritten.
///
/// What the `regex` crate may read differently is written in a form without doubt, and whatever is not known here is refused:
/// a pattern never gets a meaning that its author did not give it.
struct Ecmascript<'p> {
    pattern: &'p str,
    /// Up to here it is rewritten.
    at: usize,
    written: Translated,
}

impl<'p> Ecmascript<'p> {
    fn translate(index: usize, pattern: &'p str) -> Result<Translated, PatternError> {
        let mut this = Self {
            pattern,
            at: 0,
            written: Translated::default(),
        };
        this.read().map_err(|(message, position)| PatternError::Syntax {
            pattern: index,
            message: message.to_owned(),
            position: Some(position),
        })?;
        this.written.origin.push(pattern.len());
        Ok(this.written)
    }

    fn read(&mut self) -> Result<(), Refusal> {
        // Whether there is something that a quantifier could repeat.
        let mut repeatable = false;
        while let Some(c) = self.rest().chars().next() {
            let (rest, at) = (self.rest(), self.at);
            repeatable = match c {
                '*' | '+' | '?' | '{' => {
                    let length = quantifier(rest).map_err(|message| (message, at))?;
                    if !repeatable {
                        return Err(("nothing to repeat", at));
                    }
                    self.take(length, &rest[..length]);
                    false
                }
                '|' | '^' => {
                    self.take(1, &rest[..1]);
                    false
                }
                '$' => {
                    self.take(1, "\\z");
                    false
                }
                '\\' if rest.starts_with("\\b") => {
                    self.take(2, "(?-u:\\b)");
                    false
                }
                '\\' if rest.starts_with("\\B") => {
                    self.take(2, "(?-u:\\B)");
                    false
                }
                '(' => {
                    self.open()?;
                    false
                }
                ')' => {
                    self.take(1, ")");
                    true
                }
                '.' => {
                    self.take(1, "[^\\n\\r\\x{2028}\\x{2029}]");
                    true
                }
                '[' => {
                    self.class()?;
                    true
                }
                ']' | '}' => return Err(("a bracket that closes nothing has to be escaped", at)),
                _ => {
                    let atom = self.atom(false)?;
                    self.write(atom, at);
                    true
                }
            };
        }
        Ok(())
    }

    fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    /// Writes `text` for the next `length` bytes of the pattern.
    fn take(&mut self, length: usize, text: &str) {
        self.written.push(text, self.at);
        self.at += length;
    }

    fn write(&mut self, atom: Atom<'_>, at: usize) {
        match atom {
            Atom::Character(c) if c.is_alphanumeric() => self.written.push(c.encode_utf8(&mut [0; 4]), at),
            // Anything else may be syntax to the engine, if only together with its neighbours.
            Atom::Character(c) => self.written.push(&format!("\\x{{{:X}}}", u32::from(c)), at),
            Atom::OneOf(class) => self.written.push(class, at),
            Atom::NoneOf(class) => self.written.push(&format!("[^{class}]"), at),
        }
    }

    /// Copies what opens a group, without its name, for which only a reference would ask.
    fn open(&mut self) -> Result<(), Refusal> {
        let (rest, at) = (self.rest(), self.at);
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| rest.starts_with(look)) {
            return Err(("look-around is not supported: it can take too long", at));
        }
        if let Some(named) = rest.strip_prefix("(?<") {
            let name = named.split_once('>').map_or("", |(name, _)| name);
            let sound = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(sound) {
                return Err(("bad name of a group", at));
            }
            self.take("(?<>".len() + name.len(), "(");
        } else if rest.starts_with("(?:") {
            self.take(3, "(?:");
        } else if rest.starts_with("(?") {
            return Err(("unknown kind of group", at));
        } else {
            self.take(1, "(");
        }
        Ok(())
    }

    /// Copies a bracketed class.
    fn class(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.rest().starts_with("[]") {
            self.take(2, "[^\\x{0}-\\x{10FFFF}]");
            return Ok(());
        }
        if self.rest().starts_with("[^]") {
            self.take(3, "[\\x{0}-\\x{10FFFF}]");
            return Ok(());
        }
        let open = if self.rest().starts_with("[^") { "[^" } else { "[" };
        self.take(open.len(), open);
        while !self.rest().starts_with(']') {
            let unclosed = ("unclosed character class", start);
            if self.rest().is_empty() {
                return Err(unclosed);
            }
            let at = self.at;
            let first = self.atom(true)?;
            if !self.rest().starts_with('-') || self.rest().starts_with("-]") {
                self.write(first, at);
                continue;
            }
            self.at += 1;
            if self.rest().is_empty() {
                return Err(unclosed);
            }
            let last = self.atom(true)?;
            match (first, last) {
                (Atom::Character(low), Atom::Character(high)) if low <= high => {
                    self.write(first, at);
                    self.written.push("-", at);
                    self.write(last, at);
                }
                _ => return Err(("a range has to ascend from one character to another", at)),
            }
        }
        self.take(1, "]");
        Ok(())
    }

    /// Reads one character of the pattern, or one escape.
    fn atom(&mut self, in_class: bool) -> Result<Atom<'p>, Refusal> {
        let start = self.at;
        let mut characters = self.rest().chars();
        let c = match (characters.next(), characters.next()) {
            (Some('\\'), Some(c)) => c,
            (Some(c), _) if c != '\\' => {
                self.at += c.len_utf8();
                return Ok(Atom::Character(c));
            }
            _ => return Err(("nothing to escape", start)),
        };
        self.at += 1 + c.len_utf8();
        let character = match c {
            'd' => return Ok(Atom::OneOf(DIGIT)),
            'D' => return Ok(Atom::NoneOf(DIGIT)),
            'w' => return Ok(Atom::OneOf(WORD)),
            'W' => return Ok(Atom::NoneOf(WORD)),
            's' => return Ok(Atom::OneOf(SPACE)),
            'S' => return Ok(Atom::NoneOf(SPACE)),
            'p' | 'P' => return self.property(start),
            '1'..='9' | 'k' if !in_class => {
                return Err(("back-references are not supported: they can take too long", start));
            }
            't' => Some('\t'),
            'n' => Some('\n'),
            'v' => Some('\u{B}'),
            'f' => Some('\u{C}'),
            'r' => Some('\r'),
            'b' if in_class => Some('\u{8}'),
            '0' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => Some('\0'),
            'c' => self.control(),
            'x' => self.hex(2).and_then(char::from_u32),
            'u' => self.code_point().and_then(char::from_u32),
            _ => c.is_ascii_punctuation().then_some(c),
        };
        character
            .map(Atom::Character)
            .ok_or(("an escape that stands for no character", start))
    }

    /// Reads the name behind `\p`. It is up to the `regex` crate to know it.
    fn property(&mut self, start: usize) -> Result<Atom<'p>, Refusal> {
        let braced = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '=';
        match braced {
            Some((name, _)) if !name.is_empty() && name.chars().all(sound) => {
                self.at += name.len() + 2;
                Ok(Atom::OneOf(&self.pattern[start..self.at]))
            }
            _ => Err(("expected the name of a property in braces", start)),
        }
    }

    /// Reads the letter behind `\c`.
    fn control(&mut self) -> Option<char> {
        let letter = self.rest().chars().next().filter(char::is_ascii_alphabetic)?;
        self.at += 1;
        char::from_u32(u32::from(letter) % 32)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let number = hex(self.rest().get(..digits)?)?;
        self.at += digits;
        Some(number)
    }

    /// Reads what is behind `\u`. The halves of a surrogate pair are one character; by itself, a half is none in UTF-8.
    fn code_point(&mut self) -> Option<u32> {
        if let Some(braced) = self.rest().strip_prefix('{') {
            let (digits, _) = braced.split_once('}')?;
            self.at += digits.len() + 2;
            return hex(digits);
        }
        let first = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&first) || !self.rest().starts_with("\\u") {
            return Some(first);
        }
        self.at += 2;
        let second = self.hex(4).filter(|half| (0xDC00..0xE000).contains(half))?;
        Some(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }
}

fn hex(digits: &str) -> Option<u32> {
    let sound = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| sound)
}

/// The length of the quantifier at the start of `rest`, or what is wrong with it.
fn quantifier(rest: &str) -> Result<usize, &'static str> {
    let mut length = 1;
    if rest.starts_with('{') {
        length = repetition(rest)
            .filter(|_| !rest.starts_with("{,"))
            .ok_or("a { that begins no repetition has to be escaped")?;
        let (low, high) = rest[1..length - 1].split_once(',').unwrap_or_default();
        if let (Ok(low), Ok(high)) = (low.parse::<u32>(), high.parse::<u32>())
            && low > high
        {
            return Err("the numbers of a repetition have to ascend");
        }
    }
    Ok(length + usize::from(rest[length..].starts_with('?')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(patterns: &[&str], text: &str, match_type: MatchType) -> Vec<(usize, Range<usize>)> {
        let patterns = Patterns::compile(patterns).unwrap();
        patterns
            .find(text, match_type)
            .unwrap()
            .into_iter()
            .map(|m| (m.pattern, m.range))
            .collect()
    }

    fn texts<'a>(pattern: &str, text: &'a str) -> Vec<&'a str> {
        find(&[pattern], text, MatchType::All)
            .into_iter()
            .map(|(_, range)| &text[range])
            .collect()
    }

    #[test]
    fn every_pattern_is_reported() {
        let text = "Bearer abc123 и Bearer def456, 密码";
        assert_eq!(
            find(&[r"Bearer \w+", "密码", "x"], text, MatchType::All),
            [(0, 0..13), (0, 17..30), (1, 32..38)]
        );
        assert_eq!(
            find(&[r"Bearer \w+", "密码", "x"], text, MatchType::Search),
            [(0, 0..13), (1, 32..38)]
        );
        assert_eq!(find(&[], text, MatchType::All), []);
    }

    #[test]
    fn full_match_tries_every_alternative() {
        assert_eq!(find(&["a|ab"], "ab", MatchType::FullMatch), [(0, 0..2)]);
        assert_eq!(find(&["a|ab"], "abc", MatchType::FullMatch), []);
        assert_eq!(find(&["a(?=b)b|a"], "ab", MatchType::FullMatch), [(0, 0..2)]);
        assert_eq!(find(&["(?x) a b # comment"], "ab", MatchType::FullMatch), [(0, 0..2)]);
        assert_eq!(find(&["(?x: a ) #"], "a #", MatchType::FullMatch), [(0, 0..3)]);
        assert_eq!(find(&["(?i)привет"], "ПРИВЕТ", MatchType::FullMatch), [(0, 0..12)]);
        assert_eq!(find(&["a*"], "", MatchType::FullMatch), [(0, 0..0)]);
        assert_eq!(find(&["a$"], "a\n", MatchType::FullMatch), []);
    }

    #[test]
    fn backtracking_features_work() {
        assert_eq!(texts(r"(?<!\w)\d{4}(?!\d)", "1234 a5678 90123 4567"), ["1234", "4567"]);
        assert_eq!(
            texts(r"(?P<word>\w+) (?P=word)", "the the cat cat"),
            ["the the", "cat cat"]
        );
        assert_eq!(texts(r"(?<=密码：)\w+", "密码：秘密"), ["秘密"]);
    }

    #[test]
    fn syntax_of_python_is_understood() {
        assert_eq!(texts(r"(?P<n>a)\Z", "aa"), ["a"]);
        assert_eq!(texts(r"\<script\>", "<script> script"), ["<script>"]);
        assert_eq!(texts("{{.*?}}", "a {{b}} c"), ["{{b}}"]);
        assert_eq!(texts("a{,2}b", "aab"), ["aab"]);
        assert_eq!(texts("[[a]+", "x[a["), ["[a["]);
        assert_eq!(texts("[a&&b]+", "&a"), ["&a"]);
        assert_eq!(texts("[]a]+", "]a"), ["]a"]);
        assert_eq!(texts("[+--]+", "+,-a"), ["+,-"]);
        assert_eq!(texts("[[:digit:]]+", "a12"), ["12"]);
        assert_eq!(texts("(?x) [ ] a # b", "b a"), [" a"]);
        assert_eq!(texts("a(?#comment)b", "ab"), ["ab"]);
        assert_eq!(texts(r"\p{L}{2}", "éà"), ["éà"]);
        assert_eq!(texts(r"\é", "é"), ["é"]);
        assert_eq!(texts(r"^secret$", "secret\n"), ["secret"]);
        assert_eq!(texts(r"\n$", "a\n\n"), ["\n", "\n"]);
        assert_eq!(texts(r"\w+$|b|^", "a b c\n"), ["", "b", "c"]);
        assert_eq!(find(&["$"], "a\n", MatchType::All), [(0, 1..1), (0, 2..2)]);
    }

    #[test]
    fn syntax_of_ecmascript_is_understood() {
        let found = |pattern: &str, text: &str| {
            let patterns = Patterns::compile_as(&[pattern], Syntax::Ecmascript).unwrap();
            !patterns.find(text, MatchType::Search).unwrap().is_empty()
        };
        for (pattern, matched, other) in [
            (r"^(user|guest)$", "user", "user\n"),
            (r"^\d{4}$", "2024", "٢٠٢٤"),
            (r"^\D$", "٢", "2"),
            (r"^\w+$", "az_09", "é"),
            (r"^[\w-]+$", "a-b", "é-b"),
            (r"^[^\W\d]$", "a", "1"),
            (r"^[\D]$", "٢", "2"),
            (r"\bb", "éb", "ab"),
            (r"a\Bb", "ab", "a b"),
            (r"é\B", "é ", "éa"),
            (r"^\s$", "\u{FEFF}", "\u{85}"),
            (r"^[\s]$", "\u{2003}", "\u{180E}"),
            (r"^\S$", "\u{85}", "\u{FEFF}"),
            (r"^.$", "\u{85}", "\u{2028}"),
            (r"^.$", "😀", "\r"),
            (r"^[^]$", "\n", ""),
            (r"^a[]?$", "a", "a]"),
            (r"^[[a]$", "[", "]"),
            (r"^[a&&b]$", "&", "c"),
            (r"^[--/]$", ".", "0"),
            (r"^[a-c-e]$", "-", "d"),
            (r"^[\b\-]$", "\u{8}", "b"),
            (r"^\u0041\u{1F600}\x42\cJ\0$", "A😀B\n\0", "A"),
            (r"^[\uD83D\uDE00-\uD83D\uDE02]$", "😁", "😃"),
            (r"^\p{Lu}\P{L}[\p{Script=Greek}]$", "É1λ", "é1λ"),
            (r"^(?<année>a)(?:b)\/\-\<$", "ab/-<", "ab/-"),
            (r"^a{2,}?b{0}c{1,2}$", "aac", "ac"),
            (r"^ # $", " # ", "#"),
        ] {
            assert!(found(pattern, matched), "{pattern} {matched:?}");
            assert!(!found(pattern, other), "{pattern} {other:?}");
        }
    }

    #[test]
    fn what_ecmascript_does_not_know_is_refused() {
        for (pattern, position, message) in [
            (r"é(?=a)", 2, "look-around"),
            (r"(?<!a)b", 0, "look-around"),
            (r"(a)\1", 3, "back-references"),
            (r"(?<n>a)\k<n>", 7, "back-references"),
            (r"(?i)a", 0, "unknown kind of group"),
            (r"(?P<n>a)", 0, "unknown kind of group"),
            (r"(?<1>a)", 0, "bad name"),
            (r"a\Z", 1, "no character"),
            (r"a\", 1, "nothing to escape"),
            (r"\x4", 0, "no character"),
            (r"\uD83D", 0, "no character"),
            (r"\u{110000}", 0, "no character"),
            (r"[\B]", 1, "no character"),
            (r"\pL", 0, "property"),
            (r"a\p{Nope}", 1, "property"),
            (r"a**", 2, "nothing to repeat"),
            (r"^*", 1, "nothing to repeat"),
            (r"a{,2}", 1, "begins no repetition"),
            (r"a{2,1}", 1, "ascend"),
            (r"[b-a]", 1, "ascend"),
            (r"[a-\d]", 1, "ascend"),
            (r"[[:alpha:]]", 10, "closes nothing"),
            (r"a[b", 1, "unclosed"),
            (r"a[b-", 1, "unclosed"),
            (r"(a", 0, "unclosed"),
            (r"a)", 1, "unopened"),
        ] {
            let (found, at) = match Patterns::compile_as(&["ok", pattern], Syntax::Ecmascript).unwrap_err() {
                PatternError::Syntax {
                    pattern: 1,
                    message,
                    position,
                } => (message, position),
                other => panic!("{pattern} {other}"),
            };
            assert!(found.contains(message), "{pattern} {found}");
            assert_eq!(at, Some(position), "{pattern} {found}");
        }
    }

    #[test]
    fn syntax_errors_say_where() {
        let error = |pattern: &str| match Patterns::compile(&["ok", pattern]).unwrap_err() {
            PatternError::Syntax {
                pattern: 1,
                message,
                position,
            } => (message, position),
            other => panic!("{other}"),
        };
        assert_eq!(error("é(a"), ("unclosed group".to_owned(), Some(2)));
        assert_eq!(error("a**b)").1, Some(4));
        assert_eq!(error("[z-a]").1, Some(1));
        assert!(error("(?=(a)").1.is_some());
        assert!(!error("(?<=a)(").0.contains('\n'));
    }

    #[test]
    fn large_patterns_are_refused() {
        assert_eq!(
            Patterns::compile(&[r"\w{9999}"]).unwrap_err(),
            PatternError::TooLarge { pattern: 0 }
        );
        assert_eq!(
            Patterns::compile(&[r"(?=a)\w{9999}"]).unwrap_err(),
            PatternError::TooLarge { pattern: 0 }
        );
    }

    #[test]
    fn long_lists_are_refused() {
        let too_many = vec!["a"; MOST_PATTERNS + 1];
        assert_eq!(
            Patterns::compile(&too_many).unwrap_err(),
            PatternError::TooMany { pattern: MOST_PATTERNS }
        );
        let alternation = "word|".repeat(MOST_BYTES / 5 + 1);
        assert_eq!(
            Patterns::compile(&["a", &alternation]).unwrap_err(),
            PatternError::TooMany { pattern: 1 }
        );
        let large = vec![r"\w{100}"; 1_000];
        assert_eq!(
            Patterns::compile(&large).unwrap_err(),
            PatternError::TooLarge { pattern: 0 }
        );
    }

    #[test]
    fn costly_patterns_are_known() {
        let costly = |patterns: &[&str]| Patterns::compile(patterns).unwrap().are_costly();
        assert!(!costly(&[r"\bsk-[A-Za-z0-9_\-]{20,}", r"(?i)\w+@\w+"]));
        assert!(costly(&["(?:[ab]{1,100}c?){100}x"]));
        assert!(costly(&[r"(a)\1"]));
        assert!(costly(&["a"; FEW + 1]));
    }

    #[test]
    fn time_is_limited_over_all_readings() {
        let patterns = Patterns::compile(&[r"(?=.*x)z"]).unwrap();
        let past = Instant::now().checked_sub(TIME_LIMIT);
        let error = past.map(|past| patterns.find_until("aaa", MatchType::All, past).unwrap_err());
        assert!(error.is_none_or(|error| error == PatternError::StepLimit { pattern: 0 }));
    }

    #[test]
    fn time_is_limited_for_costly_patterns_only() {
        let patterns = Patterns::compile(&[r"(?:[ab]{1,100}c?){100}x"]).unwrap();
        let text = "ab".repeat(20_000);
        let error = patterns
            .find_until(&text, MatchType::Search, Instant::now())
            .unwrap_err();
        assert_eq!(error, PatternError::StepLimit { pattern: 0 });
        let patterns = Patterns::compile(&[r"\bsecret-\w+", r"(\w+)@(\w+)\.com"]).unwrap();
        let text = "no ".repeat(100_000) + "secret-key of me@example.com";
        let late = patterns.find_until(&text, MatchType::All, Instant::now()).unwrap();
        assert_eq!(late.len(), 2);
        assert_eq!(late, patterns.find(&text, MatchType::All).unwrap());
    }

    #[test]
    fn less_time_may_be_given() {
        let patterns = Patterns::compile(&[r"(?:[ab]{1,100}c?){100}x", "b$"]).unwrap();
        let find = |text: &str| patterns.find_within(text, MatchType::Search, Duration::ZERO);
        assert_eq!(find(&"ab".repeat(20_000)), Err(PatternError::StepLimit { pattern: 0 }));
        assert_eq!(find("ab").unwrap().len(), 1);
    }

    #[test]
    fn quick_searches_that_each_read_all_that_is_left_are_an_error() {
        let patterns = Patterns::compile(&["x[^y]*y|x"]).unwrap();
        for length in [30_000, 300_000] {
            let error = patterns
                .find_until(&"x".repeat(length), MatchType::All, Instant::now())
                .unwrap_err();
            assert_eq!(error, PatternError::StepLimit { pattern: 0 });
        }
    }

    #[test]
    fn expensive_backtracking_is_an_error() {
        let patterns = Patterns::compile(&["x", r"^(a|a?)+(?=b)c$"]).unwrap();
        let error = patterns.find(&"a".repeat(5_000), MatchType::All).unwrap_err();
        assert_eq!(error, PatternError::StepLimit { pattern: 1 });
    }

    #[test]
    fn time_is_limited_within_one_search() {
        // Its steps are few enough, and each of them reads all that is left of the text.
        let patterns = Patterns::compile(&[r"(?:(?=.*!)a)*b"]).unwrap();
        for length in [400, 20_000] {
            let text = "a".repeat(length) + "!";
            let until = Instant::now() + Duration::from_millis(1);
            let error = patterns.find_until(&text, MatchType::Search, until).unwrap_err();
            assert_eq!(error, PatternError::StepLimit { pattern: 0 });
        }
        // A search that ran out of time leaves nothing behind for the next one.
        assert_eq!(patterns.find("aab!", MatchType::Search).unwrap().len(), 1);
        assert_eq!(
            patterns.find(&("a".repeat(400) + "!"), MatchType::Search),
            Ok(Vec::new())
        );
    }

    #[test]
    fn long_texts_are_searched_like_short_ones() {
        let text = format!("{}foo {}", "word éa ".repeat(4_000), "xfoo foo");
        let found = texts(r"(?<!\w)foo\b", &text);
        assert_eq!(found, ["foo", "foo"]);
        assert_eq!(texts(r"(?=z)|(?<=q)$", &text), [""; 0]);
    }

    #[test]
    fn readings_are_searched_too() {
        let patterns = Patterns::compile(&[r"ignore (all|previous)", "^all$"]).unwrap();
        let text = "ignore all aWdub3JlIGFsbA==";
        let found = |match_type| {
            let sightings = patterns.find_across_views(text, match_type).unwrap().into_iter();
            sightings
                .map(|s| (s.found.pattern, &text[s.range], s.view))
                .collect::<Vec<_>>()
        };
        assert_eq!(found(MatchType::Search), [(0, "ignore all", None)]);
        assert_eq!(
            found(MatchType::All),
            [
                (0, "ignore all", None),
                (0, "aWdub3JlIGFsbA==", Some("base64".to_owned()))
            ]
        );
        assert_eq!(found(MatchType::FullMatch), []);
    }

    proptest! {
        #[test]
        fn ranges_are_valid(
            text in ".{0,60}",
            pattern in prop::sample::select(vec![r"\w+", r"(?<=a).", "", r"(?=\w)", r"(.)\1", "$", "[^a]*"]),
        ) {
            for match_type in [MatchType::Search, MatchType::FullMatch, MatchType::All] {
                let found = find(&[pattern], &text, match_type);
                for (_, range) in &found {
                    prop_assert!(text.get(range.clone()).is_some());
                }
                prop_assert!(found.windows(2).all(|pair| pair[0].1.end <= pair[1].1.start));
                prop_assert!(match_type == MatchType::All || found.len() <= 1);
            }
        }

        #[test]
        fn no_pattern_panics(pattern in r"[()\[\]{}?*+|^$.\\#:<>=!&~aZx0-9, é-]{0,16}", text in "[a-z0 é]{0,12}") {
            for syntax in [Syntax::Python, Syntax::Ecmascript] {
                if let Ok(patterns) = Patterns::compile_as(&[&pattern], syntax) {
                    let _ = patterns.find(&text, MatchType::All);
                    let _ = patterns.find(&text, MatchType::FullMatch);
                }
            }
        }
    }
}
