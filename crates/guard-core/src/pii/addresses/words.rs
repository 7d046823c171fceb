//! The words of addresses.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use serde::Deserialize;

/// The meanings of a word, as bits.
pub(super) type Meanings = u32;
pub(super) const BEFORE: Meanings = 1;
pub(super) const BEFORE_DOUBTFUL: Meanings = 1 << 1;
pub(super) const BEFORE_CAPITAL: Meanings = 1 << 2;
pub(super) const AFTER: Meanings = 1 << 3;
pub(super) const AFTER_DOUBTFUL: Meanings = 1 << 4;
pub(super) const NUMBERED: Meanings = 1 << 5;
pub(super) const NUMBERED_DOUBTFUL: Meanings = 1 << 6;
pub(super) const JOINED: Meanings = 1 << 7;
pub(super) const JOINED_DOUBTFUL: Meanings = 1 << 8;
pub(super) const NUMBER: Meanings = 1 << 9;
pub(super) const SUFFIX: Meanings = 1 << 10;
pub(super) const UNIT: Meanings = 1 << 11;
pub(super) const QUARTER_BEFORE: Meanings = 1 << 12;
pub(super) const QUARTER_AFTER: Meanings = 1 << 13;
pub(super) const DIRECTION: Meanings = 1 << 14;
pub(super) const LINK: Meanings = 1 << 15;
pub(super) const NEVER: Meanings = 1 << 16;
pub(super) const NOT_AFTER: Meanings = 1 << 17;
pub(super) const DWELLING: Meanings = 1 << 18;
pub(super) const BOX: Meanings = 1 << 19;
pub(super) const BOX_DOUBTFUL: Meanings = 1 << 20;
pub(super) const COUNTRY: Meanings = 1 << 21;
pub(super) const STATE: Meanings = 1 << 22;
pub(super) const TOWN: Meanings = 1 << 23;
pub(super) const TOWN_CAPITAL: Meanings = 1 << 24;
/// The first word of the name of a box of several words.
pub(super) const BOX_FIRST: Meanings = 1 << 25;

/// Words for a street before its name; after it; and all words for streets.
pub(super) const ANY_BEFORE: Meanings = BEFORE | BEFORE_DOUBTFUL | BEFORE_CAPITAL;
pub(super) const ANY_AFTER: Meanings = AFTER | AFTER_DOUBTFUL;
pub(super) const ANY_NUMBERED: Meanings = NUMBERED | NUMBERED_DOUBTFUL | JOINED | JOINED_DOUBTFUL;
pub(super) const ANY_STREET: Meanings = ANY_BEFORE | ANY_AFTER | ANY_NUMBERED;

