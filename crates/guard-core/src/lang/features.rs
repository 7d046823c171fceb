//! Extracts hashed features of a text.
//!
//! Every feature is hashed into one of 2^bits buckets ("the hashing trick": Weinberger et al., "Feature Hashing for
//! Large Scale Multitask Learning", ICML 2009). A [`Spec`] is a list of groups. Within a group, a feature that occurs c
//! times has the value 1 + ln c. The values of a group are then scaled to Euclidean length 1, so that long and short
//! texts are comparable.
//!
//! Never change the features of a group: every model trained with it would become useless. Add a new group instead.
//!
//! ```
//! use guard_core::lang::features::{Extractor, Group, Spec};
//!
//! let words = Group::Tokens { min: 1, max: 1, lower: true };
//! let extractor = Extractor::new(Spec { bits: 10, groups: vec![words] })?;
//! let features = extractor.extract("to be or not to be");
//! assert_eq!(features.len(), 4); // to, be, or, not
//! let length: f32 = features.iter().map(|(_, value)| value * value).sum();
//! assert!((length - 1.0).abs() < 1e-6);
//! # Ok::<(), guard_core::lang::features::SpecError>(())
//! ```

use std::cell::{OnceCell, RefCell};

use serde::Deserialize;

use super::url_features::{self, Part, Parts};

/// The most bits of a [`Spec`]. With more, a model would no longer be small.
pub const MAX_BITS: u8 = 22;

/// The features of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The binary logarithm of the number of buckets.
    pub bits: u8,
    /// The groups of features.
    pub groups: Vec<Group>,
}

/// One kind of features.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Group {
    /// Runs of `min` to `max` characters. A run of white space counts as one space, or as one line break if it contains
    /// one. A space is added at both ends of the text.
    Chars {
        /// The shortest run.
        min: usize,
        /// The longest run.
        max: usize,
        /// Whether case is ignored.
        #[serde(default)]
        lower: bool,
        /// Whether all ASCII digits are equal.
        #[serde(default)]
        digits: bool,
    },
    /// Runs of `min` to `max` bytes of the text.
    Bytes {
        /// The shortest run.
        min: usize,
        /// The longest run.
        max: usize,
    },
    /// Runs of `min` to `max` tokens. A token is a word (letters, digits, `_`), a number (all numbers are equal), a
    /// line break, or any other character.
    Tokens {
        /// The shortest run.
        min: usize,
        /// The longest run.
        max: usize,
        /// Whether case is ignored.
        #[serde(default)]
        lower: bool,
    },
    /// The beginnings and ends of lines: whether they are indented, their first tokens, and their last character.
    Lines,
    /// The structure of code without its names: runs of tokens, of which all or all but one are replaced by their
    /// shape, such as "word in lower case".
    Skeleton,
    /// Adjacent words: pairs and triples of words, of their endings, and of their shapes.
    Neighbours,
    /// Runs of `min` to `max` characters of a part of a URL.
    UrlChars {
        /// The part.
        part: Part,
        /// The shortest run.
        min: usize,
        /// The longest run.
        max: usize,
    },
    /// The words of a URL, each with its part of the URL.
    UrlWords,
    /// Lengths, counts and properties of a URL.
    UrlShape,
    /// Pairs in a URL: of words, of a name's suffix and the part after it, and of their forms.
    UrlPairs,
}

/// An error in a [`Spec`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The number of bits is 0 or too large.
    #[error("features.bits must be from 1 to {MAX_BITS}")]
    Bits,
    /// A group has runs of an invalid length.
    #[error("features: runs of {min} to {max} are not possible")]
    Runs {
        /// The shortest run.
        min: usize,
        /// The longest run.
        max: usize,
    },
}

/// Extracts the features of a [`Spec`].
#[derive(Debug, Clone)]
pub struct Extractor {
    spec: Spec,
}

/// A feature: its bucket and its value.
pub type Feature = (u32, f32);

impl Extractor {
    /// Creates an extractor.
    ///
    /// # Errors
    ///
    /// [`SpecError`] for an invalid spec.
    pub fn new(spec: Spec) -> Result<Self, SpecError> {
        if spec.bits == 0 || spec.bits > MAX_BITS {
            return Err(SpecError::Bits);
        }
        for group in &spec.groups {
            if let Group::Chars { min, max, .. }
            | Group::Bytes { min, max }
            | Group::Tokens { min, max, .. }
            | Group::UrlChars { min, max, .. } = group
                && (*min == 0 || min > max || *max > 16)
            {
                return Err(SpecError::Runs { min: *min, max: *max });
            }
        }
        Ok(Self { spec })
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        1 << self.spec.bits
    }

