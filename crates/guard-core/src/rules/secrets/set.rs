//! Rules that are searched for together.
//!
//! All keywords are found in one pass; a rule is only tried around its keywords, so the time grows with the length of the
//! text and the number of keywords in it, not with the number of rules.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::assigned::Values;
use super::context;
use super::rule::{Compiled, Rule, Shape};
use crate::rules::error::RuleErrorKind;
use crate::rules::keywords::Keywords;
use crate::stop;

/// What a rule matched, before anything else was asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The index of the rule.
    pub rule: usize,
    /// The secret, in bytes.
    pub range: Range<usize>,
}

/// Rules with their keywords.
#[derive(Debug)]
pub(super) struct RuleSet {
    pub rules: Vec<Rule>,
    keywords: Keywords,
    /// For each keyword, the indices of the rules that have it.
    owners: Vec<Vec<usize>>,
    /// Rules without keywords, which look at all of a text.
    everywhere: Vec<usize>,
    /// Rules for strings in quotes.
    quoted: Vec<usize>,
}

impl RuleSet {
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut keywords: Vec<&str> = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in &rule.source.keywords {
                let number = *known.entry(keyword.as_str()).or_insert_with(|| {
                    keywords.push(keyword);
                    owners.push(Vec::new());
                    owners.len() - 1
                });
                owners[number].push(index);
            }
        }
        let keywords = Keywords::new(&keywords);
        let having = |wanted: fn(&Rule) -> bool| {
            let found = rules.iter().enumerate().filter(move |(_, rule)| wanted(rule));
            found.map(|(index, _)| index).collect()
        };
        Self {
            everywhere: having(|rule| rule.source.keywords.is_empty() && rule.shape == Shape::Pattern),
            quoted: having(|rule| rule.shape == Shape::Quoted),
            keywords,
            owners,
            rules,
        }
    }

    /// What the enabled rules match in `text` and `accept` accepts, in no order. `limit` is the time that a rule may take to
    /// search one piece of the text.
    pub fn find(
        &self,
        text: &[u8],
        enabled: impl Fn(usize) -> bool,
        accept: impl Fn(&Rule, &[u8]) -> bool,
        limit: Option<Duration>,
    ) -> Result<Vec<Candidate>, RuleErrorKind> {
        let mut search = Search {
            rules: &self.rules,
            text,
            accept,
            limit,
            found: Vec::new(),
            taken: HashMap::new(),
            values: HashMap::new(),
        };
        // For each rule, the piece of text to be searched that is still growing.
        let mut windows: Vec<Option<Range<usize>>> = vec![None; self.rules.len()];
        // For each rule whose matches have no greatest length, what its last search found.
        let mut ahead: HashMap<usize, Ahead> = HashMap::new();
        self.keywords.find(text, |keyword, hit| -> Result<(), RuleErrorKind> {
            stop::point();
            for &index in &self.owners[keyword] {
                if !enabled(index) {
                    continue;
                }
                let compiled = self.rules[index].compiled()?;
                if self.rules[index].shape == Shape::Assigned {
                    search.assigned(index, compiled, hit.clone());
                    continue;
                }
                let near = hit.start.saturating_sub(compiled.before)..(hit.start + compiled.after).min(text.len());
                match &mut windows[index] {
                    Some(window) if near.start <= window.end => window.end = window.end.max(near.end),
                    Some(window) => {
                        let reached = search.patterns(index, compiled, window.clone(), &mut ahead)?;
                        *window = near.start.max(reached)..near.end.max(reached);
                    }
                    none => *none = Some(near),
                }
            }
            Ok(())
        })?;
        for (index, window) in windows.into_iter().enumerate() {
            stop::point();
            if let Some(window) = window {
                search.patterns(index, self.rules[index].compiled()?, window, &mut ahead)?;
            }
        }
        for &index in self.everywhere.iter().filter(|&&index| enabled(index)) {
            stop::point();
            search.patterns(index, self.rules[index].compiled()?, 0..text.len(), &mut ahead)?;
        }
        let quoted: Vec<usize> = self.quoted.iter().copied().filter(|&index| enabled(index)).collect();
        if !quoted.is_empty() {
            search.quoted(&quoted)?;
        }
        Ok(search.found)
    }
}

/// The search of one text.
pub(super) struct Search<'a, Accept> {
    pub rules: &'a [Rule],
    pub text: &'a [u8],
    pub accept: Accept,
    limit: Option<Duration>,
    pub found: Vec<Candidate>,
    /// By rule, where the last value ends that is longer than its pattern.
    pub taken: HashMap<usize, usize>,
    /// By rule, the values that the keywords found last may be the names of.
    pub values: HashMap<usize, Values>,
}

impl<Accept: Fn(&Rule, &[u8]) -> bool> Search<'_, Accept> {
    /// Searches a piece of the text for the matches of a pattern, and returns where the search ended.
    fn patterns(
        &mut self,
        index: usize,
        compiled: &Compiled,
        window: Range<usize>,
        ahead: &mut HashMap<usize, Ahead>,
    ) -> Result<usize, RuleErrorKind> {
        let started = Instant::now();
        let mut matches = Matches::new(compiled, self.text, window);
        if compiled.unbounded {
            matches.ahead = Some(ahead.entry(index).or_default());
        }
        while let Some(secret) = matches.next() {
            stop::point();
            if (self.accept)(&self.rules[index], &self.text[secret.clone()]) {
                self.found.push(Candidate {
                    rule: index,
                    range: secret,
                });
            }
            if self.limit.is_some_and(|limit| started.elapsed() > limit) {
                let rule = self.rules[index].source.id.clone();
                return Err(RuleErrorKind::TooSlow { rule });
            }
        }
        Ok(matches.at)
    }

    /// Looks at all strings in quotes that consist of characters of base64 and base64url.
    fn quoted(&mut self, rules: &[usize]) -> Result<(), RuleErrorKind> {
        let text = self.text;
        for open in memchr::memchr3_iter(b'"', b'\'', b'`', text) {
            stop::point();
            let start = open + 1;
            let length = text[start..]
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte)));
            let Some(end) = length.map(|length| start + length) else {
                continue;
            };
            if text[end] != text[open] || end - start < 8 {
                continue;
            }
            let value = &text[start..end];
            if context::is_public_form(value) {
                continue;
            }
            // What stands around a string is read only where its form is that of a credential.
            let mut may_be_credential = None;
            for &index in rules {
                let compiled = self.rules[index].compiled()?;
                if compiled.may_start(value)
                    && compiled.regex.is_match(value)
                    && *may_be_credential.get_or_insert_with(|| {
                        context::may_hold_credential(text, start) || context::stands_alone(text, start..end)
                    })
                    && (self.accept)(&self.rules[index], value)
                {
                    self.found.push(Candidate {
                        rule: index,
                        range: start..end,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The first match that begins at an offset of a text or behind it.
#[derive(Default)]
struct Ahead {
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
    at: usize,
    /// Where the next match may end; with `ahead`, where it may start.
    end: usize,
    /// What is known of matches that may have any length; absent for a pattern with a greatest length.
    ahead: Option<&'a mut Ahead>,
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
