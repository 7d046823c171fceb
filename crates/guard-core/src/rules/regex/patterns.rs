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
use crate::rules::term_variants::TermVariants;
use crate::rules::view_search::{RuleMatch, Selection, ViewMatch, search_views_and_variants};
use crate::stop;
use crate::text::canonical::compose;

/// The most time of all searches of costly patterns in one text and its views together.
///
/// Steps alone do not bound the time: a part without backtracking, such as the body of `(?=.*x)`, is one step and may
/// read the whole text. So may the text between two steps: `(?:(?=.*x)a)*` reads the text again for every `a`.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The most bytes of a compiled pattern; and its least limit in a list of more than [`FEW`].
const SIZE_LIMIT: usize = 10 * 1024 * 1024;

const LEAST_SIZE: usize = 128 * 1024;

/// The most bytes of a compiled pattern of [`Patterns::compile_linear`], and of all of them.
const LINEAR_SIZE: usize = 1024 * 1024;
const LINEAR_TOTAL: usize = 8 * 1024 * 1024;

/// Up to this many patterns have the limit [`SIZE_LIMIT`] each; a longer list shares the total.
pub(super) const FEW: usize = 100;

/// The minimum bytes of a text for which a prefilter for all patterns pays off.
const LONG: usize = 8 * 1024;

/// One match of one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The index of the pattern in the list given to [`Patterns::compile`].
    pub pattern: usize,
    /// The matched UTF-8 byte range, on character boundaries; empty for a match between two characters, such as of `^`.
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
    /// The composed form of patterns that are not composed, by their indices.
    composed: Vec<(usize, Pattern)>,
    /// Selects the patterns that may match in a long text; compiled on first use.
    sieve: OnceLock<Option<Sieve>>,
    /// The variants of patterns that consist of words; compiled on the first search of views.
    variants: OnceLock<Option<TermVariants>>,
}

impl Patterns {
    /// Compiles patterns in Python's syntax: at most 10,000, of 1 MiB together.
    ///
    /// # Errors
    ///
    /// [`PatternError::TooMany`], or the first pattern that is invalid ([`PatternError::Syntax`]) or too large
    /// ([`PatternError::TooLarge`]): more than 10 MiB when compiled, and less in a list of more than a hundred.
    pub fn compile<S: AsRef<str>>(patterns: &[S]) -> Result<Self, PatternError> {
        Self::compile_as(patterns, Syntax::Python)
    }

    /// Compiles patterns in Python's syntax that anybody may have written: they take linear time, and little memory.
    ///
    /// # Errors
    ///
    /// Those of [`Patterns::compile`]; [`PatternError::NotLinear`] for a pattern that needs backtracking; and
    /// [`PatternError::TooLarge`] for one of more than 1 MiB when compiled, or that makes all of them exceed 8 MiB.
    pub fn compile_linear<S: AsRef<str>>(patterns: &[S]) -> Result<Self, PatternError> {
        let mut total = 0;
        Self::compile_checked(patterns, Syntax::Python, LINEAR_SIZE, |index, pattern| {
            let size = pattern
                .linear_size()
                .ok_or(PatternError::NotLinear { pattern: index })?;
            total += size;
            match total <= LINEAR_TOTAL {
                true => Ok(()),
                false => Err(PatternError::TooLarge { pattern: index }),
            }
        })
    }

    /// Compiles patterns in a syntax.
    ///
    /// # Errors
    ///
    /// Those of [`Patterns::compile`].
    pub fn compile_as<S: AsRef<str>>(patterns: &[S], syntax: Syntax) -> Result<Self, PatternError> {
        let limit = (SIZE_LIMIT * FEW / patterns.len().max(FEW)).max(LEAST_SIZE);
        Self::compile_checked(patterns, syntax, limit, |_, _| Ok(()))
    }

    /// Compiles patterns of at most `limit` bytes each when compiled, and checks each of them.
    fn compile_checked<S: AsRef<str>>(
        patterns: &[S],
        syntax: Syntax,
        limit: usize,
        mut check: impl FnMut(usize, &Pattern) -> Result<(), PatternError>,
    ) -> Result<Self, PatternError> {
        let mut bytes = 0;
        let excess = patterns.iter().enumerate().position(|(index, source)| {
            bytes += source.as_ref().len();
            bytes > MAX_BYTES || index >= MAX_PATTERNS
        });
        if let Some(pattern) = excess {
            return Err(PatternError::TooMany { pattern });
        }
        let compile = |(index, source): (usize, &str)| Pattern::compile(index, source, syntax, limit);
        let sources = || patterns.iter().map(AsRef::as_ref).enumerate();
        let mut compiled = Vec::with_capacity(patterns.len());
        for source in sources() {
            let pattern = compile(source)?;
            check(source.0, &pattern)?;
            compiled.push(pattern);
        }
        let composed = sources()
            .map(|(index, source)| (index, compose(source)))
            .filter(|(_, source)| source.is_changed())
            // A class that lists an accent by itself may have no composed form.
            .filter_map(|(index, source)| Some((index, compile((index, source.text())).ok()?)));
        Ok(Self {
            composed: composed.collect(),
            patterns: compiled,
            sieve: OnceLock::new(),
            variants: OnceLock::new(),
        })
    }