    /// Extracts the features of `text`, with each bucket at most once per group. The time is linear in the length of
    /// the text.
    pub fn extract(&self, text: &str) -> Vec<Feature> {
        let mut features = Vec::new();
        let url = OnceCell::new();
        SCRATCH.with_borrow_mut(|scratch| {
            for (index, group) in self.spec.groups.iter().enumerate() {
                let mut counter = scratch.counter(self.spec.bits, index);
                group.count(text, &url, &mut counter);
                counter.finish(&mut features);
            }
        });
        features
    }
}

thread_local! {
    /// Counters are reused between texts. Clearing a table of all buckets takes longer than reading a short text.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { counts: Vec::new(), touched: Vec::new() }) };
}

/// Counters of all buckets, which are 0 between uses, and the buckets that are not 0.
struct Scratch {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Scratch {
    fn counter(&mut self, bits: u8, group: usize) -> Counter<'_> {
        let buckets = 1 << bits;
        if self.counts.len() < buckets {
            self.counts.resize(buckets, 0);
        }
        Counter {
            scratch: self,
            shift: 64 - u32::from(bits),
            seed: Hash::seeded(group as u64),
        }
    }
}

/// Counts the features of one group.
struct Counter<'a> {
    scratch: &'a mut Scratch,
    shift: u32,
    seed: Hash,
}

impl Counter<'_> {
    fn add(&mut self, hash: Hash) {
        let bucket = (hash.finish() >> self.shift) as u32;
        let count = &mut self.scratch.counts[bucket as usize];
        if *count == 0 {
            self.scratch.touched.push(bucket);
        }
        *count = count.saturating_add(1);
    }

    fn finish(self, features: &mut Vec<Feature>) {
        let start = features.len();
        let Scratch { counts, touched } = self.scratch;
        let mut squares = 0.0f32;
        for bucket in touched.drain(..) {
            let count = std::mem::take(&mut counts[bucket as usize]);
            let value = 1.0 + (count as f32).ln();
            squares += value * value;
            features.push((bucket, value));
        }
        let scale = squares.sqrt().recip();
        for (_, value) in &mut features[start..] {
            *value *= scale;
        }
    }
}

/// A running hash of numbers, by multiplication and folding. With another hash, all models would have to be retrained.
#[derive(Debug, Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn seeded(seed: u64) -> Self {
        // The fractional part of the golden ratio, whose bits have no structure.
        Self(0x9E37_79B9_7F4A_7C15).with(seed)
    }

    fn with(self, number: u64) -> Self {
        let product = u128::from(self.0 ^ number) * u128::from(0xA076_1D64_78BD_642F_u64);
        Self((product as u64) ^ ((product >> 64) as u64) ^ 0xE703_7ED1_A0B4_28DB)
    }

    fn finish(self) -> u64 {
        self.with(0x8EBC_6AF0_9C88_C6E3).0
    }
}

impl Group {
    /// Counts the features of `text`. `url` caches the parsed text, if it is a URL, for the groups that need it.
    fn count(&self, text: &str, url: &OnceCell<Option<Parts>>, counter: &mut Counter) {
        let url = || url.get_or_init(|| Parts::parse(text)).as_ref();
        match *self {
            Self::Chars {
                min,
                max,
                lower,
                digits,
            } => runs(&characters(text, lower, digits), min, max, counter),
            Self::Bytes { min, max } => {
                let bytes: Vec<u64> = text.bytes().map(u64::from).collect();
                runs(&bytes, min, max, counter);
            }
            Self::Tokens { min, max, lower } => {
                let tokens: Vec<u64> = tokens(text).map(|token| token.hash(lower)).collect();
                runs(&tokens, min, max, counter);
            }
            Self::Lines => lines(text, counter),
            Self::Skeleton => skeleton(text, counter),
            Self::Neighbours => neighbours(text, counter),
            Self::UrlChars { part, min, max } => {
                if let Some(url) = url() {
                    runs(&url_features::characters(url, part), min, max, counter);
                }
            }
            Self::UrlWords => {
                if let Some(url) = url() {
                    url_features::words(url, |part, word| {
                        counter.add(counter.seed.with(text_hash(part, false)).with(text_hash(word, false)));
                    });
                }
            }
            Self::UrlPairs => {
                if let Some(url) = url() {
                    url_features::pairs(url, |kind, one, two| {
                        let first = counter.seed.with(text_hash(kind, false)).with(text_hash(one, false));
                        counter.add(first.with(text_hash(two, false)));
                    });
                }
            }
            Self::UrlShape => {
                if let Some(url) = url() {
                    url_features::shape(url, |name, step| {
                        counter.add(counter.seed.with(text_hash(name, false)).with(step));
                    });
                }
            }
        }
    }
}

