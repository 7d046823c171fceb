//! What begins at a place of a text: a quote, a key, a value, a comment.

use memchr::{memchr, memmem};

/// The most bytes that are read to see whether a key follows.
const KEY: usize = 256;

/// A pair of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    TypographicDouble,
    TypographicSingle,
}

impl Quote {
    pub(super) fn of(character: char) -> Option<Self> {
        match character {
            '"' => Some(Self::Double),
            '\'' => Some(Self::Single),
            '`' => Some(Self::Backtick),
            '\u{201C}' | '\u{201D}' | '\u{201E}' => Some(Self::TypographicDouble),
            '\u{2018}' | '\u{2019}' => Some(Self::TypographicSingle),
            _ => None,
        }
    }

    /// Whether the closing quote is also an apostrophe.
    pub(super) fn is_apostrophe(self) -> bool {
        matches!(self, Self::Single | Self::TypographicSingle)
    }
}

/// The quote at the beginning of a text.
pub(super) fn quote_at(rest: &str) -> Option<Quote> {
    rest.chars().next().and_then(Quote::of)
}

/// The end of a short string that has no quote within it.
fn simple_end(rest: &str, quote: Quote) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\n' => return None,
            _ if Quote::of(character) == Some(quote) => return Some(at + character.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The end of a comment. A line comment in the last line may be text, and is none.
pub(super) fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'#', ..] | [b'/', b'/', ..] => memchr(b'\n', rest).map(|end| at + end),
        [b'/', b'*', ..] => memmem::find(&rest[2..], b"*/").map(|end| at + end + 4),
        _ => None,
    }
}

/// The length of a key without quotes.
pub(super) fn bare_key(rest: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    (length > 0).then_some(length)
}

/// Whether a key and a colon begin at `at`. In quotes, the text may be cut off before the colon.
pub(super) fn starts_key(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let near = &rest[..rest.floor_char_boundary(KEY)];
    let Some(quote) = quote_at(near) else {
        return bare_key(near).is_some_and(|end| near[end..].trim_start().starts_with(':'));
    };
    match simple_end(near, quote) {
        Some(end) => {
            let after = near[end..].trim_start();
            after.starts_with(':') || after.is_empty() && near.len() == rest.len()
        }
        None => near.len() == rest.len() && !near.contains('\n'),
    }
}

/// Whether a value begins here.
pub(super) fn starts_value(rest: &str) -> bool {
    quote_at(rest).is_some()
        || rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '{' | '[' | '-' | '+' | '.' | '_'))
}

/// Skips white space and short comments. Returns where they end, and whether there is a line break.
pub(super) fn skip(text: &str, at: usize) -> (usize, bool) {
    let mut end = at;
    let mut has_break = false;
    loop {
        let rest = &text[end..];
        let trimmed = rest.trim_start();
        let spaces = rest.len() - trimmed.len();
        has_break |= rest[..spaces].contains('\n');
        end += spaces;
        let window = &text.as_bytes()[..text.len().min(end + KEY)];
        match comment_end(window, end) {
            Some(after) => end = after,
            None => return (end, has_break),
        }
    }
}
