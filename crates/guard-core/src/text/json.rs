//! Finds JSON in prose, in code fences, or as the whole text.
//!
//! It finds the outermost objects and arrays by the grammar of RFC 8259. The surroundings decide which count:
//!
//! - In a fence (CommonMark 0.31, section 4.5) tagged as JSON, every object and array counts, valid or broken.
//! - In a fence tagged as another language, only valid JSON counts: `{ return 1 }` is code there, not broken JSON.
//! - In prose, and in a fence without a tag, an invalid object is *broken JSON* if its first key is quoted and followed
//!   by a colon, or is cut off. An invalid array is broken JSON if its first element is such an object. Neither counts
//!   if the text before it shows a program (`x = {`, `f({`, `{{`), or if the value of a key is a name (`{"a": x}`).
//! - A text that is one object or array, or that is cut off within it, may also have keys without quotes if their
//!   values are JSON values: `{a: 1}` is broken JSON, but `{ color: red; }` and `{ a: string; b: number }` are not. An
//!   array may also begin with a string.
//!
//! So templates (`{name}`, `{{#each items}}`), sets (`{"a", "b"}`), style sheets, types, formulas (`\frac{a}{b}`) and
//! programs do not count. A reference mark (`[1]`), a check box (`[ ]`), a link label and an index (`a["b"]`) do not
//! count either, even where the grammar accepts them.
//!
//! Time and memory are linear in the length of any text.
//!
//! ```
//! use guard_core::text::json::find;
//!
//! let text = r#"Here you are: {"a": 1} and {"b": 2,}"#;
//! let found = find(text);
//! assert_eq!(&text[found[0].range.clone()], r#"{"a": 1}"#);
//! assert!(found[0].problem.is_none());
//! assert_eq!(found[1].problem.as_ref().map(|problem| problem.message), Some("expected a key in double quotes"));
//! ```

use std::ops::Range;

use crate::stop;
use memchr::memchr2;

/// The greatest nesting depth, which protects programs that recurse over the JSON. Python has the same limit, and RFC
/// 8259, section 9, allows one.
pub const MAX_DEPTH: usize = 1000;
/// How often a byte may be read on average, before the rest of a text is reported as broken. Real texts need 2 or 3.
const WORK: usize = 16;

/// An error in a piece of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte offset in the text where reading ended.
    pub at: usize,
    /// The reason.
    pub message: &'static str,
    /// Whether a repair may be tried: not if the JSON is nested too deeply or too tangled to read.
    pub repairable: bool,
}

/// A piece of a text that is JSON, valid or broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The UTF-8 byte range, on character boundaries.
    pub range: Range<usize>,
    /// The error; `None` if the piece is valid.
    pub problem: Option<Problem>,
}

/// The surroundings of a piece of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    Prose,
    /// A text that begins and ends like JSON, or that begins like JSON and is cut off. It may also be several pieces of
    /// JSON.
    Whole,
    /// A fence tagged as JSON.
    Json,
    /// A fence tagged as another language.
    Code,
}

/// Finds the outermost objects and arrays of a text, in order and without overlaps.
pub fn find(text: &str) -> Vec<Candidate> {
    let mut finder = Finder {
        bytes: text.as_bytes(),
        found: Vec::new(),
        work: WORK * text.len() + 4096,
    };
    let trimmed = text.trim();
    let encloses = |open, close| trimmed.starts_with(open) && trimmed.ends_with(close);
    let segments = segments(text);
    // Cut-off JSON has no end. Fences are parts of a text that is not JSON as a whole.
    let is_cut_off = segments.len() == 1 && trimmed.starts_with(['{', '[']);
    if encloses('{', '}') || encloses('[', ']') || is_cut_off {
        let start = text.len() - text.trim_start().len();
        // The text may also be several objects, one on each line.
        finder.read(start..start + trimmed.len(), Surroundings::Whole);
    } else {
        for (range, surroundings) in segments {
            stop::point();
            finder.read(range, surroundings);
        }
    }
    finder.found
}