/// Counts all runs of `min` to `max` items.
fn runs(items: &[u64], min: usize, max: usize, counter: &mut Counter) {
    for start in 0..items.len() {
        let mut hash = counter.seed;
        for (before, item) in items[start..].iter().take(max).enumerate() {
            hash = hash.with(*item);
            if before + 1 >= min {
                counter.add(hash.with(before as u64));
            }
        }
    }
}

fn characters(text: &str, lower: bool, digits: bool) -> Vec<u64> {
    let mut characters = Vec::with_capacity(text.len() + 2);
    characters.push(u64::from(b' '));
    for character in text.chars() {
        if character.is_whitespace() {
            let last = characters.last_mut().expect("the text is put between spaces");
            let breaks = matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            if *last == u64::from(b'\n') {
            } else if breaks && *last == u64::from(b' ') {
                *last = u64::from(b'\n');
            } else if *last != u64::from(b' ') {
                characters.push(u64::from(if breaks { b'\n' } else { b' ' }));
            }
        } else if digits && character.is_ascii_digit() {
            characters.push(u64::from(b'0'));
        } else if lower {
            characters.extend(character.to_lowercase().map(u64::from));
        } else {
            characters.push(u64::from(character));
        }
    }
    if characters.last() != Some(&u64::from(b' ')) {
        characters.push(u64::from(b' '));
    }
    characters
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Number,
    Break,
    Other(char),
}

impl Token<'_> {
    fn hash(self, lower: bool) -> u64 {
        let kind = |number| Hash::seeded(number);
        match self {
            Self::Word(word) => text_hash(word, lower),
            Self::Number => kind(1).finish(),
            Self::Break => kind(2).finish(),
            Self::Other(character) => kind(3).with(u64::from(character)).finish(),
        }
    }
}

fn text_hash(text: &str, lower: bool) -> u64 {
    let start = Hash::seeded(0);
    let hash = if lower {
        text.chars()
            .flat_map(char::to_lowercase)
            .fold(start, |hash, character| hash.with(u64::from(character)))
    } else {
        text.chars()
            .fold(start, |hash, character| hash.with(u64::from(character)))
    };
    hash.finish()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The tokens of a text. Adjacent line breaks are one token.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let visible = rest.trim_start();
        let skipped = &rest[..rest.len() - visible.len()];
        if skipped.contains('\n') {
            rest = visible;
            return Some(Token::Break);
        }
        let first = visible.chars().next()?;
        let length = if is_word(first) {
            visible.find(|c| !is_word(c)).unwrap_or(visible.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = visible.split_at(length);
        rest = after;
        Some(if !is_word(first) {
            Token::Other(first)
        } else if first.is_ascii_digit() {
            Token::Number
        } else {
            Token::Word(token)
        })
    })
}

/// The number of counted tokens at the start of a line.
const LINE_TOKENS: usize = 3;

fn lines(text: &str, counter: &mut Counter) {
    for line in text.lines() {
        let inner = line.trim();
        let Some(last) = inner.chars().next_back() else {
            continue;
        };
        let indented = u64::from(line.starts_with([' ', '\t']));
        let end = counter.seed.with(1).with(u64::from(last));
        counter.add(end);
        let mut hash = counter.seed.with(2);
        for (index, token) in tokens(inner).take(LINE_TOKENS).enumerate() {
            hash = hash.with(token.hash(false));
            counter.add(hash);
            if index == 0 {
                counter.add(hash.with(indented));
                counter.add(hash.with(3).with(u64::from(last)));
            }
        }
    }
}

/// The most tokens of a skeleton run.
const SKELETON: usize = 5;
/// The most characters of an operator.
const OPERATOR: usize = 3;
/// The most bytes of a string. The limit keeps apostrophes from acting as quotes.
const QUOTED: usize = 200;

