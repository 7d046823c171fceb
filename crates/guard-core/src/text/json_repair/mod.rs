//! Repairs broken JSON without changing its data.
//!
//! A repair adds what is missing (brackets, commas, quotes) and removes what JSON lacks (comments, trailing commas). The
//! content of every string stays. Where two readings of a text exist, it stays broken:
//!
//! | broken | repaired | reason |
//! |---|---|---|
//! | `{'a': 'it's', b: [1, 2,]` | `{"a": "it's", "b": [1, 2]}` | an apostrophe stands between letters |
//! | `{"re": "\d+"}` | `{"re": "\\d+"}` | an escape that JSON lacks is a backslash |
//! | `{"path": "C:\dir\new"}` | no | `\n` may be a line break, or a backslash and an "n" |
//! | `{"a": "say "yes" or no", "b": 1}` | `{"a": "say \"yes\" or no", "b": 1}` | only the last quote can end the string |
//! | `{"a": "It is 70", a lot"}` | no | the string may end before or after the comma |
//! | `{"a": 1; "b": 2}` | no | the first value may be `1` or `1;` |
//! | `{"a": NaN}`, `{"a": 007}` | no | JSON has no such number |
//!
//! ```
//! use guard_core::text::json_repair::repair;
//!
//! assert_eq!(repair("{'a': 1,}").as_deref(), Some(r#"{"a": 1}"#));
//! assert_eq!(repair(r#"{"a": [1, {"b": "x"#).as_deref(), Some(r#"{"a": [1, {"b": "x"}]}"#));
//! assert_eq!(repair("{x}"), None);
//! ```

mod scalar;
mod string;

use memchr::{memchr, memmem};

use super::json::{MAX_DEPTH, is_valid};
use crate::stop;

/// The most bytes that are read to see whether a key follows.
const KEY: usize = 256;
/// Stands for a missing value at the end of a text that is cut off.
const MISSING: &str = "null";

/// Repairs an object or array. Returns `None` if it has no reading, or two. Time and memory are linear in its length.
pub fn repair(piece: &str) -> Option<String> {
    let unescaped = unescape(piece);
    let piece = unescaped.as_deref().unwrap_or(piece);
    let repaired = Repairer::new(piece).run()?;
    is_valid(&repaired).then_some(repaired)
}

/// Removes one level of escapes from JSON that is escaped as a whole: `{\"a\": \"b\"}`.
fn unescape(piece: &str) -> Option<String> {
    let first = piece.find('"')?;
    if !piece[..first].ends_with('\\') || piece[..first].contains('\'') {
        return None;
    }
    // Line breaks between its tokens are not escaped.
    let quoted = format!("\"{}\"", piece.replace("\r\n", "\\n").replace('\n', "\\n"));
    let unescaped: String = serde_json::from_str(&quoted).ok()?;
    Some(unescaped)
}

/// The tokens that may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// A value after a colon.
    Member,
    /// A value, or the end of an empty array.
    FirstValue,
    Key,
    /// A key, or the end of an empty object.
    FirstKey,
    Colon,
    /// A comma, or the end of the object or array.
    Comma,
}

struct Repairer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    out: String,
    /// The opening brackets.
    open: Vec<u8>,
    next: Next,
    /// The end of the last value in `out`, where a missing comma belongs.
    value_end: usize,
    /// The last comma in `out`, if no value followed.
    comma: Option<usize>,
}

