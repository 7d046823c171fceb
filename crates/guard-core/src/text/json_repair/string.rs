//! Strings with other quotes, unescaped quotes, raw control characters, and escapes that JSON lacks.

use std::fmt::Write;

use super::repairer::Repairer;
use super::tokens::{Quote, skip, starts_key, starts_value};
use crate::stop;

/// What a string contains that JSON does not allow, or that has two readings.
#[derive(Default)]
struct Content {
    /// Quotes that are content, other than apostrophes between letters.
    quotes: usize,
    /// Whether these quotes do not enclose words.
    has_odd_quotes: bool,
    has_line_break: bool,
    /// Whether the string has an escape that JSON lacks.
    has_unknown_escape: bool,
    /// Whether the string has an escape that stands for another character than the backslash and the one after it.
    has_known_escape: bool,
}

impl Content {
    /// Whether the string has one reading.
    fn is_clear(&self) -> bool {
        // Quotes come in pairs; otherwise one of them may be the end. If some backslashes are written once, all may be.
        self.quotes.is_multiple_of(2) && !self.has_odd_quotes && !(self.has_unknown_escape && self.has_known_escape)
    }
}

impl Repairer<'_> {
    /// Reads a string.
    pub(super) fn string(&mut self, is_key: bool) -> Option<()> {
        let opening = self.rest().chars().next()?;
        let quote = Quote::of(opening)?;
        let mut content = Content::default();
        let mut before = '\0';
        self.at += opening.len_utf8();
        self.out.push('"');
        while let Some(character) = self.rest().chars().next() {
            stop::point();
            let after = self.at + character.len_utf8();
            if Quote::of(character) == Some(quote) {
                let follows = self.text[after..].chars().next();
                let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let is_apostrophe = quote.is_apostrophe() && is_inner(Some(before)) && is_inner(follows);
                if !is_apostrophe {
                    if self.ends_string(after, is_key) {
                        self.at = after;
                        self.out.push('"');
                        return content.is_clear().then_some(());
                    }
                    content.add_quote(before, follows);
                }
            }
            before = character;
            match character {
                '\\' => self.escape(&mut content)?,
                '$' if quote == Quote::Backtick && self.rest().starts_with("${") => return None,
                '"' => self.replace(character, "\\\""),
                '\n' => {
                    content.has_line_break = true;
                    self.replace(character, "\\n");
                }
                '\r' => self.replace(character, "\\r"),
                '\t' => self.replace(character, "\\t"),
                '\0'..='\u{1F}' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(character));
                    self.at = after;
                }
                _ => self.copy(character.len_utf8()),
            }
        }
        self.cut_off(&content)
    }

    fn replace(&mut self, character: char, replacement: &str) {
        self.out.push_str(replacement);
        self.at += character.len_utf8();
    }

    /// Ends a string at the end of the text. If a quote was only forgotten, the string is not cut off.
    fn cut_off(&mut self, content: &Content) -> Option<()> {
        let is_forgotten = content.quotes > 0 || content.has_line_break || self.text.trim_end().ends_with(['}', ']']);
        self.out.push('"');
        (!is_forgotten && content.is_clear()).then_some(())
    }

    /// Reads an escape.
    fn escape(&mut self, content: &mut Content) -> Option<()> {
        let mut characters = self.rest().chars().skip(1);
        let Some(escaped) = characters.next() else {
            // The text is cut off within the escape.
            self.at = self.text.len();
            return Some(());
        };
        match escaped {
            '"' => self.copy(2),
            '\'' => {
                // JavaScript and Python have this escape.
                self.out.push('\'');
                self.at += 2;
            }
            '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                content.has_known_escape = true;
                self.copy(2);
            }
            'u' => {
                let digits = characters.take(4).take_while(char::is_ascii_hexdigit).count();
                if digits == 4 {
                    content.has_known_escape = true;
                    self.copy(6);
                } else if self.at + 2 + digits == self.text.len() {
                    self.at = self.text.len();
                } else {
                    self.unknown_escape(content);
                }
            }
            // A line that is continued, and a character by its number: JavaScript and Python have these escapes.
            '\n' | '\r' => return None,
            'x' if characters.take(2).filter(char::is_ascii_hexdigit).count() == 2 => return None,
            _ => self.unknown_escape(content),
        }
        Some(())
    }

    /// Writes a backslash that escapes nothing. The character after it is read next.
    fn unknown_escape(&mut self, content: &mut Content) {
        content.has_unknown_escape = true;
        self.replace('\\', "\\\\");
    }

    /// Whether a quote that ends at `after` ends its string: after a key, a colon follows; after a value, the end of an
    /// object or array, or a comma and another key or value.
    fn ends_string(&self, after: usize, is_key: bool) -> bool {
        let (at, has_break) = skip(self.text, after);
        let rest = &self.text[at..];
        let in_object = self.open.last() == Some(&b'{');
        match rest.chars().next() {
            None => true,
            Some(':') => is_key,
            Some('}' | ']') => !is_key,
            Some(',') if !is_key => {
                let (next, _) = skip(self.text, at + 1);
                let rest = &self.text[next..];
                if in_object {
                    rest.is_empty() || rest.starts_with('}') || starts_key(self.text, next)
                } else {
                    rest.is_empty() || rest.starts_with(']') || starts_value(rest)
                }
            }
            // A missing comma.
            Some(_) if !is_key && in_object => at > after && starts_key(self.text, at),
            Some(_) if !is_key => has_break && starts_value(rest),
            Some(_) => false,
        }
    }
}

impl Content {
    /// Adds a quote that is content. The first of a pair stands before a word, the second one behind it.
    fn add_quote(&mut self, before: char, after: Option<char>) {
        let inner = if self.quotes.is_multiple_of(2) {
            after
        } else {
            Some(before)
        };
        self.has_odd_quotes |= inner.is_none_or(char::is_whitespace);
        self.quotes += 1;
    }
}
