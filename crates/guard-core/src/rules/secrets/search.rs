//! The search of one text with a set of rules.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::context;
use super::matches::{Ahead, Matches};
use super::parsers::Parser;
use super::rule::{CompiledRule, Rule};
use super::values::Values;
use crate::rules::error::RuleErrorKind;
use crate::stop;

/// A match of a rule before further checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The index of the rule.
    pub rule: usize,
    /// The secret, in bytes.
    pub range: Range<usize>,
}

/// The search of one text.
pub(super) struct Search<'a, Accept> {
    pub rules: &'a [Rule],
    pub text: &'a [u8],
    pub accept: Accept,
    pub limit: Option<Duration>,
    pub found: Vec<Candidate>,
    /// For each rule, the end of the last value that is longer than its pattern.
    pub taken: HashMap<usize, usize>,
    /// For each rule, the values near the last keywords.
    pub values: HashMap<usize, Values>,
}

impl<Accept: Fn(&Rule, &[u8]) -> bool> Search<'_, Accept> {
    /// Searches a window for matches of a pattern. Returns the end of the search.
    pub fn patterns(
        &mut self,
        index: usize,
        compiled: &CompiledRule,
        window: Range<usize>,
        ahead: &mut HashMap<usize, Ahead>,
    ) -> Result<usize, RuleErrorKind> {
        let deadline = self.limit.map(|limit| Instant::now() + limit);
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
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                let rule = self.rules[index].source.id.clone();
                return Err(RuleErrorKind::TooSlow { rule });
            }
        }
        Ok(matches.at)
    }

    /// Searches the whole text with the parser of a rule.
    pub fn find_parsed(&mut self, index: usize, parser: Parser) {
        let rule = &self.rules[index];
        for range in parser.find(self.text) {
            if (self.accept)(rule, &self.text[range.clone()]) {
                self.found.push(Candidate { rule: index, range });
            }
        }
    }

    /// Searches all quoted strings that consist of base64 or base64url characters.
    pub fn find_quoted(&mut self, rules: &[usize]) -> Result<(), RuleErrorKind> {
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
            // The text around a string is read only if its form is that of a credential.
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
