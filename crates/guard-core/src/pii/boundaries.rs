//! The boundaries of matches.

use std::ops::Range;

use memchr::memchr;

use super::context::{continues, is_unspaced};
use super::recognizer::Boundary;

/// The fewest digits of a whole number, such as a telephone number.
const WHOLE: usize = 7;
/// Every match of the embedded patterns has a digit within this many bytes of its start.
const DIGIT_WITHIN: usize = 160;

/// The positions where an embedded pattern can begin to match: words, numbers and some signs. With `has_digit`, a digit
/// must be near.
pub(super) fn starts(text: &str, has_digit: bool) -> impl Iterator<Item = usize> {
    let mut digit = next_digit(text, 0);
    let mut before: Option<char> = None;
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            if digit.is_some_and(|digit| digit < at) {
                digit = next_digit(text, at);
            }
            if has_digit && digit.is_none_or(|digit| digit - at > DIGIT_WITHIN) {
                // Of the matches, only a color such as "#ffffff" has no digit.
                let near = digit.map_or(text.len(), |digit| text.ceil_char_boundary(digit - DIGIT_WITHIN));
                let skipped = memchr(b'#', &text.as_bytes()[at..near]).unwrap_or(near - at);
                if skipped > 0 {
                    at += skipped;
                    before = text[..at].chars().next_back();
                }
            }
            let character = text[at..].chars().next()?;
            let begins = match character {
                '+' | '(' | '[' | '#' | '$' | ':' => !continues(before),
                _ if !character.is_alphanumeric() => false,
                // A number may follow a word without a space, as in "ИНН7707083893" and "电话13011112222".
                '0'..='9' if before.is_some_and(|before| !before.is_ascii() && before.is_alphabetic()) => true,
                _ => !continues(before) || is_unspaced(character),
            };
            let start = at;
            before = Some(character);
            at += character.len_utf8();
            if begins {
                return Some(start);
            }
        }
    })
}

/// The first ASCII digit of `text` from `from` on.
pub(super) fn next_digit(text: &str, from: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[from..];
    bytes.iter().position(u8::is_ascii_digit).map(|at| from + at)
}

/// Whether `range` is not part of something larger, such as a longer number.
pub(super) fn has_boundaries(text: &str, range: Range<usize>, boundary: Boundary) -> bool {
    let mut before = text[..range.start].chars().rev();
    let mut after = text[range.end..].chars();
    let mut inside = text[range.clone()].chars();
    let (previous, next) = (before.next(), after.next());
    let (first, last) = (inside.next(), inside.next_back());
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    // In a text of numbers this runs for every number, and few of them need a closer look.
    let has_colons = || text[range.clone()].contains(':');
    let is_whole = || text[range.clone()].bytes().filter(u8::is_ascii_digit).count() >= WHOLE;
    let is_proven = boundary == Boundary::Proven;
    let connects = |sign: Option<char>, mut beyond: &mut dyn Iterator<Item = char>, own: Option<char>| {
        let first = beyond.next();
        match sign {
            Some('/') if is_proven => false,
            Some('-') if is_proven => {
                let end = Iterator::find(&mut beyond, |character| !character.is_ascii_digit());
                is_digit(first) && is_digit(own) && end != Some('.')
            }
            Some('/') if is_digit(first) && is_digit(own) && is_whole() => {
                !is_whole_number(first.into_iter().chain(beyond))
            }
            Some('.' | '-' | '/') => is_digit(first) && is_digit(own),
            Some(':') => continues(first) && has_colons(),
            _ => false,
        }
    };
    // A number may follow a word of another script without a space, and a Chinese word may follow anything.
    let is_free = is_digit(first) && previous.is_some_and(|previous| !previous.is_ascii() && previous.is_alphabetic());
    let begins = !continues(previous) || is_free || first.is_some_and(is_unspaced);
    let ends = !continues(next)
        || last.is_some_and(is_unspaced)
        || !last.is_some_and(char::is_alphanumeric)
        || boundary == Boundary::Date && is_of_year(&text[range.end..]);
    match boundary {
        Boundary::Start => begins,
        Boundary::Word => begins && ends,
        Boundary::Number | Boundary::Proven | Boundary::Date => {
            begins && ends && !connects(previous, &mut before, first) && !connects(next, &mut after, last)
        }
    }
}

/// Whether a number of at least [`WHOLE`] digits begins here, perhaps with spaces, hyphens, dots and parentheses.
fn is_whole_number(characters: impl Iterator<Item = char>) -> bool {
    let (mut digits, mut signs) = (0, 0);
    for character in characters {
        match character {
            '0'..='9' => (digits, signs) = (digits + 1, 0),
            ' ' | '\u{a0}' | '-' | '.' | '(' | ')' if signs < 2 => signs += 1,
            _ => return false,
        }
        if digits == WHOLE {
            return true;
        }
    }
    false
}

/// Whether a Russian word for a year follows: "12.03.1985г.".
fn is_of_year(behind: &str) -> bool {
    let letters = behind.chars().take(5).take_while(|character| character.is_alphabetic());
    let word: String = letters.flat_map(char::to_lowercase).collect();
    matches!(&*word, "г" | "гр" | "год" | "года")
}
