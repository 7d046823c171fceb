//! Decodes Ascii85, base85 (RFC 1924) and Z85.

use std::ops::Range;

use super::alphabets::{ALPHABETS, Alphabet};
use super::inflate;
use super::payload::Payload;
use super::view::{Step, View, Writer};
use crate::stop;

/// The shortest run of digits that is decoded. Shorter words are text by chance.
const LEAST: usize = 16;
/// The digits of a group, and its bytes.
const GROUP: usize = 5;
const BYTES: usize = 4;
/// The digits that rule out nearly everything that is not base85.
const FIRST: usize = 2 * GROUP;
/// The marks around Ascii85 in PostScript and in Python's `a85encode(adobe=True)`.
const FRAME: [&str; 2] = ["<~", "~>"];

/// Decodes words of at least [`LEAST`] digits, and Ascii85 between `<~` and `~>`, if they contain text.
pub(super) fn decode(text: &str) -> Option<View> {
    let alphabets = &ALPHABETS.as_ref()?.base85;
    let mut writer = Writer::new(text);
    let mut frames = Frames { text, close: Some(0) };
    let mut done = 0;
    for word in long_words(text) {
        stop::point();
        if word.start < done {
            continue;
        }
        let frame = text[word.clone()]
            .find(FRAME[0])
            .and_then(|at| frames.at(word.start + at));
        let framed = frame.and_then(|frame| {
            let digits = text[frame.start + FRAME[0].len()..frame.end - FRAME[1].len()].bytes();
            let payload = read(digits.filter(|byte| !byte.is_ascii_whitespace()), alphabets.first()?)?;
            Some((frame, payload))
        });
        let in_word = || {
            pieces(text, word).find_map(|piece| {
                let of = |alphabet| read(text[piece.clone()].bytes(), alphabet);
                let payload = alphabets.iter().find_map(of)?;
                Some((piece, payload))
            })
        };
        if let Some((piece, payload)) = framed.or_else(in_word) {
            done = piece.end;
            payload.write(piece, &mut writer);
        }
    }
    writer.finish()
}

/// Finds frames. Each end of a frame is searched once.
struct Frames<'a> {
    text: &'a str,
    /// The end of the last frame that was found. `None` if no further frame ends.
    close: Option<usize>,
}

impl Frames<'_> {
    /// The frame that starts at `start`, including its marks.
    fn at(&mut self, start: usize) -> Option<Range<usize>> {
        let inside = start + FRAME[0].len();
        if self.close? < inside + FRAME[1].len() {
            let close = self.text[inside..].find(FRAME[1]);
            self.close = close.map(|at| inside + at + FRAME[1].len());
        }
        Some(start..self.close?)
    }
}

/// The runs without white space that have at least [`LEAST`] bytes or start a frame.
fn long_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let words = text.split(|c: char| c.is_ascii_whitespace()).map(move |word| {
        let range = start..start + word.len();
        start = range.end + 1;
        range
    });
    words.filter(|word| word.len() >= LEAST || text[word.clone()].starts_with(FRAME[0]))
}

/// The parts of a word that may be encoded: all of it, without punctuation around it, and between quotes.
fn pieces(text: &str, word: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let around = ['"', '\'', '`', '(', ')', '[', ']', '{', '}', ',', '.', ';', ':'];
    let whole = &text[word.clone()];
    let start = word.start + whole.len() - whole.trim_start_matches(around).len();
    let bare = start..start + whole.trim_matches(around).len();
    let mut at = word.start;
    let quoted = whole.split(['"', '`']).map(move |piece| {
        let range = at..at + piece.len();
        at = range.end + 1;
        range
    });
    [word, bare]
        .into_iter()
        .chain(quoted)
        .filter(|piece| piece.len() >= LEAST)
}

/// Reads digits of an alphabet that contain text.
fn read(digits: impl Iterator<Item = u8> + Clone, alphabet: &Alphabet) -> Option<Payload> {
    let first = bytes_of(digits.clone().take(FIRST), alphabet)?;
    let is_text = !first
        .iter()
        .any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
        && std::str::from_utf8(&first).map_or_else(|error| error.error_len().is_none(), |_| true);
    if !is_text && !inflate::may_begin(&first) {
        return None;
    }
    Payload::read_words(bytes_of(digits, alphabet)?, Step::Base85)
}

/// The bytes of digits. The last group may have two to four digits.
fn bytes_of(digits: impl Iterator<Item = u8>, alphabet: &Alphabet) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut digits = digits.peekable();
    while digits.peek().is_some() {
        let mut value: u64 = 0;
        let mut count = 0;
        for digit in digits.by_ref().take(GROUP) {
            value = value * 85 + u64::from(alphabet.value(digit)?);
            count += 1;
        }
        for _ in count..GROUP {
            value = value * 85 + 84;
        }
        let group = u32::try_from(value).ok()?.to_be_bytes();
        if count == 1 {
            return None;
        }
        bytes.extend(&group[..BYTES.min(count - 1)]);
    }
    Some(bytes)
}
