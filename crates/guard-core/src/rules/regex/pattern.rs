//! One pattern of a list.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::Instant;

use super::error::PatternError;
use super::matcher::Matcher;
use super::options::{MatchType, Syntax};
use super::translation::Translation;
use super::{ecmascript, python};

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    source: Translation,
    /// The most bytes of the compiled pattern.
    limit: usize,
    search: Matcher,
    /// Compiled on first use, since few rules need it.
    full: OnceLock<Result<Matcher, PatternError>>,
}

impl Pattern {
    /// Compiles the pattern with this index in its list.
    pub fn compile(index: usize, pattern: &str, syntax: Syntax, limit: usize) -> Result<Self, PatternError> {
        let source = match syntax {
            Syntax::Python => python::translate(index, pattern)?,
            Syntax::Ecmascript => ecmascript::translate(index, pattern)?,
        };
        let search =
            Matcher::compile(index, &source.text, limit, source.backtracks).map_err(|error| source.locate(error))?;
        Ok(Self {
            source,
            limit,
            search,
            full: OnceLock::new(),
        })
    }

    /// The matches in `text`; see [`Matcher::find`].
    pub fn find(
        &self,
        index: usize,
        text: &str,
        match_type: MatchType,
        suspected: bool,
        until: Instant,
    ) -> Result<Vec<Range<usize>>, PatternError> {
        if match_type == MatchType::FullMatch {
            let full = self.full.get_or_init(|| {
                Matcher::compile(index, &self.source.anchored_text(), self.limit, self.source.backtracks)
            });
            let matcher = full.as_ref().map_err(Clone::clone)?;
            return matcher.find(index, text, false, false, until);
        }
        let all = match_type == MatchType::All;
        let mut found = self.search.find(index, text, all, suspected, until)?;
        // Python's `$` also matches before a newline at the end of the text; the engine's only after it.
        if let Some(line) = text.strip_suffix('\n').filter(|_| self.source.dollar) {
            let before = self.search.find(index, line, all, suspected, until)?;
            let known = found.clone();
            found.extend(before.into_iter().filter(|range| {
                // Both lists ascend without overlaps, so only the first match that ends later can conflict.
                let near = known.partition_point(|other| other.end < range.end.min(range.start + 1));
                !known[near..]
                    .iter()
                    .take(2)
                    .any(|other| other == range || other.start < range.end && range.start < other.end)
            }));
            found.sort_by_key(|range| (range.start, range.end));
            if !all {
                found.truncate(1);
            }
        }
        Ok(found)
    }

    /// Whether a search takes linear time.
    pub fn is_linear(&self) -> bool {
        matches!(self.search, Matcher::Linear { .. })
    }

    /// The most bytes of the compiled pattern, if a search takes linear time.
    pub fn linear_size(&self) -> Option<usize> {
        self.search.linear_size()
    }

    /// Whether a search may take long even in a short text.
    pub fn is_costly(&self) -> bool {
        self.search.is_costly()
    }

    /// Whether the pattern has a `$` of Python.
    pub fn has_dollar(&self) -> bool {
        self.source.dollar
    }

    /// The pattern in the syntax of the `regex` crate.
    pub fn translated(&self) -> &str {
        &self.source.text
    }
}
