//! Finds strings in quotes that are assigned to a word for a credential.

use std::ops::Range;

use super::assignments::Name;
use super::context::Link;
use super::rule::{BETWEEN, CompiledRule, Rule};
use super::search::{Candidate, Search};

/// The most bytes of a string.
const LENGTH: usize = 256;
/// The most quotation marks between a name and its string.
const QUOTES: usize = 6;
/// Quotation marks of prose, with their ends.
const PROSE: &[(&str, &[&str])] = &[
    ("“", &["”"]),
    ("„", &["“", "”"]),
    ("«", &["»"]),
    ("「", &["」"]),
    ("『", &["』"]),
];

impl<Accept: Fn(&Rule, &[u8]) -> bool> Search<'_, Accept> {
    /// Finds the string that is assigned to the name at `keyword`. Unlike other values, it may have white space and any
    /// other sign.
    pub fn find_string(&mut self, index: usize, compiled: &CompiledRule, keyword: Range<usize>) {
        let text = self.text;
        if self.taken.get(&index).is_some_and(|&end| keyword.start < end) {
            return;
        }
        let rule = &self.rules[index];
        let last = (keyword.end + BETWEEN).min(text.len());
        let mut from = keyword.end;
        let next = || {
            let string = next_string(text, from, last)?;
            from = string.range.start;
            Some(string)
        };
        let mut strings = std::iter::from_fn(next).take(QUOTES).peekable();
        // The name is read only if a string follows it.
        let name = strings.peek().and_then(|_| Name::new(rule, text, keyword));
        let Some(name) = name else { return };
        for string in strings {
            match name.link(string.link) {
                Link::Some => {}
                Link::None => continue,
                Link::Never => return,
            }
            let value = &text[string.range.clone()];
            if compiled.regex.is_match(value) && (self.accept)(rule, value) {
                self.taken.insert(index, string.range.end);
                self.found.push(Candidate {
                    rule: index,
                    range: string.range,
                });
                return;
            }
        }
    }
}

/// A string in quotes.
struct QuotedString {
    /// The end of the text that links the name and the string.
    link: usize,
    /// The content.
    range: Range<usize>,
}

/// The first string that opens between two offsets and has an end on the same line.
fn next_string(text: &[u8], from: usize, last: usize) -> Option<QuotedString> {
    let mut at = from;
    while at < last {
        let found = match text[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                let escapes = text[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
                Some((at + 1, close(text, at + 1, quote, escapes)))
            }
            0x80.. => PROSE
                .iter()
                .find(|(open, _)| text[at..].starts_with(open.as_bytes()))
                .map(|(open, ends)| {
                    let start = at + open.len();
                    let line = &text[start..text.len().min(start + LENGTH)];
                    let is_end = |at: &usize| ends.iter().any(|end| line[*at..].starts_with(end.as_bytes()));
                    let end = (0..line.len()).take_while(|&at| line[at] != b'\n').find(is_end);
                    (start, end.map(|end| start + end))
                }),
            _ => None,
        };
        if let Some((start, Some(end))) = found {
            // Quotation marks of prose are no part of the link.
            let link = if text[at].is_ascii() { start } else { at };
            return Some(QuotedString {
                link,
                range: start..end,
            });
        }
        at += 1;
    }
    None
}

/// The end of a string that starts at an offset, after a quotation mark with backslashes before it.
fn close(text: &[u8], start: usize, quote: u8, escapes: usize) -> Option<usize> {
    let end = text.len().min(start + LENGTH);
    let mut backslashes = 0;
    for (at, byte) in text.iter().copied().enumerate().take(end).skip(start) {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => return None,
            _ if byte == quote
                && (escapes == 0 && backslashes % 2 == 0
                    || escapes > 0 && backslashes <= escapes && backslashes > 0) =>
            {
                return Some(at - if escapes == 0 { 0 } else { backslashes });
            }
            _ => backslashes = 0,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::next_string;

    fn string(text: &str) -> Option<&str> {
        next_string(text.as_bytes(), 0, text.len()).map(|string| &text[string.range])
    }

    #[test]
    fn strings_end_at_their_own_quotation_marks() {
        assert_eq!(string(r#"= "it's 9 o'clock" #"#), Some("it's 9 o'clock"));
        assert_eq!(string(r#"= 'say "hi" 7' "#), Some(r#"say "hi" 7"#));
        assert_eq!(string(r#"= "a\"b" c"#), Some(r#"a\"b"#));
        assert_eq!(string(r#": \"a b 1\", \"c\""#), Some("a b 1"));
        assert_eq!(string("ist „Blau 7“."), Some("Blau 7"));
        assert_eq!(string("= \"open\n\""), None);
    }
}
