//! Encoded pieces of a text: base64, hexadecimal digits and others, decoded in place.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use data_encoding::{Encoding, Specification};

use super::groups::{self, Digits};
use super::morse;
use super::numbers;
use super::view::{Step, Steps, View, Writer};
use crate::stop;

/// Shorter runs of base64 are not decoded, since chance would make words of identifiers.
const LEAST_BASE64: usize = 8;
/// Shorter runs of hexadecimal digits are not decoded, for the same reason.
const LEAST_HEX: usize = 12;
/// Shorter runs of base32 are not decoded, for the same reason.
const LEAST_BASE32: usize = 16;
/// The fewest bytes that are written one by one, as in "69 67 6e 6f" or "01101001 01100111 ...".
const LEAST_CODES: usize = 4;
/// Fewer decoded bytes than these must be letters, digits, spaces and simple punctuation, to count as text.
const SHORT: usize = 12;
/// Of so many decoded bytes one may be no text, if there are at least [`SHORT`] of them.
const STRAY: usize = 16;
/// The shortest line of base64 that another line may continue, as in PEM files (64) and mail (76).
const WRAPPED: usize = 40;

/// The text with each encoded piece replaced by what it says, where that is text.
///
/// What is decoded: base64 and base64url (RFC 4648, with and without padding, on one line or wrapped), base32, hexadecimal and
/// binary digits, base64 and hexadecimal digits in groups, decimal and octal numbers of characters, code points (`U+0069`), percent
/// encoding (RFC 3986), quoted-printable (RFC 2045), entities of HTML, the escapes `\xNN`, `\NNN`, `\uNNNN`, `\u{N}` and
/// `\UNNNNNNNN`, and Morse code. Base64 is recognised in rot13 and backwards as well.
///
/// Decoded bytes are text if they are UTF-8, or UTF-16 of mostly Latin letters, without control characters. A few stray bytes do not change that, and are left out.
pub(super) fn decode(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut writer = Writer::new(text);
    let mut at = 0;
    let mut looked = Looked::default();
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
            byte if morse::starts(byte) && (at == 0 || bytes[at - 1].is_ascii_whitespace()) => {
                morse::decode(text, at, &mut writer)
            }
            byte if is_digit64(byte) => run(text, at, &mut looked, &mut writer),
            // A dot within a word.
            _ => 1,
        };
        at += used.max(1);
    }
    writer.finish()
}

/// What a byte can be part of, one bit for each.
struct Kind;

impl Kind {
    const OTHER: u8 = 0;
    /// The digits 0 to 9.
    const DECIMAL: u8 = 1;
    /// The hexadecimal digits a to f, in either case.
    const HEX_LETTER: u8 = 2;
    /// The other letters.
    const LETTER: u8 = 4;
    /// The signs that base64 and base64url have.
    const SIGN: u8 = 8;
    /// All digits of base64.
    const DIGIT64: u8 = Self::DECIMAL | Self::HEX_LETTER | Self::LETTER | Self::SIGN;
    /// The other bytes that an encoded piece can begin with.
    const START: u8 = 16;
    /// Capitals, which have one of the bits of letters besides.
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
            b'%' | b'\\' | b'&' | b'.' | b'=' => Kind::START,
            _ => Kind::OTHER,
        };
        byte += 1;
    }
    kinds
};

fn is_digit64(byte: u8) -> bool {
    KINDS[usize::from(byte)] & Kind::DIGIT64 != 0
}

/// The text of decoded bytes, if they are text. A few stray bytes are left out, since a model would read over them, and they
/// must not hide the rest. Their number is so small that binary data is taken for text no more often than it would be if
/// short pieces had to be free of them.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let bytes = match utf16(&bytes) {
        Some(text) => text.into_bytes(),
        None => bytes,
    };
    let length = bytes.len();
    let most = if length < SHORT { 0 } else { (length / STRAY).max(1) };
    let is_text = |c: char| fits(c) && c != char::REPLACEMENT_CHARACTER;
    let mut stray = 0;
    for chunk in bytes.utf8_chunks() {
        stray += chunk.valid().chars().filter(|&c| !is_text(c)).count() + chunk.invalid().len();
        if stray > most {
            return None;
        }
    }
    let text = if stray == 0 {
        String::from_utf8(bytes).ok()?
    } else {
        let written = bytes.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
        // Form feeds and vertical tabs separate words.
        let spaced = written.map(|c| if !is_text(c) && c.is_whitespace() { ' ' } else { c });
        spaced.filter(|&c| is_text(c)).collect()
    };
    let simple = |c: char| {
        let punctuation = matches!(c, ' ' | '.' | ',' | '!' | '?' | '\'' | '-' | '_' | ':' | '@' | '$');
        c.is_alphanumeric() || punctuation || matches!(c, '\t' | '\n' | '\r')
    };
    let short = length < SHORT || stray > 0 && length < 2 * SHORT;
    (!text.is_empty() && (!short || text.chars().all(simple))).then_some(text)
}

