//! Names of values, and where the value after a name begins: "CPR-nummer: 140285-1003".

use std::collections::BTreeSet;
use std::collections::HashMap;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

use super::context::{continues, is_unspaced};

/// The most bytes between a name and its value.
const REACH: usize = 72;
/// The most words between a name and its value that are no link words.
const WORDS: usize = 6;
/// The most bytes of an explanation in parentheses after a name.
const EXPLANATION: usize = 32;
/// The most starts of one value.
const STARTS: usize = 4;

/// How a name leads to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lead {
    /// Only signs and link words are between them: "NPI number: 1425364753".
    Direct,
    /// A verb is directly before the value, and other words before the verb: "the passport of my wife is X1234567".
    Verb,
    /// A colon or a line break is before the value, and other words before these: "NPI of the doctor: 1425364753".
    Colon,
}

/// Where a value after a name may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueStart {
    pub at: usize,
    pub lead: Lead,
}

/// The link words of `shared.toml`, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkData {
    /// Words between a name and its value: "number", "no".
    words: Vec<String>,
    /// Verbs between a name and its value: "is".
    verbs: Vec<String>,
}

/// The words between names and values.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The words; true for verbs.
    words: HashMap<String, bool>,
    /// The words in scripts without spaces, the longest first.
    unspaced: Vec<String>,
}

impl Links {
    pub fn new(data: &LinkData) -> Self {
        let all = data.words.iter().map(|word| (word, false));
        let all = all.chain(data.verbs.iter().map(|word| (word, true)));
        let (unspaced, words): (Vec<_>, Vec<_>) = all.partition(|(word, _)| word.starts_with(is_unspaced));
        let mut unspaced: Vec<String> = unspaced.into_iter().map(|(word, _)| word.clone()).collect();
        unspaced.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let words = words.into_iter().map(|(word, is_verb)| (word.clone(), is_verb));
        Self {
            words: words.collect(),
            unspaced,
        }
    }

    /// Where the value after a name can begin. With `may_go_on`, the word of the name goes on after `name_end`.
    pub fn value_starts(&self, text: &str, name_end: usize, may_go_on: bool) -> Vec<ValueStart> {
        let mut reader = Reader {
            links: self,
            text,
            at: name_end,
            end: text.floor_char_boundary(name_end + REACH),
            words: 0,
            last: Last::Name,
            is_wrapped: false,
            starts: Vec::new(),
        };
        if may_go_on {
            reader.skip_letters();
        }
        while reader.starts.len() < STARTS && reader.step() {}
        reader.starts
    }
}

/// What was read last before a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Name,
    Colon,
    Slash,
    Verb,
    Word,
}

/// Reads from the end of a name to its value.
struct Reader<'a> {
    links: &'a Links,
    text: &'a str,
    at: usize,
    end: usize,
    /// The number of words that are no links.
    words: usize,
    last: Last,
    is_wrapped: bool,
    starts: Vec<ValueStart>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..self.end]
    }

    fn skip_letters(&mut self) {
        let rest = self.rest();
        let is_letter = |character: char| character.is_alphabetic() && !is_unspaced(character);
        self.at += rest.find(|character| !is_letter(character)).unwrap_or(rest.len());
    }

    /// Adds the current place as a start.
    fn add(&mut self) {
        let lead = match self.last {
            _ if self.words == 0 && !self.is_wrapped => Lead::Direct,
            Last::Verb => Lead::Verb,
            Last::Colon if self.words <= 3 => Lead::Colon,
            _ if self.words == 0 => Lead::Colon,
            _ => return,
        };
        self.starts.push(ValueStart { at: self.at, lead });
    }

    /// Reads the next sign or word. Returns false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest().chars().next() else {
            return false;
        };
        if is_unspaced(first) {
            return self.step_unspaced();
        }
        if first.is_alphanumeric() {
            return self.step_word();
        }
        self.step_sign(first)
    }

    fn step_sign(&mut self, first: char) -> bool {
        match first {
            '\n' => {
                // A value on the next line belongs to a name that ends its line.
                if self.is_wrapped || self.words > 0 {
                    return false;
                }
                self.is_wrapped = true;
            }
            ':' | '：' | '=' => self.last = Last::Colon,
            '/' => self.last = Last::Slash,
            '(' | '（' => {
                let inside = &self.rest()[first.len_utf8()..];
                let inside = &inside[..inside.floor_char_boundary(EXPLANATION)];
                if let Some(close) = inside.find([')', '）'])
                    && !inside[..close].contains(|character: char| character.is_ascii_digit())
                {
                    let skipped = first.len_utf8() + close;
                    self.at += skipped + self.rest()[skipped..].chars().next().map_or(0, char::len_utf8);
                    return true;
                }
            }
            // A full stop ends the sentence, unless the name or a link is an abbreviation.
            '.' if self.words > 0 => return false,
            '.' | '#' | '"' | '\'' | '”' | '“' | '„' | '«' | '»' | '‘' | '’' | '*' | '_' | '`' | '[' | ']' | '{'
            | '<' | '>' | '|' | '-' | '–' | '—' | '‑' | '‐' | '→' | '⇒' | '\\' | '№' | '°' | ')' | '）' | '「'
            | '『' | '【' | '】' | '・' | '~' | '\u{200e}' | '\u{200f}' | '\u{2068}' | '\u{2069}' => {}
            space if space.is_whitespace() => {}
            mark if is_combining_mark(mark) => {}
            _ => return false,
        }
        self.at += first.len_utf8();
        true
    }

    fn step_unspaced(&mut self) -> bool {
        let rest = self.rest();
        if let Some(link) = self.links.unspaced.iter().find(|link| rest.starts_with(&***link)) {
            self.at += link.len();
            return true;
        }
        self.add();
        false
    }

    fn step_word(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.find(|character| !continues(Some(character))).unwrap_or(rest.len());
        let word = &rest[..length];
        if word.contains(|character: char| character.is_numeric() && character != 'º') {
            self.add();
            return false;
        }
        // A single letter with a hyphen is the beginning of a value: "V-14285193".
        let is_prefix =
            rest[length..].starts_with('-') && rest[length + 1..].starts_with(|next: char| next.is_ascii_digit());
        match self.links.words.get(&word.to_lowercase()) {
            Some(&is_verb) if !is_prefix => self.last = if is_verb { Last::Verb } else { self.last },
            // The second of two names: "CPF/CNPJ".
            None if self.last == Last::Slash => self.last = Last::Word,
            _ => {
                self.add();
                self.words += 1;
                self.last = Last::Word;
                if self.words > WORDS {
                    return false;
                }
            }
        }
        self.at += length;
        true
    }
}

