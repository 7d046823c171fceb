//! The search of one text.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::addresses::{self, Address, Certainty, whole_address};
use super::boundaries::{has_boundaries, next_digit, starts};
use super::character_width::{NarrowText, canonical_form};
use super::checks::Check;
use super::checks::digits::{digits, is_monotonous};
use super::context::{Mentions, NearestWord};
use super::finding::{Evidence, Finding};
use super::names::{Lead, Place};
use super::recognizer::Finder;
use super::recognizers::{PatternGroup, Recognizer, Recognizers};
use super::{domain, email};
use crate::rules::regex::MatchType;
use crate::rules::{CheckResult, RuleError, RuleErrorKind, urls};
use crate::stop;

/// The bonus of a context word for a user's pattern, and the least score then, as in llm-guard 0.3.16.
const CONTEXT_ADDS: f64 = 0.35;
const CONTEXT_LEAST: f64 = 0.4;
/// How much the score falls with the distance of a context word, up to the limit; in another sentence it falls by 3.5
/// times more. So if two recognizers claim a number, the one with the nearer word wins.
const DISTANCE_TAKES: f64 = 0.1;
/// The score of a value directly after its name, unless the recognizer has another one; how much the score falls if other
/// words are between them; and the score of a value with a wrong checksum.
const NAMED: f64 = 0.9;
const APART_TAKES: f64 = 0.05;
const FORM_ONLY: f64 = 0.7;
/// The fewest digits of a value without checksum that has other words between its name and itself.
const LONG: usize = 6;
/// The highest score of a finding next to a word that makes it something else.
const OF_OTHERS: f64 = 0.3;

/// The type of findings that are extended to the whole address.
const ADDRESS: &str = "STREET_ADDRESS";

impl Recognizers {
    /// Finds the matches of the recognizers in `text`, in order. Findings may overlap; [`super::merge`] combines them.
    /// Full-width letters and digits match like ordinary ones, except in patterns of the user. The time is linear in
    /// the length of the text.
    ///
    /// # Errors
    ///
    /// A user's pattern is too slow. Treat the text as not scanned.
    pub fn find(&self, text: &str) -> Result<Vec<Finding>, RuleError> {
        let narrow = NarrowText::new(text);
        let mut findings = match &narrow {
            Some(narrow) => {
                let mut search = Search::new(self, &narrow.text);
                search.find_embedded()?;
                for finding in &mut search.findings {
                    finding.range = narrow.original(&finding.range);
                }
                search.findings
            }
            None => Vec::new(),
        };
        let mut search = Search::new(self, text);
        if narrow.is_none() {
            search.find_embedded()?;
        }
        search.expressions()?;
        findings.append(&mut search.findings);
        let order = |one: &Finding, other: &Finding| {
            let range = |finding: &Finding| (finding.range.start, finding.range.end);
            range(one)
                .cmp(&range(other))
                .then_with(|| one.entity.cmp(&other.entity))
                .then_with(|| other.score.total_cmp(&one.score))
                .then_with(|| one.recognizer.cmp(&other.recognizer))
        };
        findings.sort_by(order);
        findings.dedup_by(|next, first| next.range == first.range && next.entity == first.entity);
        Ok(findings)
    }
}

/// A value after its name.
struct NamedValue {
    /// The index of the recognizer.
    index: usize,
    range: Range<usize>,
    score: f64,
    /// The name; see [`super::names::Names::text`].
    name: usize,
    /// The result of the recognizer's check.
    check: Option<CheckResult>,
}

impl NamedValue {
    /// Whether it has the form of the recognizer, and a wrong checksum.
    fn is_form_only(&self) -> bool {
        CheckResult::is_failure(self.check)
    }
}

/// The score of a finding in its context.
struct Score {
    value: f64,
    /// The context word that raised it; see [`super::context::Vocabulary::text`].
    word: Option<usize>,
}

/// The search of one text.
struct Search<'a> {
    of: &'a Recognizers,
    text: &'a str,
    mentions: OnceCell<Mentions<'a>>,
    addresses: OnceCell<Vec<Address>>,
    pub findings: Vec<Finding>,
}

fn result_of(check: Check, has_passed: bool) -> CheckResult {
    CheckResult {
        name: check.name(),
        has_passed,
    }
}

/// Drops values with a wrong checksum, and values of recognizers without a checksum at the same places.
fn drop_wrong(named: &mut Vec<NamedValue>, has_checksum: impl Fn(usize) -> bool) {
    let wrong: HashSet<usize> = named
        .iter()
        .filter(|value| value.is_form_only())
        .map(|value| value.range.start)
        .collect();
    named.retain(|value| !value.is_form_only() && (has_checksum(value.index) || !wrong.contains(&value.range.start)));
}

impl<'a> Search<'a> {
    pub fn new(of: &'a Recognizers, text: &'a str) -> Self {
        Self {
            of,
            text,
            mentions: OnceCell::new(),
            addresses: OnceCell::new(),
            findings: Vec::new(),
        }
    }

