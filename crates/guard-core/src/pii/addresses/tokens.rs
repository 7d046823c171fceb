//! Splits the text around a number into tokens.

use std::ops::Range;

use super::words::{ANY_STREET, Meanings, Words};

/// A token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// The range in the text.
    pub range: Range<usize>,
    pub kind: Kind,
    /// The meanings of a word.
    pub meanings: Meanings,
    /// Whether a full stop directly follows a word. It belongs to the range.
    pub has_dot: bool,
    /// Whether a space precedes the token.
    pub has_space: bool,
}

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word that begins in lower case.
    Lower,
    /// A word that begins with a capital, or of a script without capitals.
    Capital,
    /// Digits, perhaps with letters, hyphens and slashes: 221b, 12-14, 12/3.
    Number,
    /// Digits and a letter of order: 34th, 2º.
    Ordinal,
    /// A line end.
    Line,
    /// Another character.
    Sign(char),
}

impl Token {
    pub(super) fn is(&self, meanings: Meanings) -> bool {
        self.meanings & meanings != 0
    }

    pub(super) fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Lower | Kind::Capital)
    }

    pub(super) fn is_sign(&self, signs: &str) -> bool {
        matches!(self.kind, Kind::Sign(sign) if signs.contains(sign))
    }

    /// The word without its full stop.
    pub(super) fn word<'a>(&self, text: &'a str) -> &'a str {
        let end = self.range.end - usize::from(self.has_dot);
        &text[self.range.start..end]
    }
}

fn is_mark(character: char) -> bool {
    matches!(u32::from(character), 0x300..=0x36f | 0x591..=0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x900..=0x903 | 0x93a..=0x94f | 0xe31..=0xe4e)
}

fn is_letter(character: char) -> bool {
    character.is_alphabetic() || is_mark(character)
}

/// The tokens of `range`.
pub(super) fn tokens(text: &str, range: Range<usize>, words: &Words) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = range.start;
    let mut has_space = false;
    while let Some(first) = text[at..range.end].chars().next() {
        let start = at;
        let (kind, end) = match first {
            '\n' => (Kind::Line, start + 1),
            // The end of a cell.
            '\t' => (Kind::Sign(first), start + 1),
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                has_space = true;
                continue;
            }
            _ if first.is_ascii_digit() => number(text, start, range.end),
            _ if first.is_alphabetic() => word(text, start, range.end),
            _ => (Kind::Sign(first), start + first.len_utf8()),
        };
        let is_word = matches!(kind, Kind::Lower | Kind::Capital);
        let has_dot = is_word && text[end..range.end].starts_with('.');
        let mut meanings = match is_word {
            true => words.of_word(&text[start..end], has_dot),
            false => 0,
        };
        // "R. Augusta" has a full stop, "310 R" is something else.
        if end - start == first.len_utf8() && !has_dot && (first.is_lowercase() || first.is_uppercase()) {
            meanings &= !ANY_STREET;
        }
        at = end + usize::from(has_dot);
        found.push(Token {
            range: start..at,
            kind,
            meanings,
            has_dot,
            has_space,
        });
        has_space = false;
    }
    found
}

/// A number from `start` on: "221b", "12-14", "12/3", "43A-25", "12-3-456".
fn number(text: &str, start: usize, limit: usize) -> (Kind, usize) {
    let bytes = text.as_bytes();
    let run = |mut at: usize, is_part: &dyn Fn(u8) -> bool| {
        while at < limit && is_part(bytes[at]) {
            at += 1;
        }
        at
    };
    let digits = run(start, &|byte| byte.is_ascii_digit());
    let letters = run(digits, &|byte| byte.is_ascii_alphabetic());
    let goes_on = |at: usize| text[at..limit].chars().next().is_some_and(is_letter);
    let suffix = text[digits..letters].to_ascii_lowercase();
    if matches!(&*suffix, "st" | "nd" | "rd" | "th") && !goes_on(letters) {
        return (Kind::Ordinal, letters);
    }
    let mut end = digits;
    if letters > digits && letters - digits <= 3 && !goes_on(letters) {
        end = letters;
    } else if let Some(letter) = text[digits..limit].chars().next().filter(|letter| is_letter(*letter)) {
        // "12а" of a script without ASCII letters.
        let behind = digits + letter.len_utf8();
        let is_single = !letter.is_ascii() && !text[behind..limit].chars().next().is_some_and(char::is_alphanumeric);
        end = if is_single { behind } else { digits };
    }
    while end + 1 < limit && matches!(bytes[end], b'-' | b'/') && bytes[end + 1].is_ascii_alphanumeric() {
        let next = run(end + 1, &|byte| byte.is_ascii_alphanumeric());
        if next - end > 6 || goes_on(next) || !bytes[end + 1..next].iter().any(u8::is_ascii_digit) && next - end > 2 {
            break;
        }
        end = next;
    }
    (Kind::Number, end)
}

/// A word from `start` on, perhaps with apostrophes, hyphens and digits, or of abbreviations: "p.o", "d'Azur", "A3".
fn word(text: &str, start: usize, limit: usize) -> (Kind, usize) {
    let mut end = start;
    let mut letters = 0;
    let first = text[start..limit].chars().next().unwrap_or_default();
    for (offset, character) in text[start..limit].char_indices() {
        let next = text[start + offset + character.len_utf8()..limit].chars().next();
        let is_part = match character {
            '\'' | '’' | '׳' | '״' | '"' | '-' | '‑' => {
                let joins = !matches!(character, '"' | '״') || letters > 0 && is_hebrew(text, start);
                joins && (next.is_some_and(is_letter) || matches!(character, '׳' | '\'') && is_hebrew(text, start))
            }
            // "p.o. box", "h.no", "к.1" has no letter after it.
            '.' => letters <= 2 && next.is_some_and(char::is_alphabetic),
            // "C/ Alcalá", "с/т Изгрев"
            '/' => {
                letters == 1
                    && offset == first.len_utf8()
                    && (matches!(first, 'c' | 'C')
                        || matches!(first, 'а' | 'А' | 'с') && next.is_some_and(char::is_alphabetic))
            }
            _ => is_letter(character) || character.is_ascii_digit(),
        };
        if !is_part {
            break;
        }
        letters = if is_letter(character) { letters + 1 } else { 0 };
        end = start + offset + character.len_utf8();
    }
    let end = end.max(start + text[start..].chars().next().map_or(1, char::len_utf8));
    let is_lower = text[start..end].chars().next().is_some_and(char::is_lowercase);
    // In "d'Azur" and "l'Église", the name has the capital.
    let has_capital =
        is_lower && text[start..end].chars().skip(2).any(char::is_uppercase) && text[start..end].contains(['\'', '’']);
    (
        if is_lower && !has_capital {
            Kind::Lower
        } else {
            Kind::Capital
        },
        end,
    )
}

fn is_hebrew(text: &str, at: usize) -> bool {
    text[at..]
        .chars()
        .next()
        .is_some_and(|first| matches!(u32::from(first), 0x590..=0x5ff))
}