/// The text of UTF-16 in which nearly all characters are of the first 256, in either order of bytes. Such text has nothing but zeros in
/// every other place, and UTF-8 has none.
fn utf16(bytes: &[u8]) -> Option<String> {
    if bytes.len() < 2 * LEAST_CODES || !bytes.len().is_multiple_of(2) || !bytes[..2 * LEAST_CODES].contains(&0) {
        return None;
    }
    let zeros = |place: usize| bytes.iter().skip(place).step_by(2).filter(|&&byte| byte == 0).count();
    let most = bytes.len() / 2 * 3 / 4;
    let unit: fn([u8; 2]) -> u16 = match (zeros(0), zeros(1)) {
        (0, little) if little >= most => u16::from_le_bytes,
        (big, 0) if big >= most => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    Some(text.trim_start_matches('\u{FEFF}').to_owned())
}

/// Up to where words were looked at as parts of a row, so that a row is read once.
#[derive(Default)]
struct Looked {
    groups: usize,
    numbers: usize,
}

/// Decodes a run of letters and digits. Returns how many bytes it looked at, as the other functions do.
fn run(text: &str, start: usize, looked: &mut Looked, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let digits = bytes[start + 1..].iter().take_while(|&&byte| is_digit64(byte));
    let (length, rest) = digits.fold((1, 0), |(length, rest), &byte| {
        (length + 1, rest | KINDS[usize::from(byte)])
    });
    let kinds = rest | KINDS[usize::from(bytes[start])];
    if kinds & (Kind::HEX_LETTER | Kind::LETTER) == 0
        && start >= looked.numbers
        && bytes[start].is_ascii_digit()
        && let Some((end, decoded)) = numbers::decode(text, start, writer)
    {
        looked.numbers = end;
        if decoded {
            return end - start;
        }
    }
    let named = match bytes[start..] {
        [b'U' | b'u', b'+', ..] => numbers::points(text, start, writer),
        [b'c' | b'C', b'h' | b'H', ..] if bytes.get(start + length) == Some(&b'(') => {
            numbers::calls(text, start, writer)
        }
        _ => None,
    };
    if let Some(length) = named {
        return length;
    }
    let may_be_code = match length {
        2 => kinds & (Kind::LETTER | Kind::SIGN) == 0,
        4 => bytes[start..].starts_with(b"0x"),
        6..=8 => kinds == Kind::DECIMAL,
        _ => false,
    };
    if may_be_code && let Some(length) = codes(text, start, writer) {
        return length;
    }
    if start >= looked.groups
        && let Some(row) = groups::row(bytes, start..start + length, is_digit64)
    {
        looked.groups = row.end;
        if let Some(length) = group(bytes, start, &row, writer) {
            return length;
        }
    }
    // An ordinary word has small letters behind its first one. Base64 of its length has capitals there, and base32 and hexadecimal
    // digits of its length have other letters or more of them.
    let is_word = rest & Kind::CAPITAL == 0
        && kinds & (Kind::LETTER | Kind::DECIMAL) == Kind::LETTER
        && length < LEAST_BASE32
        && bytes.get(start + length) != Some(&b'=');
    if length < LEAST_BASE64 || is_word {
        return length;
    }
    let line = |from: usize| from + bytes[from..].iter().take_while(|&&byte| is_digit64(byte)).count();
    let padding = |end: usize| end + bytes[end..].iter().take(6).take_while(|&&byte| byte == b'=').count();
    if length < WRAPPED {
        let end = start + length;
        let padded = padding(end);
        token(text, start..end, padded, writer);
        return padded - start;
    }
    // Base64 can go on over several lines.
    let mut lines = vec![start..line(start)];
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
        let end = line(next);
        if breaks == 0 || end == next {
            break;
        }
        lines.push(next..end);
    }
    let end = lines.last().map_or(start, |last| last.end);
    let padded = padding(end);
    if lines.len() > 1 {
        let joined: Vec<u8> = bytes[start..end]
            .iter()
            .copied()
            .filter(|&byte| is_digit64(byte))
            .collect();
        if let Some((decoded, steps)) = base64(&joined) {
            writer.replace(start..padded, &decoded, steps);
            return padded - start;
        }
    }
    for line in lines.into_iter().filter(|line| line.len() >= LEAST_BASE64) {
        let padded = padding(line.end);
        token(text, line, padded, writer);
    }
    padded - start
}

/// Decodes the groups of a row that say something.
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

