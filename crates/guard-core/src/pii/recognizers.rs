//! The recognizers that a user wants, and what they find.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::checks::phone::Phones;
use super::context::{Vocabulary, continues, is_unspaced};
use super::narrow::{Narrow, spelled};
use super::options::Options;
use super::prefixes::Prefixes;
use super::recognizer::{Boundary, Finder, Source, compounds, sources};
use super::{Finding, PiiError, email};
use crate::rules::regex::{MatchType, PatternError, Patterns};
use crate::rules::urls;

/// What a word of context adds to the score of a user's pattern, and the score that it has at least then, as in llm-guard.
const CONTEXT_ADDS: f64 = 0.35;
const CONTEXT_LEAST: f64 = 0.4;
/// How much the score falls from a word of context that is beside a finding to one that is just near enough, and 3.5 times
/// as much more in another sentence. So of two readings of one number, that of the nearer word wins.
const DISTANCE_TAKES: f64 = 0.1;
/// The score at most of what a word beside it says is something else.
const OF_OTHERS: f64 = 0.3;
/// Digits of a whole number, such as one of a telephone.
const WHOLE: usize = 7;
/// Bytes from its start within which everything that a pattern finds has a digit.
const DIGIT_WITHIN: usize = 160;

/// A recognizer in use.
#[derive(Debug)]
struct Recognizer {
    source: &'static Source,
    entity: Arc<str>,
    id: Arc<str>,
}

/// A pattern of the user in use.
#[derive(Debug)]
struct Custom {
    entity: Arc<str>,
    score: f64,
}

/// Recognizers ready to be searched for.
#[derive(Debug)]
pub struct Recognizers {
    recognizers: Vec<Recognizer>,
    /// The patterns, and for each the index of its recognizer.
    prefixes: Option<Prefixes>,
    of_pattern: Vec<usize>,
    custom: Vec<Custom>,
    /// All expressions of the user, and for each the index in `custom`.
    expressions: Patterns,
    of_expression: Vec<usize>,
    vocabulary: Vocabulary,
    /// From here on, each recognizer has two numbers in the vocabulary: for the words of something else before it, and for those behind it.
    others: usize,
    phones: Phones,
    allowed: HashSet<String>,
    threshold: f64,
}

