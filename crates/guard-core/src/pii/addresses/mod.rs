//! Finds street addresses and boxes of post offices by their parts, in the order of parts of each country.
//!
//! Every address has a number: of a house, a dwelling, a box, or a postal code. Where a word of a street is near a
//! number, the text around it is split into tokens, and the parts are read from the number outwards. Each part that only
//! addresses have adds to the evidence, so "12 Oak Street" is enough, and "calle mayor 12" needs a town or a word such as
//! "live at" before it.

mod codes;
mod extent;
mod street;
mod tokens;
mod words;

use std::ops::Range;

use street::{Core, Parser};
use tokens::{Kind, Token, tokens};
use words::{ANY_STREET, BOX, BOX_DOUBTFUL, DWELLING, JOINED, PHRASE, WORDS, Words};

use crate::stop;

/// The most bytes before and after a number that are read, which bounds the cost of a number.
const BEFORE: usize = 160;
const AFTER: usize = 240;
/// The most words before and after a number in which a word of a street must be.
const NEAR: usize = 7;
/// The evidence of each certainty.
const SURE: i32 = 4;
const LIKELY: i32 = 3;
const POSSIBLE: i32 = 2;

/// How much context an address needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// None: it has enough parts.
    Sure,
    /// A word such as "lives" near it: "12 Oak Drive".
    Likely,
    /// A phrase such as "lives at" directly before it: "12 oak street".
    Possible,
}

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub range: Range<usize>,
    pub certainty: Certainty,
}

/// The addresses in `text`, in order. The time is linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<Address> {
    let Some(words) = WORDS.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<Address> = Vec::new();
    let mut at = 0;
    while let Some(digit) = super::boundaries::next_digit(text, at) {
        stop::point();
        let digits = text.as_bytes()[digit..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        at = digit + digits;
        if !is_near_street(text, digit, at, words) {
            continue;
        }
        let floor = found.last().map_or(0, |last| last.range.end);
        let Some(address) = address_at(text, digit, floor, words) else {
            continue;
        };
        at = at.max(address.range.end);
        found.push(address);
    }
    found
}

/// The address around the number at `digit`, not before `floor`.
fn address_at(text: &str, digit: usize, floor: usize, words: &Words) -> Option<Address> {
    let from = word_start(
        text,
        text.ceil_char_boundary(digit.saturating_sub(BEFORE)).max(floor),
        digit,
    );
    let to = text.floor_char_boundary(text.len().min(digit + AFTER));
    let tokens = tokens(text, from..to, words);
    let index = tokens.iter().position(|token| token.range.contains(&digit))?;
    let parser = Parser { text, tokens, words };
    let read = match parser.tokens[index].kind {
        Kind::Number | Kind::Ordinal => parser.address(index)?,
        Kind::Capital => parser.address_of_postcode(index)?,
        _ => return None,
    };
    let certainty = match read.points {
        SURE.. => Certainty::Sure,
        LIKELY if !read.is_lower => Certainty::Likely,
        POSSIBLE.. => Certainty::Possible,
        _ => return None,
    };
    Some(Address {
        range: read.range,
        certainty,
    })
}

/// The whole address around a street at `range` that another pattern found.
pub(super) fn whole_address(text: &str, range: &Range<usize>) -> Range<usize> {
    let Some(words) = WORDS.as_ref() else {
        return range.clone();
    };
    let from = word_start(
        text,
        text.ceil_char_boundary(range.start.saturating_sub(BEFORE)),
        range.start,
    );
    let to = text.floor_char_boundary(text.len().min(range.end + AFTER));
    let parser = Parser {
        text,
        tokens: tokens(text, from..to, words),
        words,
    };
    let first = parser.tokens.partition_point(|token| token.range.end <= range.start);
    let behind = parser.tokens.partition_point(|token| token.range.start < range.end);
    let core = Core {
        tokens: first..behind,
        points: SURE,
        is_lower: false,
        has_street: true,
    };
    let whole = parser.extend(&core).map_or(range.clone(), |read| read.range);
    // Of a script without spaces, the first and the last token may be longer than the street.
    let is_longer = |side: fn(&Range<usize>) -> usize, at: Option<&Token>| {
        at.is_some_and(|token| side(&token.range) == side(&whole))
    };
    let start = if is_longer(|range| range.start, parser.tokens.get(first)) {
        range.start
    } else {
        whole.start
    };
    let last = behind.checked_sub(1).and_then(|last| parser.tokens.get(last));
    let end = if is_longer(|range| range.end, last) {
        range.end
    } else {
        whole.end
    };
    start.min(range.start)..end.max(range.end)
}

/// The first start of a word from `from` on, so that no window begins within a word.
fn word_start(text: &str, from: usize, limit: usize) -> usize {
    if from == 0 || text[..from].ends_with(|character: char| !character.is_alphanumeric()) {
        return from;
    }
    let rest = &text[from..limit];
    from + rest
        .find(|character: char| !character.is_alphanumeric())
        .unwrap_or(rest.len())
}

/// Whether a word of an address is near the number in `from..to`.
fn is_near_street(text: &str, from: usize, to: usize, words: &Words) -> bool {
    let of_interest = ANY_STREET | BOX | BOX_DOUBTFUL | DWELLING | JOINED;
    let is_one = |word: &str| {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        if word.is_empty() || word.len() > 64 {
            return false;
        }
        let meanings = words.of_word(word, true);
        meanings & of_interest != 0 || meanings & PHRASE != 0 && is_box(word)
    };
    let separators =
        |character: char| character.is_whitespace() || matches!(character, ',' | ':' | '#' | '"' | '(' | ';');
    let start = text.ceil_char_boundary(from.saturating_sub(BEFORE));
    let before = text[start..from].rsplit(separators).filter(|word| !word.is_empty());
    let end = text.floor_char_boundary(text.len().min(to + BEFORE));
    let after = text[to..end].split(separators).filter(|word| !word.is_empty());
    before.take(NEAR).any(is_one) || after.take(NEAR).any(is_one)
}

/// Whether a word begins the name of a box: "PO", "p.o", "apartado".
fn is_box(word: &str) -> bool {
    let first = word.chars().next();
    first.is_some_and(|first| {
        !first.is_ascii()
            || matches!(
                first.to_ascii_lowercase(),
                'p' | 'a' | 'b' | 'c' | 'g' | 'k' | 'l' | 's' | 'h'
            )
    })
}

#[cfg(test)]
mod tests;
