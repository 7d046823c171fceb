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

use std::collections::VecDeque;
use std::ops::Range;

use street::{Core, Parser};
use tokens::{Kind, Token};
use words::{ANY_STREET, BOX, BOX_DOUBTFUL, BOX_FIRST, DWELLING, EMPTY, Meanings, WORDS, Words, hash_letter};

use super::boundaries::next_digit;
use crate::stop;

/// The most bytes before and after a number that are read, which bounds the cost of a number.
const BEFORE: usize = 160;
const AFTER: usize = 240;
/// The bytes that are split into tokens at once, for several numbers.
const WINDOW: usize = 1_024;
/// The most bytes between a number and a word of a street: about seven words.
const NEAR: usize = 64;
/// The words near which numbers are read.
const OF_INTEREST: Meanings = ANY_STREET | BOX | BOX_DOUBTFUL | BOX_FIRST | DWELLING;
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
    let Some(first) = next_digit(text, 0) else {
        return Vec::new();
    };
    let Some(words) = WORDS.as_ref() else {
        return Vec::new();
    };
    let mut streets: VecDeque<usize> = VecDeque::new();
    let mut seen = 0;
    let mut found: Vec<Address> = Vec::new();
    let mut window: Option<Window<'_>> = None;
    let mut next = Some(first);
    while let Some(digit) = next {
        stop::point();
        let digits = text.as_bytes()[digit..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let mut end = digit + digits;
        let from = text.ceil_char_boundary(digit.saturating_sub(NEAR)).max(seen);
        let to = text.floor_char_boundary(text.len().min(end + NEAR));
        if from < to {
            seen = street_words(text, word_start(text, from, to)..to, words, &mut streets);
        }
        while streets.front().is_some_and(|&at| at + NEAR < digit) {
            streets.pop_front();
        }
        if streets.front().is_some_and(|&at| at <= end + NEAR) {
            let floor = found.last().map_or(0, |last| last.range.end);
            let read = match window.take().filter(|window| window.has(digit)) {
                Some(window) => window,
                None => Window::new(text, digit, floor, words),
            };
            match read.address_at(digit) {
                // The text of an address belongs to no other one.
                Some(address) => {
                    end = end.max(address.range.end);
                    found.push(address);
                }
                None => window = Some(read),
            }
        }
        next = next_digit(text, end);
    }
    found
}

/// A part of a text in tokens.
struct Window<'a> {
    parser: Parser<'a>,
    /// The end of the numbers that have enough text behind them.
    end: usize,
}

impl<'a> Window<'a> {
    /// Reads the text around the number at `digit`, not before `floor`, and the text behind it.
    fn new(text: &'a str, digit: usize, floor: usize, words: &'a Words) -> Self {
        let from = word_start(
            text,
            text.ceil_char_boundary(digit.saturating_sub(BEFORE)).max(floor),
            digit,
        );
        let to = text.floor_char_boundary(text.len().min(digit + WINDOW));
        Self {
            parser: Parser::new(text, from..to, words),
            end: if to == text.len() {
                to
            } else {
                (to - AFTER).max(digit + 1)
            },
        }
    }

    fn has(&self, digit: usize) -> bool {
        digit < self.end
    }

    /// The address around the number at `digit`.
    fn address_at(&self, digit: usize) -> Option<Address> {
        let tokens = &self.parser.tokens;
        let index = tokens.partition_point(|token| token.range.end <= digit);
        let read = match tokens.get(index).filter(|token| token.range.contains(&digit))?.kind {
            Kind::Number | Kind::Ordinal => self.parser.address(index)?,
            Kind::Capital => self.parser.address_of_postcode(index)?,
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
}

/// Adds the starts of the words of streets, boxes and dwellings in `range`, and returns where the next word begins at
/// the earliest: the last word may end behind the range.
fn street_words(text: &str, range: Range<usize>, words: &Words, found: &mut VecDeque<usize>) -> usize {
    let mut start: Option<usize> = None;
    let mut state = EMPTY;
    let mut ends = |start: &mut Option<usize>, end: usize, state: u64| {
        let Some(from) = start.take() else { return };
        stop::point();
        let own = words.of_hash(state);
        if own & OF_INTEREST != 0 || words.of_ending(&text[from..end], true) != 0 {
            found.push_back(from);
        }
    };
    for (offset, character) in text[range.start..].char_indices() {
        let at = range.start + offset;
        if at >= range.end && start.is_none() {
            return at;
        }
        if character.is_alphabetic() {
            if start.is_none() {
                (start, state) = (Some(at), EMPTY);
            }
            state = hash_letter(state, character);
        } else if !(matches!(character, '\'' | '’' | '"' | '.') && is_within_word(text, at, start)) {
            ends(&mut start, at, state);
        } else {
            state = hash_letter(state, character);
        }
    }
    ends(&mut start, text.len(), state);
    text.len()
}

/// Whether a sign at `at` is within a word that began at `start`: "p.o", "רח'", "ת.ד".
fn is_within_word(text: &str, at: usize, start: Option<usize>) -> bool {
    let is_short = start.is_some_and(|start| at - start <= 4);
    let mut behind = text[at..].chars().skip(1);
    is_short && behind.next().is_some_and(char::is_alphabetic)
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
    let parser = Parser::new(text, from..to, words);
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

#[cfg(test)]
mod tests;
