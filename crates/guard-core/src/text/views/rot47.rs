//! Decodes rot47.

use std::collections::HashSet;
use std::ops::Range;

use super::common_words::is_common;
use super::letters::{ascii_words, rarity};
use super::view::{Step, View, Writer};
use crate::stop;

/// The first and the number of the characters that rot47 exchanges.
const FIRST: u8 = b'!';
const COUNT: u8 = 94;
/// The fewest letters of a passage, and the fewest different common words, see [`is_common`].
const LEAST_LETTERS: usize = 16;
const LEAST_COMMON: usize = 2;
/// The most nats per letter of a decoded passage. English prose has about 2.4.
const PROSE: f64 = 3.0;

/// Decodes passages in which each visible ASCII character is replaced by the one 47 places further, in a circle.
///
/// Small letters become digits, signs and the letters A to K, so that no word of a language is a word in rot47. A
/// passage consists of words that become letters, and it is decoded if the result has common words.
pub(super) fn turn(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        stop::point();
        for passage in passages(line) {
            let decoded: String = line[passage.clone()].chars().map(turned).collect();
            if is_prose(&decoded) {
                writer.exchange(start + passage.start..start + passage.end, &decoded, Step::Rot47);
            }
        }
        start += line.len();
    }
    writer.finish()
}

/// The runs of words that become letters.
fn passages(line: &str) -> Vec<Range<usize>> {
    let mut passages: Vec<Range<usize>> = Vec::new();
    let mut continues = false;
    let mut at = 0;
    for word in line.split(' ') {
        let range = at..at + word.len();
        at = range.end + 1;
        if word.is_empty() {
            continue;
        }
        let becomes = becomes_letters(word);
        match passages.last_mut().filter(|_| continues) {
            Some(passage) if becomes => passage.end = range.end,
            _ if becomes => passages.push(range),
            _ => {}
        }
        continues = becomes;
    }
    passages.retain(|passage| passage.len() >= LEAST_LETTERS);
    passages
}

/// Whether more than half of the characters of a word become letters, and few of them are small letters now.
fn becomes_letters(word: &str) -> bool {
    let (mut becoming, mut small) = (0, 0);
    for byte in word.bytes() {
        becoming += usize::from(turned(char::from(byte)).is_ascii_alphabetic());
        small += usize::from(byte.is_ascii_lowercase());
    }
    becoming * 2 > word.len() && small * 3 <= word.len()
}

/// The character 47 places further. Other characters stay.
fn turned(character: char) -> char {
    match character {
        '!'..='~' => char::from((character as u8 - FIRST + COUNT / 2) % COUNT + FIRST),
        _ => character,
    }
}

fn is_prose(decoded: &str) -> bool {
    let (mut letters, mut words, mut nats) = (0, 0, 0);
    let mut common = HashSet::new();
    for word in ascii_words(decoded) {
        letters += word.len();
        words += 1;
        nats += rarity(decoded[word.clone()].bytes());
        let word = decoded[word].to_ascii_lowercase();
        if is_common(&word) {
            common.insert(word);
        }
    }
    let length = (letters + words) as f64;
    letters >= LEAST_LETTERS && common.len() >= LEAST_COMMON && f64::from(nats) <= PROSE * length
}

#[cfg(test)]
mod tests {
    use super::{turn, turned};
    use proptest::prelude::*;

    #[test]
    fn a_passage_is_decoded_in_its_line() {
        let plain = "Water the flowers, and then tell me about the garden.";
        let text = format!("My note: {} Thank you.", plain.chars().map(turned).collect::<String>());
        let view = turn(&text).unwrap();
        assert_eq!(view.text(), format!("My note: {plain} Thank you."));
    }

    #[test]
    fn ordinary_lines_stay() {
        for text in [
            "23 45 67 89 23 45 67 89 23 45 67 89 23 45",
            "2 2 2 2 3 4 5 2 2 2 2 3 4 5 2 2 2 2 3 4 5",
            "A B C D E F G H I J K A B C D E F G H I J K",
            "09:45 - 10:30 @ 4th floor; 11:15 - 12:00 @ 2nd floor; ?: 3 < 4 = 5",
            "GIG JACK BAGGAGE CABBAGE HIJACK BEACH DEAF FACADE",
            "de ad be ef 4D 5A 90 00 03 00 00 00 04 00 00 00 FF FF",
            "C A F E B A B E 4 2 3 9 8 7 6 @ = > ? 5 4 3 2",
        ] {
            assert!(turn(text).is_none(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn two_turns_change_nothing(text in "\\PC{0,40}") {
            let twice: String = text.chars().map(turned).map(turned).collect();
            prop_assert_eq!(twice, text);
        }
    }
}
