//! Decodes base64, hexadecimal digits and other encodings in place.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use data_encoding::{Encoding, Specification};

use super::base58;
use super::groups::{self, Digits};
use super::inflate;
use super::letters::{ROT13, looks_like_words, shifted};
use super::numbers;
use super::payload::{Payload, fits, readable};
use super::view::{Step, Steps, View, Writer};
use crate::stop;

/// The shortest run of base64 that is decoded. Shorter identifiers decode to words by chance.
const LEAST_BASE64: usize = 8;
/// The shortest run of hexadecimal digits that is decoded.
const LEAST_HEX: usize = 12;
/// The shortest run of base32 that is decoded.
const LEAST_BASE32: usize = 16;
/// Shorter parts of a run that is not encoded as a whole must look like words. Images have many such parts.
const LEAST_PART: usize = 20;
/// The fewest bytes in a row of codes such as "69 67 6e 6f" or "01101001 01100111 ...".
const LEAST_CODES: usize = 4;
/// The shortest line of base64 that another line may continue, as in PEM files (64) and mail (76).
const WRAPPED: usize = 40;

/// Replaces each encoded piece that contains text by that text.
///
/// It decodes base64 and base64url (RFC 4648, with and without padding, on one line or wrapped), base32, base58,
/// hexadecimal and binary digits, base64 and hexadecimal digits in groups, decimal and octal numbers of characters, code points
/// (`U+0069`), percent encoding (RFC 3986), quoted-printable (RFC 2045), entities of HTML, the escapes `\xNN`, `\NNN`,
/// `\uNNNN`, `\u{N}` and `\UNNNNNNNN`. It also recognizes base64 in rot13 and backwards.
///
/// Decoded bytes are text if they are UTF-8, or UTF-16 of mostly Latin letters, without control characters. A few stray
/// bytes are dropped. Text that is compressed with gzip, zlib or deflate is decompressed.
pub(super) fn decode(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut writer = Writer::new(text);
    let mut at = 0;
    let mut row_ends = RowEnds::default();
    while let Some(skipped) = bytes[at..]
        .iter()
        .position(|&byte| KINDS[usize::from(byte)] != Kind::OTHER)
    {
        stop::point();
        at += skipped;
        let used = match bytes[at] {
            b'%' => percent(text, at, &mut writer),
            b'=' => quoted(text, at, &mut writer),
            b'\\' => escapes(text, at, &mut writer),
            b'&' => entity(text, at, &mut writer),
            _ => run(text, at, &mut row_ends, &mut writer),
        };
        at += used.max(1);
    }
    writer.finish()
}

/// The kinds of characters, one bit each.
struct Kind;

impl Kind {
    const OTHER: u8 = 0;
    /// The digits 0 to 9.
    const DECIMAL: u8 = 1;
    /// The hexadecimal digits a to f, in either case.
    const HEX_LETTER: u8 = 2;
    /// The other letters.
    const LETTER: u8 = 4;
    /// The signs of base64 and base64url.
    const SIGN: u8 = 8;
    /// All digits of base64.
    const DIGIT64: u8 = Self::DECIMAL | Self::HEX_LETTER | Self::LETTER | Self::SIGN;
    /// Other bytes that can begin an encoded piece.
    const START: u8 = 16;
    /// Capitals, in addition to the bit of their letter.
    const CAPITAL: u8 = 32;
}

static KINDS: [u8; 256] = {
    let mut kinds = [Kind::OTHER; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' => Kind::DECIMAL,
            b'a'..=b'f' => Kind::HEX_LETTER,
            b'g'..=b'z' => Kind::LETTER,
            b'A'..=b'F' => Kind::HEX_LETTER | Kind::CAPITAL,
            b'G'..=b'Z' => Kind::LETTER | Kind::CAPITAL,
            b'+' | b'/' | b'-' | b'_' => Kind::SIGN,
            b'%' | b'\\' | b'&' | b'=' => Kind::START,
            _ => Kind::OTHER,
        };
        byte += 1;
    }
    kinds
};