/// The stretches of prose and the contents of fences, in order.
fn segments(text: &str) -> Vec<(Range<usize>, Surroundings)> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut open: Option<(u8, usize, Surroundings)> = None;
    for line in text.split_inclusive('\n') {
        stop::point();
        let content = line.trim();
        let mark = content.bytes().next().filter(|mark| b"`~".contains(mark));
        let length = mark.map_or(0, |mark| content.bytes().take_while(|&byte| byte == mark).count());
        let info = content[length..].trim_start();
        match open {
            None if length >= 3 && !info.contains('`') => {
                segments.push((start..at, Surroundings::Prose));
                open = Some((mark.unwrap_or(b'`'), length, surroundings_of(info)));
                start = at + line.len();
            }
            Some((opened, least, surroundings)) if mark == Some(opened) && length >= least && info.is_empty() => {
                segments.push((start..at, surroundings));
                open = None;
                start = at + line.len();
            }
            _ => {}
        }
        at += line.len();
    }
    segments.push((
        start..text.len(),
        open.map_or(Surroundings::Prose, |(_, _, surroundings)| surroundings),
    ));
    segments
}

/// The content type of a fence with this info string.
fn surroundings_of(info: &str) -> Surroundings {
    let tag = info.split(|c: char| c.is_whitespace() || c == '{').next().unwrap_or("");
    match tag.to_ascii_lowercase().as_str() {
        "json" | "json5" | "jsonc" | "jsonl" | "ndjson" | "json-ld" | "jsonld" | "geojson" => Surroundings::Json,
        "" | "text" | "txt" | "plain" | "plaintext" | "md" | "markdown" | "output" => Surroundings::Prose,
        _ => Surroundings::Code,
    }
}

struct Finder<'a> {
    bytes: &'a [u8],
    found: Vec<Candidate>,
    /// How many bytes may still be read without result.
    work: usize,
}

impl Finder<'_> {
    fn read(&mut self, range: Range<usize>, surroundings: Surroundings) {
        let mut segment = Segment {
            bytes: &self.bytes[..range.end],
            range,
            surroundings,
            pairs: None,
        };
        let mut at = segment.range.start;
        while let Some(start) = memchr2(b'{', b'[', &segment.bytes[at..]).map(|offset| at + offset) {
            stop::point();
            at = start + 1;
            if is_escaped(segment.before(start)) {
                continue;
            }
            at = match valid(segment.bytes, start) {
                Ok(end) => {
                    if segment.accepts_valid(start..end) {
                        self.push(start..end, None);
                    }
                    end
                }
                Err((failed_at, message)) => self.read_broken(&mut segment, start, failed_at, message),
            };
        }
    }

    /// Adds the invalid piece at `start` if it is meant as JSON. Returns where to go on.
    fn read_broken(
        &mut self,
        segment: &mut Segment<'_>,
        start: usize,
        failed_at: usize,
        message: &'static str,
    ) -> usize {
        let end = segment.range.end;
        let mut problem = Problem {
            at: failed_at,
            message,
            repairable: message != TOO_DEEP,
        };
        let walked = failed_at - start;
        let close = if self.work > walked {
            self.work -= walked;
            if !segment.begins_like_json(start) {
                return start + 1;
            }
            closing(segment.bytes, start).unwrap_or_else(|| {
                self.work = self.work.saturating_sub(end - start);
                segment.close_of(start)
            })
        } else {
            problem.repairable = false;
            problem.message = TOO_TANGLED;
            end
        };
        let is_read = !matches!(problem.message, TOO_DEEP | TOO_TANGLED);
        if segment.surroundings != Surroundings::Json && is_read && !segment.is_meant(start..close) {
            // Nothing within it counts either, unless its end is unknown.
            if close < end {
                return close;
            }
            self.work = self.work.saturating_sub(close - start);
            return start + 1;
        }
        let close = close - trailing_space(&segment.bytes[start..close]);
        problem.at = problem.at.min(close);
        self.push(start..close, Some(problem));
        close.max(start + 1)
    }

    fn push(&mut self, range: Range<usize>, problem: Option<Problem>) {
        self.found.push(Candidate { range, problem });
    }
}

