//! The examples of rules: texts in which a rule must find one secret, or none.
//!
//! The random part of an example is a template, so that nothing that looks like a live credential stands in this
//! repository: `{{hex 32}}`, `{{HEX 32}}`, `{{digit 6}}`, `{{lower 8}}`, `{{upper 8}}`, `{{alnum 20}}`, `{{ALNUM 20}}`,
//! `{{loweralnum 20}}`, `{{base64 40}}`, `{{base64url 40}}`, `{{base32 16}}` and `{{uuid}}`.

use super::rule::{Rule, RuleSource};
use super::{Embedded, Secrets};
use crate::random::SplitMix64;

/// An example that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id of the rule.
    pub rule: String,
    /// The text after the expansion of its templates.
    pub example: String,
    /// What is wrong.
    pub problem: String,
}

/// Checks the examples of rules that are written as in `rules.toml`, each rule by itself.
///
/// # Errors
///
/// Why the file is no list of rules.
pub fn check(toml: &str) -> Result<Vec<Failure>, String> {
    let file = Embedded::parse(toml)?;
    let mut failures = Vec::new();
    for source in file.rule {
        check_rule(source, &mut failures);
    }
    Ok(failures)
}

fn check_rule(source: RuleSource, failures: &mut Vec<Failure>) {
    let mut fail = |example: &str, problem: String| {
        failures.push(Failure {
            rule: source.id.clone(),
            example: example.to_owned(),
            problem,
        });
    };
    if source.positives.len() < 2 || source.negatives.is_empty() {
        fail("", "expected two positives and a negative".to_owned());
    }
    let secrets = match Rule::embedded(source.clone()).and_then(Secrets::only) {
        Ok(secrets) => secrets,
        Err(problem) => return fail("", problem),
    };
    for (examples, expected) in [(&source.positives, 1), (&source.negatives, 0)] {
        for (index, example) in examples.iter().enumerate() {
            // Several draws, so that a rule does not pass by luck.
            for draw in 0..4 {
                let text = match expand(example, &format!("{} {index} {draw}", source.id)) {
                    Ok(text) => text,
                    Err(problem) => {
                        fail(example, problem);
                        break;
                    }
                };
                let found = match secrets.find(&text, false) {
                    Ok(found) => found,
                    Err(problem) => return fail(&text, problem.to_string()),
                };
                if found.len() != expected {
                    let found: Vec<&str> = found.iter().map(|secret| &text[secret.range.clone()]).collect();
                    fail(&text, format!("expected {expected} secrets, found {found:?}"));
                    break;
                }
            }
        }
    }
}

/// Replaces the templates in `example` by characters drawn with `seed`.
///
/// # Errors
///
/// The template that is not known.
pub fn expand(example: &str, seed: &str) -> Result<String, String> {
    let mut draw = Draw::new(seed);
    let mut text = String::with_capacity(example.len() * 2);
    let mut rest = example;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((template, after)) = after.split_once("}}") else {
            break;
        };
        text.push_str(before);
        match template.split_once(' ') {
            None if template == "uuid" => text.push_str(&draw.uuid()),
            Some((kind, length)) if alphabet(kind).is_some() && length.parse::<usize>().is_ok() => {
                let alphabet = alphabet(kind).unwrap_or_default();
                let length = length.parse().unwrap_or_default();
                text.extend((0..length).map(|_| char::from(draw.one_of(alphabet.as_bytes()))));
            }
            // Templates of other languages, such as `{{ secrets.TOKEN }}`, stay.
            _ if template.starts_with(' ') || template.contains('.') => {
                text.push_str("{{");
                text.push_str(template);
                text.push_str("}}");
            }
            _ => return Err(format!("unknown template {{{{{template}}}}}")),
        }
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

fn alphabet(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "hex" => "0123456789abcdef",
        "HEX" => "0123456789ABCDEF",
        "digit" => "0123456789",
        "lower" => "abcdefghijklmnopqrstuvwxyz",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "alnum" => "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ALNUM" => "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "loweralnum" => "0123456789abcdefghijklmnopqrstuvwxyz",
        "base64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "base64url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "base32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        _ => return None,
    })
}

/// What is put into the places of a pattern.
struct Draw(SplitMix64);

impl Draw {
    /// The seed is hashed with FNV-1a.
    fn new(seed: &str) -> Self {
        let hash = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        Self(SplitMix64(seed.bytes().fold(0xCBF2_9CE4_8422_2325, hash)))
    }

    fn one_of(&mut self, alphabet: &[u8]) -> u8 {
        alphabet[self.0.below(alphabet.len())]
    }

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
