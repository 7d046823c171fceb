//! Words that are written letter by letter.

use std::ops::Range;

use super::view::{Step, View, Writer};

/// So many single letters in a row are taken for a word; three would be an abbreviation.
const LETTERS: usize = 4;

/// The text with single letters joined to words, as in "i g n o r e", "i.g.n.o.r.e" or "i-g-n-o-r-e".
///
/// The same separator must stand between all letters: one space, or one mark that may have spaces around it. More space or
/// more of these marks is a gap between words. Rows of digits are left as they are, since they are tables.
pub(super) fn join(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    // Cuts the text at words of two letters or more. Only some of the stretches between them have enough single letters.
    let mut start = 0;
    let mut alone = 0;
    // Whether each of the last three characters was part of a word, the last one in the lowest bit.
    let mut parts = 0_u8;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let (part, next) = if byte.is_ascii() {
            (PARTS[usize::from(byte)], at + 1)
        } else {
            let character = text[at..].chars().next().unwrap_or_default();
            (is_part(character), at + character.len_utf8())
        };
        parts = (parts << 1 | u8::from(part)) & 0b111;
        if parts & 0b11 == 0b11 {
            if alone >= LETTERS {
                join_within(text, start..at, &mut writer);
            }
            (start, alone) = (next, 0);
        } else {
            alone += usize::from(parts == 0b010);
        }
        at = next;
    }
    // The last letter may end the text.
    if alone + 1 >= LETTERS {
        join_within(text, start..text.len(), &mut writer);
    }
    writer.finish()
}

/// Joins the single letters in `range`.
fn join_within(text: &str, range: Range<usize>, writer: &mut Writer) {
    let mut row = Row::default();
    let mut before = text[..range.start].chars().next_back();
    let mut characters = text[range.start..].char_indices().peekable();
    while let Some((offset, character)) = characters.next()
        && range.start + offset < range.end
    {
        let next = characters.peek().map(|&(_, next)| next);
        let alone = is_part(character)
            && before.is_none_or(|before| !is_part(before))
            && next.is_none_or(|next| !is_part(next));
        if alone {
            row.add(text, range.start + offset, character, writer);
        } else if is_part(character) {
            row.finish(text, writer);
        }
        before = Some(character);
    }
    row.finish(text, writer);
}

/// The ASCII characters that [`is_part`] accepts.
static PARTS: [bool; 128] = {
    let mut parts = [false; 128];
    let mut byte = 0;
    while byte < parts.len() {
        parts[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'@' | b'$');
        byte += 1;
    }
    parts
};

/// Whether a character is part of a word: a letter, a digit, or a symbol that stands for a letter in leetspeak.
fn is_part(character: char) -> bool {
    match PARTS.get(character as usize) {
        Some(&part) => part,
        None => character.is_alphanumeric(),
    }
}

/// Single letters that follow one another.
#[derive(Default)]
struct Row<'a> {
    /// The byte offset of each letter, and whether a gap between words precedes it.
    letters: Vec<(usize, bool)>,
    /// What separates two of them.
    separator: Option<&'a str>,
    /// The byte offset where the last letter ends.
    end: usize,
    alphabetic: usize,
}

impl<'a> Row<'a> {
    fn add(&mut self, text: &'a str, start: usize, letter: char, writer: &mut Writer) {
        let gap = match self.letters.is_empty() {
            true => Some(false),
            false => self.gap(&text[self.end..start]),
        };
        let gap = gap.unwrap_or_else(|| {
            self.finish(text, writer);
            false
        });
        self.letters.push((start, gap));
        self.alphabetic += usize::from(letter.is_alphabetic());
        self.end = start + letter.len_utf8();
    }

    /// Whether this separator of two letters is a gap between words; `None` when it ends the row.
    fn gap(&mut self, between: &'a str) -> Option<bool> {
        let mark = between.trim();
        match self.separator {
            // A longer separator, or marks with space between them, separate more than words.
            _ if between.len() > 8 || mark.contains(char::is_whitespace) => None,
            Some(separator) if separator == between => Some(false),
            Some(separator) => {
                let known = separator.trim();
                mark.chars().all(|c| known.contains(c)).then_some(true)
            }
            None => {
                let one = match mark.chars().count() {
                    0 => between.chars().count() == 1,
                    marks => marks == 1,
                };
                self.separator = one.then_some(between);
                one.then_some(false)
            }
        }
    }

    fn finish(&mut self, text: &str, writer: &mut Writer) {
        let row = std::mem::take(self);
        let joined = row.letters.iter().skip(1).filter(|(_, gap)| !gap).count();
        if joined + 1 < LETTERS || row.alphabetic * 2 < row.letters.len() {
            return;
        }
        for (index, &(start, _)) in row.letters.iter().enumerate() {
            let letter = start + text[start..].chars().next().map_or(0, char::len_utf8);
            match row.letters.get(index + 1) {
                Some(&(next, false)) => writer.replace(start..next, &text[start..letter], Step::Spaced),
                Some(&(next, true)) => {
                    writer.exchange(start..letter, &text[start..letter], Step::Spaced);
                    writer.replace(letter..next, " ", Step::Spaced);
                }
                None => writer.exchange(start..row.end, &text[start..row.end], Step::Spaced),
            }
        }
    }
}
