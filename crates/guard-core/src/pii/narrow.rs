//! Full-width letters and digits, as Chinese and Japanese keyboards write them, and typographic hyphens, as language models write
//! them, are read as the ordinary characters.

use std::ops::Range;

/// How much farther in Unicode a full-width character is than the ordinary one (block Halfwidth and Fullwidth Forms).
const FARTHER: u32 = 0xFEE0;
/// Bytes that such a character takes more than the ordinary one.
const MORE: usize = 2;

/// The ordinary character that a full-width one stands for, among those that numbers and addresses are made of. Colons, commas and
/// the like are punctuation of Chinese and stay.
pub(super) fn narrowed(character: char) -> Option<char> {
    let narrow = match character {
        '\u{3000}' => ' ',
        '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - FARTHER)?,
        _ => return None,
    };
    let is_part = narrow.is_ascii_alphanumeric()
        || matches!(
            narrow,
            ' ' | '@' | '.' | '-' | '_' | '+' | '(' | ')' | '/' | '#' | '%' | '\''
        );
    is_part.then_some(narrow)
}

/// What two spellings of one value have in common: the ordinary characters in lower case, without spaces around them.
pub(super) fn spelled(value: &str) -> String {
    let plain: String = value
        .chars()
        .map(|character| narrowed(character).unwrap_or(character))
        .collect();
    plain.trim().to_lowercase()
}

/// The full-width character for an ordinary one.
pub(super) fn widened(character: char) -> Option<char> {
    match character {
        ' ' => Some('\u{3000}'),
        '!'..='~' => char::from_u32(u32::from(character) + FARTHER),
        _ => None,
    }
}

/// A text with ordinary characters in place of full-width ones.
pub(super) struct Narrow {
    pub(super) text: String,
    /// The offsets in `text` of the characters that replace longer ones.
    replaced: Vec<usize>,
}

impl Narrow {
    /// `None` where the text has none of them.
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_ascii() || !text.chars().any(|character| narrowed(character).is_some()) {
            return None;
        }
        let mut narrow = Self {
            text: String::with_capacity(text.len()),
            replaced: Vec::new(),
        };
        for character in text.chars() {
            if let Some(ordinary) = narrowed(character) {
                narrow.replaced.push(narrow.text.len());
                narrow.text.push(ordinary);
            } else {
                narrow.text.push(character);
            }
        }
        Some(narrow)
    }

    /// Where a part of `text` stands in the original.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let farther = |at: usize| at + MORE * self.replaced.partition_point(|&other| other < at);
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
            Narrow::new("卡号：４１１１　ａ＠ｂ．ｃ，完。").unwrap().text,
            "卡号：4111 a@b.c，完。"
        );
        assert_eq!(Narrow::new("SSN 536‑22‑8731").unwrap().text, "SSN 536-22-8731");
        assert!(Narrow::new("卡号：4111，é").is_none());
    }

    #[test]
    fn one_value_in_two_spellings() {
        assert_eq!(spelled("　Ａｎｎ＠b.c "), spelled("ann@B.c"));
    }

    proptest! {
        #[test]
        fn every_part_stands_in_the_original(text in "[a１Ａ　é中＠\u{2011}\u{1F600}]{0,40}") {
            let Some(narrow) = Narrow::new(&text) else { return Ok(()) };
            prop_assert_eq!(narrow.text.chars().count(), text.chars().count());
            for (at, character) in narrow.text.char_indices() {
                let original = &text[narrow.original(&(at..at + character.len_utf8()))];
                let wide = original.chars().next().unwrap();
                prop_assert_eq!(original.chars().count(), 1);
                prop_assert!(wide == character || narrowed(wide) == Some(character));
                let hyphen = '\u{2011}';
                prop_assert!(widened(character) == Some(wide) || wide == character || wide == hyphen);
            }
        }
    }
}