impl Recognizers {
    /// The recognizers that `options` ask for.
    ///
    /// # Errors
    ///
    /// The first value that can not be used, with its path in the options.
    pub fn new(options: &Options) -> Result<Self, PiiError> {
        let fault = |path: String| move |message: String| PiiError { path, message };
        let sources = sources().map_err(fault(String::new()))?;
        let is_wanted = |source: &Source| match &options.entities {
            Some(entities) => entities.contains(&source.entity),
            None => !source.opt_in,
        };
        let recognizers: Vec<Recognizer> = sources
            .iter()
            .filter(|source| is_wanted(source) && options.wants_language(&source.languages))
            .map(|source| Recognizer {
                source,
                entity: source.entity.as_str().into(),
                id: source.id.as_str().into(),
            })
            .collect();

        let (of_pattern, patterns): (Vec<usize>, Vec<String>) = recognizers
            .iter()
            .enumerate()
            .filter_map(|(index, recognizer)| Some((index, recognizer.source.pattern.clone()?)))
            .unzip();
        let prefixes = match patterns.is_empty() {
            true => None,
            false => Some(Prefixes::new(&patterns).map_err(|(pattern, message)| {
                let id = pattern.map_or("", |pattern| &*recognizers[of_pattern[pattern]].id);
                fault(String::new())(format!("{id}: {message}"))
            })?),
        };

        for (index, pattern) in options.patterns.iter().enumerate() {
            if !(0.0..=1.0).contains(&pattern.score) {
                return Err(fault(format!("patterns.{index}.score"))(
                    "expected a number from 0 to 1".to_owned(),
                ));
            }
        }
        let wanted = options.patterns.iter().enumerate();
        let wanted: Vec<_> = wanted
            .filter(|(_, pattern)| options.wants_language(&pattern.languages))
            .collect();
        let custom = wanted.iter().map(|(_, pattern)| Custom {
            entity: pattern.entity.as_str().into(),
            score: pattern.score,
        });
        let places = wanted.iter().enumerate().flat_map(|(own, (index, pattern))| {
            let expressions = pattern.expressions.iter().enumerate();
            expressions
                .map(move |(place, expression)| (own, format!("patterns.{index}.expressions.{place}"), expression))
        });
        let places: Vec<(usize, String, &String)> = places.collect();
        let expressions: Vec<&str> = places.iter().map(|(.., expression)| expression.as_str()).collect();
        let expressions = Patterns::compile(&expressions).map_err(|error| {
            let (PatternError::Syntax { pattern, .. }
            | PatternError::StepLimit { pattern }
            | PatternError::TooLarge { pattern }
            | PatternError::TooMany { pattern }) = &error;
            fault(places[*pattern].1.clone())(error.to_string())
        })?;

        let own_words = wanted.iter().enumerate().flat_map(|(own, (_, pattern))| {
            let owner = recognizers.len() + own;
            pattern.context.iter().map(move |word| (word.as_str(), owner))
        });
        let words = recognizers.iter().enumerate().flat_map(|(index, recognizer)| {
            let languages = recognizer
                .source
                .context
                .iter()
                .filter(|(language, _)| options.reads(language));
            languages.flat_map(move |(_, words)| words.iter().map(move |word| (word.as_str(), index)))
        });
        let compounds = compounds().map_err(fault(String::new()))?;
        let others = recognizers.len() + wanted.len();
        let other_words = recognizers.iter().enumerate().flat_map(|(index, recognizer)| {
            let lists = [&recognizer.source.not_after, &recognizer.source.not_before];
            lists.into_iter().enumerate().flat_map(move |(side, list)| {
                let languages = list.iter().filter(move |(language, _)| options.reads(language));
                languages.flat_map(move |(_, words)| {
                    words.iter().map(move |word| (word.as_str(), others + 2 * index + side))
                })
            })
        });
        let words = words.chain(own_words).chain(other_words);
        let vocabulary = Vocabulary::new(words, compounds.iter().map(String::as_str)).map_err(fault(String::new()))?;

        let regions = options.phone_regions();
        let phones = Phones::new(&regions)
            .map_err(|index| fault(format!("regions.{index}"))(format!("unknown region {}", regions[index])))?;
        Ok(Self {
            prefixes,
            of_pattern,
            custom: custom.collect(),
            expressions,
            of_expression: places.iter().map(|(own, ..)| *own).collect(),
            vocabulary,
            others,
            phones,
            allowed: options.allowed.iter().map(|value| spelled(value)).collect(),
            threshold: options.threshold,
            recognizers,
        })
    }

    /// What the recognizers find in `text`, by where it stands. Findings may overlap; [`super::merge`] makes one list of
    /// them. Full-width letters and digits are read as the ordinary ones, but not by patterns of the user. Costs time in
    /// proportion to the length of the text.
    ///
    /// # Errors
    ///
    /// A pattern of the user that takes too long; the text must then be treated as if it was not looked at.
    pub fn find(&self, text: &str) -> Result<Vec<Finding>, PiiError> {
        let narrow = Narrow::new(text);
        let mut findings = match &narrow {
            Some(narrow) => {
                let mut search = Search::new(self, &narrow.text);
                search.embedded()?;
                for finding in &mut search.findings {
                    finding.range = narrow.original(&finding.range);
                }
                search.findings
            }
            None => Vec::new(),
        };
        let mut search = Search::new(self, text);
        if narrow.is_none() {
            search.embedded()?;
        }
        search.expressions()?;
        findings.append(&mut search.findings);
        let order = |one: &Finding, other: &Finding| {
            let range = |finding: &Finding| (finding.range.start, finding.range.end);
            range(one)
                .cmp(&range(other))
                .then_with(|| one.entity.cmp(&other.entity))
                .then_with(|| other.score.total_cmp(&one.score))
                .then_with(|| one.recognizer.cmp(&other.recognizer))
        };
        findings.sort_by(order);
        findings.dedup_by(|next, first| next.range == first.range && next.entity == first.entity);
        Ok(findings)
    }
}