/// A token of a skeleton.
#[derive(Clone, Copy)]
struct Bone {
    /// The token itself.
    literal: u64,
    /// Its shape.
    shape: u64,
    is_word: bool,
}

fn skeleton(text: &str, counter: &mut Counter) {
    let seed = counter.seed;
    let bones = bones(text);
    for start in 0..bones.len() {
        let mut shapes = seed.with(1);
        for (before, bone) in bones[start..].iter().take(SKELETON).enumerate() {
            shapes = shapes.with(bone.shape);
            if before > 0 {
                counter.add(shapes.with(before as u64));
            }
        }
    }
    for (at, bone) in bones.iter().enumerate().filter(|(_, bone)| bone.is_word) {
        let before = at.checked_sub(1).map_or(0, |before| bones[before].shape);
        let mut after = seed.with(2).with(bone.literal);
        let mut around = seed.with(3).with(before).with(bone.literal);
        counter.add(around);
        for (distance, next) in bones[at + 1..].iter().take(3).enumerate() {
            after = after.with(next.shape);
            counter.add(after.with(distance as u64));
            if distance < 2 {
                around = around.with(next.shape);
                counter.add(around);
            }
        }
    }
}

/// The tokens of a skeleton: words, numbers, strings within a line, operators, brackets, and line breaks with the
/// change of indentation.
fn bones(text: &str) -> Vec<Bone> {
    let kind = |number| Hash::seeded(32).with(number);
    let plain = |hash: Hash| Bone {
        literal: hash.0,
        shape: hash.0,
        is_word: false,
    };
    let mut bones = Vec::new();
    let mut indent = 0;
    let mut rest = text;
    loop {
        let visible = rest.trim_start();
        let skipped = &rest[..rest.len() - visible.len()];
        let spaced = u64::from(!skipped.is_empty() || bones.is_empty());
        let Some(first) = visible.chars().next() else {
            return bones;
        };
        if let Some(end) = skipped.rfind('\n') {
            let deeper = skipped.len() - end - 1;
            let change = 1 + u64::from(deeper > indent) + 2 * u64::from(deeper < indent) + 4 * u64::from(deeper == 0);
            indent = deeper;
            bones.push(plain(kind(1).with(change)));
        }
        let length;
        if is_word(first) {
            length = visible.find(|c| !is_word(c)).unwrap_or(visible.len());
            let word = &visible[..length];
            let shape = kind(2).with(shape_of(word)).0;
            bones.push(if first.is_ascii_digit() {
                plain(Hash(shape))
            } else {
                Bone {
                    literal: text_hash(word, false),
                    shape,
                    is_word: true,
                }
            });
        } else if let Some(quoted) = quoted(visible, first) {
            length = quoted;
            bones.push(plain(kind(3).with(u64::from(first))));
        } else if is_operator(first) {
            length = visible
                .char_indices()
                .take(OPERATOR)
                .take_while(|(_, c)| is_operator(*c))
                .map(|(at, c)| at + c.len_utf8())
                .last()
                .unwrap_or(first.len_utf8());
            bones.push(plain(kind(4).with(text_hash(&visible[..length], false)).with(spaced)));
        } else {
            length = first.len_utf8();
            bones.push(plain(kind(5).with(u64::from(first)).with(spaced)));
        }
        rest = &visible[length..];
    }
}

fn is_operator(character: char) -> bool {
    character.is_ascii_punctuation() && !"()[]{},;\"'`_".contains(character)
}

