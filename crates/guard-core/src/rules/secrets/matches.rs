//! The matches of one pattern in a part of a text.

use std::ops::Range;

use super::rule::Compiled;

/// The first match that begins at an offset of a text or behind it.
#[derive(Default)]
pub(super) struct Ahead {
    from: usize,
    /// Absent before the first search; then the match, if there is one.
    found: Option<Option<Range<usize>>>,
}

impl Ahead {
    /// The first match from `at` on. A text is searched once however many windows it has: what lies between two searches that begin
    /// before the same match is not read again.
    fn find(&mut self, compiled: &Compiled, text: &[u8], at: usize) -> Option<Range<usize>> {
        let is_known = |found: &Option<Range<usize>>| found.as_ref().is_none_or(|found| found.start >= at);
        if self.from > at || !self.found.as_ref().is_some_and(is_known) {
            self.from = at;
            self.found = Some(compiled.regex.find_at(text, at).map(|found| found.range()));
        }
        self.found.clone().flatten()
    }
}

/// The secrets of the matches of a pattern in a piece of a text.
pub(super) struct Matches<'a> {
    compiled: &'a Compiled,
    text: &'a [u8],
    /// Where the next match may start.
    pub at: usize,
    /// Where the next match may end; with `ahead`, where it may start.
    end: usize,
    /// What is known of matches that may have any length; absent for a pattern with a greatest length.
    pub ahead: Option<&'a mut Ahead>,
}

impl<'a> Matches<'a> {
    pub fn new(compiled: &'a Compiled, text: &'a [u8], window: Range<usize>) -> Self {
        Self {
            compiled,
            text,
            at: window.start,
            end: window.end,
            ahead: None,
        }
    }

    pub fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if self.at > self.end {
                return None;
            }
            let (piece, whole) = if let Some(ahead) = &mut self.ahead {
                let whole = ahead.find(self.compiled, self.text, self.at)?;
                if whole.start > self.end {
                    return None;
                }
                (self.text, whole)
            } else {
                let piece = &self.text[..self.end];
                let whole = self.compiled.regex.find_at(piece, self.at)?.range();
                if whole.end == self.end && self.end < self.text.len() {
                    // The match may go on behind the piece, or end here only because the piece does: look at twice as much.
                    self.end = (self.end + (self.end - whole.start).max(64)).min(self.text.len());
                    self.at = whole.start;
                    continue;
                }
                (piece, whole)
            };
            let secret = match self.compiled.group {
                0 => whole.clone(),
                _ if self.compiled.value.is_some() => whole.start..self.compiled.value_end(piece, &whole),
                group => {
                    let captures = self.compiled.regex.captures_at(piece, whole.start)?;
                    captures.get(group).map_or(whole.clone(), |found| found.range())
                }
            };
            self.at = secret.end.max(whole.start + 1);
            if !secret.is_empty() {
                return Some(secret);
            }
        }
    }
}
