//! Measures whether a text has enough words to tell gibberish from language.
//!
//! A name, a file name or an address has no word order, and a single noun is too short to tell a rare word from noise.
//! A classifier of gibberish needs words: some to recognize keyboard mashing, and a running text to judge word order.
//!
//! ```
//! use guard_core::lang::word_evidence::{WordEvidence, word_evidence};
//!
//! let none = WordEvidence { spelling: false, order: false };
//! assert_eq!(word_evidence("john.doe"), none);
//! assert_eq!(word_evidence("12 Main Street"), none);
//! assert!(word_evidence("asdkjfh qwoeiru zxcmnbv").spelling);
//! assert!(word_evidence("the train to the city leaves at nine in the morning").order);
//! ```

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

use crate::stop;

/// What a text has enough words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordEvidence {
    /// Whether the words suffice to recognize noise by its spelling.
    pub spelling: bool,
    /// Whether there is a running text, so that the order of its words can be judged.
    pub order: bool,
}

/// The fewest words and letters that show noise. Three nouns of other languages are rarely all taken for noise.
const LEAST_WORDS: usize = 3;
const LEAST_LETTERS: usize = 16;
/// A shorter word may be an abbreviation.
const SHORTEST_WORD: usize = 3;
/// Abbreviations in capitals are shorter.
const SHORTEST_CAPITALS: usize = 6;
/// The letters of a single word that is too long for most languages.
const LONG_WORD: usize = 40;
/// The letters of a word that may be a walk over the keyboard.
const LEAST_WALK: usize = 12;
/// Laughter has fewer different letters: `hahahaha`, `lalala`.
const LEAST_DIFFERENT: usize = 5;
/// Consonants in a row. German has 8 (`Angstschweiß`), and so has Czech (`scvrnkls`).
const CONSONANTS: usize = 10;
/// The fewest words of a running text. In shorter texts, the classifier mistakes lists and requests for word salad.
const LEAST_RUN: usize = 10;
/// Rows of keys: QWERTY, QWERTZ, AZERTY and the Russian layout.
const ROWS: [&str; 10] = [
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiopü",
    "asdfghjklöä",
    "azertyuiop",
    "qsdfghjklm",
    "йцукенгшщзхъ",
    "фывапролджэ",
    "ячсмитьбю",
];

/// Measures the words of a text. Reading stops as soon as they suffice for everything.
pub fn word_evidence(text: &str) -> WordEvidence {
    let mut counter = Counter::default();
    for line in text.split(['\n', '\r']) {
        stop::point();
        counter.run = 0;
        for token in line.split_whitespace() {
            counter.read(token);
            if counter.is_enough() {
                return counter.evidence();
            }
        }
    }
    counter.evidence()
}

#[derive(Default)]
struct Counter {
    words: usize,
    letters: usize,
    /// Whether a single word suffices.
    is_mashed: bool,
    /// The lower-case words since the last mark that ends a list item.
    run: usize,
    longest_run: usize,
}

impl Counter {
    fn evidence(&self) -> WordEvidence {
        WordEvidence {
            spelling: self.is_mashed || self.words >= LEAST_WORDS && self.letters >= LEAST_LETTERS,
            order: self.longest_run >= LEAST_RUN,
        }
    }

    fn is_enough(&self) -> bool {
        self.evidence()
            == WordEvidence {
                spelling: true,
                order: true,
            }
    }

    /// Reads a token between white space. File names, identifiers, numbers and addresses are tokens without words.
    fn read(&mut self, token: &str) {
        let mut words = 0;
        for part in token.split(ends_word) {
            let word = part.trim_matches(is_edge);
            if !is_word(word) {
                continue;
            }
            words += 1;
            self.add_letters(word);
            if words == 1 {
                self.run += running_words(word);
            }
        }
        self.longest_run = self.longest_run.max(self.run);
        if words > 1 || token.ends_with([',', ';', '|']) {
            self.run = 0;
        }
    }

    fn add_letters(&mut self, word: &str) {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        let Some(first) = letters.clone().next() else { return };
        // Noise was learnt in these scripts.
        if !matches!(script_of(first), Script::Latin | Script::Cyrillic) {
            return;
        }
        let count = letters.clone().count();
        if count < SHORTEST_WORD || count < SHORTEST_CAPITALS && letters.all(char::is_uppercase) {
            return;
        }
        self.words += 1;
        self.letters += count;
        self.is_mashed = self.is_mashed || count >= CONSONANTS && is_mashed(word);
    }
}

/// Whether a character separates words that are written without a space.
fn ends_word(character: char) -> bool {
    matches!(
        character,
        ',' | ';'
            | '|'
            | '"'
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '!'
            | '?'
            | '¿'
            | '¡'
            | '…'
            | '、'
            | '。'
            | '，'
            | '；'
            | '：'
            | '？'
            | '！'
            | '·'
            | '•'
    )
}

/// Whether a mark at the edge of a word does not belong to it.
fn is_edge(character: char) -> bool {
    matches!(
        character,
        '.' | ':' | '\'' | '‘' | '’' | '*' | '#' | '>' | '_' | '-' | '–' | '—'
    )
}

