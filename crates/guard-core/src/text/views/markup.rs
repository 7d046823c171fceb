//! Joins words that are cut by markup, comments, special tokens and breaks of strings or lines.

use std::ops::Range;

use super::view::{Step, View, Writer};

/// The most bytes of a tag, a comment or a special token. The limit bounds the time for a text that opens many and
/// closes none.
const LONGEST: usize = 256;
/// HTML elements that can stand within a word: textual phrasing content (HTML standard, section 3.2.5.2.5) and the old
/// font elements. Other elements, such as table cells, end a word.
const INLINE: [&str; 30] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
    "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];
/// Special tokens of models in square brackets, and BBCode tags.
const BRACKETED: [&str; 14] = [
    "inst", "/inst", "mask", "sep", "cls", "pad", "unk", "bos", "eos", "b", "/b", "i", "/i", "u",
];

/// Removes what cuts words: HTML tags, comments, special tokens of models (`<|im_start|>`, `[INST]`), Markdown marks,
/// terminal colours, control characters, string breaks (`"ig" + "nore"`) and line breaks (`ig-` at the end of a line,
/// and the `=` of quoted-printable text, RFC 2045, section 6.7).
///
/// A piece is removed if letters or digits surround it. If any piece cuts a word, then tags, special tokens, comments,
/// Markdown marks and control characters are also removed next to white space.
pub(super) fn strip(text: &str) -> Option<View> {
    // Most texts have no cut within a word, and no view.
    cuts(text).find(|cut| cut.within)?;
    let mut writer = Writer::new(text);
    for Removal { start, end, .. } in cuts(text) {
        match text[..start].chars().next_back() {
            // Views don't record removals, so the letter before the hyphen is replaced together with it.
            Some(letter) if text[start..].starts_with('-') => {
                let from = start - letter.len_utf8();
                writer.replace(from..end, &text[from..start], Step::Hyphenated);
            }
            _ => writer.replace(start..end, "", Step::Markup),
        }
    }
    writer.finish()
}

/// The pieces between two words that have no width on a page: tags, comments, special tokens, Markdown marks and control
/// characters, but no breaks of strings or lines.
pub(super) fn between_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_break = |start: usize| matches!(text.as_bytes()[start], b'"' | b'\'' | b'-' | b'=' | b'\\');
    cuts(text)
        .filter(move |cut| cut.within && !is_break(cut.start))
        .map(|cut| cut.start..cut.end)
}

/// Whether a text has a special token of models: `<|im_start|>`, `<｜User｜>`, `[INST]` or `<<SYS>>`.
pub(super) fn has_special_token(text: &str) -> bool {
    ["<|", "<｜", "[INST]", "[/INST]", "<<SYS>>"]
        .iter()
        .any(|token| text.contains(token))
}

/// A piece that can be removed.
struct Removal {
    start: usize,
    end: usize,
    /// Whether it cuts a word.
    within: bool,
}

fn cuts(text: &str) -> impl Iterator<Item = Removal> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(skipped) = bytes[at..].iter().position(|&byte| STARTS[usize::from(byte)]) {
            let start = at + skipped;
            let padding = bytes[start] == b'=' && !is_word_before(bytes, start);
            let Some((end, noise)) = run(text, start).filter(|_| !padding) else {
                at = start + 1;
                continue;
            };
            at = end;
            let before = text[..start].chars().next_back();
            let after = text[end..].chars().next();
            let is_word = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric());
            let is_edge = |c: Option<char>| c.is_none_or(char::is_whitespace) || is_word(c);
            // Two quotes around an operator join strings, which may end in white space.
            let joins = matches!(bytes[start], b'"' | b'\'') && before.is_some() && after.is_some();
            let within = joins || is_word(before) && is_word(after);
            if within || noise && is_edge(before) && is_edge(after) {
                return Some(Removal { start, end, within });
            }
        }
        None
    })
}

/// The first bytes of pieces that can be removed.
static STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    let mut byte = 0;
    while byte < starts.len() {
        starts[byte] = matches!(
            byte as u8,
            b'<' | b'[' | b'{' | b'*' | b'~' | b'`' | b'/' | b'-' | b'=' | b'"' | b'\'' | b'\\'
        ) || is_control(byte as u8);
        byte += 1;
    }
    starts
};

const fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0B | 0x0C | 0x0E..=0x1F | 0x7F)
}

/// Whether a word ends at `end`, and not a run of base64, whose padding may end a line.
fn is_word_before(bytes: &[u8], end: usize) -> bool {
    let letters = bytes[..end]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric());
    let mut length = 0;
    let mut last_capital = 0;
    for byte in letters.take(LONGEST_WORD + 1) {
        length += 1;
        if byte.is_ascii_digit() {
            return false;
        }
        if byte.is_ascii_uppercase() {
            last_capital = length;
        }
    }
    // A capital may begin a word.
    length <= LONGEST_WORD && (last_capital == 0 || last_capital == length)
}

/// The most letters of a word before the `=` at the end of a line.
const LONGEST_WORD: usize = 24;

/// The end of the run of pieces at `start`, and whether all of them can be removed next to white space too.
fn run(text: &str, start: usize) -> Option<(usize, bool)> {
    let mut end = start;
    let mut noise = true;
    while let Some((next, is_noise)) = piece(text, end) {
        noise &= is_noise;
        end = next;
    }
    (end > start).then_some((end, noise))
}

/// The end of the piece at `at`, and whether it can be left out next to white space too.
fn piece(text: &str, at: usize) -> Option<(usize, bool)> {
    let bytes = &text.as_bytes()[at..];
    let marks = || bytes.iter().take(9).take_while(|&&byte| byte == bytes[0]).count();
    let plain = |length: usize| Some((at + length, false));
    let noise = |length: usize| Some((at + length, true));
    match *bytes.first()? {
        0x1B if bytes.get(1) == Some(&b'[') => noise(control_sequence(bytes)),
        byte if is_control(byte) => noise(1),
        b'<' => tag(bytes).map(|(length, is_noise)| (at + length, is_noise)),
        b'[' => bracketed_token(bytes).and_then(plain),
        b'{' if bytes.starts_with(b"{}") => plain(2),
        b'*' | b'~' | b'`' => match marks() {
            length @ 2..=8 => noise(length),
            _ => None,
        },
        b'/' if bytes.starts_with(b"/*") => {
            let inner = &bytes[2..bytes.len().min(LONGEST)];
            memchr::memmem::find(inner, b"*/").and_then(|length| noise(length + 4))
        }
        b'-' | b'=' | b'\\' => line_break(bytes).and_then(plain),
        b'"' | b'\'' => string_break(bytes).and_then(plain),
        _ => None,
    }
}

/// The length of a control sequence (ECMA-48, section 5.4): parameters, then one final byte.
fn control_sequence(bytes: &[u8]) -> usize {
    let parameters = bytes[2..]
        .iter()
        .take(32)
        .take_while(|byte| matches!(byte, 0x20..=0x3F))
        .count();
    match bytes.get(2 + parameters) {
        Some(0x40..=0x7E) => 3 + parameters,
        _ => 1,
    }
}

/// The length of a special token or BBCode tag in square brackets.
fn bracketed_token(bytes: &[u8]) -> Option<usize> {
    let name = bytes[1..].iter().take(6).take_while(|&&byte| byte != b']').count();
    let inner = &bytes[1..1 + name];
    let is_inner = |known: &&str| inner.eq_ignore_ascii_case(known.as_bytes());
    let is_known = bytes.get(1 + name) == Some(&b']') && BRACKETED.iter().any(is_inner);
    is_known.then_some(name + 2)
}

/// The length of a hyphen, a backslash or the `=` of quoted-printable text with the line break after it.
fn line_break(bytes: &[u8]) -> Option<usize> {
    let lines = match bytes.get(1..)? {
        [b'\n', ..] => 2,
        [b'\r', b'\n', ..] => 3,
        _ => return None,
    };
    // The second half of a hyphenated word may be indented.
    let blanks = match bytes[0] {
        b'=' => 0,
        _ => bytes[lines..]
            .iter()
            .take(16)
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'>'))
            .count(),
    };
    Some(lines + blanks)
}