/// A stretch of prose, or the content of a fence.
struct Segment<'a> {
    /// The text up to the end of the segment.
    bytes: &'a [u8],
    range: Range<usize>,
    surroundings: Surroundings,
    /// The pairs of brackets; computed when a piece is not closed outside of strings.
    pairs: Option<Vec<(usize, usize)>>,
}

impl Segment<'_> {
    fn before(&self, start: usize) -> &[u8] {
        &self.bytes[self.range.start..start]
    }

    /// Whether a piece at `start` may be the whole text.
    fn may_be_whole(&self, start: usize) -> bool {
        self.surroundings == Surroundings::Whole && start == self.range.start
    }

    /// Whether valid JSON counts here.
    fn accepts_valid(&self, range: Range<usize>) -> bool {
        let is_all = self.surroundings == Surroundings::Whole && range == self.range;
        self.surroundings == Surroundings::Json || is_all || is_more_than_mark(self.bytes, range, self.surroundings)
    }

    /// Whether the invalid piece at `start` begins like JSON.
    fn begins_like_json(&self, start: usize) -> bool {
        let is_whole = self.may_be_whole(start);
        match self.surroundings {
            Surroundings::Json => true,
            Surroundings::Code => false,
            _ => begins_like_json(self.bytes, start, is_whole) && (is_whole || !in_program(self.before(start))),
        }
    }

    /// The end of the piece at `start` by its brackets, in strings or not. A piece that nothing closes is an answer
    /// that was cut off, so it ends with the segment.
    fn close_of(&mut self, start: usize) -> usize {
        let pairs = self
            .pairs
            .get_or_insert_with(|| brace_pairs(self.bytes, self.range.start));
        let pair = pairs.binary_search_by_key(&start, |&(open, _)| open);
        pair.map_or(self.range.end, |pair| pairs[pair].1)
    }

    fn is_meant(&self, range: Range<usize>) -> bool {
        let is_whole = self.may_be_whole(range.start) && range.end == self.range.end;
        is_meant(self.bytes, range, is_whole)
    }
}

/// Whether `before` ends with an odd number of backslashes, as before the brace of `\{` in LaTeX.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

fn trailing_space(bytes: &[u8]) -> usize {
    bytes.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r') {
        at += 1;
    }
    at
}

/// Whether valid JSON in prose or code is more than a reference mark, a label or an index.
fn is_more_than_mark(bytes: &[u8], range: Range<usize>, surroundings: Surroundings) -> bool {
    let inner = &bytes[range.start + 1..range.end - 1];
    let empty = skip_space(inner, 0) == inner.len();
    if bytes[range.start] == b'{' {
        return surroundings != Surroundings::Code || !empty;
    }
    let number = inner
        .iter()
        .all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace());
    let indexed = bytes[..range.start]
        .last()
        .is_some_and(|&before| before.is_ascii_alphanumeric() || matches!(before, b'_' | b')' | b']' | 0x80..));
    let label = bytes.get(range.end) == Some(&b'(');
    !(empty || number || indexed || label)
}

/// The most bytes of a key. The limit bounds the work.
const KEY: usize = 256;
/// The most bytes before the end of the first key, including comments.
const HEAD: usize = 2048;

/// Whether invalid text begins like JSON: with an object that has a quoted key, or an array of such objects. If
/// `is_whole`, a key without quotes or an array of strings will do too.
fn begins_like_json(bytes: &[u8], start: usize, is_whole: bool) -> bool {
    let bytes = head(bytes, start);
    let at = skip_comments(bytes, start + 1);
    let rest = &bytes[at..];
    match bytes[start] {
        _ if rest.is_empty() => false,
        b'[' if rest[0] == b'{' => begins_like_json(bytes, at, is_whole),
        // Of a long row of brackets, only the innermost one is examined.
        b'[' => is_whole && (quote_end(rest, 0).is_some_and(|end| after_item(rest, end)) || rest[0] == b'['),
        _ => has_quoted_key(bytes, start) || is_whole && bare_key(rest).is_some_and(|end| rest.get(end) == Some(&b':')),
    }
}