    /// The number of patterns.
    pub fn count(&self) -> usize {
        self.patterns.len()
    }

    /// Whether a search may take long even in a text of a few kB: with many patterns, with one that needs backtracking,
    /// or with one that is large when compiled, such as `(?:[ab]{1,100}c?){100}`, whose linear time has a large factor.
    pub fn are_costly(&self) -> bool {
        self.patterns.len() > FEW || self.patterns.iter().any(Pattern::is_costly)
    }

    /// Returns the matches of every pattern in `text`, in the order of the patterns and then of the text. Canonically
    /// equivalent texts match: an "é" matches an "e" with a combining accent, and the reverse.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] if a pattern that needs backtracking, or a very large one, is too expensive in this
    /// text. Treat the text as a match then.
    pub fn find(&self, text: &str, match_type: MatchType) -> Result<Vec<PatternMatch>, PatternError> {
        self.find_equivalent(text, match_type, Instant::now() + TIME_LIMIT)
    }

    /// Finds matches in `text` as it is written, with a lower time limit, for texts that share one.
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

    /// Finds matches in `text` and in its views ([`crate::rules::view_search::search_views`]). Patterns that consist of
    /// words also match with other separators ("_", "-", "+" or other white space in place of a space), and backwards.
    ///
    /// [`MatchType::All`] returns all matches; otherwise it is the first match of each pattern in the text, or else in
    /// its first view with a match. A full match may match the whole of a view.
    ///
    /// # Errors
    ///
    /// [`PatternError::StepLimit`] as in [`Patterns::find`]; all views share one limit of time.
    pub fn find_in_views(
        &self,
        text: &str,
        match_type: MatchType,
    ) -> Result<Vec<ViewMatch<PatternMatch>>, PatternError> {
        let end = Instant::now() + TIME_LIMIT;
        let wanted = match match_type {
            MatchType::All => Selection::All,
            MatchType::Search | MatchType::FullMatch => Selection::Nearest,
        };
        let find = |text: &str| self.find_equivalent(text, match_type, end);
        search_views_and_variants(text, wanted, find, |text| self.find_variants(text, match_type, end))
    }

    /// Finds patterns of words with other separators, and backwards.
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
                    terms::literal_terms(pattern.translated())
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
                // The terms are lower-cased, but the case may matter to the pattern.
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

    /// Finds matches in `text` and in its composed form.
    fn find_equivalent(
        &self,
        text: &str,
        match_type: MatchType,
        until: Instant,
    ) -> Result<Vec<PatternMatch>, PatternError> {
        let mut found = self.find_until(text, match_type, until)?;
        let composed = compose(text);
        if !composed.is_changed() && self.composed.is_empty() {
            return Ok(found);
        }
        let mut others = match composed.is_changed() {
            true => self.find_until(composed.text(), match_type, until)?,
            false => Vec::new(),
        };
        for (index, pattern) in &self.composed {
            let ranges = pattern.find(*index, composed.text(), match_type, false, until)?;
            others.extend(ranges.into_iter().map(|range| PatternMatch { pattern: *index, range }));
        }
        let mut added = Vec::new();
        for PatternMatch { pattern, range } in others {
            stop::point();
            let range = composed.original(range);
            let is_known = match match_type {
                MatchType::All => is_covered(&found, pattern, &range),
                MatchType::Search | MatchType::FullMatch => {
                    let next =
                        found.partition_point(|known| (known.pattern, known.range.start) <= (pattern, range.start));
                    found[..next].last().is_some_and(|known| known.pattern == pattern)
                }
            };
            if !is_known {
                added.push(PatternMatch { pattern, range });
            }
        }
        found.extend(added);
        found.sort_by_key(|found| (found.pattern, found.range.start, found.range.end));
        found.dedup_by(|next, last| {
            let overlaps =
                next.pattern == last.pattern && (next.range == last.range || next.range.start < last.range.end);
            if overlaps {
                last.range.end = last.range.end.max(next.range.end);
            }
            overlaps
        });
        if match_type != MatchType::All {
            found.dedup_by_key(|found| found.pattern);
        }
        Ok(found)
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

    /// For each pattern, whether it may match in `text`; `None` if searching one by one is better.
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
            // Only Python's `$` matches before a newline at the end of the text.
            suspected || pattern.has_dollar() && text.ends_with('\n')
        });
        Some(suspects.collect())
    }
}

/// Whether the matches of a pattern cover a range. The matches are sorted by pattern and start, and those of one pattern
/// do not overlap.
fn is_covered(found: &[PatternMatch], pattern: usize, range: &Range<usize>) -> bool {
    let first = found.partition_point(|known| (known.pattern, known.range.end) <= (pattern, range.start));
    let mut end = range.start;
    for known in &found[first..] {
        if known.pattern != pattern || known.range.start > end || end >= range.end {
            break;
        }
        end = known.range.end;
    }
    end >= range.end
}
