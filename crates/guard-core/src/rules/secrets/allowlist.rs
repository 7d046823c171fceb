//! Values that are no secrets: placeholders, templates and references.

use aho_corasick::AhoCorasick;
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

use crate::rules::error::RuleErrorKind;

/// The content of `allow.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowlistSource {
    /// Values that contain one of these, in any case, are placeholders.
    pub words: Vec<String>,
    /// Values that match one of these are placeholders.
    pub patterns: Vec<String>,
}

/// CompiledRule placeholders.
#[derive(Debug)]
pub(super) struct Allowlist {
    words: AhoCorasick,
    patterns: RegexSet,
}

impl Allowlist {
    /// Compiles the placeholders. An error has the index of the invalid pattern.
    pub fn new(source: &AllowlistSource, unicode: bool) -> Result<Self, (usize, RuleErrorKind)> {
        for (index, pattern) in source.patterns.iter().enumerate() {
            set(std::slice::from_ref(pattern), unicode).map_err(|error| (index, error.into()))?;
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&source.words)
            .map_err(|error| (0, error.into()))?;
        let patterns = set(&source.patterns, unicode).map_err(|error| (0, error.into()))?;
        Ok(Self { words, patterns })
    }

    /// Whether `value` is a placeholder.
    pub fn allows(&self, value: &[u8]) -> bool {
        self.words.is_match(value) || self.patterns.is_match(value)
    }
}

fn set(patterns: &[String], unicode: bool) -> Result<RegexSet, regex::Error> {
    RegexSetBuilder::new(patterns).unicode(unicode).build()
}

/// Whether a value has only one or two distinct characters, not counting separators: `xxxx-xxxx`, `********`, `0101`.
pub(super) fn is_monotonous(value: &[u8]) -> bool {
    let mut seen: Vec<u8> = Vec::with_capacity(3);
    for &byte in value {
        let byte = byte.to_ascii_lowercase();
        if !matches!(byte, b'-' | b'_' | b'.' | b' ' | b':' | b'/') && !seen.contains(&byte) {
            seen.push(byte);
            if seen.len() > 2 {
                return false;
            }
        }
    }
    true
}
