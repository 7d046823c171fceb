//! The examples of rules: texts in which a rule must match, and texts in which it must not.
//!
//! Examples are the tests of a rule, and show its meaning. Every file of rules uses this notation:
//!
//! * In a text of `matches`, double braces mark the expected match: `my card is {{4111111111111111}}`. In `misses`,
//!   braces are ordinary characters.
//! * `${hex 32}` stands for 32 random characters of an alphabet, so that the repository contains nothing that looks
//!   like a live credential. The alphabets are `hex`, `HEX`, `digit`, `lower`, `upper`, `alnum`, `ALNUM`, `loweralnum`,
//!   `base64`, `base64url` and `base32`; `${uuid}` stands for a whole UUID (version 4). Other texts in `${...}`, such
//!   as `${TOKEN}`, stay unchanged.
//!
//! The random characters depend only on the rule and the example, so a test has the same result every day.
//!
//! ```
//! use guard_core::rules::data::examples::{expand, Example};
//!
//! let example = Example::of_match("token: {{ghp_${alnum 36}}}", "any seed")?;
//! assert_eq!(example.marked, [7..47]);
//! assert!(example.text.starts_with("token: ghp_"));
//! assert_eq!(expand("${digit 4}", "a seed")?.len(), 4);
//! # Ok::<(), guard_core::rules::RuleErrorKind>(())
//! ```

use std::ops::Range;

use crate::random::SplitMix64;
use crate::rules::error::{RuleError, RuleErrorKind};

/// How often an example with random characters is drawn, so that a rule does not pass by luck.
const DRAWS: usize = 4;

/// A text with the matches that a rule must find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The text without the marking braces.
    pub text: String,
    /// The marked byte ranges of `text`, in order.
    pub marked: Vec<Range<usize>>,
}

impl Example {
    /// Reads a text of `matches`, drawing random characters with `seed`.
    ///
    /// # Errors
    ///
    /// An unknown alphabet.
    pub fn of_match(written: &str, seed: &str) -> Result<Self, RuleErrorKind> {
        let expanded = expand(written, seed)?;
        let mut text = String::with_capacity(expanded.len());
        let mut marked = Vec::new();
        let mut rest = expanded.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((value, behind)) = after.split_once("}}") else {
                break;
            };
            text.push_str(before);
            marked.push(text.len()..text.len() + value.len());
            text.push_str(value);
            rest = behind;
        }
        text.push_str(rest);
        Ok(Self { text, marked })
    }

    /// Reads a text of `misses`, without marks.
    ///
    /// # Errors
    ///
    /// An unknown alphabet.
    pub fn of_miss(written: &str, seed: &str) -> Result<Self, RuleErrorKind> {
        let (text, marked) = (expand(written, seed)?, Vec::new());
        Ok(Self { text, marked })
    }
}

/// An error of a rule or of one of its examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id of the rule.
    pub rule: String,
    /// The text that the rule searched; empty if the rule itself is invalid.
    pub example: String,
    /// The reason.
    pub problem: String,
}

/// The examples of one rule.
pub(crate) struct Examples<'a> {
    pub id: &'a str,
    pub matches: &'a [String],
    pub misses: &'a [String],
}

impl Examples<'_> {
    /// Checks all examples with `find`, which returns the matches of the rule in order. They must equal the marks.
    pub fn check(&self, find: impl Fn(&str) -> Result<Vec<Range<usize>>, RuleError>) -> Vec<Failure> {
        let mut failures = Vec::new();
        for (missing, problem) in [
            (self.matches.is_empty(), "a rule needs a text that it matches"),
            (self.misses.is_empty(), "a rule needs a text that it misses"),
        ] {
            failures.extend(missing.then(|| self.failure("", problem.to_owned())));
        }
        for (index, written) in self.matches.iter().enumerate() {
            let example = |seed: &str| Example::of_match(written, seed);
            failures.extend(self.check_one(index, written, true, example, &find));
        }
        for (index, written) in self.misses.iter().enumerate() {
            let example = |seed: &str| Example::of_miss(written, seed);
            failures.extend(self.check_one(index, written, false, example, &find));
        }
        failures
    }

    /// The first failure of an example, in any of its draws.
    fn check_one(
        &self,
        index: usize,
        written: &str,
        is_match: bool,
        example: impl Fn(&str) -> Result<Example, RuleErrorKind>,
        find: impl Fn(&str) -> Result<Vec<Range<usize>>, RuleError>,
    ) -> Option<Failure> {
        let draws = if written.contains("${") { DRAWS } else { 1 };
        (0..draws).find_map(|draw| {
            let Example { text, marked } = match example(&format!("{} {index} {draw}", self.id)) {
                Ok(example) => example,
                Err(problem) => return Some(self.failure(written, problem.to_string())),
            };
            if is_match && marked.is_empty() {
                return Some(self.failure(&text, "nothing is marked with {{...}}".to_owned()));
            }
            let found = match find(&text) {
                Ok(found) => found,
                Err(problem) => return Some(self.failure(&text, problem.to_string())),
            };
            let values = |ranges: &[Range<usize>]| -> Vec<String> {
                ranges.iter().map(|range| text[range.clone()].to_owned()).collect()
            };
            (found != marked).then(|| {
                let problem = format!("expected {:?}, found {:?}", values(&marked), values(&found));
                self.failure(&text, problem)
            })
        })
    }

    fn failure(&self, example: &str, problem: String) -> Failure {
        Failure {
            rule: self.id.to_owned(),
            example: example.to_owned(),
            problem,
        }
    }
}