/// The first bytes of the piece at `start`, which tell whether it begins like JSON.
fn head(bytes: &[u8], start: usize) -> &[u8] {
    &bytes[..bytes.len().min(start + HEAD)]
}

/// Whether an object begins with a quoted key and a colon, or is cut off within the key.
fn has_quoted_key(bytes: &[u8], start: usize) -> bool {
    let bytes = head(bytes, start);
    let at = skip_comments(bytes, start + 1);
    let rest = &bytes[at..];
    quote_of(rest).is_some()
        && quote_end(rest, 0).map_or(
            rest.len() < KEY && !rest.contains(&b'\n') && !rest.contains(&b'}'),
            |end| {
                let end = skip_space(rest, end);
                end == rest.len() || rest[end] == b':'
            },
        )
}

/// Whether a string that ends at `at` may be an array element: a comma, the end of the array or the end of the text
/// follows.
fn after_item(bytes: &[u8], at: usize) -> bool {
    let at = skip_space(bytes, at);
    bytes.get(at).is_none_or(|byte| matches!(byte, b',' | b']'))
}

/// The end of an unquoted key and the white space after it.
fn bare_key(rest: &[u8]) -> Option<usize> {
    let word = rest
        .iter()
        .take(KEY)
        .take_while(|&&byte| is_name(byte) || byte == b'-')
        .count();
    (word > 0).then(|| skip_space(rest, word))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// The length of the quote at the start of `rest`, which may be escaped or typographic (U+2018, U+2019, U+201C,
/// U+201D).
fn quote_of(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'"' | b'\'', ..] => Some(1),
        [b'\\', b'"', ..] => Some(2),
        [0xE2, 0x80, 0x98 | 0x99 | 0x9C | 0x9D, ..] => Some(3),
        _ => None,
    }
}

