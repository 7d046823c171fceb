//! Finds credentials: combines the matches of all rules into one list.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;

use super::allowlist::{self, Allowlist, AllowlistSource};
use super::check::{Check, Outcome};
use super::entropy;
use super::options::Options;
use super::parsers::Parser;
use super::providers::built_in;
use super::rarity;
use super::repeats::{overlap, with_repeats};
use super::reversed::ReversedWords;
use super::rule::{Rule, RuleSource, Shape};
use super::rule_set::RuleSet;
use super::secret::Secret;
use crate::rules::CheckResult;
use crate::rules::error::{RuleError, RuleErrorKind};
use crate::rules::view_search::{RuleMatch, Selection, ViewMatch, search_views_and_variants};
use crate::stop;

/// The most time of all searches of one user rule in one text together.
///
/// Every search is linear, but a text can have one for each byte, each of which reads to the end.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// How often a text is searched, each time without the earlier findings.
const LOOKS: usize = 4;

/// An accepted match of a rule.
struct Hit {
    /// The index of the rule; user rules follow the embedded ones.
    rule: usize,
    range: Range<usize>,
    check: Option<CheckResult>,
}

impl RuleMatch for Hit {
    fn rule(&self) -> usize {
        self.rule
    }

    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Rules that are searched for together.
#[derive(Debug)]
pub struct Secrets {
    embedded: Arc<RuleSet>,
    /// For each embedded rule, whether it is enabled.
    enabled: Vec<bool>,
    own: RuleSet,
    allow: Allowlist,
}

impl Secrets {
    /// Prepares the embedded rules with a user's options.
    ///
    /// # Errors
    ///
    /// The first invalid value, with its path in the options: `rules.2.pattern`, `disabled_rules.0`, `allow.1`.
    pub fn new(options: &Options) -> Result<Self, RuleError> {
        let embedded = Arc::clone(&built_in()?.rules);
        let mut enabled = vec![true; embedded.rules.len()];
        for (index, id) in options.disabled_rules.iter().enumerate() {
            let known = embedded.rules.iter().position(|rule| rule.source.id == *id);
            let unknown = || RuleErrorKind::UnknownRule(id.clone()).at(format!("disabled_rules.{index}"));
            enabled[known.ok_or_else(unknown)?] = false;
        }
        let own: Result<Vec<Rule>, RuleError> = options
            .rules
            .iter()
            .enumerate()
            .map(|(index, source)| Rule::user(source.clone()).map_err(|kind| kind.at(format!("rules.{index}.pattern"))))
            .collect();
        let source = AllowlistSource {
            patterns: options.allow.clone(),
            ..AllowlistSource::default()
        };
        Ok(Self {
            embedded,
            enabled,
            own: RuleSet::new(own?),
            allow: Allowlist::new(&source, true).map_err(|(index, kind)| kind.at(format!("allow.{index}")))?,
        })
    }

    /// Prepares one embedded rule.
    pub(super) fn from_rule(rule: Rule) -> Result<Self, RuleErrorKind> {
        Ok(Self {
            embedded: Arc::new(RuleSet::new(vec![rule])),
            enabled: vec![true],
            own: RuleSet::new(Vec::new()),
            allow: Allowlist::new(&AllowlistSource::default(), true).map_err(|(_, kind)| kind)?,
        })
    }

    /// Finds the credentials in `text`, from left to right, without overlaps; with `deobfuscate`, also in views of the
    /// text ([`crate::text::views`]).
    ///
    /// Overlapping matches become one secret that covers all of them. Its rule is a user rule if there is one, then one
    /// with a known service, then the one with the longest match.
    ///
    /// # Errors
    ///
    /// A user rule that is too slow, or an embedded rule that can't be compiled. Treat the text as not scanned.
    pub fn find(&self, text: &str, deobfuscate: bool) -> Result<Vec<Secret<'_>>, RuleError> {
        let mut secrets = self.look(text, deobfuscate)?;
        // A secret next to another one has no boundary until that one is masked.
        let mut fresh = secrets.clone();
        let mut masked = text.as_bytes().to_vec();
        for _ in 1..LOOKS {
            if fresh.is_empty() {
                break;
            }
            for secret in &fresh {
                masked[secret.range.clone()].fill(b'*');
            }
            // Only whole characters are replaced, so this is still UTF-8.
            let Ok(rest) = std::str::from_utf8(&masked) else { break };
            fresh = self.look(rest, deobfuscate)?;
            fresh.retain(|secret| !overlap(&secrets, &secret.range));
            secrets.extend(fresh.iter().cloned());
            secrets.sort_by_key(|secret| (secret.range.start, secret.range.end));
        }
        Ok(secrets)
    }

