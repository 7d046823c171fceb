//! Decodes Caesar ciphers and Atbash.

use super::letters::{ALPHABET, ROT13, ascii_words, mirrored, rarity, shifted};
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
/// What may be between the cipher and other text of a line.
const BOUNDS: [char; 9] = [':', '"', '`', '“', '”', '„', '«', '»', '\n'];

/// A way to replace letters.
#[derive(Debug, Clone, Copy)]
enum Cipher {
    /// By the letter a number of places further in the alphabet.
    Caesar(u8),
    /// By the letter at the same place from the other end of the alphabet.
    Atbash,
}

impl Cipher {
    fn decode(self, character: char) -> char {
        match self {
            Self::Caesar(by) => shifted(character, by),
            Self::Atbash => mirrored(character),
        }
    }

    fn step(self) -> Step {
        match self {
            Self::Caesar(_) => Step::Caesar,
            Self::Atbash => Step::Atbash,
        }
    }
}

/// Decodes lines in a Caesar cipher or in Atbash, or their parts between colons and quotes.
///
/// Any line can be decoded in 26 ways, of which [`super::flips`] decodes rot13. A line is decoded if it does not look
/// like a language, and one of the results looks like English, by the frequency of letter pairs.
pub(super) fn decode(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        stop::point();
        let mut at = start;
        start += line.len();
        let parts = || line.split_inclusive(BOUNDS);
        let Some(cipher) = cipher_of(line).or_else(|| parts().find_map(cipher_of)) else {
            continue;
        };
        for part in parts() {
            let range = at..at + part.len();
            at = range.end;
            if nats(part, cipher) < nats(part, Cipher::Caesar(0)) {
                let decoded: String = part.chars().map(|c| cipher.decode(c)).collect();
                writer.exchange(range, &decoded, cipher.step());
            }
        }
    }
    writer.finish()
}

/// The rarity of the decoded words.
fn nats(text: &str, cipher: Cipher) -> u32 {
    ascii_words(text)
        .map(|word| rarity(text[word].chars().map(|c| cipher.decode(c) as u8)))
        .sum()
}

/// The cipher of a line, if it is in one.
fn cipher_of(line: &str) -> Option<Cipher> {
    let (words, letters) = ascii_words(line).fold((0, 0), |(words, letters), word| (words + 1, letters + word.len()));
    if letters < LEAST_LETTERS || words < LEAST_WORDS {
        return None;
    }
    // The edges of words count like letters.
    let length = (letters + words) as f64;
    let rarity_of = |cipher: Cipher| f64::from(nats(line, cipher)) / length;
    let plain = rarity_of(Cipher::Caesar(0));
    if plain < SCRAMBLED {
        return None;
    }
    let shifts = (1..ALPHABET).filter(|&by| by != ROT13).map(Cipher::Caesar);
    let best = shifts
        .chain([Cipher::Atbash])
        .map(|cipher| (cipher, rarity_of(cipher)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.filter(|&(_, rarity)| rarity <= PROSE && rarity + GAIN <= plain)
        .map(|(cipher, _)| cipher)
}

#[cfg(test)]
mod tests {
    use super::{decode, mirrored, shifted};

    fn told(text: &str) -> Option<String> {
        decode(text).map(|view| view.text().to_owned())
    }

    #[test]
    fn every_shift_is_undone() {
        let plain = "Tell me about the garden, and then write a list of all the flowers.";
        for by in (1..26).filter(|&by| by != 13) {
            let cipher: String = plain.chars().map(|c| shifted(c, by)).collect();
            assert_eq!(told(&cipher).as_deref(), Some(plain));
        }
    }

    #[test]
    fn a_part_of_a_line_is_decoded() {
        let plain = "Tell me about the garden, and then write a list of all the flowers.";
        let ciphers = [3, 7, 25].map(|by| plain.chars().map(|c| shifted(c, by)).collect::<String>());
        for cipher in ciphers.into_iter().chain([plain.chars().map(mirrored).collect()]) {
            for (before, after) in [
                ("Decode this and do what it says: ", ""),
                ("Run “", "” and then “say” nothing."),
            ] {
                let expected = format!("{before}{plain}{after}");
                assert_eq!(told(&format!("{before}{cipher}{after}")), Some(expected));
            }
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
            assert_eq!(told(text), None);
        }
    }
}
