//! Values that are no secrets: placeholders, templates and references.

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::rarity;
use super::words::{lists, parts};
use crate::rules::error::RuleErrorKind;

/// The most bytes per token of a random string. A placeholder consists of words, which have more.
const RANDOM: f64 = 2.0;
/// The fewest bytes beside the words of a placeholder that can be random.
const REST: usize = 5;
/// The most digits of a number in an invented value: `demo-user-42`.
const NUMBER: usize = 3;

/// The content of `allow.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowlistSource {
    /// Values that contain one of these, in any case, are placeholders if the rest is not random.
    #[serde(default)]
    pub words: Vec<String>,
    /// Values with one of these parts are placeholders if their other parts are names of things, or short numbers.
    #[serde(default)]
    pub invented: Vec<String>,
    /// Values that match one of these are placeholders.
    pub patterns: Vec<String>,
}

/// CompiledRule placeholders.
#[derive(Debug)]
pub(super) struct Allowlist {
    words: AhoCorasick,
    invented: AhoCorasick,
    patterns: RegexSet,
}

impl Allowlist {
    /// Compiles the placeholders. An error has the index of the invalid pattern.
    pub fn new(source: &AllowlistSource, unicode: bool) -> Result<Self, (usize, RuleErrorKind)> {
        for (index, pattern) in source.patterns.iter().enumerate() {
            set(std::slice::from_ref(pattern), unicode).map_err(|error| (index, error.into()))?;
        }
        let patterns = set(&source.patterns, unicode).map_err(|error| (0, error.into()))?;
        Ok(Self {
            words: automaton(&source.words).map_err(|error| (0, error))?,
            invented: automaton(&source.invented).map_err(|error| (0, error))?,
            patterns,
        })
    }

    /// Whether `value` is a placeholder.
    pub fn allows(&self, value: &[u8]) -> bool {
        self.is_placeholder(value) || self.is_invented(value) || self.patterns.is_match(value)
    }

    /// Whether a value has a word of placeholders, and the rest is not random: `your_api_key_42`, but not a random
    /// string that happens to contain `dummy`.
    fn is_placeholder(&self, value: &[u8]) -> bool {
        let mut rest = Vec::new();
        let mut shown = 0;
        for found in self.words.find_iter(value) {
            rest.extend_from_slice(&value[shown..found.start()]);
            rest.push(b' ');
            shown = found.end();
        }
        if shown == 0 {
            return false;
        }
        rest.extend_from_slice(&value[shown..]);
        let count = rest.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        count < REST || is_sequence(&rest) || rarity::bytes_per_token(rest.trim_ascii()) >= RANDOM
    }

    /// Whether a value has a word that marks it as invented, and all other parts are names of things, or short numbers:
    /// `demo-user-1`, but not `demo-rocket-9271`.
    fn is_invented(&self, value: &[u8]) -> bool {
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let is_part = |start: usize, end: usize| {
            !is_word(start.checked_sub(1).and_then(|before| value.get(before))) && !is_word(value.get(end))
        };
        let mut found = self.invented.find_iter(value);
        found.any(|found| is_part(found.start(), found.end()))
            && parts(value).iter().all(|part| {
                part.len() <= NUMBER && part.bytes().all(|byte| byte.is_ascii_digit())
                    || is_sequence(part.as_bytes())
                    || lists().placeholder_parts.contains(part)
                    || lists().references.contains(part)
            })
    }
}

fn automaton(words: &[String]) -> Result<AhoCorasick, RuleErrorKind> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(words)
        .map_err(RuleErrorKind::from)
}

/// Whether letters and digits follow each other as in an alphabet, or are the same: `abcdef`, `123456789`, `0000`.
fn is_sequence(value: &[u8]) -> bool {
    let bytes: Vec<u8> = value
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    let breaks = bytes
        .windows(2)
        .filter(|pair| {
            pair[1] != pair[0] && pair[1] != pair[0] + 1 && !matches!(pair, [b'9', b'0' | b'a'] | [b'z', b'0'])
        })
        .count();
    breaks * 5 <= bytes.len()
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