/// Replaces random templates with characters drawn with `seed`.
///
/// # Errors
///
/// An unknown alphabet, such as that of `${hexx 32}`.
pub fn expand(written: &str, seed: &str) -> Result<String, RuleErrorKind> {
    let mut draw = Draw::new(seed);
    let mut text = String::with_capacity(written.len() * 2);
    let mut rest = written;
    while let Some((before, after)) = rest.split_once("${") {
        text.push_str(before);
        let Some((template, behind)) = after.split_once('}') else {
            text.push_str("${");
            rest = after;
            continue;
        };
        let (kind, length) = template.split_once(' ').unwrap_or((template, ""));
        match (kind, length.parse::<usize>()) {
            ("uuid", Err(_)) if length.is_empty() => text.push_str(&draw.uuid()),
            (kind, Ok(length)) if kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                let alphabet = alphabet(kind).ok_or_else(|| RuleErrorKind::UnknownAlphabet(kind.to_owned()))?;
                text.extend((0..length).map(|_| char::from(draw.one_of(alphabet))));
            }
            // A variable reference, or a template of another language.
            _ => {
                text.push_str("${");
                rest = after;
                continue;
            }
        }
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}

/// The characters of an alphabet.
fn alphabet(kind: &str) -> Option<&'static [u8]> {
    Some(match kind {
        "hex" => b"0123456789abcdef",
        "HEX" => b"0123456789ABCDEF",
        "digit" => b"0123456789",
        "lower" => b"abcdefghijklmnopqrstuvwxyz",
        "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "alnum" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ALNUM" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "loweralnum" => b"0123456789abcdefghijklmnopqrstuvwxyz",
        "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "base64url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "base32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        _ => return None,
    })
}

/// Random characters.
struct Draw(SplitMix64);

impl Draw {
    /// Seeds the generator with the 64-bit FNV-1a hash of `seed` (draft-eastlake-fnv).
    fn new(seed: &str) -> Self {
        let hash = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        Self(SplitMix64(seed.bytes().fold(0xCBF2_9CE4_8422_2325, hash)))
    }

    fn one_of(&mut self, alphabet: &[u8]) -> u8 {
        alphabet[self.0.below(alphabet.len())]
    }

    /// A UUID of version 4 and variant 1 (RFC 9562, section 5.4).
    fn uuid(&mut self) -> String {
        let (high, low) = (self.0.next(), self.0.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
            high >> 32,
            high >> 16 & 0xFFFF,
            high & 0xFFF,
            8 + (low >> 62),
            low >> 48 & 0xFFF,
            low & 0xFFFF_FFFF_FFFF
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_is_expected() {
        let example = Example::of_match(r#"{"a": {"key": "{{é${uuid}}}"}}"#, "seed").unwrap();
        assert_eq!(example.marked, [15..53]);
        assert!(example.text.starts_with(r#"{"a": {"key": "é"#) && example.text.ends_with(r#""}}"#));
        let miss = Example::of_miss("${{ secrets.TOKEN }} ${KEY} ${digit 2}", "seed").unwrap();
        assert!(miss.text.starts_with("${{ secrets.TOKEN }} ${KEY} ") && miss.marked.is_empty());
        assert_eq!(
            expand("${hexx 2}", "").unwrap_err().to_string(),
            "unknown template ${hexx ...}"
        );
        assert_eq!(expand("${", "").unwrap(), "${");
    }

    #[test]
    fn a_rule_without_examples_or_with_wrong_ones_fails() {
        let find = |text: &str| Ok(text.match_indices('a').map(|(at, _)| at..at + 1).collect());
        let problems = |matches: &[&str], misses: &[&str]| -> Vec<String> {
            let owned = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&text| text.to_owned()).collect() };
            let (matches, misses) = (owned(matches), owned(misses));
            let examples = Examples {
                id: "x",
                matches: &matches,
                misses: &misses,
            };
            examples
                .check(find)
                .into_iter()
                .map(|failure| failure.problem)
                .collect()
        };
        assert!(problems(&["b{{a}}"], &["b"]).is_empty());
        assert_eq!(
            problems(&["a", "{{b}}a", "{{${x 2}}}"], &["a"]),
            [
                "nothing is marked with {{...}}",
                r#"expected ["b"], found ["a"]"#,
                "unknown template ${x ...}",
                r#"expected [], found ["a"]"#
            ]
        );
        assert_eq!(problems(&[], &[]).len(), 2);
    }
}
