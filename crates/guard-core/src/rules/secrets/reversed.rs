//! Reverses words that could be credentials.

use std::ops::Range;

/// The fewest characters of a word.
const LEAST: usize = 16;

/// The reversed words of a text that could be credentials, one per line.
pub(super) struct ReversedWords {
    pub text: String,
    /// For each word, its start in the lines, and its range in the text.
    places: Vec<(usize, Range<usize>)>,
}

impl ReversedWords {
    /// Reverses words with digits and with letters beyond hexadecimal.
    pub fn new(text: &str) -> Self {
        let mut words = Self {
            text: String::new(),
            places: Vec::new(),
        };
        let bytes = text.as_bytes();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let mut at = 0;
        // Every long enough word covers one of the bytes at multiples of sixteen from here.
        while at < bytes.len() {
            let probe = at + LEAST - 1;
            if bytes.get(probe).is_none_or(|byte| !is_part(byte)) {
                at = probe + 1;
                continue;
            }
            let before = bytes[at..probe].iter().rev().take_while(|byte| is_part(byte)).count();
            let start = probe - before;
            let end = probe + bytes[probe..].iter().take_while(|byte| is_part(byte)).count();
            at = end + 1;
            let word = &bytes[start..end];
            let digits = word.iter().any(u8::is_ascii_digit);
            let letters = word
                .iter()
                .any(|byte| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit());
            if word.len() >= LEAST && digits && letters {
                words.places.push((words.text.len(), start..end));
                words.text.extend(word.iter().rev().map(|&byte| char::from(byte)));
                words.text.push('\n');
            }
        }
        words
    }

    /// The range of the text from which a part of one line was made; `None` for more than one line.
    pub fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let index = self
            .places
            .partition_point(|(start, _)| *start <= range.start)
            .checked_sub(1)?;
        let (start, word) = &self.places[index];
        let (from, to) = (range.start - start, range.end - start);
        (to <= word.len()).then(|| word.end - to..word.end - from)
    }
}

#[cfg(test)]
mod tests {
    use super::ReversedWords;

    #[test]
    fn long_words_are_turned() {
        let text = "a 0123456789ghijkl-mn, notesswithoutdigits and 0123456789abcdef0 (abcdefghij_klmn_12)";
        let words = ReversedWords::new(text);
        assert_eq!(words.text, "nm-lkjihg9876543210\n21_nmlk_jihgfedcba\n");
        assert_eq!(words.original(&(0..2)).map(|range| &text[range]), Some("mn"));
        assert_eq!(words.original(&(20..22)).map(|range| &text[range]), Some("12"));
        assert_eq!(words.original(&(18..22)), None);
    }
}
