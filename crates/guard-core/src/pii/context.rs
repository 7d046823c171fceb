//! Context words near a finding.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use unicode_script::{Script, UnicodeScript};

use crate::rules::RuleErrorKind;
use crate::stop;

/// The most bytes between a finding and a context word: about fifteen English words, or thirty Chinese characters.
const BEFORE: usize = 96;
const AFTER: usize = 24;
/// The most bytes between a finding and a word directly before it.
const BETWEEN: usize = 4;
/// The most bytes between a finding and a word that shows that it is something else.
const OTHER: usize = 48;
/// Words that may stand between these two, and words that join several such findings.
const LINKS: [&str; 14] = [
    "with",
    "of",
    "number",
    "numbers",
    "no",
    "nr",
    "is",
    "dated",
    "от",
    "номер",
    "号",
    "码",
    "是",
    "为",
];
const JOINS: [&str; 10] = ["and", "or", "und", "oder", "y", "et", "и", "или", "和", "或"];
/// The extra distance of a word in another sentence.
const SENTENCE: f64 = 3.5;
/// The extra distance of a word that describes another value: in "licence D1234567, passport 123456789", "licence" is
/// near both numbers, but describes only the first. This outweighs the score differences between recognizers that rely
/// on context. A number without a word of its own is still found, as in "passports 123456789, 987654321".
const TAKEN: f64 = 1.5;
/// The fewest digits of another value.
const VALUE: usize = 5;

/// Whether the character's script has no spaces between words or, as in Korean, particles that follow words without a
/// space.
pub(super) fn is_unspaced(character: char) -> bool {
    !character.is_ascii()
        && matches!(
            character.script(),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Hangul
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        )
}

/// Whether a sentence ends in `text`: a full stop after a number or a long enough word, and a capital letter after it.
fn has_end(text: &str) -> bool {
    let mut marks = text
        .char_indices()
        .filter(|(_, character)| matches!(character, '.' | '!' | '?' | '。' | '！' | '？' | '\n'));
    marks.any(|(at, mark)| match mark {
        '.' => {
            let word = text[..at]
                .chars()
                .rev()
                .take_while(|character| character.is_alphanumeric())
                .count();
            let mut after = text[at + 1..].chars();
            let is_whole = word > 3 || text[..at].ends_with(|last: char| last.is_ascii_digit());
            is_whole
                && after.next() == Some(' ')
                && after
                    .next()
                    .is_some_and(|next| next.is_uppercase() || is_unspaced(next))
        }
        '\n' => text[at..].starts_with("\n\n"),
        _ => true,
    })
}

/// Whether a character could continue a word. An underscore ends a word: `phone_number` is about a phone, and
/// `card_4111111111111111` contains a card number.
pub(super) fn continues(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_alphanumeric() && !is_unspaced(character))
}

/// Words with their owners, such as the context words of recognizers. Hyphens and underscores count as spaces.
#[derive(Debug)]
pub(super) struct Vocabulary {
    automaton: Option<AhoCorasick>,
    /// For each word, whether more letters may follow, and its owners; a compound has none.
    words: Vec<(bool, Vec<usize>)>,
    /// The words, without a final `*`.
    texts: Vec<Arc<str>>,
}

/// The context word nearest to a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NearestWord {
    /// 0 for an adjacent word, 1 at the limit, more if another sentence or another value is between.
    pub distance: f64,
    /// The index of the word in its vocabulary.
    pub word: usize,
}

