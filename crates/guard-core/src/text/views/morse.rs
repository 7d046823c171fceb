//! Decodes Morse code.

use std::ops::Range;

use super::letters::looks_like_words;
use super::view::{Step, View, Writer};
use crate::stop;

/// The fewest letters. Fewer dots and dashes are ruled lines or lists.
const LEAST: usize = 4;
/// The fewest different letters, and the most that are asked for. In words of a language, every second letter is new at
/// first.
const LEAST_KINDS: usize = 3;
const MOST_KINDS: usize = 4;

/// International Morse code (ITU-R M.1677-1): letters, digits, and signs. The exclamation mark is a common addition.
const CODES: [(&str, &str); 51] = [
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
    (".-.-.-", "."),
    ("--..--", ","),
    ("---...", ":"),
    ("..--..", "?"),
    (".----.", "'"),
    ("-....-", "-"),
    ("-..-.", "/"),
    ("-.--.", "("),
    ("-.--.-", ")"),
    (".-..-.", "\""),
    ("-...-", "="),
    (".-.-.", "+"),
    (".--.-.", "@"),
    ("-.-.--", "!"),
    ("..-..", "é"),
];

/// Decodes Morse code, in dots and dashes or characters that look like them, with white space between letters. Slashes,
/// bars, line breaks or three spaces separate words.
pub(super) fn read(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut at = 0;
    while let Some(skipped) = text.as_bytes()[at..].iter().position(|&byte| may_start(byte)) {
        stop::point();
        let start = at + skipped;
        let end = text[start..]
            .find(|c| sign(c).is_none() && !is_gap(c))
            .map_or(text.len(), |end| start + end);
        if end == start {
            at = start + text[start..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let is_bound = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
        // The first or last group of signs may belong to a word.
        let from = match is_bound(text[..start].chars().next_back()) {
            true => start,
            false => text[start..end].find(is_gap).map_or(end, |at| start + at),
        };
        let to = match is_bound(text[end..].chars().next()) {
            true => end,
            false => text[..end].rfind(is_gap).unwrap_or(from),
        };
        if from < to {
            decode(text, from..to, &mut writer);
        }
        at = end;
    }
    writer.finish()
}

/// Whether a byte may start the UTF-8 of a dot or dash.
fn may_start(byte: u8) -> bool {
    matches!(byte, b'.' | b'-' | 0xC2 | 0xE2 | 0xE3)
}

/// The dot or dash that a character stands for.
fn sign(character: char) -> Option<char> {
    match character {
        '.' | '·' | '•' | '‧' | '∙' | '⋅' | '●' | '・' => Some('.'),
        '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => Some('-'),
        _ => None,
    }
}

fn is_gap(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\u{A0}' | '/' | '|')
}

fn decode(text: &str, run: Range<usize>, writer: &mut Writer) {
    let mut letters: Vec<(Range<usize>, &str)> = Vec::new();
    let mut at = run.start;
    for signs in text[run].split(is_gap) {
        let range = at..at + signs.len();
        at = range.end + text[range.end..].chars().next().map_or(1, char::len_utf8);
        if signs.is_empty() {
            continue;
        }
        let code: String = signs.chars().take(8).filter_map(sign).collect();
        match CODES.iter().find(|(known, _)| *known == code) {
            Some((_, letter)) => letters.push((range, letter)),
            None => write(text, &std::mem::take(&mut letters), writer),
        }
    }
    write(text, &letters, writer);
}

fn write(text: &str, letters: &[(Range<usize>, &str)], writer: &mut Writer) {
    let mut kinds: Vec<&str> = letters.iter().map(|&(_, letter)| letter).collect();
    kinds.sort_unstable();
    kinds.dedup();
    // Words have both dots and dashes, unlike ruled lines and lists.
    let signs = || {
        letters
            .iter()
            .flat_map(|(range, _)| text[range.clone()].chars().filter_map(sign))
    };
    let is_ruled = !signs().any(|sign| sign == '.') || !signs().any(|sign| sign == '-');
    if is_ruled || letters.len() < LEAST || kinds.len() < (letters.len() / 2).clamp(LEAST_KINDS, MOST_KINDS) {
        return;
    }
    let between = |index: usize| letters.get(index + 1).map(|(next, _)| letters[index].0.end..next.start);
    let separates = |gap: &str| gap.contains(['/', '|', '\n']) || gap.len() > 2;
    let words = letters.iter().enumerate().map(|(index, (_, letter))| {
        let ends = between(index).is_some_and(|gap| separates(&text[gap]));
        format!("{letter}{}", if ends { " " } else { "" })
    });
    if !looks_like_words(&words.collect::<String>()) {
        return;
    }
    for (index, (range, letter)) in letters.iter().enumerate() {
        match between(index) {
            Some(gap) if gap.len() == 1 && !separates(&text[gap.clone()]) => {
                writer.replace(range.start..gap.end, letter, Step::Morse);
            }
            gap => {
                writer.replace(range.clone(), letter, Step::Morse);
                if let Some(gap) = gap {
                    writer.replace(gap.clone(), if separates(&text[gap]) { " " } else { "" }, Step::Morse);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CODES, MOST_KINDS, read};
    use proptest::prelude::*;

    fn told(text: &str) -> Option<String> {
        read(text).map(|view| view.text().to_owned())
    }

    /// Writes words in Morse code.
    fn morse(words: &str, gap: &str) -> String {
        let code = |letter: char| {
            CODES
                .iter()
                .find(|(_, known)| known.contains(letter))
                .map_or("", |(code, _)| code)
        };
        let word = |word: &str| word.chars().map(code).collect::<Vec<_>>().join(" ");
        words.split(' ').map(word).collect::<Vec<_>>().join(gap)
    }

    #[test]
    fn all_signs_and_gaps_are_read() {
        let plain = "water the flowers, not the weeds";
        for gap in [" / ", "/", " | ", "\n", "   "] {
            let code = morse(plain, gap);
            assert_eq!(told(&code).as_deref(), Some(plain), "{gap:?}");
            for (dot, dash) in [("·", "−"), ("•", "–"), ("・", "—")] {
                let code = code.replace('.', dot).replace('-', dash);
                assert_eq!(told(&code).as_deref(), Some(plain), "{code:?}");
            }
            assert_eq!(
                told(&format!("Read \"{code}\" now.")),
                Some(format!("Read \"{plain}\" now."))
            );
        }
    }

    #[test]
    fn ordinary_dots_and_dashes_stay() {
        for text in [
            "- - -\n. . .\n-- -- --",
            "| - | -- | --- |\n|---|:--|--:|",
            "and so on ... -- or not - -- - who knows . . .",
            "- [ ] one\n- [x] two\n--\n- three",
            "• one\n• two\n– three – four — five ・ six",
            "1.-2.-3. ../.. ../../. -.5 .-5 --help -v",
            "......\n------\n..--..--\n",
            "2 · 3 · 4 − 5 − 6",
        ] {
            assert_eq!(told(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn words_are_found_again(words in "(water|the|garden|please|and|tell|me|about|flowers){1}( (water|the|garden|please|and|tell|me|about|flowers)){3,8}") {
            // Three letters alone, as in "the the the the", may be a drawing.
            let letters: BTreeSet<char> = words.chars().filter(|letter| *letter != ' ').collect();
            prop_assume!(letters.len() >= MOST_KINDS);
            prop_assert_eq!(told(&morse(&words, " / ")), Some(words));
        }
    }
}
