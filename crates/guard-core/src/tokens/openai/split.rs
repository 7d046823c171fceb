//! Splits a text into the pieces that are encoded separately.
//!
//! Each function implements the pattern of an encoding (<https://github.com/openai/tiktoken>, `openai_public.py`), in
//! the order of its alternatives. The patterns are ordered choices of runs, so no step goes back further than one run.

use super::characters::{Kinds, LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER};

/// The split of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    Gpt2,
    /// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`
    Cl100k,
    /// Words end where a lower-case letter is followed by an upper-case one:
    /// `[^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|`
    /// ` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`, where U and L are [`UPPER`] and [`LOWER`].
    O200k,
}

impl Split {
    /// The end of the piece at a byte of the text, which must exist.
    #[inline]
    pub(super) fn next(self, text: &str, at: usize) -> usize {
        let text = Kinds::new(text);
        match self {
            Self::Gpt2 => gpt2(text, at),
            Self::Cl100k => cl100k(text, at),
            Self::O200k => o200k(text, at),
        }
    }
}

fn gpt2(text: Kinds<'_>, at: usize) -> usize {
    if let Some(end) = contraction(text, at, false) {
        return end;
    }
    let (first, second) = text.kinds_at(at);
    let (kind, start) = match text.byte(at) {
        b' ' => (text.kinds_at(second).0, second),
        _ => (first, at),
    };
    match kind & (LETTER | NUMBER | OTHER) {
        0 => white(text, at, Split::Gpt2),
        kind => text.run(start, kind),
    }
}

fn cl100k(text: Kinds<'_>, at: usize) -> usize {
    if let Some(end) = contraction(text, at, true) {
        return end;
    }
    let (kind, next) = text.kinds_at(at);
    if kind & LETTER != 0 {
        return text.run(next, LETTER);
    }
    if kind & NUMBER != 0 {
        return number(text, at);
    }
    let after = text.kinds_at(next).0;
    if kind & NEWLINE == 0 && after & LETTER != 0 {
        return text.run(next, LETTER);
    }
    if kind & OTHER != 0 || after & OTHER != 0 && text.byte(at) == b' ' {
        return text.run(text.run(next, OTHER), NEWLINE);
    }
    white(text, at, Split::Cl100k)
}

fn o200k(text: Kinds<'_>, at: usize) -> usize {
    let (kind, next) = text.kinds_at(at);
    if kind & NUMBER != 0 {
        return number(text, at);
    }
    let is_prefix = kind & (LETTER | NEWLINE) == 0;
    let end = match is_prefix {
        // A mark may precede a word, and is one itself.
        true => cased(text, next)
            .or_else(|| cased(text, at))
            .or_else(|| capitals(text, next)),
        false => cased(text, at).or_else(|| capitals(text, at)),
    };
    if let Some(end) = end {
        return contraction(text, end, true).unwrap_or(end);
    }
    if kind & OTHER != 0 || text.kinds_at(next).0 & OTHER != 0 && text.byte(at) == b' ' {
        let mut end = text.run(next, OTHER);
        while end < text.len() && matches!(text.byte(end), b'\r' | b'\n' | b'/') {
            end += 1;
        }
        return end;
    }
    white(text, at, Split::O200k)
}

/// `U*L+`
fn cased(text: Kinds<'_>, at: usize) -> Option<usize> {
    let mut end = at;
    // The end of the last character of both kinds, such as one in a script without case.
    let mut last = None;
    loop {
        let (kind, next) = text.kinds_at(end);
        if kind & UPPER == 0 {
            return match kind & LOWER {
                0 => last,
                _ => Some(text.run(next, LOWER)),
            };
        }
        if kind & LOWER != 0 {
            last = Some(next);
        }
        end = next;
    }
}

/// `U+`, where no `L` is.
fn capitals(text: Kinds<'_>, at: usize) -> Option<usize> {
    let end = text.run(at, UPPER);
    (end > at).then_some(end)
}

/// The end of the part after an apostrophe in "it's", "we'll" and "you've". Without case, "ſ" is an "s" too.
fn contraction(text: Kinds<'_>, at: usize, any_case: bool) -> Option<usize> {
    if at >= text.len() || text.byte(at) != b'\'' {
        return None;
    }
    let letter = |at: usize| match at < text.len() {
        true if any_case => text.byte(at).to_ascii_lowercase(),
        true => text.byte(at),
        false => 0,
    };
    match (letter(at + 1), letter(at + 2)) {
        (b's' | b'd' | b'm' | b't', _) => Some(at + 2),
        (b'l', b'l') | (b'v' | b'r', b'e') => Some(at + 3),
        (0xC5, 0xBF) if any_case => Some(at + 3),
        _ => None,
    }
}

/// `\p{N}{1,3}`
fn number(text: Kinds<'_>, at: usize) -> usize {
    let mut end = at;
    for _ in 0..3 {
        let (kind, next) = text.kinds_at(end);
        if kind & NUMBER == 0 {
            break;
        }
        end = next;
    }
    end
}

/// White space: up to its last line break, or without the last character before a word, which belongs to that.
fn white(text: Kinds<'_>, at: usize, split: Split) -> usize {
    let (mut end, mut last, mut line) = (at, at, None);
    loop {
        let (kind, next) = text.kinds_at(end);
        if kind & SPACE == 0 {
            break;
        }
        if kind & NEWLINE != 0 {
            line = Some(next);
        }
        last = end;
        end = next;
    }
    let at_end = end == text.len();
    match line {
        Some(line) if split == Split::O200k || split == Split::Cl100k && !at_end => line,
        _ if at_end || last == at => end,
        _ => last,
    }
}