impl Vocabulary {
    /// Compiles lower-case words, each with its owner, and `compounds`, whose parts are no words.
    pub(super) fn new<'a, 'b>(
        words: impl Iterator<Item = (&'a str, usize)>,
        compounds: impl Iterator<Item = &'b str>,
    ) -> Result<Self, RuleErrorKind> {
        let words = words.map(|(word, owner)| (word, Some(owner)));
        let words = words.chain(compounds.map(|word| (word, None)));
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut all: Vec<(bool, Vec<usize>)> = Vec::new();
        let mut texts: Vec<Arc<str>> = Vec::new();
        for (word, owner) in words {
            if word.trim_matches('*').trim().is_empty() {
                return Err(RuleErrorKind::EmptyContext(word.to_owned()));
            }
            let index = *known.entry(normalized(word)).or_insert_with_key(|word| {
                texts.push(word.trim_end_matches('*').into());
                all.push((word.ends_with('*'), Vec::new()));
                all.len() - 1
            });
            all[index].1.extend(owner);
        }
        let automaton = match texts.is_empty() {
            true => None,
            false => Some(AhoCorasick::new(texts.iter().map(|text| text.as_bytes()))?),
        };
        Ok(Self {
            automaton,
            words: all,
            texts,
        })
    }

    /// Finds the words in `text`.
    pub(super) fn read<'a>(&'a self, text: &'a str) -> Mentions<'a> {
        Mentions {
            vocabulary: self,
            text,
            mentions: self.mentions_in(text, 0..text.len()),
        }
    }

    /// The words in a part of `text`, by their ends.
    pub(super) fn mentions_in(&self, text: &str, part: Range<usize>) -> Vec<(Range<usize>, usize)> {
        let lower = normalized(&text[part.clone()]);
        let hits = self
            .automaton
            .iter()
            .flat_map(|automaton| automaton.find_overlapping_iter(&lower));
        let stands_alone = |range: &Range<usize>, may_go_on: bool| {
            let first = text[range.start..].chars().next();
            let last = text[..range.end].chars().next_back();
            let before = text[..range.start].chars().next_back();
            let after = text[range.end..].chars().next();
            // A word may follow a digit, as in "1985г.р", and a sign such as "$" may follow anything.
            let is_free = first.is_some_and(|first| {
                is_unspaced(first)
                    || !first.is_alphanumeric()
                    || !first.is_ascii() && before.is_some_and(|before| before.is_ascii_digit())
            });
            (is_free || !continues(before))
                && (may_go_on
                    || last.is_some_and(is_unspaced)
                    || !after.is_some_and(char::is_alphabetic)
                    || after.is_some_and(is_unspaced))
        };
        let in_text = |range: Range<usize>| range.start + part.start..range.end + part.start;
        let (mentions, compounds): (Vec<_>, Vec<_>) = stop::iterate(hits)
            .map(|hit| (in_text(hit.range()), hit.pattern().as_usize()))
            .filter(|(range, word)| stands_alone(range, self.words[*word].0))
            .partition(|(_, word)| !self.words[*word].1.is_empty());
        let is_cut = |mention: &Range<usize>| {
            let from = compounds.partition_point(|(compound, _)| compound.end <= mention.start);
            // Few compounds overlap.
            let mut near = compounds[from..].iter().take(4);
            near.any(|(compound, _)| compound.start < mention.end && !contains(mention, compound))
        };
        mentions.into_iter().filter(|(range, _)| !is_cut(range)).collect()
    }

    /// The text of a word, in lower case and without a final `*`.
    pub(super) fn text(&self, word: usize) -> Arc<str> {
        Arc::clone(&self.texts[word])
    }

    /// Whether more letters may follow a word, and its owners.
    pub(super) fn word(&self, index: usize) -> (bool, &[usize]) {
        let (may_go_on, owners) = &self.words[index];
        (*may_go_on, owners)
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether a word leads to the finding after it: only signs, [`LINKS`], and numbers joined by [`JOINS`] are between
/// them.
fn leads(between: &str) -> bool {
    let mut is_joined = true;
    let mut rest = between;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() && !is_unspaced(character);
        let length = match is_word(first) {
            true => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, behind) = rest.split_at(length);
        let part = part.to_lowercase();
        rest = behind;
        if first == '&' || JOINS.contains(&&*part) {
            is_joined = true;
        } else if first.is_ascii_digit() {
            is_joined = false;
        } else if matches!(first, '\n' | ';' | '!' | '?' | '。') || first.is_alphabetic() && !LINKS.contains(&&*part) {
            return false;
        }
    }
    is_joined
}

/// Whether `text` contains a number or another value with digits.
fn has_value(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= VALUE
}

/// The end of `text` from the last space on, and at most [`BEFORE`] bytes of it.
fn last_word(text: &str) -> &str {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(BEFORE))..];
    near.rsplit(char::is_whitespace).next().unwrap_or(near)
}

