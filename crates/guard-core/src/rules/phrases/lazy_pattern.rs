//! Patterns that are compiled when a text first needs them.

use std::ops::Range;
use std::sync::OnceLock;

use crate::rules::error::RuleErrorKind;
use crate::rules::regex::{MatchType, Patterns};

/// Whether a search may compile patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compilation {
    Allowed,
    Forbidden,
}

/// Why a search has no result.
#[derive(Debug)]
pub(super) enum SearchError {
    /// The search needs a pattern that is not compiled, and must not compile it.
    NotCompiled,
    Failed(RuleErrorKind),
}

impl From<RuleErrorKind> for SearchError {
    fn from(error: RuleErrorKind) -> Self {
        Self::Failed(error)
    }
}

impl SearchError {
    /// The error of a search that may compile patterns.
    pub fn into_rule_error(self) -> RuleErrorKind {
        match self {
            Self::Failed(error) => error,
            Self::NotCompiled => unreachable!("the search may compile patterns"),
        }
    }
}

/// A pattern that is compiled on first use.
#[derive(Debug)]
pub(super) struct LazyPattern {
    pub source: String,
    compiled: OnceLock<Result<Patterns, RuleErrorKind>>,
}

impl LazyPattern {
    pub fn new(pattern: &str) -> Self {
        Self {
            source: format!("(?i){pattern}"),
            compiled: OnceLock::new(),
        }
    }

    pub fn patterns(&self) -> Result<&Patterns, RuleErrorKind> {
        let compile = || Patterns::compile(&[&self.source]).map_err(RuleErrorKind::from);
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    pub fn find(
        &self,
        text: &str,
        match_type: MatchType,
        compilation: Compilation,
    ) -> Result<Vec<Range<usize>>, SearchError> {
        if compilation == Compilation::Forbidden && self.compiled.get().is_none() {
            return Err(SearchError::NotCompiled);
        }
        let found = self.patterns()?.find(text, match_type).map_err(RuleErrorKind::from)?;
        Ok(found.into_iter().map(|found| found.range).collect())
    }
}
