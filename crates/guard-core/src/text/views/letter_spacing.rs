//! Joins words that are written letter by letter.

use std::ops::Range;

use super::view::{Step, View, Writer};

/// The fewest single letters of a word; three would be an abbreviation.
const LETTERS: usize = 4;

/// The most blanks between two letters of a word, and the most marks.
const BLANKS: usize = 2;
const MARKS: usize = 4;
/// The most bytes between two letters, of one word or of two.
const LONGEST_GAP: usize = 12;
/// Signs that names and keys contain.
const SIGNS: &str = "_-/+=.:@";

/// Joins single letters to words, as in "i g n o r e", "i.g.n.o.r.e" or "i-g-n-o-r-e".
///
/// All letters need the same separator: one or two spaces, or up to four marks with optional spaces around them. More
/// space or more of these marks is a gap between words. A sign that names and keys contain, such as "_", may take the
/// place of a letter. Rows of digits stay, since they are tables.
pub(super) fn join(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    // Cuts the text at words of two letters or more. Few of the stretches between them have enough single letters.
    let mut start = 0;
    let mut alone = 0;
    let mut at = 0;
    while at < text.len() {
        let (part, next) = part_at(text, at);
        if !part {
            at = next;
            continue;
        }
        let mut end = next;
        while end < text.len()
            && let (true, after) = part_at(text, end)
        {
            end = after;
        }
        at = end;
        if end > next {
            if alone >= LETTERS {
                join_within(text, start..next, &mut writer);
            }
            (start, alone) = (end, 0);
        } else {
            alone += usize::from(end < text.len());
        }
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

/// Whether the character at an offset is part of a word, and its end.
#[inline]
fn part_at(text: &str, at: usize) -> (bool, usize) {
    let byte = text.as_bytes()[at];
    if byte.is_ascii() {
        return (PARTS[usize::from(byte)], at + 1);
    }
    let character = text[at..].chars().next().unwrap_or_default();
    (is_part(character), at + character.len_utf8())
}

/// Whether a character is part of a word: a letter, a digit, or a leetspeak symbol.
fn is_part(character: char) -> bool {
    match PARTS.get(character as usize) {
        Some(&part) => part,
        None => character.is_alphanumeric(),
    }
}

/// Consecutive single letters.
#[derive(Default)]
struct Row<'a> {
    /// The byte offset of each letter, and whether a gap between words precedes it.
    letters: Vec<(usize, bool)>,
    /// The separator of the letters.
    separator: Option<&'a str>,
    /// The end of the last letter.
    end: usize,
    alphabetic: usize,
}

impl<'a> Row<'a> {
    fn add(&mut self, text: &'a str, start: usize, letter: char, writer: &mut Writer) {
        let gap = match self.letters.is_empty() {
            true => Some(false),
            false => self.gap(text, start),
        };
        let gap = gap.unwrap_or_else(|| {
            self.finish(text, writer);
            false
        });
        self.letters.push((start, gap));
        self.alphabetic += usize::from(letter.is_alphabetic());
        self.end = start + letter.len_utf8();
    }

    /// Whether a gap between words separates the last letter from the one at `start`; `None` if the row ends.
    fn gap(&mut self, text: &'a str, start: usize) -> Option<bool> {
        let between = &text[self.end..start];
        // The sign is part of the spelled name: "g h p _ a b c".
        let sign = self.separator.and_then(|separator| {
            let sign = between.strip_prefix(separator)?.strip_suffix(separator)?;
            let single = sign.len() == 1 && SIGNS.contains(sign) && !separator.contains(sign);
            single.then_some(self.end + separator.len())
        });
        if let Some(sign) = sign {
            self.letters.push((sign, false));
            return Some(false);
        }
        let mark = between.trim();
        match self.separator {
            // A longer separator, or marks with a line break, ends the row.
            _ if between.len() > LONGEST_GAP || mark.contains(['\n', '\r']) => None,
            Some(separator) if separator == between => Some(false),
            // The first letter was a single one, before a word with less or other separators.
            Some(separator)
                if self.letters.len() == 2
                    && mark.is_empty()
                    && separator.trim().is_empty()
                    && between.len() <= separator.len() =>
            {
                let (first, _) = self.letters.remove(0);
                self.alphabetic -= usize::from(text[first..].starts_with(char::is_alphabetic));
                self.letters[0].1 = false;
                self.separator = Some(between);
                Some(false)
            }
            Some(separator) if mark.is_empty() && separator.trim().is_empty() && between.len() < separator.len() => {
                None
            }
            Some(separator) => {
                let known = separator.trim();
                mark.chars()
                    .all(|c| known.contains(c) || c == ' ' && known.len() > 1)
                    .then_some(true)
            }
            None => {
                let one = match mark.chars().filter(|c| !c.is_whitespace()).count() {
                    0 => (1..=BLANKS).contains(&between.chars().count()),
                    marks => marks <= MARKS,
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
