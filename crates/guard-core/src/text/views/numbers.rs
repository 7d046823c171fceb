//! Decodes numbers of characters: `104 101 108`, `150 145 154`, `U+0068 U+0065` and `chr(104)+chr(101)`.

use super::letters::rarity;
use super::view::{Step, Writer};

/// The fewest numbers that are decoded.
const LEAST: usize = 4;
/// From this many numbers on, the result need not look like words: a row of measurements is hardly ever all character
/// codes.
const LONG: usize = 16;
/// The most bytes between two numbers.
const GAP: usize = 3;

/// A number of a row: the range of its digits, and its value in base 10 and base 8.
struct Number {
    start: usize,
    end: usize,
    decimal: Option<u8>,
    octal: Option<u8>,
}

/// Decodes a row of decimal or octal ASCII codes, separated by blanks, commas or dashes. Other numbers before and after
/// the codes stay. Returns the end of the row, and whether any of it was decoded.
///
/// Rows of numbers are common, so only those that become words, or at least 16 printable characters, are decoded.
pub(super) fn decode(text: &str, start: usize, writer: &mut Writer) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    let mut numbers: Vec<Number> = Vec::new();
    let mut at = start;
    loop {
        let count = bytes[at..]
            .iter()
            .take(6)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let end = at + count;
        // No letter may follow the digits of a code.
        let continues = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if !(2..=4).contains(&count) || continues {
            break;
        }
        let digits = &text[at..end];
        if numbers.is_empty()
            && !bytes
                .get(end..end + GAP + 1)
                .is_some_and(|gap| gap.iter().any(u8::is_ascii_digit))
        {
            // A single number.
            return Some((end, false));
        }
        numbers.push(Number {
            start: at,
            end,
            decimal: digits.parse().ok().filter(is_character),
            octal: u8::from_str_radix(digits, 8).ok().filter(is_character),
        });
        let is_gap = |byte: &&u8| matches!(byte, b' ' | b',' | b';' | b'-' | b'/' | b'|' | b'\t' | b'\r' | b'\n');
        let gap = bytes[end..].iter().take(GAP + 1).take_while(is_gap).count();
        if !(1..=GAP).contains(&gap) {
            break;
        }
        at = end + gap;
    }
    let end = numbers.last()?.end;
    if numbers.len() < LEAST {
        return Some((end, false));
    }
    let mut pieces = stretches(&numbers, Step::Decimal);
    if pieces.is_empty() {
        pieces = stretches(&numbers, Step::Octal);
    }
    for (from, to, said, step) in &pieces {
        writer.replace(*from..*to, said, *step);
    }
    Some((end, !pieces.is_empty()))
}

/// The stretches of numbers that decode to text in one base: their start, end and text.
fn stretches(numbers: &[Number], step: Step) -> Vec<(usize, usize, String, Step)> {
    let value = |number: &Number| {
        if step == Step::Octal {
            number.octal
        } else {
            number.decimal
        }
    };
    let stretches = numbers.chunk_by(|one, next| value(one).is_some() && value(next).is_some());
    let said = stretches.filter_map(|stretch| {
        let said: String = stretch.iter().filter_map(value).map(char::from).collect();
        let (first, last) = (stretch.first()?, stretch.last()?);
        is_likely(&said).then_some((first.start, last.end, said, step))
    });
    said.collect()
}

/// Decodes a row of code points in the notation of the Unicode Standard (appendix A): `U+0068 U+0065`.
pub(super) fn points(text: &str, start: usize, writer: &mut Writer) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut said = String::new();
    let mut end = start;
    let mut at = start;
    while matches!(bytes[at..], [b'U' | b'u', b'+', ..]) {
        let digits = bytes[at + 2..]
            .iter()
            .take(6)
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let point = text.get(at + 2..at + 2 + digits).filter(|_| digits >= 2);
        let point = point.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(character) = point
            .and_then(char::from_u32)
            .filter(|c| !c.is_control() || c.is_whitespace())
        else {
            break;
        };
        said.push(character);
        end = at + 2 + digits;
        at = end + gap(&bytes[end..]);
    }
    if said.chars().count() < LEAST {
        return None;
    }
    writer.replace(start..end, &said, Step::CodePoint);
    Some(end - start)
}

/// Decodes concatenated character calls: `chr(104)+chr(101)`.
pub(super) fn calls(text: &str, start: usize, writer: &mut Writer) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = bytes[start..]
        .iter()
        .take(5)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let name = &text[start..start + name];
    let mut said = String::new();
    let mut end = start;
    let mut at = start;
    while bytes[at..].starts_with(name.as_bytes()) && bytes.get(at + name.len()) == Some(&b'(') {
        let from = at + name.len() + 1;
        let written = bytes[from..]
            .iter()
            .take(6)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let written = &text[from..from + written];
        let value = match written.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => written.parse().ok(),
        };
        let character = value
            .and_then(char::from_u32)
            .filter(|c| !c.is_control() || c.is_whitespace());
        let (Some(character), Some(b')')) = (character, bytes.get(from + written.len())) else {
            break;
        };
        said.push(character);
        end = from + written.len() + 1;
        let joins = |byte: &&u8| matches!(byte, b' ' | b'+' | b'.' | b'&' | b'|' | b',');
        at = end + bytes[end..].iter().take(GAP).take_while(joins).count();
    }
    if said.chars().count() < LEAST {
        return None;
    }
    writer.replace(start..end, &said, Step::Decimal);
    Some(end - start)
}

/// The length of the white space and commas at the start of `bytes`, at most [`GAP`].
fn gap(bytes: &[u8]) -> usize {
    let is_gap = |byte: &&u8| matches!(byte, b' ' | b',' | b';' | b'-' | b'+' | b'\r' | b'\n');
    bytes.iter().take(GAP).take_while(is_gap).count()
}

fn is_character(value: &u8) -> bool {
    matches!(value, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

/// Whether decoded text is meant to be read.
fn is_likely(said: &str) -> bool {
    let letters = said.bytes().filter(u8::is_ascii_alphabetic).count();
    let blanks = said.bytes().filter(u8::is_ascii_whitespace).count();
    let others = said.len() - letters - blanks;
    if said.len() < LEAST || letters < LEAST - 1 {
        return false;
    }
    // A word has about 2.5 nats per letter; random letters have more than 4.
    let words = others * 4 <= letters && rarity(said.bytes()) as usize <= 3 * (said.len() + 1);
    words || said.len() >= LONG && blanks * 4 <= said.len() && others * 2 <= said.len()
}
