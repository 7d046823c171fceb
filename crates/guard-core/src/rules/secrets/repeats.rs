//! Finds repetitions of a secret in a text.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::secret::Secret;
use crate::stop;

/// The fewest bytes of a value of letters that is searched for in the whole text. A value with other characters needs
/// half as many.
const WORD: usize = 8;
/// The fewest bytes of a value that counts even within a word.
const UNMISTAKABLE: usize = 10;
/// Total bytes of the secrets from which on the fastest automaton takes too much memory, 512 bytes for each.
const DENSE: usize = 16 * 1024;

/// Adds other occurrences of the found values: a token is named once (`api_key = 3f9c...`), and pasted again later.
pub(super) fn with_repeats<'a>(text: &str, mut secrets: Vec<Secret<'a>>) -> Vec<Secret<'a>> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, secret) in secrets.iter().enumerate() {
        first.entry(&text[secret.range.clone()]).or_insert(index);
    }
    let values: Vec<(&str, usize)> = first.into_iter().filter(|(value, _)| is_distinctive(value)).collect();
    if values.is_empty() {
        return secrets;
    }
    let bytes: usize = values.iter().map(|(value, _)| value.len()).sum();
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind((bytes > DENSE).then_some(AhoCorasickKind::ContiguousNFA))
        .build(values.iter().map(|(value, _)| value));
    // Building fails only for billions of bytes of secrets.
    let Ok(automaton) = automaton else {
        return secrets;
    };
    let known = secrets.len();
    for found in automaton.find_iter(text) {
        stop::point();
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let is_whole =
            !is_word(text[..found.start()].chars().next_back()) && !is_word(text[found.end()..].chars().next());
        if !overlap(&secrets[..known], &found.range()) && (is_whole || found.len() >= UNMISTAKABLE) {
            let same = secrets[values[found.pattern().as_usize()].1].clone();
            secrets.push(Secret {
                range: found.range(),
                ..same
            });
        }
    }
    secrets.sort_by_key(|secret| secret.range.start);
    secrets
}

/// Whether another occurrence of a value is surely the same secret, and not an ordinary word used as a password.
fn is_distinctive(value: &str) -> bool {
    let least = if value.chars().all(char::is_alphabetic) {
        WORD
    } else {
        WORD / 2
    };
    value.len() >= least
}

/// Whether one of `secrets`, which ascend without overlaps, shares a byte with `range`.
pub(super) fn overlap(secrets: &[Secret<'_>], range: &Range<usize>) -> bool {
    let next = secrets.partition_point(|secret| secret.range.end <= range.start);
    secrets.get(next).is_some_and(|secret| secret.range.start < range.end)
}
