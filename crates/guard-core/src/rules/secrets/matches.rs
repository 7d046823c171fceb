//! The matches of one pattern in a part of a text.

use std::ops::Range;

use super::rule::CompiledRule;

/// A cache of the first match from an offset on.
#[derive(Default)]
pub(super) struct Ahead {
    from: usize,
    /// `None` before the first search; then the match, if there is one.
    found: Option<Option<Range<usize>>>,
}

impl Ahead {
    /// The first match from `at` on. Two searches that begin before the same match read the text between them only
    /// once, however many windows there are.
    fn find(&mut self, compiled: &CompiledRule, text: &[u8], at: usize) -> Option<Range<usize>> {
        let is_known = |found: &Option<Range<usize>>| found.as_ref().is_none_or(|found| found.start >= at);
        if self.from > at || !self.found.as_ref().is_some_and(is_known) {
            self.from = at;
            self.found = Some(compiled.regex.find_at(text, at).map(|found| found.range()));
        }
        self.found.clone().flatten()
    }
}

/// Iterates over the secrets that a pattern matches in a window of a text.
pub(super) struct Matches<'a> {
    compiled: &'a CompiledRule,
    text: &'a [u8],
    /// The least start of the next match.
    pub at: usize,
    /// The greatest end of the next match; with `ahead`, its greatest start.
    end: usize,
    /// The cache of a pattern whose matches have any length; `None` for a pattern with a greatest length.
    pub ahead: Option<&'a mut Ahead>,
}

impl<'a> Matches<'a> {
    pub fn new(compiled: &'a CompiledRule, text: &'a [u8], window: Range<usize>) -> Self {
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
                    // The match may continue after the window, or end here only because the window does, so the window
                    // is extended.
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