/// One search of one text.
struct Search<'a> {
    of: &'a Recognizers,
    text: &'a str,
    mentions: OnceCell<super::context::Mentions<'a>>,
    findings: Vec<Finding>,
}

impl<'a> Search<'a> {
    fn new(of: &'a Recognizers, text: &'a str) -> Self {
        Self {
            of,
            text,
            mentions: OnceCell::new(),
            findings: Vec::new(),
        }
    }

    /// What the table describes.
    fn embedded(&mut self) -> Result<(), PiiError> {
        self.finders();
        self.patterns()
    }

    /// The score of what recognizer `index` found, with its context.
    fn score(&self, index: usize, range: &Range<usize>) -> f64 {
        let source = self.of.recognizers[index].source;
        if self.is_other(index, range) {
            return source.score.min(OF_OTHERS);
        }
        let near = source.context_score.and_then(|score| {
            let distance = self.distance(index, range, source.adjacent)?;
            Some(score - DISTANCE_TAKES * distance)
        });
        near.map_or(source.score, |near| near.max(source.score))
    }

    /// Whether a word beside what recognizer `index` found says that it is something else.
    fn is_other(&self, index: usize, range: &Range<usize>) -> bool {
        let source = self.of.recognizers[index].source;
        let owner = self.of.others + 2 * index;
        let has_words = !(source.not_after.is_empty() && source.not_before.is_empty());
        has_words && self.mentions().is_beside(owner, owner + 1, range)
    }

    /// Adds what recognizer `index` found.
    fn add(&mut self, index: usize, range: Range<usize>, score: f64) {
        let recognizer = &self.of.recognizers[index];
        let (entity, id) = (Arc::clone(&recognizer.entity), Arc::clone(&recognizer.id));
        self.keep(range, score, entity, id);
    }

    fn distance(&self, owner: usize, range: &Range<usize>, adjacent: bool) -> Option<f64> {
        self.mentions().distance(owner, range, adjacent)
    }

    fn mentions(&self) -> &super::context::Mentions<'a> {
        self.mentions.get_or_init(|| self.of.vocabulary.read(self.text))
    }

    fn keep(&mut self, range: Range<usize>, score: f64, entity: Arc<str>, recognizer: Arc<str>) {
        let (of, text) = (self.of, self.text);
        let allowed = &of.allowed;
        let is_allowed = || allowed.contains(&spelled(&text[range.clone()]));
        if score >= of.threshold && !range.is_empty() && (allowed.is_empty() || !is_allowed()) {
            self.findings.push(Finding {
                range,
                entity,
                score,
                recognizer,
            });
        }
    }

    /// What needs more than a pattern.
    fn finders(&mut self) {
        let of = self.of;
        for (index, recognizer) in of.recognizers.iter().enumerate() {
            let found: Vec<Range<usize>> = match recognizer.source.finder {
                Some(Finder::Url) => urls::find(self.text).into_iter().map(|found| found.range).collect(),
                Some(Finder::Email) => email::find(self.text),
                None => continue,
            };
            for range in found {
                let score = self.score(index, &range);
                self.add(index, range, score);
            }
        }
    }

    /// What the patterns of the table match.
    fn patterns(&mut self) -> Result<(), PiiError> {
        let of = self.of;
        let text = self.text;
        let Some(prefixes) = of
            .prefixes
            .as_ref()
            .filter(|_| next_digit(text, 0).is_some() || text.contains('#'))
        else {
            return Ok(());
        };
        let mut done: Vec<bool> = vec![false; of.of_pattern.len()];
        let seen = |start: usize, ends: &[(usize, usize)]| {
            done.fill(false);
            // The longest match of each pattern that has boundaries and passes its check.
            for &(pattern, end) in ends.iter().rev() {
                let index = of.of_pattern[pattern];
                let source = of.recognizers[index].source;
                if done[pattern] || !has_boundaries(text, start..end, source.boundary) {
                    continue;
                }
                // Scores are cheaper than checks.
                let score = self.score(index, &(start..end));
                if score >= of.threshold
                    && source
                        .check
                        .is_none_or(|check| check.passes(&text[start..end], &of.phones))
                {
                    done[pattern] = true;
                    self.add(index, start..end, score);
                }
            }
        };
        prefixes.search(text, starts(text), seen).map_err(|message| PiiError {
            path: String::new(),
            message,
        })
    }

    /// What the patterns of the user match.
    fn expressions(&mut self) -> Result<(), PiiError> {
        let of = self.of;
        if of.of_expression.is_empty() {
            return Ok(());
        }
        let found = of.expressions.find(self.text, MatchType::All);
        let found = found.map_err(|error| PiiError {
            path: "patterns".to_owned(),
            message: error.to_string(),
        })?;
        for found in found {
            let own = of.of_expression[found.pattern];
            let custom = &of.custom[own];
            let near = self.distance(of.recognizers.len() + own, &found.range, false);
            let score = near.map_or(custom.score, |_| {
                (custom.score + CONTEXT_ADDS).clamp(CONTEXT_LEAST, 1.0)
            });
            self.keep(
                found.range,
                score,
                Arc::clone(&custom.entity),
                Arc::clone(&custom.entity),
            );
        }
        Ok(())
    }
}

