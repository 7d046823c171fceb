//! Decodes Morse code.

use super::view::{Step, Writer};

/// The fewest letters. Fewer dots and dashes are ruled lines or lists.
const LEAST: usize = 4;

/// International Morse code (ITU-R M.1677-1), letters and digits.
const CODES: [(&str, &str); 36] = [
    (".-", "a"),
    ("-...", "b"),
    ("-.-.", "c"),
    ("-..", "d"),
    (".", "e"),
    ("..-.", "f"),
    ("--.", "g"),
    ("....", "h"),
    ("..", "i"),
    (".---", "j"),
    ("-.-", "k"),
    (".-..", "l"),
    ("--", "m"),
    ("-.", "n"),
    ("---", "o"),
    (".--.", "p"),
    ("--.-", "q"),
    (".-.", "r"),
    ("...", "s"),
    ("-", "t"),
    ("..-", "u"),
    ("...-", "v"),
    (".--", "w"),
    ("-..-", "x"),
    ("-.--", "y"),
    ("--..", "z"),
    ("-----", "0"),
    (".----", "1"),
    ("..---", "2"),
    ("...--", "3"),
    ("....-", "4"),
    (".....", "5"),
    ("-....", "6"),
    ("--...", "7"),
    ("---..", "8"),
    ("----.", "9"),
];

/// Whether Morse code may begin with this byte.
pub(super) fn starts(byte: u8) -> bool {
    matches!(byte, b'.' | b'-')
}

/// Decodes Morse code with spaces between letters, and slashes or three spaces between words. Returns the number of
/// bytes that need no further look.
pub(super) fn decode(text: &str, start: usize, writer: &mut Writer) -> usize {
    let bytes = text.as_bytes();
    let end = start
        + bytes[start..]
            .iter()
            .take_while(|byte| matches!(byte, b'.' | b'-' | b' ' | b'/'))
            .count();
    let mut letters: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = start;
    for signs in text[start..end].split([' ', '/']) {
        let range = (at, at + signs.len());
        at = range.1 + 1;
        if signs.is_empty() {
            continue;
        }
        match CODES.iter().find(|(code, _)| *code == signs) {
            Some((_, letter)) => letters.push((range.0, range.1, letter)),
            None => {
                write(text, &letters, writer);
                letters.clear();
            }
        }
    }
    write(text, &letters, writer);
    end - start
}

fn write(text: &str, letters: &[(usize, usize, &str)], writer: &mut Writer) {
    let mut kinds: Vec<&str> = letters.iter().map(|&(_, _, letter)| letter).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if letters.len() < LEAST || kinds.len() < 3 {
        return;
    }
    for (index, &(start, end, letter)) in letters.iter().enumerate() {
        match letters.get(index + 1) {
            Some(&(next, ..)) if text[end..next].len() == 1 && !text[end..next].contains('/') => {
                writer.replace(start..next, letter, Step::Morse);
            }
            Some(&(next, ..)) => {
                writer.replace(start..end, letter, Step::Morse);
                let gap = &text[end..next];
                if gap.contains('/') || gap.len() > 2 {
                    writer.replace(end..next, " ", Step::Morse);
                } else {
                    writer.replace(end..next, "", Step::Morse);
                }
            }
            None => writer.replace(start..end, letter, Step::Morse),
        }
    }
}