/// Whether a token is a word: letters, and within them apostrophes and hyphens.
fn is_word(token: &str) -> bool {
    let belongs = |c: char| c.is_alphabetic() || is_combining_mark(c) || matches!(c, '\'' | '’' | '‘' | '-');
    token.chars().any(char::is_alphabetic) && token.chars().all(belongs)
}

/// The script of a letter, without a look-up for ASCII letters.
fn script_of(letter: char) -> Script {
    if letter.is_ascii() {
        Script::Latin
    } else {
        letter.script()
    }
}

/// How many words of a running text a word counts for. In most languages, words in capitals are names or titles.
fn running_words(word: &str) -> usize {
    let first = word.chars().find(|c| c.is_alphabetic());
    match first {
        Some(first) if script_of(first) == Script::Han => word.chars().filter(|c| c.is_alphabetic()).count() / 2,
        Some(first) if is_unspaced(script_of(first)) || first.is_uppercase() => 0,
        Some(_) => 1,
        None => 0,
    }
}

/// Whether a script has no spaces between words, so that a token is a whole sentence.
fn is_unspaced(script: Script) -> bool {
    matches!(
        script,
        Script::Hiragana
            | Script::Katakana
            | Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
            | Script::Tibetan
    )
}

/// Whether a word alone looks like noise: far too long, a walk over the keyboard, or without vowels.
fn is_mashed(word: &str) -> bool {
    let letters: Vec<char> = word
        .chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    letters.len() >= LONG_WORD || is_walk(&letters) || lacks_vowels(&letters)
}

/// Whether all keys are in one row, or most are next to the previous key.
fn is_walk(letters: &[char]) -> bool {
    let mut different = letters.to_vec();
    different.sort_unstable();
    different.dedup();
    if letters.len() < LEAST_WALK || different.len() < LEAST_DIFFERENT {
        return false;
    }
    let in_row = |row: &&str| letters.iter().all(|&letter| row.contains(letter));
    let neighbours = letters
        .windows(2)
        .filter(|pair| are_neighbours(pair[0], pair[1]))
        .count();
    ROWS.iter().any(in_row) || neighbours * 4 >= (letters.len() - 1) * 3
}

fn lacks_vowels(letters: &[char]) -> bool {
    let mut run = 0;
    let mut before = '\0';
    letters.iter().any(|&letter| {
        if is_vowel(letter) {
            run = 0;
        } else if letter != before {
            run += 1;
        }
        before = letter;
        run >= CONSONANTS
    })
}

/// Whether two keys touch in a row.
fn are_neighbours(one: char, other: char) -> bool {
    ROWS.iter().any(|row| {
        let at = |key| row.chars().position(|c| c == key);
        matches!((at(one), at(other)), (Some(one), Some(other)) if one.abs_diff(other) == 1)
    })
}

/// Whether a letter is a vowel, or not a plain consonant of the Latin or Russian alphabet.
fn is_vowel(letter: char) -> bool {
    !"bcdfghjklmnpqrstvwxzбвгджзйклмнпрстфхцчшщ".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: WordEvidence = WordEvidence {
        spelling: false,
        order: false,
    };

    #[test]
    fn short_texts_without_running_words_are_no_evidence() {
        for text in [
            "",
            "Marta",
            "Zdzisław Grzebszczyński",
            "marta.grzebszczynska",
            "CHANGELOG.rst",
            "src/lib/parser_v2.test.ts",
            "Alt+Shift+F10",
            "Donaudampfschifffahrtsgesellschaft",
            "Head of Sales, EMEA",
            "Lindenallee 12b, 10437 Berlin",
            "KX-4410/B, QT-77 A",
            "HTTP, SMTP, LDAP, TLS",
            "bzw. ggf. usw.",
            "hahahahahahahahaha",
            "lalalalalalalala",
            "brrrrrrrrrrrrrrr",
            "Angstschweiß",
            "สวัสดีครับยินดีที่ได้รู้จัก",
            "お問い合わせありがとうございます",
        ] {
            assert_eq!(word_evidence(text), NONE, "{text}");
        }
    }

    #[test]
    fn some_words_show_noise() {
        for text in [
            "dfgjkh wertoi xcvbnm",
            "ывапрол йцукенг ячсмить",
            "alskdj;fhals;kdjf;qowieur",
            "qwertyuiopasdfghjkl",
            "lkjhgfdsalkjh",
            "bcdfghjklmnp",
            "asdfkjhaskdfhka",
        ] {
            assert_eq!(
                word_evidence(text),
                WordEvidence {
                    spelling: true,
                    order: false
                },
                "{text}"
            );
        }
    }

    #[test]
    fn running_text_has_an_order() {
        for text in [
            "we would like to know when the next train to the coast will leave",
            "Мы хотели бы узнать, когда из города отправится следующий поезд до берега моря сегодня",
            "我们想知道下一班开往海边的火车什么时候从城里出发以及需要多长时间才能到达",
        ] {
            assert!(word_evidence(text).order, "{text}");
        }
        for list in [
            "saddle, ladder, candle, window, garden, kettle, bucket, thimble, mirror, blanket, hammer",
            "saddle\nladder\ncandle\nwindow\ngarden\nkettle\nbucket\nthimble\nmirror\nblanket\nhammer",
            "Vice President and Global Head of Sales and Business Development for Europe",
        ] {
            assert!(!word_evidence(list).order, "{list}");
        }
    }
}