/// Where something of the table can begin: at words, numbers and some signs, with a digit not far behind.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let mut digit = next_digit(text, 0);
    let mut before: Option<char> = None;
    text.char_indices().filter_map(move |(at, character)| {
        let begins = match character {
            '+' | '(' | '[' | '#' | '$' | ':' => !continues(before),
            _ if !character.is_alphanumeric() => false,
            // "ИНН7707083893" and "电话13011112222"
            '0'..='9' if before.is_some_and(|before| !before.is_ascii() && before.is_alphabetic()) => true,
            _ => !continues(before) || is_unspaced(character),
        };
        before = Some(character);
        if digit.is_some_and(|digit| digit < at) {
            digit = next_digit(text, at);
        }
        // "#ffffff" has none.
        let may_match = character == '#' || digit.is_some_and(|digit| digit - at <= DIGIT_WITHIN);
        (begins && may_match).then_some(at)
    })
}

/// The first ASCII digit of `text` from `from` on.
fn next_digit(text: &str, from: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[from..];
    bytes.iter().position(u8::is_ascii_digit).map(|at| from + at)
}

/// Whether nothing stands beside `range` that it is a part of.
fn has_boundaries(text: &str, range: Range<usize>, boundary: Boundary) -> bool {
    let mut before = text[..range.start].chars().rev();
    let mut after = text[range.end..].chars();
    let mut inside = text[range.clone()].chars();
    let (previous, next) = (before.next(), after.next());
    let (first, last) = (inside.next(), inside.next_back());
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    let has_colons = text[range.clone()].contains(':');
    let is_proven = boundary == Boundary::Proven;
    let is_whole = text[range.clone()].bytes().filter(u8::is_ascii_digit).count() >= WHOLE;
    let connects = |sign: Option<char>, mut beyond: &mut dyn Iterator<Item = char>, own: Option<char>| {
        let first = beyond.next();
        match sign {
            Some('/') if is_proven => false,
            Some('-') if is_proven => {
                let end = Iterator::find(&mut beyond, |character| !character.is_ascii_digit());
                is_digit(first) && is_digit(own) && end != Some('.')
            }
            Some('/') if is_whole && is_digit(first) && is_digit(own) => {
                !is_whole_number(first.into_iter().chain(beyond))
            }
            Some('.' | '-' | '/') => is_digit(first) && is_digit(own),
            Some(':') => has_colons && continues(first),
            _ => false,
        }
    };
    // A number may follow a word of another script without a space, and a word in Chinese anything.
    let is_free = is_digit(first) && previous.is_some_and(|previous| !previous.is_ascii() && previous.is_alphabetic());
    let begins = !continues(previous) || is_free || first.is_some_and(is_unspaced);
    let ends = !continues(next)
        || last.is_some_and(is_unspaced)
        || !last.is_some_and(char::is_alphanumeric)
        || boundary == Boundary::Date && is_of_year(&text[range.end..]);
    match boundary {
        Boundary::Start => begins,
        Boundary::Word => begins && ends,
        Boundary::Number | Boundary::Proven | Boundary::Date => {
            begins && ends && !connects(previous, &mut before, first) && !connects(next, &mut after, last)
        }
    }
}