fn is_digit64(byte: u8) -> bool {
    KINDS[usize::from(byte)] & Kind::DIGIT64 != 0
}

/// The ends of the last rows that were read, so that each row is read once.
#[derive(Default)]
struct RowEnds {
    groups: usize,
    numbers: usize,
}

/// A run of letters, digits and signs of base64.
struct Run {
    start: usize,
    length: usize,
    /// The kinds of all its bytes.
    kinds: u8,
    /// The kinds of its bytes after the first one.
    rest: u8,
}

impl Run {
    fn read(bytes: &[u8], start: usize) -> Self {
        let digits = bytes[start + 1..].iter().take_while(|&&byte| is_digit64(byte));
        let (length, rest) = digits.fold((1, 0), |(length, rest), &byte| {
            (length + 1, rest | KINDS[usize::from(byte)])
        });
        Self {
            start,
            length,
            kinds: rest | KINDS[usize::from(bytes[start])],
            rest,
        }
    }

    fn end(&self) -> usize {
        self.start + self.length
    }

    /// Whether the run looks like an ordinary word, which has small letters after its first one. Base64 of that length
    /// has capitals there; base32 and hexadecimal digits of that length have other letters.
    fn is_word(&self, bytes: &[u8]) -> bool {
        self.rest & Kind::CAPITAL == 0
            && self.kinds & (Kind::LETTER | Kind::DECIMAL) == Kind::LETTER
            && self.length < LEAST_BASE32
            && bytes.get(self.end()) != Some(&b'=')
    }
}

/// Decodes the run of letters and digits at `start`. Returns the number of bytes that need no further look, like the
/// other decoders.
fn run(text: &str, start: usize, row_ends: &mut RowEnds, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let run = Run::read(bytes, start);
    if let Some(length) = row(text, &run, row_ends, writer) {
        return length;
    }
    if run.length < LEAST_BASE64 || run.is_word(bytes) {
        return run.length;
    }
    if run.length < WRAPPED {
        let padded = padding_end(bytes, run.end());
        token(text, start..run.end(), padded, writer);
        return padded - start;
    }
    decode_lines(text, start, writer)
}

