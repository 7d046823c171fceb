//! Phrases whose words are separated by something else than one space.

use super::view::{Step, View, Writer};

/// The text with one space wherever two words are separated by other white space, or by a single "_", "-" or "+" between letters or
/// digits. It is no view of its own, since nearly every text has line breaks: only rules that have a space in them read it.
pub(crate) fn join(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut writer = Writer::new(text);
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(|&byte| SEPARATES[usize::from(byte)]) {
        let start = at + skipped;
        let length = match bytes[start] {
            b'_' | b'-' | b'+' => {
                let is_word =
                    |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
                let before = start.checked_sub(1).and_then(|before| bytes.get(before));
                usize::from(is_word(before) && is_word(bytes.get(start + 1)))
            }
            _ => {
                let rest = &text[start..];
                rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len())
            }
        };
        at = start + length.max(1);
        if length == 0 {
            at = text.ceil_char_boundary(at);
        } else if &text[start..at] != " " {
            writer.replace(start..at, " ", Step::Blanks);
        }
    }
    writer.finish()
}

/// The bytes that a separator of words can begin with. White space outside of ASCII is in the blocks of U+0085, U+00A0, U+1680, U+2000
/// and U+3000.
static SEPARATES: [bool; 256] = {
    let mut separates = [false; 256];
    let mut byte = 0;
    while byte < separates.len() {
        separates[byte] = matches!(
            byte as u8,
            b'\t'..=b'\r' | b' ' | b'_' | b'-' | b'+' | 0xC2 | 0xE1 | 0xE2 | 0xE3
        );
        byte += 1;
    }
    separates
};

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn words_have_one_space_between_them() {
        let joined = |text| join(text).map(|view| view.text().to_owned());
        assert_eq!(joined("a b, c - d"), None);
        assert_eq!(
            joined("open_source\n  code\u{A0}and\u{3000}data").as_deref(),
            Some("open source code and data")
        );
        let view = join("say open \r\n source").unwrap();
        assert_eq!(view.original(4..15), 4..18);
    }
}
