//! Names of values, and where the value after a name begins: "CPR-nummer: 140285-1003".

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

use super::context::{Vocabulary, continues, is_unspaced, normalized};
use crate::rules::RuleErrorKind;
use crate::stop;

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
    /// A colon, a comma or a line break is before the value, perhaps with other words before it: "NPI of the doctor:
    /// 1425364753".
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
            is_doubtful: false,
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
    /// Whether a line break or a comma was read, so that only a checksum proves the value.
    is_doubtful: bool,
    starts: Vec<ValueStart>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
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
            _ if self.words == 0 && !self.is_doubtful => Lead::Direct,
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
                if self.is_doubtful || self.words > 0 {
                    return false;
                }
                self.is_doubtful = true;
            }
            ',' if !self.is_doubtful && self.words == 0 => self.is_doubtful = true,
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
        // So is a pair of capitals before a number, unless it is short for "number": "LA 49 BA 4812".
        let is_pair = word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_pair && !matches!(word, "NO" | "NR" | "ID" | "IS") && rest[length..].starts_with([' ', '-']) {
            let next = rest[length + 1..].chars().next();
            if next.is_some_and(|next| next.is_ascii_digit()) {
                self.add();
            }
        }
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

/// A place where a value may begin after a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub start: ValueStart,
    /// The index of the recognizer.
    pub recognizer: usize,
    /// The name; see [`Names::text`].
    pub name: usize,
}

/// The names of values, and the words between names and values.
#[derive(Debug)]
pub(super) struct Names {
    vocabulary: Vocabulary,
    links: Arc<Links>,
    endings: Endings,
    /// The bytes of the longest name.
    longest: usize,
}

impl Names {
    /// Compiles lower-case names, each with its recognizer, and `compounds`, whose parts are no names.
    ///
    /// # Errors
    ///
    /// An empty name.
    pub fn new<'a, 'b>(
        names: impl Iterator<Item = (&'a str, usize)>,
        compounds: impl Iterator<Item = &'b str>,
        links: Arc<Links>,
    ) -> Result<Self, RuleErrorKind> {
        let spelled: Vec<(String, usize)> = names
            .flat_map(|(name, recognizer)| spellings(name).into_iter().map(move |name| (name, recognizer)))
            .collect();
        let names = spelled.iter().map(|(name, recognizer)| (name.as_str(), *recognizer));
        Ok(Self {
            endings: Endings::new(spelled.iter().map(|(name, _)| name.as_str())),
            longest: spelled.iter().map(|(name, _)| name.len()).max().unwrap_or(0),
            vocabulary: Vocabulary::new(names, compounds)?,
            links,
        })
    }

    /// The text of a name, in lower case.
    pub fn text(&self, name: usize) -> Arc<str> {
        self.vocabulary.text(name)
    }

    /// The places of `text` where a value may begin after a name, in order. Each start is there once per recognizer.
    ///
    /// Only the text before numbers is searched for names, and only if the word before the number can be the end of one:
    /// most numbers follow other words.
    pub fn places(&self, text: &str) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut add = |part: Range<usize>| {
            for (mention, name) in self.vocabulary.mentions_in(text, part) {
                let (may_go_on, recognizers) = self.vocabulary.word(name);
                for start in self.links.value_starts(text, mention.end, may_go_on) {
                    stop::point();
                    places.extend(recognizers.iter().map(|&recognizer| Place {
                        start,
                        recognizer,
                        name,
                    }));
                }
            }
        };
        let mut part = 0..0;
        for value in values(text).filter(|&value| self.endings.may_be_before(text, value, &self.links)) {
            stop::point();
            let start = text.floor_char_boundary(value.saturating_sub(REACH + self.longest));
            if start > part.end {
                add(part);
                part = start..value;
            }
            part.end = value;
        }
        add(part);
        places.sort_unstable();
        places.dedup_by_key(|place| (place.start, place.recognizer));
        places
    }
}

/// The starts of words with a digit or an at sign in `text`.
fn values(text: &str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let is_of_value = |byte: &u8| byte.is_ascii_digit() || *byte == b'@';
        let at = from + text.as_bytes()[from..].iter().position(is_of_value)?;
        let is_part = |character: char| {
            continues(Some(character)) || text.as_bytes()[at] == b'@' && matches!(character, '.' | '-' | '_')
        };
        let before = text[from..at].trim_end_matches(is_part);
        let start = from + before.len();
        let rest = text[at + 1..].trim_start_matches(|character| continues(Some(character)));
        from = text.len() - rest.len();
        Some(start)
    })
}