/// Decodes a row of numbers, code points, codes or groups that begins with `run`. Returns its length, or `None` if
/// there is no such row.
fn row(text: &str, run: &Run, row_ends: &mut RowEnds, writer: &mut Writer) -> Option<usize> {
    let &Run {
        start, length, kinds, ..
    } = run;
    let bytes = text.as_bytes();
    if kinds & (Kind::HEX_LETTER | Kind::LETTER) == 0
        && start >= row_ends.numbers
        && bytes[start].is_ascii_digit()
        && let Some((end, decoded)) = numbers::decode(text, start, writer)
    {
        row_ends.numbers = end;
        if decoded {
            return Some(end - start);
        }
    }
    let named = match bytes[start..] {
        [b'U' | b'u', b'+', ..] => numbers::points(text, start, writer),
        [b'c' | b'C', b'h' | b'H', ..] if bytes.get(run.end()) == Some(&b'(') => numbers::calls(text, start, writer),
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    let may_be_code = match length {
        2 => kinds & (Kind::LETTER | Kind::SIGN) == 0,
        4 => bytes[start..].starts_with(b"0x"),
        6..=8 => kinds == Kind::DECIMAL,
        _ => false,
    };
    if may_be_code && let Some(length) = codes(text, start, writer) {
        return Some(length);
    }
    if start < row_ends.groups {
        return None;
    }
    let row = groups::row(bytes, start..run.end(), is_digit64)?;
    row_ends.groups = row.end;
    group(bytes, start, &row, writer)
}

/// Decodes base64 at `start` that may continue over several lines. Returns its length with the padding.
fn decode_lines(text: &str, start: usize, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let lines = wrapped_lines(bytes, start);
    let end = lines.last().map_or(start, |last| last.end);
    let whole_end = padding_end(bytes, end);
    if lines.len() > 1 {
        let joined: Vec<u8> = bytes[start..end]
            .iter()
            .copied()
            .filter(|&byte| is_digit64(byte))
            .collect();
        if let Some(payload) = base64(&joined) {
            payload.write(start..whole_end, writer);
            return whole_end - start;
        }
    }
    for line in lines.into_iter().filter(|line| line.len() >= LEAST_BASE64) {
        let end = padding_end(bytes, line.end);
        token(text, line, end, writer);
    }
    whole_end - start
}

/// The lines of base64 at `start`. A line continues the one before if that is long and a multiple of four digits.
fn wrapped_lines(bytes: &[u8], start: usize) -> Vec<Range<usize>> {
    let line_end = |from: usize| from + bytes[from..].iter().take_while(|&&byte| is_digit64(byte)).count();
    let mut lines = vec![start..line_end(start)];
    while let Some(last) = lines
        .last()
        .filter(|last| last.len() >= WRAPPED && last.len().is_multiple_of(4))
    {
        let breaks = bytes[last.end..]
            .iter()
            .take(2)
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        let next = last.end + breaks;
        let end = line_end(next);
        if breaks == 0 || end == next {
            break;
        }
        lines.push(next..end);
    }
    lines
}

/// The end of the padding that begins at `end`.
fn padding_end(bytes: &[u8], end: usize) -> usize {
    end + bytes[end..].iter().take(6).take_while(|&&byte| byte == b'=').count()
}

/// Decodes the groups of a row that contain text.
fn group(bytes: &[u8], start: usize, row: &groups::Row, writer: &mut Writer) -> Option<usize> {
    let hex = |group: &[u8]| data_encoding::HEXLOWER_PERMISSIVE.decode(group).ok();
    let mut found = row.read(bytes, Digits::Hex, hex, readable);
    let mut step = Step::Hex;
    if found.is_empty() {
        found = row.read(bytes, Digits::Base64, decode64, readable);
        step = Step::Base64;
    }
    let mut end = found.last()?.0.end;
    if end == row.end {
        end += bytes[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
    }
    let last = found.len() - 1;
    for (index, (range, said)) in found.into_iter().enumerate() {
        let end = if index == last { end } else { range.end };
        writer.replace(range.start..end, &said, step);
    }
    Some(end - start)
}

/// Decodes the run `range`, or else its parts. `padded` is the end of the run's padding.
fn token(text: &str, range: Range<usize>, padded: usize, writer: &mut Writer) {
    let bytes = &text.as_bytes()[range.clone()];
    if let Some(payload) = decode_digits(bytes, padded - range.end) {
        payload.write(range.start..padded, writer);
        return;
    }
    let mut start = range.start;
    let parts = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    for part in parts {
        let end = start + part.len();
        if part.len() >= LEAST_BASE64
            && part.len() < bytes.len()
            && let Some(payload) = decode_digits(part, 0)
            && (part.len() >= LEAST_PART || looks_like_words(&payload.text))
        {
            let end = if end == range.end { padded } else { end };
            payload.write(start..end, writer);
        }
        start = end + 1;
    }
}

/// Decodes digits that are followed by `padding` padding signs.
fn decode_digits(digits: &[u8], padding: usize) -> Option<Payload> {
    hex(digits)
        .or_else(|| binary(digits))
        .or_else(|| base32(digits, padding))
        .or_else(|| base64(digits))
        .or_else(|| Payload::read_words(base58::decode(digits)?, Step::Base58))
}

fn hex(digits: &[u8]) -> Option<Payload> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let fits = digits.len() >= LEAST_HEX && digits.len().is_multiple_of(2);
    let bytes = fits.then(|| data_encoding::HEXLOWER_PERMISSIVE.decode(digits).ok())??;
    Payload::read(bytes, Step::Hex)
}

fn binary(digits: &[u8]) -> Option<Payload> {
    if digits.len() < 8 * LEAST_CODES
        || !digits.len().is_multiple_of(8)
        || digits.iter().any(|byte| !matches!(byte, b'0' | b'1'))
    {
        return None;
    }
    Payload::read(digits.chunks(8).map(octet).collect(), Step::Binary)
}

fn octet(bits: &[u8]) -> u8 {
    bits.iter().fold(0, |value, bit| value << 1 | (bit & 1))
}

/// Decodes base32, with the usual alphabet or that of base32hex (RFC 4648, sections 6 and 7).
fn base32(digits: &[u8], padding: usize) -> Option<Payload> {
    // No other encoding has three or more padding signs.
    let least = if padding >= 3 { LEAST_BASE64 } else { LEAST_BASE32 };
    let has = |kind: fn(&u8) -> bool| digits.iter().any(kind);
    if digits.len() < least || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) {
        return None;
    }
    let digits = digits.to_ascii_uppercase();
    let usual = || Payload::read(data_encoding::BASE32_NOPAD.decode(&digits).ok()?, Step::Base32);
    let hex = || Payload::read_words(data_encoding::BASE32HEX_NOPAD.decode(&digits).ok()?, Step::Base32);
    usual().or_else(hex)
}