/// The fewest letters before the end of a word that is a street: "Au" + "weg" is none.
const STEM: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordData {
    before: Vec<String>,
    before_doubtful: Vec<String>,
    before_capital: Vec<String>,
    after: Vec<String>,
    after_doubtful: Vec<String>,
    after_numbered: Vec<String>,
    after_numbered_doubtful: Vec<String>,
    joined: Vec<String>,
    joined_doubtful: Vec<String>,
    no_street: Vec<String>,
    dwelling: Vec<String>,
    number: Vec<String>,
    number_suffix: Vec<String>,
    unit: Vec<String>,
    quarter_before: Vec<String>,
    quarter_after: Vec<String>,
    direction: Vec<String>,
    link: Vec<String>,
    never: Vec<String>,
    not_after: Vec<String>,
    #[serde(rename = "box")]
    post_box: Vec<String>,
    box_doubtful: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceData {
    countries: Vec<String>,
    states: Vec<String>,
    towns: Vec<String>,
    towns_capital: Vec<String>,
}

/// Keeps a hash as it is.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |state, byte| state << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// All words and phrases, by the hashes of their lower-case letters.
pub(super) struct Words {
    meanings: HashMap<u64, Meanings, BuildHasherDefault<AsItIs>>,
    joined: Vec<(String, Meanings)>,
    /// The hashes of the last two letters of the joined words.
    endings: HashSet<u64, BuildHasherDefault<AsItIs>>,
    no_street: HashSet<String>,
}

/// The start of a hash: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
pub(super) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds the lower-case letters of `word` to a hash.
pub(super) fn hash(state: u64, word: &str) -> u64 {
    word.chars().fold(state, hash_letter)
}

/// Adds a letter in lower case to a hash.
pub(super) fn hash_letter(state: u64, character: char) -> u64 {
    let add = |state: u64, character: char| (state ^ u64::from(u32::from(character))).wrapping_mul(0x100_0000_01b3);
    match character {
        '’' | '׳' | '`' => add(state, '\''),
        _ if character.is_ascii() => add(state, character.to_ascii_lowercase()),
        _ => character.to_lowercase().fold(state, add),
    }
}

/// Adds a further word of a phrase to a hash.
pub(super) fn hash_next(state: u64, word: &str) -> u64 {
    hash(hash(state, " "), word)
}

fn hash_phrase(phrase: &str) -> (u64, bool) {
    let mut words = phrase.split(' ').map(|word| word.trim_end_matches('.'));
    let first = hash(EMPTY, words.next().unwrap_or_default());
    let mut is_phrase = false;
    let whole = words.fold(first, |state, word| {
        is_phrase = true;
        hash_next(state, word)
    });
    (whole, is_phrase)
}

impl Words {
    fn read() -> Option<Self> {
        let words: WordData = toml::from_str(include_str!("words.toml")).ok()?;
        let places: PlaceData = toml::from_str(include_str!("places.toml")).ok()?;
        let lists = [
            (words.before, BEFORE),
            (words.before_doubtful, BEFORE_DOUBTFUL),
            (words.before_capital, BEFORE_CAPITAL),
            (words.after, AFTER),
            (words.after_doubtful, AFTER_DOUBTFUL),
            (words.after_numbered, NUMBERED),
            (words.after_numbered_doubtful, NUMBERED_DOUBTFUL),
            (words.number, NUMBER),
            (words.number_suffix, SUFFIX),
            (words.unit, UNIT),
            (words.quarter_before, QUARTER_BEFORE),
            (words.quarter_after, QUARTER_AFTER),
            (words.direction, DIRECTION),
            (words.link, LINK),
            (words.never, NEVER),
            (words.not_after, NOT_AFTER),
            (words.dwelling, DWELLING),
            (words.post_box, BOX),
            (words.box_doubtful, BOX_DOUBTFUL),
            (places.countries, COUNTRY),
            (places.states, STATE),
            (places.towns, TOWN),
            (places.towns_capital, TOWN_CAPITAL),
        ];
        let mut meanings: HashMap<u64, Meanings, BuildHasherDefault<AsItIs>> = HashMap::default();
        for (list, meaning) in lists {
            for phrase in &list {
                let (key, is_phrase) = hash_phrase(phrase);
                *meanings.entry(key).or_default() |= meaning;
                if is_phrase && meaning & (BOX | BOX_DOUBTFUL) != 0 {
                    let first = phrase.split(' ').next().unwrap_or_default().trim_end_matches('.');
                    *meanings.entry(hash(EMPTY, first)).or_default() |= BOX_FIRST;
                }
            }
        }
        let doubtful: HashSet<String> = words.joined_doubtful.into_iter().collect();
        let of = |ending: &String| {
            if doubtful.contains(ending) {
                JOINED_DOUBTFUL
            } else {
                JOINED
            }
        };
        let mut joined: Vec<(String, Meanings)> =
            words.joined.iter().map(|ending| (ending.clone(), of(ending))).collect();
        joined.sort_by_key(|(ending, _)| std::cmp::Reverse(ending.len()));
        Some(Self {
            meanings,
            endings: joined.iter().filter_map(|(ending, _)| last_two(ending)).collect(),
            joined,
            no_street: words.no_street.into_iter().collect(),
        })
    }

    /// The meanings of the word or phrase with this hash.
    pub(super) fn of_hash(&self, key: u64) -> Meanings {
        self.meanings.get(&key).copied().unwrap_or_default()
    }

    /// The meanings of a word, also of one that ends like a street.
    pub(super) fn of_word(&self, word: &str, has_dot: bool) -> Meanings {
        let own = self.of_hash(hash(EMPTY, word));
        if own & ANY_STREET != 0 {
            return own;
        }
        own | self.of_ending(word, has_dot)
    }

    /// The meanings of a word that ends like a street.
    pub(super) fn of_ending(&self, word: &str, has_dot: bool) -> Meanings {
        if !last_two(word).is_some_and(|ending| self.endings.contains(&ending)) {
            return 0;
        }
        let lower = word.to_lowercase();
        let ends = |(ending, _): &&(String, Meanings)| {
            let stem = lower.strip_suffix(ending.as_str());
            stem.is_some_and(|stem| stem.chars().count() >= STEM) && (ending != "str" || has_dot)
        };
        let found = self.joined.iter().find(ends);
        found
            .filter(|_| !self.no_street.contains(&lower))
            .map_or(0, |(_, meanings)| *meanings)
    }
}

/// The hash of the last two letters of a word.
fn last_two(word: &str) -> Option<u64> {
    let mut letters = word.chars().rev().flat_map(char::to_lowercase);
    let last = hash_letter(EMPTY, letters.next()?);
    Some(hash_letter(last, letters.next()?))
}

/// The words of all countries.
pub(super) static WORDS: LazyLock<Option<Words>> = LazyLock::new(Words::read);
