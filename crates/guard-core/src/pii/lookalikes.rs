//! Makes lookalikes: other values of the same kind and format, with a valid checksum.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use regex::Regex;

use super::character_width::{narrow_form, wide_form};
use super::checks::Check;
use super::checks::phone::Phones;
use super::options::Options;
use super::recognizer::{Source, sources};
use crate::random::SplitMix64;
use crate::rules::RuleError;

/// The number of tried changes. Few keep a checksum valid: for an IBAN, one in 97.
const TRIES: usize = 4_000;
/// The number of accepted changes per character; after that, little of the value remains.
const CHANGES: usize = 3;
/// The most characters changed at once. Two changes can cancel out in a checksum.
const AT_ONCE: usize = 4;

/// Makes lookalikes of the findings of the embedded recognizers.
#[derive(Debug)]
pub struct Lookalikes {
    forms: HashMap<String, Form>,
    phones: Phones,
}

#[derive(Debug)]
struct Form {
    source: Arc<Source>,
    pattern: OnceLock<Option<Regex>>,
}

impl Form {
    /// Whether values with a wrong checksum are found after their names.
    fn may_be_wrong(&self) -> bool {
        !self.source.names.is_empty() && self.source.check.is_some_and(Check::is_checksum)
    }

    /// Whether a value has the form, and a valid checksum unless `may_be_wrong`.
    fn accepts(&self, value: &str, phones: &Phones, may_be_wrong: bool) -> bool {
        let pattern = self.pattern.get_or_init(|| {
            let patterns = self.source.pattern.iter().chain(self.source.pattern_after_name());
            let patterns: Vec<&str> = patterns.map(String::as_str).collect();
            if patterns.is_empty() {
                return None;
            }
            Regex::new(&format!("^(?:{})$", patterns.join("|"))).ok()
        });
        pattern.as_ref().is_some_and(|pattern| pattern.is_match(value))
            && (may_be_wrong || self.source.check.is_none_or(|check| check.passes(value, phones)))
    }
}

impl Lookalikes {
    /// Prepares lookalikes for recognizers with these options.
    ///
    /// # Errors
    ///
    /// An unknown region, with its path.
    pub fn new(options: &Options) -> Result<Self, RuleError> {
        let phones = options.phones()?;
        let forms = sources()?.iter();
        let form = |source: &'static Arc<Source>| {
            let (source, pattern) = (Arc::clone(source), OnceLock::new());
            (source.id.clone(), Form { source, pattern })
        };
        Ok(Self {
            forms: forms.map(form).collect(),
            phones,
        })
    }

    /// Makes a lookalike of `value`, a finding of `recognizer`; always the same one for the same `seed`.
    ///
    /// Letters and digits change, except the country, the issuer or the region of a telephone number; everything else
    /// stays. Returns `None` if no such value is found, or if the recognizer has no pattern.
    ///
    /// A random walk (Metropolis et al. 1953) changes the value step by step through values that the recognizer would
    /// find, so it needs no knowledge of formats and checksums. If the checksum is a hash, as in Bitcoin addresses, a
    /// walk leads nowhere, and a new value is computed directly.
    pub fn generate(&self, recognizer: &str, value: &str, seed: u64) -> Option<String> {
        let form = self.forms.get(recognizer)?;
        let written: Vec<char> = value.chars().collect();
        // Recognizers treat full-width characters as ordinary ones.
        let original: Vec<char> = written
            .iter()
            .map(|&character| narrow_form(character).unwrap_or(character))
            .collect();
        let is_movable = |&index: &usize| original[index].is_ascii_alphanumeric();
        let movable = (0..original.len())
            .filter(is_movable)
            .skip(prefix_length(&form.source.entity));
        let movable: Vec<usize> = movable.collect();
        let plain: String = original.iter().collect();
        // A value with a wrong checksum was found by its form, and so is its lookalike.
        let is_wrong = !form.accepts(&plain, &self.phones, false);
        if movable.is_empty() || is_wrong && !form.accepts(&plain, &self.phones, form.may_be_wrong()) {
            return None;
        }
        let mut random = SplitMix64(seed);
        let current = match form.source.check.and_then(Check::lookalike) {
            Some(make) => {
                let other = make(&plain, &mut random)?;
                let fits = other.len() == original.len() && form.accepts(&other, &self.phones, false);
                fits.then(|| other.chars().collect())?
            }
            None => {
                let accepts = |value: &str| form.accepts(value, &self.phones, is_wrong);
                walk(accepts, &original, &movable, &mut random)
            }
        };
        let digits = movable
            .iter()
            .filter(|&&index| original[index].is_ascii_digit())
            .count();
        let changed = movable
            .iter()
            .filter(|&&index| original[index] != current[index])
            .count();
        let as_written = |(character, written): (char, &char)| {
            let is_wide = matches!(*written, '\u{3000}' | '\u{FF01}'..='\u{FF5E}');
            let same = narrow_form(*written) == Some(character);
            let wide = wide_form(character).filter(|_| is_wide).unwrap_or(character);
            if same { *written } else { wide }
        };
        (changed > 0 && changed * 3 >= digits).then(|| current.into_iter().zip(&written).map(as_written).collect())
    }
}