/// The length of the string at the start of `text`, if it ends in the same line.
fn quoted(text: &str, quote: char) -> Option<usize> {
    if !matches!(quote, '"' | '\'' | '`') {
        return None;
    }
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().take(QUOTED).skip(1) {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if char::from(byte) == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The shape of a word: the case of its letters, whether it has underscores and digits, and whether it is short.
fn shape_of(word: &str) -> u64 {
    let mut signs = 0;
    for (at, character) in word.chars().enumerate() {
        signs |= match character {
            '_' => 1,
            _ if character.is_numeric() => 2,
            _ if character.is_uppercase() => {
                if at == 0 {
                    4
                } else {
                    8
                }
            }
            _ if character.is_lowercase() => 16,
            _ => 32,
        };
    }
    signs | if word.len() == 1 { 64 } else { 0 }
}

/// The length of the ending of a long word, which shows its part of speech in most inflected languages.
const ENDING: usize = 3;

/// A token as a neighbour of others.
#[derive(Clone, Copy)]
struct Neighbour {
    /// The word itself.
    word: u64,
    /// Its ending, for a long word.
    class: u64,
    /// Whether it is long, and how it is capitalized.
    shape: u64,
}

fn neighbours(text: &str, counter: &mut Counter) {
    let seed = counter.seed;
    let edge = |hash| Neighbour {
        word: hash,
        class: hash,
        shape: hash,
    };
    let words: Vec<Neighbour> = std::iter::once(edge(1))
        .chain(tokens(text).filter(|token| *token != Token::Break).map(|token| {
            let word = token.hash(true);
            let class = ending(token).unwrap_or(word);
            Neighbour {
                word,
                class,
                shape: shape(token),
            }
        }))
        .chain(std::iter::once(edge(2)))
        .collect();
    for pair in words.windows(2) {
        let [one, two] = [pair[0], pair[1]];
        counter.add(seed.with(1).with(one.word).with(two.word));
        counter.add(seed.with(2).with(one.class).with(two.class));
        counter.add(seed.with(3).with(one.word).with(two.class));
        counter.add(seed.with(4).with(one.class).with(two.word));
        counter.add(seed.with(5).with(one.shape).with(two.word));
        counter.add(seed.with(6).with(one.word).with(two.shape));
    }
    for triple in words.windows(3) {
        let [one, two, three] = [triple[0], triple[1], triple[2]];
        counter.add(seed.with(7).with(one.class).with(two.word).with(three.class));
        counter.add(seed.with(8).with(one.class).with(two.class).with(three.class));
        counter.add(seed.with(9).with(one.class).with(three.class));
    }
}

fn shape(token: Token) -> u64 {
    let Token::Word(word) = token else {
        return token.hash(false);
    };
    let mut characters = word.chars();
    let capital = characters.next().is_some_and(char::is_uppercase);
    let rest = characters.clone().any(char::is_uppercase);
    let long = characters.count() >= ENDING;
    Hash::seeded(16 + u64::from(capital) + 2 * u64::from(rest) + 4 * u64::from(long)).finish()
}

/// The class of a long word: its ending, and whether it begins with a capital.
fn ending(token: Token) -> Option<u64> {
    let Token::Word(word) = token else { return None };
    let mut backwards = word.char_indices().rev();
    let (start, _) = backwards.nth(ENDING - 1)?;
    // A word that is not longer than an ending is its own class.
    backwards.next()?;
    let capital = word.starts_with(char::is_uppercase);
    Some(
        Hash::seeded(4 + u64::from(capital))
            .with(text_hash(&word[start..], true))
            .0,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn skeleton_of(text: &str) -> HashSet<u32> {
        let spec = Spec {
            bits: 20,
            groups: vec![Group::Skeleton],
        };
        let features = Extractor::new(spec).unwrap().extract(text);
        features.into_iter().map(|(bucket, _)| bucket).collect()
    }

    #[test]
    fn what_stands_in_a_string_is_no_part_of_a_skeleton() {
        let one = skeleton_of("say(\"one, two\", 'it\\'s');");
        assert!(!one.is_empty());
        assert_eq!(one, skeleton_of("say(\"three\", '');"));
        assert_ne!(one, skeleton_of("say(\"one, two\", \"it's\");"));
        // A quote that is not closed in its line is an ordinary character.
        assert_ne!(skeleton_of("don't\nsay"), skeleton_of("don't' say"));
    }

    #[test]
    fn skeletons_are_alike_when_only_names_differ() {
        let code = skeleton_of("if (count <= 12) {\n    run(first);\n}");
        let renamed = skeleton_of("if (total <= 345) {\n    call(second);\n}");
        let other = skeleton_of("IF Count <= 12 THEN\n    RUN First\nEND");
        let shared = |theirs: &HashSet<u32>| code.intersection(theirs).count();
        assert!(2 * shared(&renamed) > code.len());
        assert!(4 * shared(&other) < code.len());
    }

    #[test]
    fn skeletons_tell_indentation_and_spacing() {
        assert_ne!(skeleton_of("a {\n  b\n}"), skeleton_of("a {\nb\n}"));
        assert_ne!(skeleton_of("f (x)"), skeleton_of("f(x)"));
        assert_eq!(skeleton_of("f(x)  \n"), skeleton_of("f(x)"));
    }
}