    /// Adds the findings of the embedded recognizers.
    pub fn find_embedded(&mut self) -> Result<(), RuleError> {
        self.finders();
        self.patterns()
    }

    /// The score of a finding of recognizer `index` in its context.
    fn score(&self, index: usize, range: &Range<usize>) -> Score {
        let source = &self.of.recognizers[index].source;
        let alone = |value| Score { value, word: None };
        if self.is_other(index, range) {
            return alone(source.score.min(OF_OTHERS));
        }
        let near = source.context_score.and_then(|score| {
            let NearestWord { distance, word } = self.nearest(index, range, source.adjacent)?;
            Some(Score {
                value: score - DISTANCE_TAKES * distance,
                word: Some(word),
            })
        });
        near.filter(|near| near.value > source.score)
            .unwrap_or_else(|| alone(source.score))
    }

    /// Whether a word next to a finding of recognizer `index` makes it something else.
    fn is_other(&self, index: usize, range: &Range<usize>) -> bool {
        let source = &self.of.recognizers[index].source;
        let owner = self.of.others + 2 * index;
        let has_words = !(source.not_after.is_empty() && source.not_before.is_empty());
        has_words && self.mentions().is_beside(owner, owner + 1, range)
    }

    /// Adds a finding of recognizer `index`.
    fn add(&mut self, index: usize, range: Range<usize>, score: f64, evidence: Evidence) {
        let recognizer = &self.of.recognizers[index];
        let (entity, id) = (Arc::clone(&recognizer.entity), Arc::clone(&recognizer.id));
        let range = if &*entity == ADDRESS && recognizer.source.finder.is_none() {
            whole_address(self.text, &range)
        } else {
            range
        };
        self.keep(range, score, entity, id, evidence);
    }

    fn nearest(&self, owner: usize, range: &Range<usize>, adjacent: bool) -> Option<NearestWord> {
        self.mentions().nearest(owner, range, adjacent)
    }

    /// The evidence of a context word, and of a check that the value has passed.
    fn evidence(&self, word: Option<usize>, check: Option<Check>) -> Evidence {
        Evidence {
            context: word.map(|word| self.of.vocabulary.text(word)),
            check: check.map(|check| result_of(check, true)),
        }
    }