/// The spellings of a name: as given, without accents, with capitals as in Turkish and Greek, and as one word.
pub(super) fn spellings(name: &str) -> BTreeSet<String> {
    let spaced = name.replace('-', " ");
    let plain: String = spaced.chars().flat_map(without_accents).collect();
    let mut all = BTreeSet::from([
        plain.replace('ς', "σ"),
        spaced.replace('ς', "σ"),
        spaced.replace('ı', "i"),
        spaced.replace('i', "İ"),
        plain,
    ]);
    let words = spaced.split(' ').count();
    if (2..=4).contains(&words) && spaced.is_ascii() && spaced.len() > 5 {
        all.insert(spaced.replace(' ', ""));
    }
    all.insert(spaced);
    all
}

/// The letter without accents, if it is Latin or Greek.
fn without_accents(letter: char) -> Vec<char> {
    match letter {
        'ł' => vec!['l'],
        'ø' => vec!['o'],
        'đ' => vec!['d'],
        'ı' => vec!['i'],
        _ if matches!(letter.script(), Script::Latin | Script::Greek) => {
            letter.nfd().filter(|&part| !is_combining_mark(part)).collect()
        }
        _ => vec![letter],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str, name: &str) -> Vec<(String, Lead)> {
        let words = ["number", "no", "n", "º", "nr", "番号", "는"]
            .map(str::to_owned)
            .to_vec();
        let verbs = ["is", "er", "は"].map(str::to_owned).to_vec();
        let links = Links::new(&LinkData { words, verbs });
        let end = text.find(name).unwrap() + name.len();
        let starts = links.value_starts(text, end, false).into_iter();
        starts
            .map(|start| (text[start.at..].chars().take(4).collect(), start.lead))
            .collect()
    }

    #[test]
    fn a_value_directly_after_its_name() {
        for text in [
            "NPI: 1425",
            "NPI number is 1425",
            "\"NPI\": \"1425\"",
            "NPI no. 1425",
            "NPI n.º 1425",
            "| NPI | 1425 |",
            "<NPI>1425</NPI>",
            "NPI (provider): 1425",
            "NPI (1425)",
            "NPI番号は1425です",
            "NPI는 1425",
            "NPI/TIN: 1425",
        ] {
            let expected = [("1425".to_owned(), Lead::Direct)];
            let found = starts(text, "NPI");
            let found: Vec<_> = found
                .iter()
                .map(|(value, lead)| (value[..4].to_owned(), *lead))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn other_words_between() {
        let last = |text: &str| starts(text, "NPI").into_iter().find(|(value, _)| value == "1425");
        let lead = |text: &str| last(text).map(|(_, lead)| lead);
        assert_eq!(lead("NPI of the doctor is 1425"), Some(Lead::Verb));
        assert_eq!(lead("NPI of my doctor: 1425"), Some(Lead::Colon));
        assert_eq!(lead("NPI:\n1425"), Some(Lead::Colon));
        for text in [
            "NPI of the doctor 1425",
            "NPI, 1425",
            "NPI; is 1425",
            "NPI was changed. It is 1425",
            "NPI $1425",
            "NPI\n\n1425",
        ] {
            assert_eq!(lead(text), None, "{text}");
        }
        assert_eq!(starts("NPI V-1425", "NPI")[0], ("V-14".to_owned(), Lead::Direct));
        assert_eq!(starts("NPI XYZ-1425", "NPI")[0].0, "XYZ-");
    }

    #[test]
    fn other_spellings() {
        let all = spellings("numéro de compte");
        assert!(all.contains("numero de compte") && all.contains("numéro de compte"));
        assert!(spellings("tax-id").contains("taxid") && spellings("tax-id").contains("tax id"));
        assert!(spellings("αριθμός").contains("αριθμοσ"));
        assert!(spellings("kimlik").contains("kİmlİk"));
        assert_eq!(spellings("ссч").len(), 1);
    }
}
