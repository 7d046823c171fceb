//! Converts decoded bytes to text.

use std::ops::Range;

use unicode_script::{Script, UnicodeScript};

use super::inflate::{Inflated, inflate};
use super::letters::looks_like_words;
use super::view::{Step, Steps, Writer};

/// Fewer decoded bytes than this count as text only if all are letters, digits, spaces and simple punctuation.
const SHORT: usize = 12;
/// One in this many decoded bytes may be unreadable, if there are at least [`SHORT`].
const STRAY: usize = 16;
/// In fewer decoded bytes than this, all letters outside ASCII must belong to one script. With fewer than [`SHORT`], all
/// letters of a word must.
const ONE_SCRIPT: usize = 32;
/// The fewest bytes of UTF-16 that are recognized.
const LEAST_UTF16: usize = 8;

/// The text of an encoded piece, and how it was decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) text: String,
    pub(super) steps: Steps,
}

impl Payload {
    /// Reads bytes that `steps` decoded: text, or compressed text.
    pub(super) fn read(bytes: Vec<u8>, steps: impl Into<Steps>) -> Option<Self> {
        let steps = steps.into();
        match readable(bytes.clone()) {
            Some(text) => Some(Self { text, steps }),
            None => Self::inflate(&bytes, steps),
        }
    }

    /// Reads compressed text that `steps` decoded.
    pub(super) fn inflate(bytes: &[u8], steps: impl Into<Steps>) -> Option<Self> {
        let Inflated { data, has_header } = inflate(bytes)?;
        let text = readable(data).filter(|text| has_header || looks_like_words(text))?;
        let steps = steps.into().then(Step::Deflate.into());
        Some(Self { text, steps })
    }

    /// The same for encodings whose digits are hardly different from ordinary characters: the text must look like words,
    /// or be encoded again.
    pub(super) fn read_words(bytes: Vec<u8>, step: Step) -> Option<Self> {
        let is_encoded = |text: &str| text.len() >= 2 * SHORT && text.bytes().all(is_digit);
        Self::read(bytes, step).filter(|payload| looks_like_words(&payload.text) || is_encoded(&payload.text))
    }

    pub(super) fn write(&self, range: Range<usize>, writer: &mut Writer) {
        writer.replace(range, &self.text, self.steps);
    }
}

/// Converts decoded bytes to text, if they are text. A few stray bytes are dropped, because a model reads over them and
/// they must not hide the rest. The limit is so low that binary data passes as text no more often than without it.
pub(super) fn readable(bytes: Vec<u8>) -> Option<String> {
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
    let is_mixed = || {
        let words = || text.split(|c: char| !c.is_alphabetic());
        length < SHORT && words().any(|word| has_scripts(word.chars()))
            || length < ONE_SCRIPT && has_scripts(words().flat_map(str::chars).filter(|c| !c.is_ascii()))
    };
    if !text.is_ascii() && is_mixed() {
        return None;
    }
    (!text.is_empty() && (!short || text.chars().all(simple))).then_some(text)
}

/// Whether letters belong to more than one script, as in random bytes.
fn has_scripts(letters: impl Iterator<Item = char>) -> bool {
    let mut scripts = letters.map(|c| match c.script() {
        // One text has them together.
        Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => Script::Han,
        script => script,
    });
    let first = scripts.next();
    scripts.any(|script| Some(script) != first)
}

/// Whether a byte is a digit or the padding of base64, and so of most encodings.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n')
}

/// Decodes UTF-16, in either byte order, if nearly all characters are among the first 256. Every other byte of such
/// text is zero; UTF-8 has no zeros.
fn utf16(bytes: &[u8]) -> Option<String> {
    if bytes.len() < LEAST_UTF16 || !bytes.len().is_multiple_of(2) || !bytes[..LEAST_UTF16].contains(&0) {
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

/// Whether a decoded character can be part of text.
pub(super) fn fits(character: char) -> bool {
    !character.is_control() || matches!(character, '\t' | '\n' | '\r')
}