/// Decodes the run `range`, or else its parts. With the padding behind it, the run ends at `padded`.
fn token(text: &str, range: Range<usize>, padded: usize, writer: &mut Writer) {
    let bytes = &text.as_bytes()[range.clone()];
    if let Some((decoded, steps)) = whole(bytes, padded - range.end) {
        writer.replace(range.start..padded, &decoded, steps);
        return;
    }
    let mut start = range.start;
    let parts = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    for part in parts {
        let end = start + part.len();
        if part.len() >= LEAST_BASE64
            && part.len() < bytes.len()
            && let Some((decoded, steps)) = whole(part, 0)
        {
            let end = if end == range.end { padded } else { end };
            writer.replace(start..end, &decoded, steps);
        }
        start = end + 1;
    }
}

/// What digits say that have so many signs of padding behind them.
fn whole(digits: &[u8], padding: usize) -> Option<(String, Steps)> {
    let simple = hex(digits)
        .or_else(|| binary(digits))
        .or_else(|| base32(digits, padding))
        .map(|(text, step)| (text, step.into()));
    simple.or_else(|| base64(digits))
}

fn hex(digits: &[u8]) -> Option<(String, Step)> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let fits = digits.len() >= LEAST_HEX && digits.len().is_multiple_of(2);
    let bytes = fits.then(|| data_encoding::HEXLOWER_PERMISSIVE.decode(digits).ok())??;
    Some((readable(bytes)?, Step::Hex))
}

fn binary(digits: &[u8]) -> Option<(String, Step)> {
    if digits.len() < 8 * LEAST_CODES
        || !digits.len().is_multiple_of(8)
        || digits.iter().any(|byte| !matches!(byte, b'0' | b'1'))
    {
        return None;
    }
    Some((readable(digits.chunks(8).map(octet).collect())?, Step::Binary))
}

fn octet(bits: &[u8]) -> u8 {
    bits.iter().fold(0, |value, bit| value << 1 | (bit & 1))
}

fn base32(digits: &[u8], padding: usize) -> Option<(String, Step)> {
    // Nothing else is padded with so many signs.
    let least = if padding >= 3 { LEAST_BASE64 } else { LEAST_BASE32 };
    let case = |alike: fn(&u8) -> bool| digits.iter().all(|byte| alike(byte) || matches!(byte, b'2'..=b'7'));
    if digits.len() < least || !case(u8::is_ascii_uppercase) && !case(u8::is_ascii_lowercase) {
        return None;
    }
    let bytes = data_encoding::BASE32_NOPAD.decode(&digits.to_ascii_uppercase()).ok()?;
    Some((readable(bytes)?, Step::Base32))
}

/// Decodes base64, also in rot13 or backwards.
fn base64(digits: &[u8]) -> Option<(String, Steps)> {
    let lower = digits.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let upper = digits.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    // Base64 of a short text has letters of both cases. A word has one case, apart from its first letter.
    if digits.len() < LEAST_BASE64
        || digits.len() < 24 && (lower == 0 || upper == 0 || upper == 1 && digits[0].is_ascii_uppercase())
    {
        return None;
    }
    let long = digits.len() >= 16;
    let plain = || Some((text64(digits.iter().copied())?, Step::Base64.into()));
    let turned = |text: Option<String>, step: Step| Some((text?, Steps::from(step).then(Step::Base64.into())));
    let rot13 = || turned(text64(digits.iter().map(|&byte| rot13(byte))), Step::Rot13);
    let reversed = || turned(text64(digits.iter().rev().copied()), Step::Reversed);
    plain().or_else(|| long.then(|| rot13().or_else(reversed))?)
}

/// The text that digits of base64 encode. There must be at least [`LEAST_BASE64`] of them.
fn text64(digits: impl Iterator<Item = u8> + Clone) -> Option<String> {
    // The first bytes show of nearly every run that it is no base64.
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
    readable(decode64(&digits.collect::<Vec<u8>>())?)
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

fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        _ => byte,
    }
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

/// Decodes bytes that are written one by one, as in "69 67 6e", "0x69, 0x67" and "01101001 01100111".
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
            // A blank has six digits without its noughts, and a letter seven.
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

/// Whether a decoded character can be part of a text.
fn fits(character: char) -> bool {
    !character.is_control() || matches!(character, '\t' | '\n' | '\r')
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

/// Decodes bytes of quoted-printable text (RFC 2045, section 6.7). A single one is decoded where it is a small letter between two letters,
/// since `=20` stands in many URLs too.
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

/// Decodes bytes of UTF-8 that are written as `prefix` and two hexadecimal digits, or three octal ones behind a single backslash.
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

/// Decodes UTF-16 code units that are written as `prefix` and four hexadecimal digits.
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

/// Decodes an entity of HTML.
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
    // A name without a semicolon could be a parameter of a URL.
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
