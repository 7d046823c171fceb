//! The structure of JSON: objects, arrays, and what stands between their members.

use super::tokens::{bare_key, comment_end, quote_at, starts_key, starts_value};
use crate::stop;
use crate::text::json::MAX_DEPTH;

/// Stands for a missing value at the end of a text that is cut off.
const MISSING: &str = "null";

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

/// Reads a text, and writes it as JSON.
pub(super) struct Repairer<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) out: String,
    /// The opening brackets.
    pub(super) open: Vec<u8>,
    next: Next,
    /// The end of the last value in `out`, where a missing comma belongs.
    value_end: usize,
    /// The last comma in `out`, if no value followed.
    comma: Option<usize>,
}

impl<'a> Repairer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
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

    pub(super) fn run(mut self) -> Option<String> {
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

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Copies `length` bytes.
    pub(super) fn copy(&mut self, length: usize) {
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
            _ if quote_at(self.rest()).is_some() => self.string(false)?,
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
        if quote_at(self.rest()).is_some() {
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