/// The ends of names, which tell most numbers after other words at once.
#[derive(Debug, Default)]
struct Endings {
    /// The last words of names.
    words: HashSet<String>,
    /// The beginnings of last words that may go on.
    beginnings: HashSet<String>,
    /// The last characters of names in scripts without spaces.
    unspaced: HashSet<char>,
}

/// The characters of a word that tell whether it begins like a name.
const BEGINNING: usize = 3;
/// The most letters before a number that can be a part of the value: "GHA-042851930".
const PREFIX: usize = 5;

fn beginning(word: &str) -> &str {
    let end = word.char_indices().nth(BEGINNING).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

impl Endings {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut endings = Self::default();
        for name in names {
            let may_go_on = name.ends_with('*');
            let name = normalized(name.trim_end_matches('*'));
            let name = name.trim_end_matches(|character| !is_of_name(character) && !is_unspaced(character));
            if let Some(last) = name.chars().next_back().filter(|&last| is_unspaced(last)) {
                endings.unspaced.insert(last);
                continue;
            }
            let last = name.rsplit(|character| !is_of_name(character)).next().unwrap_or(name);
            if may_go_on {
                endings.beginnings.insert(beginning(last).to_owned());
            } else {
                endings.words.insert(last.to_owned());
            }
        }
        endings
    }

    /// Whether the end of a name may be before `value`, with only links between them, or a verb or a colon.
    fn may_be_before(&self, text: &str, value: usize, links: &Links) -> bool {
        let from = text.floor_char_boundary(value.saturating_sub(REACH + PREFIX));
        let mut rest = &text[from..value];
        // Whether words that are neither links nor names may be between.
        let (mut is_apart, mut lines, mut words, mut prefixes) = (false, 0, 0, 0);
        while let Some(last) = rest.chars().next_back() {
            if is_unspaced(last) {
                let end = rest.trim_end_matches(is_unspaced);
                let run = &rest[end.len()..];
                if run
                    .chars()
                    .rev()
                    .take(8)
                    .any(|character| self.unspaced.contains(&character))
                {
                    return true;
                }
                rest = end;
                words += 1;
            } else if is_of_name(last) {
                let before = rest.trim_end_matches(is_of_name);
                let word = &rest[before.len()..];
                let lower = normalized(word);
                if self.words.contains(&*lower) || self.beginnings.contains(beginning(&lower)) {
                    return true;
                }
                rest = before;
                match links.words.get(&lower) {
                    Some(&is_verb) => is_apart |= is_verb,
                    None if word.chars().count() <= PREFIX && word.chars().all(char::is_uppercase) && prefixes < 3 => {
                        prefixes += 1
                    }
                    None if is_apart => words += 1,
                    None => return false,
                }
            } else {
                match last {
                    ';' | '!' | '?' | '%' | '&' | '+' | '$' | '€' | '£' => return false,
                    '\n' => lines += 1,
                    ':' | '：' | '=' | ')' | '）' | '/' => is_apart = true,
                    _ => {}
                }
                rest = &rest[..rest.len() - last.len_utf8()];
            }
            if lines > 1 || words > WORDS + 2 {
                return false;
            }
        }
        false
    }
}

/// Whether a character can be inside of a word of a name.
fn is_of_name(character: char) -> bool {
    continues(Some(character)) || is_combining_mark(character)
}

/// The spellings of a name: as given, without accents, with capitals as in Turkish and Greek, with "nr" for "nummer", and as
/// one word.
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
    if let Some(stem) = spaced.strip_suffix("nummer*").or(spaced.strip_suffix("nummer")) {
        all.insert(format!("{stem}nr"));
    }
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
        assert_eq!(lead("NPI, 1425"), Some(Lead::Colon));
        for text in [
            "NPI of the doctor 1425",
            "NPI, the number 1425",
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
        assert!(spellings("kontonummer*").contains("kontonr"));
        assert_eq!(spellings("ссч").len(), 1);
    }
}