/// The end of the short string at `at`, with any kind of quotes.
fn quote_end(bytes: &[u8], at: usize) -> Option<usize> {
    let opening = quote_of(&bytes[at..])?;
    let first = bytes[at];
    let mut end = at + opening;
    while end < bytes.len().min(at + KEY) {
        if bytes[end] == first
            && let Some(closing) = quote_of(&bytes[end..])
        {
            return Some(end + closing);
        }
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    None
}

/// Skips white space and comments.
fn skip_comments(bytes: &[u8], at: usize) -> usize {
    let mut at = skip_space(bytes, at);
    loop {
        let rest = &bytes[at..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
        } else {
            return at;
        };
        at = skip_space(bytes, at + length);
    }
}

/// Whether the text before a piece shows that it is part of a program or a template.
fn in_program(before: &[u8]) -> bool {
    // The end of a long line is enough.
    let near = &before[before.len().saturating_sub(KEY)..];
    let line = near
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(near, |end| &near[end + 1..])
        .trim_ascii_end();
    let touches = before
        .last()
        .is_some_and(|&byte| is_name(byte) && byte.is_ascii() || matches!(byte, b'"' | b'\'' | b'%' | b'#' | b'@'));
    touches
        || matches!(line.last(), Some(b'=' | b'(' | b'{' | b'$'))
        || line.ends_with(b"=>")
        || line.ends_with(b"return")
}

/// Whether an object or array with a known end is meant as JSON. A whole text with a quoted key is.
fn is_meant(bytes: &[u8], range: Range<usize>, is_whole: bool) -> bool {
    if is_whole && has_quoted_key(bytes, range.start) {
        return true;
    }
    begins_like_json(bytes, range.start, is_whole) && !has_names(&bytes[range])
}

/// Whether a value is a name, or text stands in place of a value, as in programs, types and style sheets.
fn has_names(piece: &[u8]) -> bool {
    let mut at = 0;
    // Whether the last token was a bracket, comma or colon, so that a value begins.
    let mut begins_value = false;
    while at < piece.len() {
        let byte = piece[at];
        match byte {
            b'"' | b'\'' => {
                let Some(end) = string_end(piece, at) else {
                    // After an unterminated string, text and names can't be told apart.
                    return false;
                };
                if piece.get(end).is_some_and(|&next| is_name(next)) {
                    // The string has an unescaped quote, so strings and names can't be told apart from here on.
                    return false;
                }
                at = end;
                begins_value = false;
            }
            b'/' if piece[at..].starts_with(b"//") || piece[at..].starts_with(b"/*") => at = skip_comments(piece, at),
            b';' | b'(' => return true,
            _ if byte.is_ascii_whitespace() => at += 1,
            _ if is_name(byte) => {
                let end = at + piece[at..].iter().take_while(|&&byte| is_name(byte)).count();
                let word = &piece[at..end];
                let next = skip_space(piece, end);
                let is_key = piece.get(next) == Some(&b':');
                let is_call =
                    matches!(piece.get(end), Some(b'(')) || piece[end..].starts_with(b".") && !word[0].is_ascii_digit();
                if let Some(length) = quote_of(word) {
                    at = quote_end(piece, at).unwrap_or(at + length);
                    begins_value = false;
                    continue;
                }
                // The word is a value, or follows one, as in `0 auto`.
                if is_call || !is_key && !is_value(word) && (begins_value || word.is_ascii()) {
                    return true;
                }
                at = end;
                begins_value = false;
            }
            b':' | b',' | b'[' => {
                at += 1;
                begins_value = true;
            }
            b'{' | b'}' | b']' => {
                at += 1;
                begins_value = false;
            }
            _ => at += 1,
        }
    }
    false
}

/// The end of the string at `start`; `None` if it does not end in its line.
fn string_end(piece: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < piece.len() && piece[at] != b'\n' {
        if piece[at] == piece[start] {
            return Some(at + 1);
        }
        at += if piece[at] == b'\\' { 2 } else { 1 };
    }
    None
}

/// Whether a word is a JSON value, or one that other languages write in its place.
fn is_value(word: &[u8]) -> bool {
    word[0].is_ascii_digit()
        || [
            &b"true"[..],
            b"false",
            b"null",
            b"none",
            b"nan",
            b"undefined",
            b"infinity",
        ]
        .iter()
        .any(|value| word.eq_ignore_ascii_case(value))
}

/// The end of the object or array at `start`, by its brackets outside of strings. A closing bracket also closes all
/// brackets that were opened after its own.
fn closing(bytes: &[u8], start: usize) -> Option<usize> {
    let mut stack = Vec::new();
    let mut open = [0usize; 2];
    let mut in_string = false;
    let mut at = start;
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        match byte {
            // The escaped byte may begin a longer character, whose other bytes are never brackets or quotes.
            b'\\' => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                let kind = usize::from(byte == b'[');
                open[kind] += 1;
                stack.push(kind);
            }
            b'}' | b']' if !in_string => {
                let kind = usize::from(byte == b']');
                if open[kind] == 0 {
                    continue;
                }
                while let Some(top) = stack.pop() {
                    open[top] -= 1;
                    if top == kind {
                        break;
                    }
                }
                if stack.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The matching pairs of brackets, in strings or not: the offset of the opening one and the end of the pair, in the
/// order of the opening ones.
fn brace_pairs(bytes: &[u8], from: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut braces, mut brackets) = (Vec::new(), Vec::new());
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'{' => braces.push(at),
            b'[' => brackets.push(at),
            b'}' => pairs.extend(braces.pop().map(|open| (open, at + 1))),
            b']' => pairs.extend(brackets.pop().map(|open| (open, at + 1))),
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}

const TOO_DEEP: &str = "nested deeper than 1000 levels";
const TOO_TANGLED: &str = "too tangled to read";

/// The tokens that the grammar allows next.
#[derive(Clone, Copy)]
enum Next {
    Value,
    /// A value, or the end of an empty array.
    FirstValue,
    Key,
    /// A key, or the end of an empty object.
    FirstKey,
    /// A comma, or the end of the object or array.
    Comma,
}

/// Whether a text is one JSON value by the grammar of RFC 8259, and nested no deeper than [`MAX_DEPTH`].
pub(super) fn is_valid(text: &str) -> bool {
    let bytes = text.as_bytes();
    valid(bytes, 0).is_ok_and(|end| skip_space(bytes, end) == bytes.len())
}

/// Whether a text is a number by the grammar of RFC 8259.
pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && scalar(text.as_bytes(), 0).is_ok_and(|end| end == text.len())
}

/// Reads one value of the grammar of RFC 8259.
///
/// Returns the offset of its end, or the offset where reading failed and the reason.
fn valid(bytes: &[u8], start: usize) -> Result<usize, (usize, &'static str)> {
    let mut stack: Vec<u8> = Vec::new();
    let mut next = Next::Value;
    let mut at = start;
    loop {
        at = skip_space(bytes, at);
        let Some(&byte) = bytes.get(at) else {
            return Err((bytes.len(), "the end is missing"));
        };
        match (next, byte) {
            (Next::FirstValue, b']') | (Next::FirstKey, b'}') => {
                stack.pop();
                at += 1;
                next = Next::Comma;
            }
            (Next::Value | Next::FirstValue, b'{' | b'[') => {
                if stack.len() == MAX_DEPTH {
                    return Err((at, TOO_DEEP));
                }
                stack.push(byte);
                at += 1;
                next = if byte == b'{' { Next::FirstKey } else { Next::FirstValue };
            }
            (Next::Value | Next::FirstValue, b'"') => {
                at = string(bytes, at)?;
                next = Next::Comma;
            }
            (Next::Value | Next::FirstValue, _) => {
                at = scalar(bytes, at)?;
                next = Next::Comma;
            }
            (Next::Key | Next::FirstKey, b'"') => {
                at = skip_space(bytes, string(bytes, at)?);
                if bytes.get(at) != Some(&b':') {
                    return Err((at, "expected a colon"));
                }
                at += 1;
                next = Next::Value;
            }
            (Next::Key | Next::FirstKey, _) => return Err((at, "expected a key in double quotes")),
            (Next::Comma, b',') => {
                at += 1;
                next = if stack.last() == Some(&b'{') {
                    Next::Key
                } else {
                    Next::Value
                };
            }
            (Next::Comma, b'}' | b']') if stack.last() == Some(&(byte - 2)) => {
                stack.pop();
                at += 1;
            }
            (Next::Comma, _) => return Err((at, "expected a comma or the end")),
        }
        if stack.is_empty() {
            return Ok(at);
        }
    }
}

fn string(bytes: &[u8], start: usize) -> Result<usize, (usize, &'static str)> {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u')
                    if bytes
                        .get(at + 2..at + 6)
                        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) =>
                {
                    at += 6;
                }
                _ => return Err((at, "bad escape in a string")),
            },
            0..0x20 => return Err((at, "control character in a string")),
            _ => at += 1,
        }
    }
    Err((bytes.len(), "a string does not end"))
}