/// The text in lower case, with spaces for hyphens and underscores, and with unchanged offsets.
pub(super) fn normalized(text: &str) -> String {
    if text.is_ascii() {
        let spaced = |byte: u8| if matches!(byte, b'-' | b'_') { b' ' } else { byte };
        let bytes = text.bytes().map(|byte| spaced(byte.to_ascii_lowercase()));
        return String::from_utf8(bytes.collect()).unwrap_or_default();
    }
    let spaced = |character: char| if matches!(character, '-' | '_') { ' ' } else { character };
    let mapped = text.chars().map(|character| {
        let mut lower = character.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) if lower.len_utf8() == character.len_utf8() => spaced(lower),
            _ => character,
        }
    });
    mapped.collect()
}

/// The context words of one text, by their ends.
pub(super) struct Mentions<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a str,
    mentions: Vec<(Range<usize>, usize)>,
}

impl Mentions<'_> {
    /// The word of `recognizer` that is nearest to `range`. With `adjacent`, only a word directly before counts.
    pub(super) fn nearest(&self, recognizer: usize, range: &Range<usize>, adjacent: bool) -> Option<NearestWord> {
        let reach = if adjacent { BETWEEN } else { BEFORE };
        let from = range.start.saturating_sub(reach);
        let first = self.mentions.partition_point(|(mention, _)| mention.end < from);
        let speaks = |word: usize| self.vocabulary.words[word].1.contains(&recognizer);
        // Words are short, so a word that starts near the finding also ends near it.
        let near = self.mentions[first..]
            .iter()
            .take_while(|(mention, _)| mention.end <= range.end + 3 * AFTER);
        near.filter_map(|(mention, word)| {
            let (between, reach) = if mention.end <= range.start {
                (mention.end..range.start, BEFORE)
            } else if mention.start >= range.end && mention.start - range.end <= AFTER && !adjacent {
                (range.end..mention.start, AFTER)
            } else {
                return None;
            };
            let farther = || {
                if has_end(&self.text[between.clone()]) {
                    SENTENCE
                } else if self.is_taken(mention, &between) {
                    TAKEN
                } else {
                    0.0
                }
            };
            speaks(*word).then(|| NearestWord {
                distance: between.len() as f64 / reach as f64 + farther(),
                word: *word,
            })
        })
        .min_by(|one, other| one.distance.total_cmp(&other.distance))
    }

    /// Whether a context word describes another value: one between it and the finding; for a word after the finding,
    /// one after that word; for a word in parentheses before the finding, one before them.
    fn is_taken(&self, mention: &Range<usize>, between: &Range<usize>) -> bool {
        if has_value(&self.text[between.clone()]) {
            return true;
        }
        let is_behind = mention.start >= between.end;
        if is_behind {
            let next = self.text.floor_char_boundary(mention.end + AFTER);
            let behind = &self.text[mention.end..next];
            let clause = behind.split([',', ';', '\n', ')']).next().unwrap_or(behind);
            return has_value(clause);
        }
        let before = self.text[..mention.start].strip_suffix('(').map(str::trim_end);
        before.is_some_and(|before| before.ends_with(char::is_alphanumeric) && has_value(last_word(before)))
            && self.text[between.clone()].contains(')')
    }

    /// Whether a word of `before` is directly before `range`, or a word of `behind` directly after it.
    pub(super) fn is_beside(&self, before: usize, behind: usize, range: &Range<usize>) -> bool {
        let from = range.start.saturating_sub(OTHER);
        let first = self.mentions.partition_point(|(mention, _)| mention.end < from);
        let near = self.mentions[first..].iter();
        let near = near.take_while(|(mention, _)| mention.end <= range.end + 3 * AFTER);
        let speaks = |word: usize, recognizer: usize| self.vocabulary.words[word].1.contains(&recognizer);
        let is_behind = near.clone().any(|(mention, word)| {
            let is_near = mention.start >= range.end && mention.start - range.end <= BETWEEN;
            is_near
                && speaks(*word, behind)
                && !self.text[range.end..mention.start]
                    .chars()
                    .any(|character| character.is_alphanumeric() || character == '\n')
        });
        if is_behind {
            return true;
        }
        // If the nearest word does not lead to the finding, earlier ones don't either.
        let before_it = near.take_while(|(mention, _)| mention.end <= range.start);
        let nearest = before_it.filter(|(_, word)| speaks(*word, before)).last();
        nearest.is_some_and(|(mention, word)| {
            let may_go_on = self.vocabulary.words[*word].0;
            let goes_on = |character: char| may_go_on && character.is_alphabetic() && !is_unspaced(character);
            leads(self.text[mention.end..range.start].trim_start_matches(goes_on))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(words: &[&str], text: &str, value: &str, adjacent: bool) -> Option<f64> {
        let vocabulary = Vocabulary::new(words.iter().map(|&word| (word, 0)), ["先生"].into_iter()).unwrap();
        let start = text.find(value).unwrap();
        let nearest = vocabulary
            .read(text)
            .nearest(0, &(start..start + value.len()), adjacent);
        nearest.map(|nearest| nearest.distance)
    }

    #[test]
    fn words_near_and_far() {
        assert_eq!(distance(&["ssn"], "SSN 1", "1", false), Some(1.0 / 96.0));
        assert!(distance(&["ssn"], "1 (SSN)", "1", false).is_some());
        assert!(distance(&["ssn"], &format!("SSN {} 1", "a".repeat(100)), "1", false).is_none());
        assert!(distance(&["ssn"], "lessn 1, ssns 1", "1", false).is_none());
        assert!(distance(&["паспорт*"], "В ПАСПОРТЕ 1", "1", false).is_some());
        assert!(distance(&["паспорт"], "В паспорте 1", "1", false).is_none());
        assert!(distance(&["ssn"], "ssn1", "1", false).is_some());
        assert!(distance(&["call"], "Call (03) 5374 5557. Order 1", "1", false).unwrap() > 3.0);
        assert!(distance(&["call"], "Call tel. No. 1", "1", false).unwrap() < 1.0);
        assert!(distance(&["身份证"], "我的身份证号是1", "1", false).is_some());
        assert!(distance(&["phone"], "phone_number: 1", "1", false).is_some());
    }

    #[test]
    fn words_of_other_values_are_farther() {
        let far = |text: &str| distance(&["ssn"], text, "X", false).unwrap() > 1.0;
        assert!(far("SSN 12-345, id X"));
        assert!(far("X, SSN 12345"));
        assert!(far("12345 (SSN), X"));
        assert!(!far("SSN (2024) X"));
        assert!(!far("12345, SSN X"));
        assert!(!far("X (SSN), 12345"));
        assert!(!far("12345 (id), (SSN) X"));
    }

    #[test]
    fn words_that_compounds_cut() {
        assert!(distance(&["生于"], "张三生于1", "1", false).is_some());
        assert!(distance(&["生于"], "汪先生于1", "1", false).is_none());
        assert!(distance(&["先生于"], "汪先生于1", "1", false).is_some());
    }

    #[test]
    fn a_word_directly_before() {
        assert!(distance(&["mrn"], "MRN: 1", "1", true).is_some());
        assert!(distance(&["mrn"], "MRN of her 1", "1", true).is_none());
        assert!(distance(&["mrn"], "1 MRN", "1", true).is_none());
    }

    #[test]
    fn words_of_something_else() {
        let is_beside = |text: &str| {
            let words = [("version*", 0), ("版本", 0), ("верси*", 0), ("$", 0), ("mm", 1)];
            let vocabulary = Vocabulary::new(words.into_iter(), std::iter::empty()).unwrap();
            let start = text.find('7').unwrap();
            vocabulary.read(text).is_beside(0, 1, &(start..start + 1))
        };
        for text in [
            "Version 7",
            "versions: 7",
            "version number 7",
            "versions 1.2 and 7",
            "версия 7",
            "версии 1 и 7",
            "版本号是7",
            "版本为7",
            "US$7",
            "7 mm",
        ] {
            assert!(is_beside(text), "{text}");
        }
        for text in [
            "version on 7",
            "version 4: 7",
            "version\n7",
            "the version; 7",
            "版本在7",
            "7 and mm",
            "mm 7",
            "7 version",
        ] {
            assert!(!is_beside(text), "{text}");
        }
    }

    #[test]
    fn words_behind_a_digit() {
        assert!(distance(&["г.р"], "1г.р.", "1", false).is_some());
        assert!(distance(&["рожд*", "г.р"], "5abc", "5", false).is_none());
    }
}