/// Whether a number of at least [`WHOLE`] digits begins here, which may have spaces, hyphens, dots and parentheses between them.
fn is_whole_number(characters: impl Iterator<Item = char>) -> bool {
    let (mut digits, mut signs) = (0, 0);
    for character in characters {
        match character {
            '0'..='9' => (digits, signs) = (digits + 1, 0),
            ' ' | '\u{a0}' | '-' | '.' | '(' | ')' if signs < 2 => signs += 1,
            _ => return false,
        }
        if digits == WHOLE {
            return true;
        }
    }
    false
}

/// Whether nothing but a Russian word for a year stands here: "12.03.1985г.".
fn is_of_year(behind: &str) -> bool {
    let letters = behind.chars().take(5).take_while(|character| character.is_alphabetic());
    let word: String = letters.flat_map(char::to_lowercase).collect();
    matches!(&*word, "г" | "гр" | "год" | "года")
}

#[cfg(test)]
mod tests {
    use super::super::merge;
    use super::*;
    use proptest::prelude::*;

    fn only(entities: &[&str]) -> Options {
        Options {
            entities: Some(entities.iter().map(|&entity| entity.to_owned()).collect()),
            ..Options::default()
        }
    }

    fn found<'a>(options: &Options, text: &'a str) -> Vec<(String, &'a str)> {
        let findings = Recognizers::new(options).unwrap().find(text).unwrap();
        let findings = merge(text, findings, options.threshold);
        findings
            .into_iter()
            .map(|finding| (finding.entity.to_string(), &text[finding.range]))
            .collect()
    }

    /// The text without its double braces, and what stood in them.
    fn example(marked: &str) -> (String, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut ranges = Vec::new();
        for (index, part) in marked.split("{{").enumerate() {
            match part.split_once("}}") {
                Some((value, rest)) if index > 0 => {
                    ranges.push(text.len()..text.len() + value.len());
                    text.push_str(value);
                    text.push_str(rest);
                }
                _ => text.push_str(part),
            }
        }
        (text, ranges)
    }

    #[test]
    fn the_examples_of_the_table() {
        let mut wrong = Vec::new();
        for source in sources().unwrap() {
            let options = Options {
                languages: source.languages.first().cloned().into_iter().collect(),
                ..only(&[&source.entity])
            };
            let recognizers = Recognizers::new(&options).unwrap_or_else(|error| panic!("{}: {error}", source.id));
            let find = |text: &str| -> Vec<Range<usize>> {
                let findings = recognizers.find(text).unwrap();
                let own = findings.into_iter().filter(|finding| *finding.recognizer == *source.id);
                own.map(|finding| finding.range).collect()
            };
            assert!(!source.matches.is_empty(), "{}", source.id);
            for marked in &source.matches {
                let (text, expected) = example(marked);
                assert!(!expected.is_empty(), "{}: {marked}", source.id);
                let found = find(&text);
                if !expected.iter().all(|range| found.contains(range)) {
                    wrong.push(format!(
                        "{}: {marked}: {:?}",
                        source.id,
                        found.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>()
                    ));
                }
            }
            for text in &source.misses {
                if !find(text).is_empty() {
                    wrong.push(format!("{}: found in {text}", source.id));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_table_is_in_order() {
        let sources = sources().unwrap();
        let ids: HashSet<&str> = sources.iter().map(|source| source.id.as_str()).collect();
        assert_eq!(ids.len(), sources.len(), "an id occurs twice");
        for source in sources {
            let id = &source.id;
            assert!(
                source.pattern.is_some() != source.finder.is_some(),
                "{id}: a pattern or a finder"
            );
            assert!(source.source.len() > 5, "{id}: where does it come from?");
            let scores = [Some(source.score), source.context_score];
            assert!(scores.iter().flatten().all(|score| (0.0..=1.0).contains(score)), "{id}");
            assert_eq!(
                source.context_score.is_some(),
                !source.context.is_empty(),
                "{id}: words and their score"
            );
            let lists = [&source.context, &source.not_after, &source.not_before];
            let words: Vec<&String> = lists.into_iter().flat_map(|list| list.values().flatten()).collect();
            assert!(
                words.iter().all(|word| word.to_lowercase() == **word),
                "{id}: words are in lower case"
            );
            let reaches = source.context_score.unwrap_or(source.score).max(source.score);
            assert!(reaches >= 0.5, "{id}: never found");
        }
    }

    #[test]
    fn all_at_once_agree_with_the_examples() {
        let options = Options::default();
        let recognizers = Recognizers::new(&options).unwrap();
        let mut wrong = Vec::new();
        for source in sources()
            .unwrap()
            .iter()
            .filter(|source| !source.opt_in && source.languages.is_empty())
        {
            for marked in &source.matches {
                let (text, expected) = example(marked);
                let merged = merge(&text, recognizers.find(&text).unwrap(), options.threshold);
                for range in expected {
                    let covered = merged
                        .iter()
                        .any(|finding| finding.range.start <= range.start && finding.range.end >= range.end);
                    if !covered {
                        wrong.push(format!("{}: {marked}: {merged:?}", source.id));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_nearer_word_decides() {
        let text = "ИНН 7707083893, телефон 8 495 637-58-05";
        let found = found(&Options::default(), text);
        assert_eq!(
            found,
            [
                ("RU_INN".to_owned(), "7707083893"),
                ("PHONE_NUMBER".to_owned(), "8 495 637-58-05")
            ]
        );
    }

    #[test]
    fn two_values_with_a_slash() {
        for (text, expected) in [
            (
                "тел. 8-916-123-45-67/8-916-765-43-21",
                &["PHONE_NUMBER 8-916-123-45-67", "PHONE_NUMBER 8-916-765-43-21"][..],
            ),
            (
                "тел. 8 (916) 123-45-67/8 (916) 765-43-21",
                &["PHONE_NUMBER 8 (916) 123-45-67", "PHONE_NUMBER 8 (916) 765-43-21"],
            ),
            (
                "call 415-555-2671/415-555-2672",
                &["PHONE_NUMBER 415-555-2671", "PHONE_NUMBER 415-555-2672"],
            ),
            (
                "我的电话13800138000/13900139000",
                &["PHONE_NUMBER 13800138000", "PHONE_NUMBER 13900139000"],
            ),
            ("ИНН/КПП 7707083893/770701001", &["RU_INN 7707083893"]),
            ("реквизиты: 7707083893/770701001", &["RU_INN 7707083893"]),
            (
                "СНИЛС/ИНН 112-233-445 95/500100732259",
                &["RU_SNILS 112-233-445 95", "RU_INN 500100732259"],
            ),
            (
                "SSN:239-02-7946/912-70-1234",
                &["US_SSN 239-02-7946", "US_ITIN 912-70-1234"],
            ),
            ("calls pass on 502/503/504", &[]),
        ] {
            let found = found(&Options::default(), text);
            let found: Vec<String> = found
                .iter()
                .map(|(entity, value)| format!("{entity} {value}"))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn an_account_is_no_card() {
        let types = |text: &str| -> Vec<String> {
            found(&Options::default(), text)
                .into_iter()
                .map(|(entity, _)| entity)
                .collect()
        };
        assert_eq!(types("银行卡号6222021234567890123"), ["ZH_BANK_ACCOUNT"]);
        assert_eq!(types("银行卡号6200000000000005"), ["CREDIT_CARD"]);
        assert_eq!(types("р/с 40702810900000012345"), ["RU_BANK_ACCOUNT"]);
    }

    #[test]
    fn nothing_in_plain_texts() {
        for text in [
            "The recipe needs 250 grams of flour and two eggs.",
            "Order 7734-2210 contains 4 items for 129.99 in total.",
            "In 2024 the GDP grew by 3.2% to 27,720,700 million; see page 12-15, version 1.2.3.",
            "Встреча 12 марта в 15:30, бюджет 1 500 000 руб., код 404.",
            "会议持续30分钟，12项提案中的3项通过了，编号为20240115。",
            "for (let i = 0; i < 1000000; i++) total += i * 0x1f; // 123456789",
            "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "",
        ] {
            assert_eq!(found(&Options::default(), text), [], "{text}");
        }
    }

    #[test]
    fn nothing_beside_words_of_something_else() {
        for text in [
            "Документы по заказу 1234567890 готовы",
            "Номер документа 1234567890 в системе СЭД",
            "Договор №1234567890, документы",
            "Серия прошивки 1234567890",
            "Ваши права 1234567890 по закону",
            "полис 1234567890123456 КАСКО",
            "buy a 500 GB Hard Drive",
            "In 2020 Supreme Court decisions",
            "In 1999 Abbey Road was reissued",
            "Windows 11 Home Park",
            "Meet at 5 PM Central Park",
            "I have 15 GB Google Drive space",
            "On page 12 Park Street is mentioned",
            "2023 Toyota Park Way",
            "El camino de Santiago 2024",
            "La carretera A-7, 12 km",
            "площадь Ленина 300 метров",
            "The bank raised $12000000 in 2023",
            "Order 12345678 was charged to my debit card",
            "Please check my account settings for build 20240131",
            "Save 50% on savings: code 12345678",
            "MIT License Copyright 20230101",
            "We signed the license on 20240501",
            "license plate AB12345",
            "This software license key 1234567890",
            "Version 2.10.3.1 released",
            "nuget package 13.0.100.4 and 4.18.2.10",
            "kernel 5.15.0.91",
            "section 10.2.3.4 of the manual",
            "Figure 12.1.3.4",
            "версия 2.10.3.1",
            "Call the function with 1234567890 as the seed",
            "Call me about ticket 4155552671",
            "Unix time 1712345678 when phone call ended",
            "phone case 1234567 costs $10",
            "звонок длился 1234567 секунд",
            "model ST123456A",
            "order 912-70-1234",
            "Dimensions 123 45 6789 mm",
            "编号15912345678的商品",
            "价格 1380013 8000",
            "born in Berlin; invoice 12/05/2023 paid",
            "会议 2023年5月6日 出生率 1.09",
        ] {
            assert_eq!(found(&Options::default(), text), [], "{text}");
        }
    }

    #[test]
    fn addresses_are_whole() {
        for text in [
            "г Москва, ул Ленина, д 5, кв 12",
            "просп. Ленина, д.5к2",
            "ул. Ленина, 5-12",
            "1-я Тверская-Ямская ул., 10",
            "Б. Садовая ул., 10",
            "成都市武侯区人民南路四段11号附1号",
            "四川省成都市高新区天府大道北段1700号",
            "广州市体育西路101号维多利广场A座18楼",
        ] {
            assert_eq!(found(&Options::default(), text), [("STREET_ADDRESS".to_owned(), text)]);
        }
        let text = "地址：文三路 478 号 3 单元 502";
        let address = text.trim_start_matches("地址：");
        assert_eq!(
            found(&Options::default(), text),
            [("STREET_ADDRESS".to_owned(), address)]
        );
    }

    #[test]
    fn full_width_characters() {
        let text = "卡号：４１１１　１１１１　１１１１　１１１１，邮箱ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ，电话（０１０）64265344。";
        let expected = [
            ("CREDIT_CARD", "４１１１　１１１１　１１１１　１１１１"),
            ("EMAIL_ADDRESS", "ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ"),
            ("PHONE_NUMBER", "（０１０）64265344"),
        ];
        assert_eq!(
            found(&Options::default(), text),
            expected.map(|(entity, value)| (entity.to_owned(), value))
        );
        let mut options = only(&["EMAIL_ADDRESS"]);
        options.allowed.push("ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ".to_owned());
        assert_eq!(found(&options, text), []);
    }

    #[test]
    fn fields_in_snake_case() {
        let found = found(
            &Options::default(),
            "card_4111111111111111, phone_number: 020 7946 0958",
        );
        assert_eq!(
            found,
            [
                ("CREDIT_CARD".to_owned(), "4111111111111111"),
                ("PHONE_NUMBER".to_owned(), "020 7946 0958")
            ]
        );
    }

    #[test]
    fn patterns_of_the_user() {
        let mut options = only(&["EMAIL_ADDRESS"]);
        options.patterns.push(super::super::CustomPattern {
            entity: "STAFF_ID".to_owned(),
            expressions: vec![r"\bE-\d{5}\b".to_owned(), r"(?<=no )\d{4}".to_owned()],
            context: vec!["staff".to_owned()],
            score: 0.3,
            languages: Vec::new(),
        });
        assert_eq!(found(&options, "E-12345"), []);
        let text = "staff no 1234 and E-12345, a@b.org";
        let expected = [
            ("STAFF_ID", "1234"),
            ("STAFF_ID", "E-12345"),
            ("EMAIL_ADDRESS", "a@b.org"),
        ];
        assert_eq!(
            found(&options, text),
            expected.map(|(entity, value)| (entity.to_owned(), value))
        );

        options.patterns[0].expressions.push("(".to_owned());
        assert_eq!(Recognizers::new(&options).unwrap_err().path, "patterns.0.expressions.2");
        options.patterns[0].score = 1.5;
        assert_eq!(Recognizers::new(&options).unwrap_err().path, "patterns.0.score");
    }

    #[test]
    fn regions_and_allowed_values() {
        let text = "Rufen Sie an: Telefon 030/9045575";
        let mut options = only(&["PHONE_NUMBER"]);
        options.regions = Some(vec!["DE".to_owned()]);
        assert_eq!(found(&options, text), [("PHONE_NUMBER".to_owned(), "030/9045575")]);
        options.regions = Some(vec!["US".to_owned()]);
        assert_eq!(found(&options, text), []);
        options.regions = Some(vec!["US".to_owned(), "??".to_owned()]);
        assert_eq!(Recognizers::new(&options).unwrap_err().path, "regions.1");

        let mut options = only(&["EMAIL_ADDRESS"]);
        options.allowed.push("Info@Example.com".to_owned());
        let text = "info@example.com, boss@example.com";
        assert_eq!(
            found(&options, text),
            [("EMAIL_ADDRESS".to_owned(), "boss@example.com")]
        );
    }

    #[test]
    fn languages_choose_recognizers_and_words() {
        let mut options = only(&["PHONE_NUMBER_ZH"]);
        options.languages = vec!["en".to_owned()];
        assert_eq!(found(&options, "电话13011112222"), []);
        options.languages = vec!["zh".to_owned()];
        assert_eq!(
            found(&options, "电话13011112222"),
            [("PHONE_NUMBER_ZH".to_owned(), "13011112222")]
        );
        let mut options = only(&["RU_INN"]);
        options.languages = vec!["de".to_owned()];
        assert_eq!(found(&options, "ИНН 7707083893"), []);
        options.languages = vec!["ru".to_owned()];
        assert_eq!(found(&options, "ИНН 7707083893").len(), 1);
    }

    proptest! {
        #[test]
        fn any_text(text in "(?s).{0,200}", noise in r"[0-9@+().:/ \-a-zа-я№省市号,#$]{0,200}") {
            thread_local! {
                static ALL: Recognizers = Recognizers::new(&Options { threshold: 0.0, ..Options::default() }).unwrap();
            }
            for text in [text.clone(), noise.clone(), text + &noise] {
                let findings = ALL.with(|all| all.find(&text)).unwrap();
                for finding in &findings {
                    prop_assert!(text.get(finding.range.clone()).is_some_and(|value| !value.is_empty()));
                }
                let merged = merge(&text, findings, 0.0);
                for pair in merged.windows(2) {
                    prop_assert!(pair[0].range.end <= pair[1].range.start);
                }
                for finding in &merged {
                    prop_assert!(text.get(finding.range.clone()).is_some_and(|value| !value.is_empty()));
                }
            }
        }
    }
}
