//! Decodes disguised URLs.

use std::ops::Range;

use crate::text::invisible::{Kind, kind_of};

/// Replacements of a dot, colon, slash or at sign that a person decodes by eye; the first match wins.
const DEFANGED: [(&str, &str); 22] = [
    ("[://]", "://"),
    ("(://)", "://"),
    ("[:]", ":"),
    ("(:)", ":"),
    ("[.]", "."),
    ("(.)", "."),
    ("{.}", "."),
    ("[dot]", "."),
    ("(dot)", "."),
    ("{dot}", "."),
    ("[punkt]", "."),
    ("(punkt)", "."),
    ("[точка]", "."),
    ("(точка)", "."),
    ("[点]", "."),
    ("(点)", "."),
    ("[/]", "/"),
    ("[@]", "@"),
    ("[at]", "@"),
    ("(at)", "@"),
    ("[.", "."),
    ("\\.", "."),
];

/// A text with decoded disguises that maps back to the original.
pub(super) struct PlainText {
    pub text: String,
    /// The positions where the offsets of the two texts diverge, in ascending order.
    jumps: Vec<Jump>,
}

/// From `plain` on, the text continues at `original`; the text before `plain` ends at `ended`.
struct Jump {
    plain: usize,
    original: usize,
    ended: usize,
}

impl PlainText {
    pub fn new(text: &str) -> Self {
        let mut plain = Self {
            text: String::with_capacity(text.len()),
            jumps: Vec::new(),
        };
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = character.len_utf8();
            if let Some((taken, meaning)) = read_disguise(rest, &plain.text) {
                // "example [.] com": the spaces belong to the disguise.
                let end = at + taken;
                plain.replace(meaning, at, end);
                at = end;
            } else if let Some(meaning) = narrow(rest, character) {
                plain.replace(meaning.encode_utf8(&mut [0; 4]), at, at + length);
                at += length;
            } else if is_invisible(character) {
                plain.replace("", at, at + length);
                at += length;
            } else {
                plain.text.push(character);
                at += length;
            }
        }
        plain
    }

    /// Appends `meaning` in place of `start..end` of the original.
    fn replace(&mut self, meaning: &str, start: usize, end: usize) {
        let before = self.text.len();
        self.text.push_str(meaning);
        let after = self.text.len();
        if after == before {
            match self.jumps.last_mut() {
                // The end of the previous piece stays.
                Some(last) if last.plain == before => last.original = end,
                _ => self.jumps.push(Jump {
                    plain: before,
                    original: end,
                    ended: start,
                }),
            }
        } else if after - before != end - start {
            self.jumps.push(Jump {
                plain: after,
                original: end,
                ended: end,
            });
        }
    }

    /// The range of the original that `range` stands for.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.jumps.partition_point(|jump| jump.plain <= range.start);
        let end = self.jumps.partition_point(|jump| jump.plain < range.end);
        let from = |index: usize, at: usize| match index.checked_sub(1).map(|last| &self.jumps[last]) {
            Some(jump) => jump.original + (at - jump.plain),
            None => at,
        };
        let stop = match self.jumps.get(end) {
            Some(jump) if jump.plain == range.end => jump.ended,
            _ => from(end, range.end),
        };
        from(start, range.start)..stop
    }
}

/// The length and the meaning of the disguise at the start of `rest`. `before` is the plain text so far.
fn read_disguise(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let first = *rest.as_bytes().first()?;
    if !matches!(first, b'[' | b'(' | b'{' | b'\\' | b' ') || !before.ends_with(is_label_or_colon) {
        return None;
    }
    let inner = if first == b' ' { &rest[1..] } else { rest };
    if first == b' ' && !inner.starts_with(['[', '(', '{']) {
        return None;
    }
    // JSON escapes slashes.
    if inner.starts_with("\\/") {
        return Some((2, "/"));
    }
    let (disguise, meaning) = DEFANGED.iter().find(|(disguise, _)| {
        inner.len() >= disguise.len()
            && inner.is_char_boundary(disguise.len())
            && inner[..disguise.len()].to_lowercase() == **disguise
    })?;
    let mut taken = rest.len() - inner.len() + disguise.len();
    if rest[taken..].starts_with(' ') && first == b' ' {
        taken += 1;
    }
    // "(.)" at the end of a line is not a dot.
    let follows = rest[taken..].chars().next()?;
    (follows.is_alphanumeric() || matches!(meaning, &":" | &"://" | &"/")).then_some((taken, meaning))
}

fn is_label_or_colon(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '/' | '\\' | ']')
}

/// The ordinary form of a full-width character that a URL can have.
fn narrow(rest: &str, character: char) -> Option<char> {
    let plain = match character {
        '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => character as u32 - 0xFEE0,
        '\u{FF0D}'..='\u{FF0F}' => character as u32 - 0xFEE0,
        // Elsewhere a full-width colon is punctuation.
        '\u{FF1A}' if rest[3..].starts_with(['/', '\u{FF0F}']) => u32::from(':'),
        _ => return None,
    };
    char::from_u32(plain)
}

/// Whether a character is invisible and may be hidden within a host.
fn is_invisible(character: char) -> bool {
    !character.is_ascii() && kind_of(character).is_some_and(|kind| !matches!(kind, Kind::PrivateUse | Kind::Unassigned))
}