/// The end of a random walk from `original` through values that `accepts` allows. It changes only the characters at the
/// indices `movable`.
fn walk(accepts: impl Fn(&str) -> bool, original: &[char], movable: &[usize], random: &mut SplitMix64) -> Vec<char> {
    let mut current = original.to_vec();
    let mut changes = 0;
    for _ in 0..TRIES {
        let mut next = current.clone();
        for _ in 0..=random.below(AT_ONCE) {
            let index = movable[random.below(movable.len())];
            next[index] = like(random, next[index]);
        }
        if next != current && accepts(&next.iter().collect::<String>()) {
            current = next;
            changes += 1;
            if changes >= CHANGES * movable.len() {
                break;
            }
        }
    }
    current
}

/// The number of leading letters and digits that identify the kind: a calling code with the region, a country, an
/// issuer.
fn prefix_length(entity: &str) -> usize {
    match entity {
        "PHONE_NUMBER" => 3,
        "IBAN_CODE" | "CREDIT_CARD" => 2,
        _ => 0,
    }
}

/// A character of the same kind.
fn like(random: &mut SplitMix64, character: char) -> char {
    let kind: &[u8] = match character {
        '0'..='9' => b"0123456789",
        'a'..='z' => b"abcdefghijklmnopqrstuvwxyz",
        'A'..='Z' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        _ => return character,
    };
    char::from(kind[random.below(kind.len())])
}

#[cfg(test)]
mod tests {
    use super::super::{Recognizers, merge};
    use super::*;
    use crate::rules::data::examples::Example;

    #[test]
    fn of_the_same_form() {
        let options = Options {
            threshold: 0.0,
            ..Options::default()
        };
        let lookalikes = Lookalikes::new(&options).unwrap();
        for (id, value) in [
            ("credit-card", "4111-1111 1111 1111"),
            ("credit-card", "6200000000000005"),
            ("iban", "DE89 3704 0044 0532 0130 00"),
            ("iban", "GB29NWBK60161331926819"),
            ("us-ssn", "536-22-8731"),
            ("ru-snils", "112-233-445 95"),
            ("ru-inn", "7707083893"),
            ("phone-russia", "8 (495) 637-58-05"),
            ("phone-international", "+44 20 7946 0958"),
            ("zh-resident-id", "11010519491231002X"),
            ("uuid", "550e8400-e29b-41d4-a716-446655440000"),
            ("ipv4", "192.168.0.17"),
            ("ipv6", "2001:db8::1"),
            ("mac", "00:1A:2B:3C:4D:5E"),
            ("bitcoin-base58check", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
            ("bitcoin-base58check", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
            ("bitcoin-base58check", "1bones8KbQge9euDn523z5wVhwkTP3uc1"),
            ("bitcoin-bech32", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
            ("bitcoin-bech32", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"),
            (
                "bitcoin-bech32",
                "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            ),
            ("ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
            ("ethereum", "0X52908400098527886E0F7030069857D2E4169EE7"),
            ("ethereum", "0xde709f2102306220921060314715629080e2fb77"),
        ] {
            let form = &lookalikes.forms[id];
            for seed in 0..5 {
                let fake = lookalikes
                    .generate(id, value, seed)
                    .unwrap_or_else(|| panic!("{id}: {value}"));
                assert_ne!(fake, value);
                assert!(
                    form.accepts(&fake, &lookalikes.phones, form.may_be_wrong()),
                    "{id}: {fake}"
                );
                let shape = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
                if !value.contains(|c: char| c.is_ascii_alphabetic()) {
                    assert_eq!(shape(&fake), shape(value), "{id}");
                }
                assert_eq!(fake.len(), value.len());
                assert_eq!(lookalikes.generate(id, value, seed), Some(fake));
            }
        }
        assert_ne!(
            lookalikes.generate("uuid", "550e8400-e29b-41d4-a716-446655440000", 1),
            lookalikes.generate("uuid", "550e8400-e29b-41d4-a716-446655440000", 2)
        );
    }

    #[test]
    fn of_what_has_none() {
        let lookalikes = Lookalikes::new(&Options::default()).unwrap();
        for (id, value) in [
            ("bitcoin-base58check", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"),
            ("email", "a@example.org"),
            ("us-ssn", "no number"),
            ("us-ssn", ""),
            ("nothing", "1"),
        ] {
            assert_eq!(lookalikes.generate(id, value, 1), None, "{id}");
        }
    }

    #[test]
    fn of_most_that_the_table_knows() {
        let options = Options::default();
        let recognizers = Recognizers::new(&options).unwrap();
        let lookalikes = Lookalikes::new(&options).unwrap();
        let (mut all, mut made) = (0, 0);
        for source in sources()
            .unwrap()
            .iter()
            .filter(|source| source.pattern.is_some() && !source.opt_in)
        {
            for marked in &source.matches {
                let text = Example::of_match(marked, "").unwrap().text;
                for finding in merge(&text, recognizers.find(&text).unwrap(), options.threshold) {
                    all += 1;
                    made += usize::from(
                        lookalikes
                            .generate(&finding.recognizer, &text[finding.range], 7)
                            .is_some(),
                    );
                }
            }
        }
        assert!(made * 10 >= all * 9, "{made} of {all}");
    }
}