    /// Searches a text once.
    fn look(&self, text: &str, deobfuscate: bool) -> Result<Vec<Secret<'_>>, RuleErrorKind> {
        let mut matches = if deobfuscate {
            let mut matches = search_views_and_variants(
                text,
                Selection::All,
                |view| self.hits(view, false),
                |view| self.reversed_hits(view),
            )?;
            // Decoding leetspeak replaces digits with letters, which destroys credentials.
            let is_leet =
                |view_match: &ViewMatch<Hit>| view_match.view.as_ref().is_some_and(|view| view.contains("leet"));
            matches.retain(|view_match| !is_leet(view_match));
            matches
        } else {
            let found = self.hits(text, false)?.into_iter();
            let in_text = |found: Hit| ViewMatch {
                range: found.range.clone(),
                found,
                view: None,
            };
            found.map(in_text).collect()
        };
        matches.sort_by_key(|view_match| (view_match.range.start, view_match.range.end));
        let secrets = self.resolve(text, matches);
        Ok(with_repeats(text, secrets))
    }

    /// The matches of all rules in one view; with `known`, only of rules with a known service.
    fn hits(&self, text: &str, known: bool) -> Result<Vec<Hit>, RuleErrorKind> {
        let placeholders = &built_in()?.allow;
        let accept = |rule: &Rule, value: &[u8]| {
            let source = &rule.source;
            let outcome = source.check.map(|check| check.run(value));
            // A valid checksum is proof: neither entropy nor placeholders matter.
            let proven = outcome == Some(Outcome::Proven) && source.check == Some(Check::GithubCrc);
            outcome != Some(Outcome::Refuted)
                && !self.allow.allows(value)
                && (proven
                    || source.entropy.is_none_or(|least| entropy::shannon(value) >= least)
                        && source.rarity.is_none_or(|most| rarity::bytes_per_token(value) <= most)
                        && !allowlist::is_monotonous(value)
                        && !placeholders.allows(value))
        };
        let mut hits = Vec::new();
        for set in [&*self.embedded, &self.own] {
            stop::point();
            let (first, limit) = if std::ptr::eq(set, &self.own) {
                (self.embedded.rules.len(), Some(TIME_LIMIT))
            } else {
                (0, None)
            };
            let enabled = |index: usize| {
                (first > 0 || self.enabled[index]) && (!known || set.rules[index].source.service.is_some())
            };
            for candidate in set.find(text.as_bytes(), enabled, accept, limit)? {
                let value = &text.as_bytes()[candidate.range.clone()];
                let check = set.rules[candidate.rule].source.check;
                let encoded = match set.rules[candidate.rule].shape {
                    Shape::Parsed(Parser::KubernetesSecret) => self.encoded_rule(value)?,
                    _ => None,
                };
                hits.push(Hit {
                    rule: encoded.unwrap_or(first + candidate.rule),
                    check: check.map(|check| CheckResult {
                        name: check.name(),
                        has_passed: check.run(value) != Outcome::Doubtful,
                    }),
                    range: text.floor_char_boundary(candidate.range.start)
                        ..text.ceil_char_boundary(candidate.range.end),
                });
            }
        }
        Ok(hits)
    }

    /// The embedded rule with a known service that matches a value in base64, as a Kubernetes Secret has it.
    fn encoded_rule(&self, value: &[u8]) -> Result<Option<usize>, RuleErrorKind> {
        let decoded = BASE64
            .decode(value)
            .ok()
            .and_then(|decoded| String::from_utf8(decoded).ok());
        let Some(decoded) = decoded else {
            return Ok(None);
        };
        let hits = self.hits(&decoded, true)?.into_iter();
        let known = hits.filter(|hit| hit.rule < self.embedded.rules.len());
        Ok(known
            .max_by_key(|hit| (hit.range.len(), Reverse(hit.rule)))
            .map(|hit| hit.rule))
    }

    /// The matches of rules with a known service in reversed words. Other rules match random strings either way.
    fn reversed_hits(&self, text: &str) -> Result<Vec<(Hit, &'static str)>, RuleErrorKind> {
        let words = ReversedWords::new(text);
        if words.text.is_empty() {
            return Ok(Vec::new());
        }
        let hits = self.hits(&words.text, true)?.into_iter();
        let reversed = hits.filter_map(|hit| {
            let range = words.original(&hit.range)?;
            Some((Hit { range, ..hit }, "reversed"))
        });
        Ok(reversed.collect())
    }

    fn source(&self, rule: usize) -> &RuleSource {
        let embedded = self.embedded.rules.len();
        let rule = match rule.checked_sub(embedded) {
            Some(own) => &self.own.rules[own],
            None => &self.embedded.rules[rule],
        };
        &rule.source
    }

    /// Merges overlapping matches, which must ascend.
    fn resolve(&self, text: &str, matches: Vec<ViewMatch<Hit>>) -> Vec<Secret<'_>> {
        let rank = |view_match: &ViewMatch<Hit>| {
            let rule = view_match.found.rule;
            let own = rule >= self.embedded.rules.len();
            let service = self.source(rule).service.is_some();
            (
                view_match.view.is_none(),
                own,
                service,
                view_match.range.len(),
                Reverse(rule),
            )
        };
        let mut groups: Vec<(Range<usize>, ViewMatch<Hit>)> = Vec::new();
        for view_match in matches {
            stop::point();
            match groups.last_mut() {
                Some((range, best)) if view_match.range.start < range.end => {
                    range.end = range.end.max(view_match.range.end);
                    if rank(&view_match) > rank(best) {
                        *best = view_match;
                    }
                }
                _ => groups.push((view_match.range.clone(), view_match)),
            }
        }
        let secret = |(range, view_match): (Range<usize>, ViewMatch<Hit>)| {
            let source = self.source(view_match.found.rule);
            Secret {
                range: text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end),
                rule: &source.id,
                service: source.service.as_deref(),
                check: view_match.found.check,
                view: view_match.view,
            }
        };
        groups.into_iter().map(secret).collect()
    }
}