fn scalar(bytes: &[u8], start: usize) -> Result<usize, (usize, &'static str)> {
    let rest = &bytes[start..];
    for literal in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(literal) {
            return Ok(start + literal.len());
        }
    }
    let digits = |at: usize| {
        rest[at.min(rest.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(rest.first() == Some(&b'-'));
    // No digit may follow a leading 0. The digits after it are not read, since the work is counted up to the reported
    // offset.
    let is_zero = rest.get(at) == Some(&b'0');
    let whole = if is_zero { 1 } else { digits(at) };
    if whole == 0 || is_zero && rest.get(at + 1).is_some_and(u8::is_ascii_digit) {
        return Err((start, "expected a value"));
    }
    at += whole;
    if rest.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return Err((start + at, "expected digits"));
        }
        at += 1 + fraction;
    }
    if matches!(rest.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return Err((start + at, "expected digits"));
        }
        at += 1 + sign + exponent;
    }
    Ok(start + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The pieces, each with whether it is valid.
    fn pieces(text: &str) -> Vec<(&str, bool)> {
        find(text)
            .into_iter()
            .map(|c| (&text[c.range], c.problem.is_none()))
            .collect()
    }

    #[test]
    fn finds_objects_and_arrays_in_prose() {
        let text = r#"First {"a": {"b": [1, "}"]}} then [1, 2] and {"c": "\"{"}."#;
        assert_eq!(
            pieces(text),
            [
                (r#"{"a": {"b": [1, "}"]}}"#, true),
                ("[1, 2]", true),
                (r#"{"c": "\"{"}"#, true)
            ]
        );
        assert_eq!(pieces("{\"a\": 1}\n{\"b\": 2}\n").len(), 2);
        assert_eq!(pieces("no JSON"), []);
    }

    #[test]
    fn marks_labels_and_templates_are_no_json() {
        let text =
            r#"As in [1] and [2][3], - [ ] todo, [JSON](x), ["a"](x), d["key"], {name}, \frac{a}{b}, \{"a": 1}, { x }"#;
        assert_eq!(pieces(text), []);
    }

    #[test]
    fn finds_what_means_to_be_json() {
        for broken in [
            "{'a': 1}",
            r#"{"a": 1,}"#,
            r#"{"a": 1 "b": {"c": 2}}"#,
            r#"[{"a": 1} {"b": 2}]"#,
            r#"{"a": "he said "hi""}"#,
            r#"{"a": NaN}"#,
            "{\"a\": \"x\ny\"}",
            r#"{"a": 01}"#,
            r#"{\"a\": 1}"#,
            "{“a”: 1}",
            r#"{"a": [1, 2}"#,
        ] {
            assert_eq!(pieces(broken), [(broken, false)]);
            assert_eq!(pieces(&format!("So: {broken} here")), [(broken, false)], "{broken}");
        }
        for whole in [
            "{a: 1}",
            "{a: 1, b: 'x'",
            "{name: \"Ada\", tags: [\"x\", None]}",
            r#"{"a": Ada}"#,
            r#"{"a": 1; "b": 2}"#,
            r#"["a", "b",]"#,
            r#"["a", "b"#,
            "[{a: 1}, {a: 2},]",
            "// a comment\n{\"a\": 1}",
        ] {
            let json = whole.trim_start_matches("// a comment\n");
            let found = pieces(whole);
            assert_eq!(found.iter().map(|piece| piece.0).collect::<Vec<_>>(), [json]);
        }
        assert_eq!(
            pieces("cut {\"a\": [1, {\"b\": 2 \n"),
            [("{\"a\": [1, {\"b\": 2", false)]
        );
        assert_eq!(pieces(r#"{"a" } and {"b"#), [(r#"{"b"#, false)]);
    }

    #[test]
    fn what_is_not_meant_as_json_is_left_alone() {
        for text in [
            "{{#each items}}<li>{{name}}</li>{{/each}}",
            "{% for x in xs %}{{ x }}{% endfor %}",
            "{0} and {1}",
            "{{name}}",
            "{name}",
            r#"{"a", "b"}"#,
            "{'a', 'b'}",
            r"\frac{a}{b} \text{'x'}",
            "a { color: red; }",
            "{ color: red; }",
            "{ margin: 0 auto; }",
            "{ margin: 0 auto }",
            "type T = { a: string; b: number }",
            "{ a: string; b: number }",
            "{ a: string, b: number }",
            "const o = {port: PORT, host: getHost()};",
            "{port: PORT, host: getHost()}",
            r#"const o = {"port": 1, "host": 2,};"#,
            r#"post(url, json={"a": x, "b": 1})"#,
            r#"print({"a": 1,})"#,
            r#"return {"a": 1, "b": x}"#,
            r#"so {"a": x} is a dict"#,
            "echo ${VAR:-default}",
            "${VAR:-default}",
            r#"f"{user['name']} and {x:>10}""#,
            r#"f"{{'a': {x}}}""#,
            "[1,,2]",
            "[1, 2, ...]",
            "[[Page]] and [[Other]]",
            "query { user(id: 4) { name } }",
            "{ user(id: 4) { name } }",
            "{ user { name email } }",
            "struct P { x: f64, y: f64 }",
            "P { x: 1.0, y: 2.0 }",
            "func main() { fmt.Println(\"hi\") }",
            "if (x) { y: 1 }",
            "[a-z]{2,3}[^\"]*",
            "^[^@]+@[^@]+$",
            "[x] done\n[ ] open",
            "- [x] done",
            "[^1]: a note",
            "[link](https://example.com) [other]",
            "[\"quoted\"](x)",
            "[INFO] started [main]",
            "[12:30] Ada: hi",
            "{Ada} says 'hi'",
            "{a: b}",
            "{A, B} = {x: x > 1}",
            "{x | x > 0}",
            "{}{}",
            "{'a' if x else 'b'}",
            "[i for i in xs]",
            "[\"a\" + b]",
            "[...xs, 1]",
            "{...props}",
            "{ return 1 }",
            "{ 'use strict'; }",
            "let {a, b: c} = d;",
            "import {a} from 'b';",
        ] {
            for text in [
                text.to_owned(),
                format!("See {text} there"),
                format!("```\n{text}\n```"),
            ] {
                let broken: Vec<_> = pieces(&text).into_iter().filter(|(_, valid)| !valid).collect();
                assert_eq!(broken, [], "{text}");
            }
        }
    }

    #[test]
    fn fences_say_what_they_hold() {
        let text = "```json\n[1]\n```\n```js\nfunction f() { a: 1 }\nx = {\"a\": 1}\n```\n~~~json\n{a}\n~~~\n```\n{'b': 1}\n```";
        assert_eq!(
            pieces(text),
            [
                ("[1]", true),
                (r#"{"a": 1}"#, true),
                ("{a}", false),
                ("{'b': 1}", false)
            ]
        );
        assert_eq!(pieces("```json\n{\"a\": 1"), [(r#"{"a": 1"#, false)]);
    }

    #[test]
    fn says_where_it_broke() {
        let found = find(r#"é {"a": 1,}"#);
        assert_eq!(
            found[0].problem.as_ref().map(|p| (p.at, p.repairable)),
            Some((11, true))
        );
        let deep = format!("{}{}", "[".repeat(1001), "]".repeat(1001));
        assert_eq!(find(&deep)[0].problem.as_ref().map(|p| p.repairable), Some(false));
        let fits = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(pieces(&fits), [(fits.as_str(), true)]);
    }

    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        for unit in [
            "{",
            "[",
            "{\"",
            "[1,",
            "{\"a\":",
            "[{\"a\":\"}",
            "\\\"{",
            "{\"a\":[",
            "{\"}\",\"",
            "[ [1,\"]\",",
            "{a:",
        ] {
            let text = unit.repeat(1_000_000 / unit.len());
            for text in [text.clone(), format!("x {text}")] {
                for candidate in find(&text) {
                    assert!(candidate.problem.is_some() || candidate.range.len() < 100);
                }
            }
        }
    }

    #[test]
    fn refused_numbers_use_up_no_work() {
        for zero in ["0", "-0"] {
            let number = zero.to_owned() + &"0".repeat(100_000);
            let refused = "[1,".repeat(999) + &number;
            // The rest of the text is not given up: the valid JSON behind is still found.
            let text = format!("x {refused} and {{\"a\": 1}}");
            assert_eq!(pieces(&text), [(r#"{"a": 1}"#, true)]);
            assert_eq!(pieces(&format!("x {refused}")), []);
            assert_eq!(valid(refused.as_bytes(), 0), Err((3 * 999, "expected a value")));
        }
        assert_eq!(
            pieces("[{\"a\": 0}, {\"a\": -0.5e0}, 0]"),
            [("[{\"a\": 0}, {\"a\": -0.5e0}, 0]", true)]
        );
    }

    proptest! {
        #[test]
        fn agrees_with_serde(text in r#"[\[{]([\[\]{}",:0-9eE+.\\u -]|"a"|true|null|"a":){0,20}[\]}]"#) {
            let whole = pieces(&text) == [(text.as_str(), true)];
            prop_assert_eq!(whole, serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
        }

        #[test]
        fn pieces_are_in_order_in_any_text(text in r#"([\[\]{}",:'\\\n`a1é😀 ]|```json\n|.|"a":|\{"){0,60}"#) {
            let found = find(&text);
            prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
            for Candidate { range, problem } in found {
                prop_assert!(text.get(range.clone()).is_some_and(|piece| !piece.is_empty()));
                prop_assert!(problem.is_none_or(|p| range.start <= p.at && p.at <= range.end));
            }
        }
    }
}
