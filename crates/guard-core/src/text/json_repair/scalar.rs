//! Numbers and literals of other languages, and words without quotes.

use super::repairer::Repairer;
use crate::text::json::is_number;

/// Numbers and literals of other languages that JSON lacks.
const UNKNOWN: [&str; 5] = ["nan", "infinity", "inf", "nil", "nul"];
const LITERALS: [&str; 3] = ["true", "false", "null"];

impl Repairer<'_> {
    /// Reads a value without quotes.
    pub(super) fn scalar(&mut self) -> Option<()> {
        let rest = self.rest();
        let end = end_of(rest);
        let token = rest[..end].trim_end();
        let is_cut_off = self.at + end == self.text.len();
        let value = value_of(token, is_cut_off)?;
        self.out.push_str(&value);
        self.at += token.len();
        Some(())
    }
}

/// The end of a value without quotes. It reaches over words, but not over brackets, quotes and line breaks.
fn end_of(rest: &str) -> usize {
    let mut before = '\0';
    for (at, character) in rest.char_indices() {
        match character {
            ',' | '{' | '}' | '[' | ']' | ':' | ';' | '\n' | '\r' | '"' | '`' | '\\' | '\u{201C}' | '\u{201D}' => {
                return at;
            }
            '\'' | '\u{2018}' | '\u{2019}' => {
                let after = rest[at + character.len_utf8()..].chars().next();
                if !before.is_alphanumeric() || !after.is_some_and(char::is_alphanumeric) {
                    return at;
                }
            }
            '/' if rest[at..].starts_with("//") || rest[at..].starts_with("/*") => return at,
            '#' if before.is_whitespace() => return at,
            _ => {}
        }
        before = character;
    }
    rest.len()
}

/// The JSON value that a token stands for.
fn value_of(token: &str, is_cut_off: bool) -> Option<String> {
    let lower = token.to_ascii_lowercase();
    let unsigned = lower.trim_start_matches(['+', '-']);
    if is_number(token) {
        return Some(token.to_owned());
    }
    if let Some(literal) = LITERALS.iter().find(|literal| **literal == lower) {
        return Some((*literal).to_owned());
    }
    match lower.as_str() {
        "" => return None,
        "none" | "undefined" => return Some("null".to_owned()),
        _ if UNKNOWN.contains(&unsigned) => return None,
        _ => {}
    }
    if is_cut_off && let Some(literal) = LITERALS.iter().find(|literal| literal.starts_with(token)) {
        return Some((*literal).to_owned());
    }
    if token.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return number(token, is_cut_off).or_else(|| quoted_number(token));
    }
    is_words(token).then(|| format!("\"{token}\""))
}

/// A number as JSON5 writes it (`+5`, `.5`, `5.`), or a number that is cut off.
fn number(token: &str, is_cut_off: bool) -> Option<String> {
    let mut number = token.strip_prefix('+').unwrap_or(token).to_owned();
    let sign = usize::from(number.starts_with('-'));
    if number[sign..].starts_with('.') {
        number.insert(sign, '0');
    }
    if is_cut_off {
        number.truncate(number.trim_end_matches(['.', 'e', 'E', '+', '-']).len());
    } else if number.ends_with('.') {
        number.pop();
    }
    is_number(&number).then_some(number)
}

/// A date, version, address or measure: `2024-05-01`, `1.2.3`, `12 kg`.
fn quoted_number(token: &str) -> Option<String> {
    let has_unit = token.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E' | 'x' | 'X' | 'o' | 'O' | 'n'));
    let signs = token.bytes().filter(|byte| matches!(byte, b'-' | b'.' | b'/')).count();
    let is_named = has_unit && !token.starts_with("0x") && !token.starts_with("0X") || signs >= 2;
    (is_named && token.starts_with(|c: char| c.is_ascii_digit()) && is_words(token)).then(|| format!("\"{token}\""))
}

/// Whether a token is words, and no expression of a program.
fn is_words(token: &str) -> bool {
    let is_expression =
        |c: char| c.is_control() || matches!(c, '=' | '(' | ')' | '<' | '>' | '*' | '|' | '$' | '!' | '?');
    !token.contains(is_expression) && token.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '@')
}