    fn mentions(&self) -> &Mentions<'a> {
        self.mentions.get_or_init(|| self.of.vocabulary.read(self.text))
    }

    fn keep(&mut self, range: Range<usize>, score: f64, entity: Arc<str>, recognizer: Arc<str>, evidence: Evidence) {
        let (of, text) = (self.of, self.text);
        let allowed = &of.allowed;
        let is_allowed = || allowed.contains(&canonical_form(&text[range.clone()]));
        if score >= of.threshold && !range.is_empty() && (allowed.is_empty() || !is_allowed()) {
            self.findings.push(Finding {
                range,
                entity,
                score,
                recognizer,
                evidence,
            });
        }
    }

    /// Adds the findings of finders.
    fn finders(&mut self) {
        let of = self.of;
        for &(index, finder) in &of.finders {
            stop::point();
            let found: Vec<Range<usize>> = match finder {
                Finder::Url => urls::find(self.text).into_iter().map(|found| found.range).collect(),
                Finder::Email => email::find(self.text),
                Finder::Domain => domain::find(self.text),
                Finder::Address => self.addresses(Certainty::Sure),
                Finder::LikelyAddress => self.addresses(Certainty::Likely),
                Finder::PossibleAddress => self.addresses(Certainty::Possible),
            };
            for range in found {
                stop::point();
                let score = self.score(index, &range);
                // The finder has checked what the recognizer's check would.
                let evidence = self.evidence(score.word, None);
                self.add(index, range, score.value, evidence);
            }
        }
    }

    /// The addresses of one certainty.
    fn addresses(&self, certainty: Certainty) -> Vec<Range<usize>> {
        let all = self.addresses.get_or_init(|| addresses::find(self.text)).iter();
        all.filter(|address| address.certainty == certainty)
            .map(|address| address.range.clone())
            .collect()
    }

    /// Adds the matches of the embedded patterns.
    fn patterns(&mut self) -> Result<(), RuleError> {
        let of = self.of;
        if next_digit(self.text, 0).is_some() || self.text.contains('#') {
            self.pattern_group(of.with_digits.as_ref(), true)?;
        }
        self.pattern_group(of.of_words.as_ref(), false)?;
        self.named_values()
    }

    /// Adds the matches of a group of patterns.
    fn pattern_group(&mut self, patterns: Option<&PatternGroup>, has_digit: bool) -> Result<(), RuleError> {
        let Some(PatternGroup { prefixes, of_pattern }) = patterns else {
            return Ok(());
        };
        let of = self.of;
        let text = self.text;
        let mut done: Vec<usize> = Vec::new();
        let seen = |start: usize, ends: &[(usize, usize)]| {
            done.clear();
            // Of each pattern, the longest match with boundaries and a passed check counts.
            for &(pattern, end) in ends.iter().rev() {
                stop::point();
                for &index in &of_pattern[pattern] {
                    let Recognizer { source, adjacent, .. } = &of.recognizers[index];
                    if done.contains(&index) || !has_boundaries(text, start..end, source.boundary) {
                        continue;
                    }
                    // Scores are cheaper than checks.
                    let score = self.score(index, &(start..end));
                    if score.value >= of.threshold
                        && source
                            .check
                            .is_none_or(|check| check.passes(&text[start..end], &of.phones))
                        && adjacent.match_around(text, &(start..end))
                    {
                        done.push(index);
                        let evidence = self.evidence(score.word, source.check);
                        self.add(index, start..end, score.value, evidence);
                    }
                }
            }
        };
        Ok(prefixes.search(text, starts(text, has_digit), seen)?)
    }

    /// Adds the values directly after their names.
    fn named_values(&mut self) -> Result<(), RuleError> {
        let (of, text) = (self.of, self.text);
        let Some(PatternGroup { prefixes, of_pattern }) = &of.after_names else {
            return Ok(());
        };
        let places = of.names.places(text);
        if places.is_empty() {
            return Ok(());
        }
        let mut starts: Vec<usize> = places.iter().map(|place| place.start.at).collect();
        starts.dedup();
        let mut named: Vec<NamedValue> = Vec::new();
        let seen = |start: usize, ends: &[(usize, usize)]| {
            let from = places.partition_point(|place| place.start.at < start);
            let here = places[from..].iter().take_while(|place| place.start.at == start);
            for &place in here {
                let own = ends
                    .iter()
                    .rev()
                    .filter(|(pattern, _)| of_pattern[*pattern].contains(&place.recognizer));
                named.extend(self.named_value(place, own.map(|(_, end)| *end)));
            }
        };
        prefixes.search(text, starts.into_iter(), seen)?;
        if !of.is_lenient {
            drop_wrong(&mut named, |index| of.recognizers[index].has_checksum());
        }
        for NamedValue {
            index,
            range,
            score,
            name,
            check,
        } in named
        {
            stop::point();
            let context = Some(of.names.text(name));
            self.add(index, range, score, Evidence { context, check });
        }
        Ok(())
    }

    /// The value at a place after a name, with one of `ends`, the longest first.
    fn named_value(&self, place: Place, ends: impl Iterator<Item = usize>) -> Option<NamedValue> {
        let (of, text) = (self.of, self.text);
        let (index, start, lead) = (place.recognizer, place.start.at, place.start.lead);
        let Recognizer { source, adjacent, .. } = &of.recognizers[index];
        let proven = source.context_score.unwrap_or(NAMED);
        let mut form = None;
        for end in ends {
            stop::point();
            let range = start..end;
            let value = &text[range.clone()];
            if !has_boundaries(text, range.clone(), source.boundary)
                || !adjacent.match_around(text, &range)
                || self.is_other(index, &range)
            {
                continue;
            }
            let named = |score: f64, has_passed: bool| NamedValue {
                index,
                range: range.clone(),
                score,
                name: place.name,
                check: source.check.map(|check| result_of(check, has_passed)),
            };
            match source.check {
                Some(check) if !check.passes(value, &of.phones) => {
                    let may_be_wrong = check.is_checksum() && lead == Lead::Direct;
                    if form.is_none() && may_be_wrong && !is_monotonous(&digits(value)) {
                        form = Some(named(FORM_ONLY, false));
                    }
                }
                Some(check) if check.is_checksum() => return Some(named(proven, true)),
                _ if lead == Lead::Direct => return Some(named(proven, true)),
                _ if lead == Lead::Verb && digits(value).len() >= LONG => {
                    return Some(named(proven - APART_TAKES, true));
                }
                _ => {}
            }
        }
        form
    }

    /// Adds the matches of the user's patterns.
    pub fn expressions(&mut self) -> Result<(), RuleError> {
        let of = self.of;
        let custom = &of.custom;
        if !custom.of_expression.is_empty() {
            let found = custom.expressions.find(self.text, MatchType::All);
            let found = found.map_err(|error| RuleErrorKind::from(error).at("patterns"))?;
            for found in found {
                self.add_custom(custom.of_expression[found.pattern], found.range);
            }
        }
        for found in custom.words.iter().flat_map(|words| words.find(self.text, true)) {
            self.add_custom(custom.of_word[found.substring], found.range);
        }
        Ok(())
    }

    /// Adds a match of the user's pattern `own`.
    fn add_custom(&mut self, own: usize, range: Range<usize>) {
        stop::point();
        let of = self.of;
        let custom = &of.custom.patterns[own];
        let near = self.nearest(of.recognizers.len() + own, &range, false);
        let score = near.map_or(custom.score, |_| {
            (custom.score + CONTEXT_ADDS).clamp(CONTEXT_LEAST, 1.0)
        });
        let evidence = self.evidence(near.map(|near| near.word), None);
        self.keep(
            range,
            score,
            Arc::clone(&custom.entity),
            Arc::clone(&custom.id),
            evidence,
        );
    }
}
