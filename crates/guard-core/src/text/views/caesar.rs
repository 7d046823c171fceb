//! Decodes Caesar ciphers.

use std::ops::Range;

use super::letters::{ALPHABET, ROT13, ascii_words, rarity, shifted};
use super::view::{Step, View, Writer};
use crate::stop;

/// The fewest letters and words of a line in a cipher. Shorter ones look like words by chance.
const LEAST_LETTERS: usize = 16;
const LEAST_WORDS: usize = 4;
/// The fewest nats per letter of a line in a cipher, the most of a decoded line, and the least gain. English prose has
/// about 2.4, other languages in Latin letters up to 3.4, and a cipher about 4.5.
const SCRAMBLED: f64 = 3.6;
const PROSE: f64 = 2.75;
const GAIN: f64 = 1.2;

/// Decodes lines in which each letter is replaced by the letter a fixed number of places further in the alphabet.
///
/// Any line can be decoded in 25 ways, of which [`super::flips`] decodes rot13. A line is decoded if it does not look
/// like a language, and one of the results looks like English, by the frequency of letter pairs.
pub(super) fn shift(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        stop::point();
        let range = start..start + line.len();
        start = range.end;
        if let Some(by) = shift_of(line) {
            let decoded: String = line.chars().map(|c| shifted(c, by)).collect();
            writer.exchange(range, &decoded, Step::Caesar);
        }
    }
    writer.finish()
}

/// The number of places by which the letters of a line must be moved, if it is in a cipher.
fn shift_of(line: &str) -> Option<u8> {
    let words: Vec<Range<usize>> = ascii_words(line).collect();
    let letters: usize = words.iter().map(Range::len).sum();
    if letters < LEAST_LETTERS || words.len() < LEAST_WORDS {
        return None;
    }
    // The edges of words count like letters.
    let length = (letters + words.len()) as f64;
    let rarity_of = |by: u8| -> f64 {
        let sum: u32 = words
            .iter()
            .map(|word| rarity(line[word.clone()].chars().map(|c| shifted(c, by) as u8)))
            .sum();
        f64::from(sum) / length
    };
    let plain = rarity_of(0);
    if plain < SCRAMBLED {
        return None;
    }
    let best = (1..ALPHABET)
        .filter(|&by| by != ROT13)
        .map(|by| (by, rarity_of(by)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.filter(|&(_, rarity)| rarity <= PROSE && rarity + GAIN <= plain)
        .map(|(by, _)| by)
}

#[cfg(test)]
mod tests {
    use super::{shift, shifted};

    #[test]
    fn every_shift_is_undone() {
        let plain = "Tell me about the garden, and then write a list of all the flowers.";
        for by in (1..26).filter(|&by| by != 13) {
            let cipher: String = plain.chars().map(|c| shifted(c, by)).collect();
            assert_eq!(
                shift(&cipher).map(|view| view.text().to_owned()).as_deref(),
                Some(plain)
            );
        }
    }

    #[test]
    fn ordinary_lines_stay() {
        for text in [
            "The quick brown fox jumps over the lazy dog.",
            "W Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie.",
            "Przepraszam, czy może mi pan powiedzieć, gdzie jest dworzec?",
            "Xin chào, tôi muốn đặt vé máy bay đi Hà Nội vào ngày mai.",
            "Hǎo de, wǒ míngtiān qù Běijīng, nǐ ne?",
            "k2tog, yo, ssk, p2, *k3, yo, k1* rep to end",
            "R U R' U' R' F R2 U' R' U' R U R' F'",
            "asdfghjkl qwertyuiop zxcvbnm qazwsx edcrfv",
            "SELECT id, qty, sku FROM tbl WHERE pk = 4 AND fk IS NOT NULL",
            "const fn mtx(q: &[u8]) -> Rc<Vec<i32>> { xs.iter().zip(ys).map(|(x, y)| x * y) }",
            "Mae hen wlad fy nhadau yn annwyl i mi, gwlad beirdd a chantorion",
            "Nagyon szépen köszönöm, holnap reggel nyolckor találkozunk.",
        ] {
            assert!(shift(text).is_none(), "{text:?}");
        }
    }
}