/// Decodes base64, also in rot13 or backwards.
fn base64(digits: &[u8]) -> Option<Payload> {
    let lower = digits.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let upper = digits.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    // Base64 of a short text mixes cases. A word has one case, apart from its first letter.
    if digits.len() < LEAST_BASE64
        || digits.len() < 24 && (lower == 0 || upper == 0 || upper == 1 && digits[0].is_ascii_uppercase())
    {
        return None;
    }
    let long = digits.len() >= 16;
    let plain = || text64(digits.iter().copied(), Step::Base64);
    let compressed = || {
        let start = decode64(&digits[..LEAST_BASE64])?;
        inflate::may_begin(&start).then(|| Payload::inflate(&decode64(digits)?, Step::Base64))?
    };
    let turned = |step: Step| Steps::from(step).then(Step::Base64.into());
    let rot13 = || text64(digits.iter().map(|&byte| rot13(byte)), turned(Step::Rot13));
    let reversed = || text64(digits.iter().rev().copied(), turned(Step::Reversed));
    plain()
        .or_else(compressed)
        .or_else(|| long.then(|| rot13().or_else(reversed))?)
}

/// Decodes at least [`LEAST_BASE64`] digits of base64.
fn text64(digits: impl Iterator<Item = u8> + Clone, steps: impl Into<Steps>) -> Option<Payload> {
    // The first bytes rule out nearly every run that is not base64.
    let start = digits
        .clone()
        .take(LEAST_BASE64)
        .fold(0_u64, |value, digit| value << 6 | u64::from(value64(digit)));
    let start = &start.to_be_bytes()[2..];
    let control = |byte: &&u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    let mut stray = start.iter().filter(control).count();
    // Every other byte of UTF-16 is zero.
    if matches!(start, [_, 0, _, 0, _, 0] | [0, _, 0, _, 0, _]) {
        stray = 0;
    }
    let mut rest = start;
    while let Err(error) = std::str::from_utf8(rest)
        && let Some(broken) = error.error_len()
    {
        stray += 1;
        rest = &rest[error.valid_up_to() + broken..];
    }
    if stray > 1 {
        return None;
    }
    let text = readable(decode64(&digits.collect::<Vec<u8>>())?)?;
    let steps = steps.into();
    Some(Payload { text, steps })
}