impl<'a> Repairer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            out: String::with_capacity(text.len() + 16),
            open: Vec::new(),
            next: Next::Value,
            value_end: 0,
            comma: None,
        }
    }

    fn run(mut self) -> Option<String> {
        loop {
            stop::point();
            let spaces = self.at;
            self.skip_space()?;
            let Some(&byte) = self.bytes.get(self.at) else {
                return self.close_all();
            };
            if self.open.is_empty() && self.value_end > 0 {
                // Something follows the end.
                return None;
            }
            match self.next {
                Next::FirstValue if byte == b']' => self.close(byte)?,
                Next::Value | Next::FirstValue | Next::Member => self.value(byte)?,
                Next::FirstKey | Next::Key => self.key(byte)?,
                Next::Colon if byte == b':' => {
                    self.copy(1);
                    self.next = Next::Member;
                }
                Next::Colon => return None,
                Next::Comma => self.comma(byte, spaces)?,
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Copies `length` bytes.
    fn copy(&mut self, length: usize) {
        self.out.push_str(&self.text[self.at..self.at + length]);
        self.at += length;
    }

    /// Copies white space, and leaves comments out.
    fn skip_space(&mut self) -> Option<()> {
        while let Some(character) = self.rest().chars().next() {
            match character {
                ' ' | '\t' | '\n' | '\r' => self.copy(1),
                '\u{FEFF}' => self.at += character.len_utf8(),
                _ if character.is_whitespace() => {
                    self.out.push(' ');
                    self.at += character.len_utf8();
                }
                '/' | '#' => match comment_end(self.bytes, self.at) {
                    Some(end) => self.at = end,
                    None => return None,
                },
                _ => return Some(()),
            }
        }
        Some(())
    }

    fn value(&mut self, byte: u8) -> Option<()> {
        if byte == b']' && self.next == Next::Value && self.comma.is_some() {
            return self.close(byte);
        }
        match byte {
            b'{' | b'[' => {
                if self.open.len() == MAX_DEPTH {
                    return None;
                }
                self.open.push(byte);
                self.copy(1);
                self.comma = None;
                self.value_end = self.out.len();
                self.next = if byte == b'{' { Next::FirstKey } else { Next::FirstValue };
                return Some(());
            }
            _ if self.open.is_empty() => return None,
            _ if string::quote_at(self.rest()).is_some() => self.string(false)?,
            _ => self.scalar()?,
        }
        self.end_value();
        Some(())
    }

    fn end_value(&mut self) {
        self.comma = None;
        self.value_end = self.out.len();
        self.next = Next::Comma;
    }

    fn key(&mut self, byte: u8) -> Option<()> {
        if byte == b'}' {
            return self.close(byte);
        }
        self.comma = None;
        if string::quote_at(self.rest()).is_some() {
            self.string(true)?;
        } else {
            let length = bare_key(self.rest())?;
            self.out.push('"');
            self.copy(length);
            self.out.push('"');
        }
        self.next = Next::Colon;
        Some(())
    }

    /// Reads what follows a value. `spaces` is where the white space before it begins.
    fn comma(&mut self, byte: u8, spaces: usize) -> Option<()> {
        let in_object = self.open.last() == Some(&b'{');
        match byte {
            b',' => {
                self.comma = Some(self.out.len());
                self.copy(1);
            }
            b'}' | b']' => return self.close(byte),
            _ => {
                if !self.lacks_comma(byte, spaces, in_object) {
                    return None;
                }
                self.out.insert(self.value_end, ',');
            }
        }
        self.next = if in_object { Next::Key } else { Next::Value };
        Some(())
    }

    /// Whether a comma is missing before `byte`, so that a member or an element follows.
    fn lacks_comma(&self, byte: u8, spaces: usize, in_object: bool) -> bool {
        let after_bracket = self.out[..self.value_end].ends_with(['}', ']']);
        if in_object {
            return (spaces < self.at || after_bracket) && starts_key(self.text, self.at);
        }
        if byte == b'{' || byte == b'[' {
            return after_bracket;
        }
        self.bytes[spaces..self.at].contains(&b'\n') && starts_value(self.rest())
    }

    /// Closes the innermost object or array that `byte` can close, and those within it whose ends are missing.
    fn close(&mut self, byte: u8) -> Option<()> {
        let opening = byte - 2;
        if !self.open.contains(&opening) || self.next == Next::FirstKey && self.open.last() != Some(&opening) {
            return None;
        }
        self.drop_comma();
        while let Some(open) = self.open.pop() {
            if open == opening {
                self.copy(1);
                break;
            }
            // The missing end belongs behind the last value, before the white space.
            self.out.insert(self.value_end, char::from(open + 2));
            self.value_end += 1;
        }
        self.end_value();
        Some(())
    }

    /// Removes a comma that nothing follows.
    fn drop_comma(&mut self) {
        if let Some(comma) = self.comma.take() {
            self.out.remove(comma);
        }
    }

    /// Ends a text that is cut off.
    fn close_all(mut self) -> Option<String> {
        match self.next {
            Next::Colon => {
                self.trim();
                self.out.push_str(": ");
                self.out.push_str(MISSING);
            }
            Next::Member => {
                self.trim();
                self.out.push(' ');
                self.out.push_str(MISSING);
            }
            _ => self.drop_comma(),
        }
        if !self.open.is_empty() {
            self.trim();
        }
        while let Some(open) = self.open.pop() {
            self.out.push(char::from(open + 2));
        }
        Some(self.out)
    }

    /// Removes the white space at the end.
    fn trim(&mut self) {
        let length = self.out.trim_ascii_end().len();
        self.out.truncate(length);
    }
}

/// The end of a comment. A line comment in the last line may be text, and is none.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'#', ..] | [b'/', b'/', ..] => memchr(b'\n', rest).map(|end| at + end),
        [b'/', b'*', ..] => memmem::find(&rest[2..], b"*/").map(|end| at + end + 4),
        _ => None,
    }
}

/// The length of a key without quotes.
fn bare_key(rest: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    (length > 0).then_some(length)
}

/// Whether a key and a colon begin at `at`. In quotes, the text may be cut off before the colon.
fn starts_key(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let near = &rest[..rest.floor_char_boundary(KEY)];
    let Some(quote) = string::quote_at(near) else {
        return bare_key(near).is_some_and(|end| near[end..].trim_start().starts_with(':'));
    };
    match string::simple_end(near, quote) {
        Some(end) => {
            let after = near[end..].trim_start();
            after.starts_with(':') || after.is_empty() && near.len() == rest.len()
        }
        None => near.len() == rest.len() && !near.contains('\n'),
    }
}

/// Whether a value begins here.
fn starts_value(rest: &str) -> bool {
    string::quote_at(rest).is_some()
        || rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '{' | '[' | '-' | '+' | '.' | '_'))
}

#[cfg(test)]
mod tests;
