//! Converts full-width letters and digits of Chinese and Japanese keyboards, the digits of Arabic, Persian and Indian
//! scripts, and typographic hyphens of language models, to ordinary characters.

use std::ops::Range;

/// The offset of full-width characters in Unicode (block Halfwidth and Fullwidth Forms).
const FARTHER: u32 = 0xFEE0;
/// The zeros of scripts with digits of their own: Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu,
/// Kannada, Thai, Khmer and Myanmar (Unicode Standard, general category Nd).
const ZEROS: [char; 12] = [
    '\u{660}', '\u{6F0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{BE6}', '\u{C66}', '\u{CE6}', '\u{E50}',
    '\u{17E0}', '\u{1040}',
];

/// The ordinary digit of a digit in another script.
fn ordinary_digit(character: char) -> Option<char> {
    let zero = ZEROS.iter().rev().find(|&&zero| zero <= character)?;
    char::from_digit(u32::from(character) - u32::from(*zero), 10)
}

/// The ordinary form of a full-width character, for characters of numbers and addresses. Colons and commas are Chinese
/// punctuation and stay.
pub(super) fn narrow_form(character: char) -> Option<char> {
    let narrow = match character {
        '\u{3000}' => ' ',
        '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - FARTHER)?,
        '\u{660}'..='\u{1049}' | '\u{17E0}'..='\u{17E9}' => ordinary_digit(character)?,
        _ => return None,
    };
    let is_part = narrow.is_ascii_alphanumeric()
        || matches!(
            narrow,
            ' ' | '@' | '.' | '-' | '_' | '+' | '(' | ')' | '/' | '#' | '%' | '\''
        );
    is_part.then_some(narrow)
}

/// A canonical spelling of a value: ordinary characters in lower case, without spaces around them.
pub(super) fn canonical_form(value: &str) -> String {
    let plain: String = value
        .chars()
        .map(|character| narrow_form(character).unwrap_or(character))
        .collect();
    plain.trim().to_lowercase()
}

/// The full-width form of an ordinary character.
pub(super) fn wide_form(character: char) -> Option<char> {
    match character {
        ' ' => Some('\u{3000}'),
        '!'..='~' => char::from_u32(u32::from(character) + FARTHER),
        _ => None,
    }
}

/// A text with ordinary characters in place of full-width ones, which maps back to the original.
pub(super) struct NarrowText {
    pub(super) text: String,
    /// The offsets in `text` of the characters that replace longer ones, and by how many bytes the original is longer up
    /// to and including each.
    replaced: Vec<(usize, usize)>,
}

impl NarrowText {
    /// Returns `None` if the text has no such characters.
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_ascii() || !text.chars().any(|character| narrow_form(character).is_some()) {
            return None;
        }
        let mut narrow = Self {
            text: String::with_capacity(text.len()),
            replaced: Vec::new(),
        };
        let mut longer = 0;
        for character in text.chars() {
            if let Some(ordinary) = narrow_form(character) {
                longer += character.len_utf8() - ordinary.len_utf8();
                narrow.replaced.push((narrow.text.len(), longer));
                narrow.text.push(ordinary);
            } else {
                narrow.text.push(character);
            }
        }
        Some(narrow)
    }

    /// The range in the original of a range in `text`.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let farther = |at: usize| {
            let before = self.replaced.partition_point(|&(other, _)| other < at);
            at + before.checked_sub(1).map_or(0, |last| self.replaced[last].1)
        };
        farther(range.start)..farther(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_numbers_and_addresses_are_made_of() {
        assert_eq!(
            NarrowText::new("卡号：４１１１　ａ＠ｂ．ｃ，完。").unwrap().text,
            "卡号：4111 a@b.c，完。"
        );
        assert_eq!(NarrowText::new("SSN 536‑22‑8731").unwrap().text, "SSN 536-22-8731");
        assert_eq!(NarrowText::new("رقم ٢٠٢٤، ۱۳۶۷ १२").unwrap().text, "رقم 2024، 1367 12");
        assert!(NarrowText::new("卡号：4111，é").is_none());
    }

    #[test]
    fn one_value_in_two_spellings() {
        assert_eq!(canonical_form("　Ａｎｎ＠b.c "), canonical_form("ann@B.c"));
    }

    proptest! {
        #[test]
        fn every_part_stands_in_the_original(text in "[a１Ａ　é中＠٣۴२\u{2011}\u{1F600}]{0,40}") {
            let Some(narrow) = NarrowText::new(&text) else { return Ok(()) };
            prop_assert_eq!(narrow.text.chars().count(), text.chars().count());
            for (at, character) in narrow.text.char_indices() {
                let original = &text[narrow.original(&(at..at + character.len_utf8()))];
                let wide = original.chars().next().unwrap();
                prop_assert_eq!(original.chars().count(), 1);
                prop_assert!(wide == character || narrow_form(wide) == Some(character));
                let is_other = matches!(wide, '\u{2011}' | '٣' | '۴' | '२');
                prop_assert!(wide_form(character) == Some(wide) || wide == character || is_other);
            }
        }
    }
}
