//! Searches with backtracking patterns, limited in steps and time.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use crate::stop;
use fancy_regex::{Input, RegexInput};

/// Up to this many bytes, one search covers the whole text, and all positions share its steps. In longer texts every
/// position is tried separately with its own steps: each takes at least one, and there may be more positions than
/// steps.
const ONE_GO: usize = 16 * 1024;
/// The maximum bytes that are read between two checks of the clock, which takes a few milliseconds, and the minimum and
/// maximum number of accesses to the text between them.
const UNWATCHED: usize = 4 * 1024 * 1024;
const LEAST_READS: usize = 16;
const MOST_READS: usize = 1024;

/// A text that checks the clock while a backtracking pattern reads it. The engine can't be stopped otherwise: it asks
/// for the bytes at every position, and once the time is up that call unwinds with [`OutOfTime`].
struct WatchedText<'a> {
    text: &'a str,
    until: Instant,
    /// The number of accesses to the text before the next check of the clock.
    left: Cell<usize>,
}

/// The payload of the panic that ends a search at its time limit. The panic is not reported.
struct OutOfTime;

impl<'a> WatchedText<'a> {
    fn new(text: &'a str, until: Instant) -> Self {
        let left = Cell::new(0);
        Self { text, until, left }
    }

    fn look(&self) {
        stop::point();
        if Instant::now() > self.until {
            resume_unwind(Box::new(OutOfTime));
        }
        let reads = UNWATCHED / self.text.len().max(1);
        self.left.set(reads.clamp(LEAST_READS, MOST_READS));
    }
}

impl Input for WatchedText<'_> {
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

/// Returns at most `limit` matches, or `None` if the search takes too many steps or too long.
pub(super) fn backtrack(
    regex: &fancy_regex::Regex,
    text: &str,
    limit: usize,
    until: Instant,
) -> Option<Vec<Range<usize>>> {
    let watched = WatchedText::new(text, until);
    // Each search creates a new engine state.
    match catch_unwind(AssertUnwindSafe(|| matches(regex, &watched, limit))) {
        Ok(found) => found,
        Err(cause) if cause.is::<OutOfTime>() => None,
        Err(cause) => resume_unwind(cause),
    }
}

fn matches(regex: &fancy_regex::Regex, watched: &WatchedText<'_>, limit: usize) -> Option<Vec<Range<usize>>> {
    let text = watched.text;
    let one_go = text.len() <= ONE_GO;
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while found.len() < limit && at <= text.len() {
        stop::point();
        if Instant::now() > watched.until {
            return None;
        }
        let input = RegexInput::new(watched).from_pos(at).anchored(!one_go);
        match regex.find_input(input).ok()? {
            // An empty match at the end of the last match belongs to it, as in `regex`.
            Some(hit) if hit.start() == hit.end() && found.last().is_some_and(|last| last.end == hit.start()) => {
                at = next_start(text, hit.end());
            }
            Some(hit) => {
                at = if hit.start() == hit.end() {
                    next_start(text, hit.end())
                } else {
                    hit.end()
                };
                found.push(hit.range());
            }
            None if one_go => break,
            None => at = next_start(text, at),
        }
    }
    Some(found)
}

/// The start of the character after the one at `at`; beyond the end of the text if there is none.
fn next_start(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at + 1).max(at + 1)
}