fn value64(digit: u8) -> u8 {
    match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

/// A digit of base64 in rot13.
fn rot13(digit: u8) -> u8 {
    shifted(char::from(digit), ROT13) as u8
}

fn decode64(digits: &[u8]) -> Option<Vec<u8>> {
    static BASE64: OnceLock<Option<Encoding>> = OnceLock::new();
    let encoding = BASE64.get_or_init(|| {
        let mut specification = Specification::new();
        specification.symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".to_owned();
        specification.translate.from = "-_".to_owned();
        specification.translate.to = "+/".to_owned();
        specification.check_trailing_bits = false;
        specification.encoding().ok()
    });
    encoding.as_ref()?.decode(digits).ok()
}

/// Decodes a row of byte codes, such as "69 67 6e", "0x69, 0x67" and "01101001 01100111".
fn codes(text: &str, start: usize, writer: &mut Writer) -> Option<usize> {
    let bytes = text.as_bytes();
    let length = |at: usize| bytes[at..].iter().take(9).take_while(|&&byte| is_digit64(byte)).count();
    let code = |at: usize| -> Option<(usize, u8, Step)> {
        let digits = &bytes[at..at + length(at)];
        let hex = digits.strip_prefix(b"0x").unwrap_or(digits);
        match (digits.len(), hex.len()) {
            (_, 2) if digits.len() == 2 || digits.len() == 4 => {
                let value = u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
                hex[0].is_ascii_hexdigit().then_some((digits.len(), value, Step::Hex))
            }
            // Without leading zeros, a space has six digits and a letter seven.
            (6..=8, _) => digits
                .iter()
                .all(|bit| matches!(bit, b'0' | b'1'))
                .then(|| (digits.len(), octet(digits), Step::Binary)),
            _ => None,
        }
    };
    let (first, value, step) = code(start)?;
    let mut found = vec![value];
    let mut end = start + first;
    loop {
        let gap = bytes[end..]
            .iter()
            .take(3)
            .take_while(|byte| matches!(byte, b' ' | b',' | b':' | b';'))
            .count();
        let next = (1..=2).contains(&gap).then(|| code(end + gap)).flatten();
        match next {
            Some((length, value, kind)) if kind == step && (length == first || step == Step::Binary) => {
                found.push(value);
                end += gap + length;
            }
            _ => break,
        }
    }
    if found.len() >= LEAST_CODES
        && let Some(decoded) = readable(found)
    {
        writer.replace(start..end, &decoded, step);
    }
    Some(end - start)
}

/// The value of `count` hexadecimal digits at `at`.
fn digits(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let digits = bytes.get(at..at + count)?;
    let valid = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    valid.then(|| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
}

/// Decodes percent encoding.
fn percent(text: &str, start: usize, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(start + 1) == Some(&b'u') {
        return units(text, start, "%u", writer);
    }
    octets(text, start, "%", writer)
}

/// Decodes the escapes of programming languages.
fn escapes(text: &str, start: usize, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(start + 1) {
        Some(b'x') => octets(text, start, "\\x", writer),
        Some(b'u') if bytes.get(start + 2) == Some(&b'{') => {
            let count = bytes[start + 3..]
                .iter()
                .take(7)
                .take_while(|byte| byte.is_ascii_hexdigit())
                .count();
            let end = start + 3 + count;
            let character = digits(bytes, start + 3, count).and_then(char::from_u32);
            match character.filter(|&c| fits(c) && bytes.get(end) == Some(&b'}')) {
                Some(character) => {
                    put(start..end + 1, character, Step::Escape, writer);
                    end + 1 - start
                }
                None => 2,
            }
        }
        Some(b'u') => units(text, start, "\\u", writer),
        Some(b'U') => {
            let character = digits(bytes, start + 2, 8)
                .and_then(char::from_u32)
                .filter(|&c| fits(c));
            match character {
                Some(character) => {
                    put(start..start + 10, character, Step::Escape, writer);
                    10
                }
                None => 2,
            }
        }
        Some(b'0'..=b'3') => octets(text, start, "\\", writer),
        // An escaped backslash.
        Some(b'\\') => 2,
        _ => 1,
    }
}

fn put(range: Range<usize>, character: char, step: Step, writer: &mut Writer) {
    writer.replace(range, character.encode_utf8(&mut [0; 4]), step);
}

/// Decodes bytes of quoted-printable text (RFC 2045, section 6.7). A single byte is decoded only if it is a small
/// letter between two letters, because many URLs contain `=20`.
fn quoted(text: &str, start: usize, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let is_octet = |at: usize| match bytes.get(at..at + 3) {
        Some([b'=', first, second]) => [first, second]
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')),
        _ => false,
    };
    if !is_octet(start) {
        return 1;
    }
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let small = matches!(digits(bytes, start + 1, 2), Some(0x61..=0x7A));
    let single = small && start > 0 && is_letter(start - 1) && is_letter(start + 3);
    if !is_octet(start + 3) && !single {
        return 1;
    }
    octets(text, start, "=", writer)
}

/// Decodes bytes of UTF-8, each written as `prefix` and two hexadecimal digits, or as a backslash and three octal
/// digits.
fn octets(text: &str, start: usize, prefix: &str, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let (step, count) = match prefix {
        "%" => (Step::Percent, 2),
        "=" => (Step::QuotedPrintable, 2),
        "\\" => (Step::Octal, 3),
        _ => (Step::Escape, 2),
    };
    let value = |at: usize| match step {
        Step::Octal => {
            let digits = text
                .get(at..at + count)
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
            u8::from_str_radix(digits, 8).ok()
        }
        _ => digits(bytes, at, count).map(|value| value as u8),
    };
    let size = prefix.len() + count;
    let mut found = Vec::new();
    let mut end = start;
    while text[end..].starts_with(prefix)
        && let Some(value) = value(end + prefix.len())
    {
        found.push(value);
        end += size;
    }
    let mut at = start;
    for chunk in found.utf8_chunks() {
        for character in chunk.valid().chars() {
            let next = at + character.len_utf8() * size;
            if fits(character) {
                put(at..next, character, step, writer);
            }
            at = next;
        }
        at += chunk.invalid().len() * size;
    }
    (end - start).max(1)
}

/// Decodes UTF-16 code units, each written as `prefix` and four hexadecimal digits.
fn units(text: &str, start: usize, prefix: &str, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let size = prefix.len() + 4;
    let step = if prefix == "%u" { Step::Percent } else { Step::Escape };
    let mut found = Vec::new();
    let mut end = start;
    while text[end..].starts_with(prefix)
        && let Some(value) = digits(bytes, end + prefix.len(), 4)
    {
        found.push(value as u16);
        end += size;
    }
    let mut at = start;
    for character in char::decode_utf16(found) {
        let next = at + character.as_ref().map_or(1, |character| character.len_utf16()) * size;
        if let Ok(character) = character
            && fits(character)
        {
            put(at..next, character, step, writer);
        }
        at = next;
    }
    (end - start).max(1)
}

/// Decodes an HTML entity.
fn entity(text: &str, start: usize, writer: &mut Writer) -> usize {
    /// The longest name is "CounterClockwiseContourIntegral".
    const LONGEST: usize = 33;
    let bytes = text.as_bytes();
    let name = bytes[start + 1..]
        .iter()
        .take(LONGEST)
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'#')
        .count();
    let end = start + 1 + name;
    let closed = bytes.get(end) == Some(&b';');
    // A name without a semicolon could be a URL parameter.
    if name < 2 || !closed && bytes[start + 1] != b'#' {
        return 1;
    }
    let written = &text[start..end];
    let terminated = format!("{written};");
    match htmlize::unescape(terminated.as_str()) {
        Cow::Owned(decoded) if decoded != terminated && decoded.chars().all(fits) => {
            let end = end + usize::from(closed);
            writer.replace(start..end, &decoded, Step::Entity);
            end - start
        }
        _ => 1,
    }
}
