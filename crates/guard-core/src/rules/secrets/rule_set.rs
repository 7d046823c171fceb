//! A set of rules that are searched for together.
//!
//! One pass finds all keywords, and a rule is tried only around its keywords. So the time grows with the length of the
//! text and the number of keywords in it, not with the number of rules.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

use super::matches::Ahead;
use super::parsers::Parser;
use super::rule::{Rule, Shape};
use super::search::{Candidate, Search};
use crate::rules::error::RuleErrorKind;
use crate::rules::keywords::Keywords;
use crate::stop;

/// Rules with their keywords.
#[derive(Debug)]
pub(super) struct RuleSet {
    pub rules: Vec<Rule>,
    keywords: Keywords,
    /// For each keyword, the indices of its rules.
    owners: Vec<Vec<usize>>,
    /// Rules without keywords, which search the whole text.
    everywhere: Vec<usize>,
    /// Rules for quoted strings.
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

    /// Finds the matches of the enabled rules that `accept` accepts, in no order. `limit` is the most time of a rule
    /// for one window.
    pub fn find(
        &self,
        text: &[u8],
        enabled: impl Fn(usize) -> bool,
        accept: impl Fn(&Rule, &[u8]) -> bool,
        limit: Option<Duration>,
    ) -> Result<Vec<Candidate>, RuleErrorKind> {
        // Most users have no rules of their own, and the search for no keyword would read the whole text.
        if self.rules.is_empty() {
            return Ok(Vec::new());
        }
        let mut search = Search {
            rules: &self.rules,
            text,
            accept,
            limit,
            found: Vec::new(),
            taken: HashMap::new(),
            values: HashMap::new(),
        };
        // For each rule with a keyword in the text, the window that is still growing. Most texts have few of them.
        let mut windows: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        // Rules whose parser reads the text.
        let mut parsed: BTreeMap<usize, Parser> = BTreeMap::new();
        // For each rule without a greatest match length, the result of its last search.
        let mut ahead: HashMap<usize, Ahead> = HashMap::new();
        self.keywords.find(text, |keyword, hit| -> Result<(), RuleErrorKind> {
            stop::point();
            let in_word = hit.start > 0 && text[hit.start - 1].is_ascii_alphanumeric();
            for &index in &self.owners[keyword] {
                if !enabled(index) || in_word && self.rules[index].source.starts_word {
                    continue;
                }
                let compiled = self.rules[index].compiled()?;
                match self.rules[index].shape {
                    Shape::Assigned => {
                        search.find_assigned(index, compiled, hit.clone());
                        continue;
                    }
                    Shape::Literal => {
                        search.find_string(index, compiled, hit.clone());
                        continue;
                    }
                    Shape::Parsed(parser) => {
                        parsed.insert(index, parser);
                        continue;
                    }
                    Shape::Pattern | Shape::Quoted => {}
                }
                let near = hit.start.saturating_sub(compiled.before)..(hit.start + compiled.after).min(text.len());
                match windows.get_mut(&index) {
                    Some(window) if near.start <= window.end => window.end = window.end.max(near.end),
                    Some(window) => {
                        let reached = search.patterns(index, compiled, window.clone(), &mut ahead)?;
                        *window = near.start.max(reached)..near.end.max(reached);
                    }
                    None => {
                        windows.insert(index, near);
                    }
                }
            }
            Ok(())
        })?;
        for (index, window) in windows {
            stop::point();
            search.patterns(index, self.rules[index].compiled()?, window, &mut ahead)?;
        }
        for (index, parser) in parsed {
            stop::point();
            search.find_parsed(index, parser);
        }
        for &index in self.everywhere.iter().filter(|&&index| enabled(index)) {
            stop::point();
            search.patterns(index, self.rules[index].compiled()?, 0..text.len(), &mut ahead)?;
        }
        let quoted: Vec<usize> = self.quoted.iter().copied().filter(|&index| enabled(index)).collect();
        if !quoted.is_empty() {
            search.find_quoted(&quoted)?;
        }
        Ok(search.found)
    }
}