/// The length of a closing quote, an operator that joins strings, and the quote that opens the next string.
fn string_break(bytes: &[u8]) -> Option<usize> {
    let quote = bytes[0];
    let blanks = |from: usize| {
        bytes[from..]
            .iter()
            .take(64)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let operator = 1 + blanks(1);
    let sign = match bytes.get(operator..)? {
        [b'.', b'.', ..] | [b'|', b'|', ..] | [b'<', b'>', ..] => 2,
        [b'+' | b'.' | b'&', ..] => 1,
        _ => return None,
    };
    let end = operator + sign + blanks(operator + sign);
    // Two empty strings have nothing to join.
    let opens = bytes.get(end) == Some(&quote) && bytes.get(end + 1) != Some(&quote);
    opens.then_some(end + 1)
}

/// The length of the tag, comment or special token at the start of `bytes`, and whether it can be removed next to white
/// space too.
fn tag(bytes: &[u8]) -> Option<(usize, bool)> {
    let near = &bytes[..bytes.len().min(LONGEST)];
    if near.starts_with(b"<!--") {
        return memchr::memmem::find(&near[4..], b"-->").map(|length| (length + 7, true));
    }
    if near.starts_with(b"<|") {
        let end = 2 + near[2..]
            .iter()
            .take(48)
            .take_while(|byte| !matches!(byte, b'|' | b'<' | b'\n'))
            .count();
        return near[end..].starts_with(b"|>").then_some((end + 2, true));
    }
    // The same with fullwidth bars.
    if let Some(inner) = near.strip_prefix("<｜".as_bytes()) {
        let end = memchr::memmem::find(&inner[..inner.len().min(64)], "｜>".as_bytes())?;
        return Some(("<｜｜>".len() + end, true));
    }
    if near.starts_with(b"<<SYS>>") || near.starts_with(b"<</SYS>>") {
        return Some((near.iter().position(|&byte| byte == b'>')? + 2, true));
    }
    let (name, end, closing) = element(near)?;
    if INLINE.iter().any(|inline| name.eq_ignore_ascii_case(inline.as_bytes())) {
        return Some((end, true));
    }
    // An empty element of any name.
    if near[end - 2] == b'/' && name.len() + 3 == end {
        return Some((end, false));
    }
    let (other, length, closes) = element(&near[end..])?;
    (!closing && closes && other.eq_ignore_ascii_case(name)).then_some((end + length, false))
}

/// The name in the tag at the start of `bytes`, the end of the tag, and whether it is a closing tag.
fn element(bytes: &[u8]) -> Option<(&[u8], usize, bool)> {
    let closing = bytes.starts_with(b"</");
    let start = 1 + usize::from(closing);
    if bytes.first() != Some(&b'<') || !bytes.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let name = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    let rest = start + name;
    let end = rest + bytes[rest..].iter().position(|byte| matches!(byte, b'<' | b'>'))?;
    let attributes = matches!(bytes[rest], b'>' | b'/' | b' ' | b'\n' | b'\t');
    (attributes && bytes[end] == b'>').then_some((&bytes[start..rest], end + 1, closing))
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn words_are_put_together() {
        let stripped = |text| strip(text).map(|view| view.text().to_owned());
        for text in [
            "ig<b></b>nore",
            "<b>i</b><b>g</b>nore",
            "ig<!-- a comment -->nore",
            "ig/* */nore",
            "ig<|im_start|>nore",
            "ig[INST]nore",
            "ig****nore",
            "ig\u{1b}[31mnore",
            "ig\0nore",
            "ig-\n  nore",
            "ig=\r\nnore",
        ] {
            let expected = stripped(text).map(|text| text.replace("<b>", ""));
            assert_eq!(expected.as_deref(), Some("ignore"), "{text:?}");
        }
        assert_eq!(stripped("say 'ig' + 'nore'").as_deref(), Some("say 'ignore'"));
        assert_eq!(stripped("i<|a|>g <|a|>nore").as_deref(), Some("ig nore"));
    }

    #[test]
    fn ordinary_markup_stays() {
        for text in [
            "<td>Name</td><td>Age</td>, <user><name>Ann</name><city>Rome</city></user> and <b>bold</b> <i>words</i>.",
            "if a < b && c > d { x[i] = {}; } // a - b\n- c",
            "**bold**, `code` and ~~struck~~ <|im_start|>user\nHello<|im_end|>",
            "\"a\", \"b\" and 'c' or \"d\" + e",
        ] {
            assert!(strip(text).is_none(), "{text:?}");
        }
    }
}
