//! Compiled patterns that are searched for together.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use regex_automata::PatternID;

use super::error::{MAX_BYTES, MAX_PATTERNS, PatternError};
use super::options::{MatchType, Syntax};
use super::pattern::Pattern;
use super::sieve::Sieve;
use super::terms;
use crate::rules::across::{RuleMatch, Sighting, Wanted, across_readings};
use crate::rules::term_variants::TermVariants;
use crate::stop;

/// Time that all searches of costly patterns in one text and its views may take together.
///
/// Steps alone do not bound the time: a part without backtracking, such as the body of `(?=.*x)`, counts as one step and
/// may read the whole text. So may what lies between two steps: `(?:(?=.*x)a)*` reads the text again for every `a`.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Bytes that one compiled pattern may take; and that one of a list of more than [`FEW`] may take at least.
const SIZE_LIMIT: usize = 10 * 1024 * 1024;

const LEAST_SIZE: usize = 128 * 1024;

/// Patterns that may all be as large as [`SIZE_LIMIT`] says; those of a longer list share what these may take.
pub(super) const FEW: usize = 100;

/// Bytes of a text from which on one look for all patterns at once pays.
const LONG: usize = 8 * 1024;

/// One match of one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The index of the pattern in the list given to [`Patterns::compile`].
    pub pattern: usize,
    /// The matched UTF-8 byte range, on character boundaries; empty for a pattern that matched between two characters, such as `^`.
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

/// Compiled patterns.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// Says of a long text which patterns can match in it; compiled on first use.
    sieve: OnceLock<Option<Sieve>>,
    /// The patterns that are nothing but words; made where views are searched.
    variants: OnceLock<Option<TermVariants>>,
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
            bytes > MAX_BYTES || index >= MAX_PATTERNS
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
            variants: OnceLock::new(),
        })
    }

    /// How many patterns there are.
    pub fn count(&self) -> usize {
        self.patterns.len()
    }

    /// Whether a search may take long even in a text of some kilobytes: with many patterns, with one that needs
    /// backtracking, or with one that is large when compiled, as `(?:[ab]{1,100}c?){100}` is. Linear time then has a
    /// large factor.
    pub fn are_costly(&self) -> bool {
        self.patterns.len() > FEW || self.patterns.iter().any(Pattern::is_costly)
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

    /// The same, within about so much time where that is less than a search may take otherwise: for texts that share a
    /// limit.
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

    /// The matches in `text` and in its views, as [`crate::rules::across::across_views`] has them; those of
    /// patterns that are nothing but words also where other white space, "_", "-" or "+" stands in the place of a space, and backwards:
    /// with [`MatchType::All`] all of them, else of each pattern the first one in the text or else in the first view that it matches. A
    /// pattern that is to match the whole text may match the whole of a view.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] as in [`Patterns::find`]; all views share one limit of time.
    pub fn find_across_views(
        &self,
        text: &str,
        match_type: MatchType,
    ) -> Result<Vec<Sighting<PatternMatch>>, PatternError> {
        let end = Instant::now() + TIME_LIMIT;
        let wanted = match match_type {
            MatchType::All => Wanted::All,
            MatchType::Search | MatchType::FullMatch => Wanted::Nearest,
        };
        let find = |text: &str| self.find_until(text, match_type, end);
        across_readings(text, wanted, find, |text| self.find_variants(text, match_type, end))
    }

    /// What is found where words are separated otherwise, and backwards.
    fn find_variants(
        &self,
        text: &str,
        match_type: MatchType,
        until: Instant,
    ) -> Result<Vec<(PatternMatch, &'static str)>, PatternError> {
        let variants = self.variants.get_or_init(|| {
            let linear = self
                .patterns
                .iter()
                .enumerate()
                .filter(|(_, pattern)| pattern.is_linear());
            let terms: Vec<(usize, String)> = linear
                .flat_map(|(index, pattern)| {
                    terms::of(pattern.translated())
                        .into_iter()
                        .map(move |term| (index, term))
                })
                .collect();
            TermVariants::new(terms.iter().map(|(index, term)| (*index, term.as_str())), true, false)
        });
        let mut matches = Vec::new();
        for found in variants.iter().flat_map(|variants| variants.find(text)) {
            let (pattern, range) = (found.rule, found.range);
            if match_type == MatchType::FullMatch && range != (0..text.len()) {
                continue;
            }
            if found.kind == "blanks" {
                // The terms are in lower case, and the case of a pattern may matter.
                let separates = |c: char| c.is_whitespace() || matches!(c, '_' | '-' | '+');
                let words: Vec<&str> = text[range.clone()]
                    .split(separates)
                    .filter(|word| !word.is_empty())
                    .collect();
                let said = words.join(" ");
                if self.patterns[pattern]
                    .find(pattern, &said, match_type, false, until)?
                    .is_empty()
                {
                    continue;
                }
            }
            matches.push((PatternMatch { pattern, range }, found.kind));
        }
        Ok(matches)
    }

    pub(super) fn find_until(
        &self,
        text: &str,
        match_type: MatchType,
        until: Instant,
    ) -> Result<Vec<PatternMatch>, PatternError> {
        let suspects = self.suspects(text, match_type);
        let mut found = Vec::new();
        for (index, pattern) in self.patterns.iter().enumerate() {
            stop::point();
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
        let sieve = self.sieve.get_or_init(|| {
            let patterns = self.patterns.iter().filter(|pattern| pattern.is_linear());
            Sieve::new(&patterns.map(Pattern::translated).collect::<Vec<_>>())
        });
        let sifted = sieve.as_ref()?.suspects(text)?;
        let mut sifted = (0..sifted.capacity()).map(|index| PatternID::new(index).is_ok_and(|id| sifted.contains(id)));
        let suspects = self.patterns.iter().map(|pattern| {
            let suspected = !pattern.is_linear() || sifted.next().unwrap_or(true);
            // Before a newline that ends the text, `$` matches in Python only.
            suspected || pattern.has_dollar() && text.ends_with('\n')
        });
        Some(suspects.collect())
    }
}
