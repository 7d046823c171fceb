//! Phrases that say what a text does, such as to refuse an answer.
//!
//! What is looked for is data: `refusals/` has one file a language, with phrases that are built of named parts, and texts
//! that each must match and must miss (see [`super::data::examples`]).
//!
//! ```
//! use guard_core::rules::phrases;
//!
//! let text = "I'm sorry, but I can't assist with that request.";
//! let refusals = phrases::refusals()?;
//! let found = refusals.find(text)?;
//! assert_eq!(&text[found[0].range.clone()], "I can't assist");
//! assert_eq!(found[0].phrase, "will-not");
//! assert!(refusals.find("Sorry to keep you waiting.")?.is_empty());
//! # Ok::<(), guard_core::rules::RuleError>(())
//! ```

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::data::abbreviations::Abbreviations;
use super::data::examples::{Examples, Failure};
use super::data::{self, DataFile};
use super::error::{RuleError, RuleErrorKind};
use super::regex::{MatchType, Patterns};

/// UTF-16 code units of a text that count as its beginning.
const BEGINNING: usize = 300;

/// The files of all languages.
const REFUSALS: &[DataFile] = data::embedded!("refusals");

/// A file of phrases in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The language, as in ISO 639-1.
    language: String,
    /// What is found is reported in the order of the files, the lowest first.
    order: u32,
    /// Where the phrases come from.
    source: String,
    /// Parts of patterns by name.
    #[serde(default)]
    abbreviations: Abbreviations,
    phrase: Vec<Phrase>,
}

/// A phrase as it is written in a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    /// The name, in kebab-case, which is unique in its language.
    id: String,
    /// What is found, in the syntax of [`super::regex`], in any case of the letters. A name in braces stands for the part of
    /// a pattern with that name.
    pattern: String,
    /// Whether it is looked for in the first 300 UTF-16 code units of a text only.
    #[serde(default)]
    only_at_the_beginning: bool,
    matches: Vec<String>,
    misses: Vec<String>,
}

/// A phrase in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseMatch<'a> {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The id of the phrase, which is unique in its language.
    pub phrase: &'a str,
    /// The language of the phrase, as in ISO 639-1.
    pub language: &'a str,
}

/// Phrases ready to be searched for.
#[derive(Debug)]
pub struct Phrases {
    anywhere: Group,
    beginning: Group,
}

/// Phrases that are looked for in the same part of a text.
#[derive(Debug)]
struct Group {
    /// The id and the language of each pattern.
    names: Vec<(String, String)>,
    patterns: Patterns,
}

impl Group {
    fn new(phrases: &[(&str, Phrase)]) -> Result<Self, RuleErrorKind> {
        let patterns: Vec<String> = phrases
            .iter()
            .map(|(_, phrase)| format!("(?i){}", phrase.pattern))
            .collect();
        let names = phrases
            .iter()
            .map(|(language, phrase)| (phrase.id.clone(), (*language).to_owned()));
        let patterns = Patterns::compile(&patterns).map_err(|error| {
            let id = phrases[error.pattern()].1.id.clone();
            RuleErrorKind::from(error).of_rule(&id)
        })?;
        Ok(Self {
            names: names.collect(),
            patterns,
        })
    }

    fn find(&self, text: &str) -> Result<impl Iterator<Item = PhraseMatch<'_>>, RuleErrorKind> {
        let found = self.patterns.find(text, MatchType::Search)?;
        Ok(found.into_iter().map(|found| {
            let (phrase, language) = &self.names[found.pattern];
            PhraseMatch {
                range: found.range,
                phrase,
                language,
            }
        }))
    }
}

impl Phrases {
    fn new(mut files: Vec<File>) -> Result<Self, RuleErrorKind> {
        files.sort_by_key(|file| file.order);
        let phrases = files.iter().flat_map(|file| {
            let phrases = file.phrase.iter();
            phrases.map(|phrase| (file.language.as_str(), phrase.clone()))
        });
        let (beginning, anywhere): (Vec<_>, Vec<_>) = phrases.partition(|(_, phrase)| phrase.only_at_the_beginning);
        Ok(Self {
            anywhere: Group::new(&anywhere)?,
            beginning: Group::new(&beginning)?,
        })
    }

    /// The first match of each phrase in `text`, those that are looked for everywhere first.
    ///
    /// # Errors
    ///
    /// A text in which the search takes too long, which no phrase here makes it do. It must then be treated as if it had not
    /// been looked at.
    pub fn find(&self, text: &str) -> Result<Vec<PhraseMatch<'_>>, RuleError> {
        let mut found: Vec<PhraseMatch<'_>> = self.anywhere.find(text)?.collect();
        found.extend(self.beginning.find(beginning(text))?);
        Ok(found)
    }
}

/// The first [`BEGINNING`] code units of `text`.
fn beginning(text: &str) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > BEGINNING
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The file of a language, with the names in its patterns replaced.
fn read(file: &str, toml: &str) -> Result<File, RuleErrorKind> {
    let mut file: File = data::parse(file, toml)?;
    for phrase in &mut file.phrase {
        let expanded = file.abbreviations.expand(&phrase.pattern);
        phrase.pattern = expanded.map_err(|cause| cause.of_rule(&phrase.id))?;
    }
    Ok(file)
}

/// Phrases that refuse to do what was asked for, in all languages that are known here.
///
/// # Errors
///
/// What is wrong with the data files.
pub fn refusals() -> Result<Arc<Phrases>, RuleErrorKind> {
    static PHRASES: LazyLock<Result<Arc<Phrases>, RuleErrorKind>> = LazyLock::new(|| {
        let files: Result<Vec<File>, RuleErrorKind> = REFUSALS.iter().map(|(file, toml)| read(file, toml)).collect();
        Phrases::new(files?).map(Arc::new)
    });
    PHRASES.clone()
}

/// Checks the phrases of a file that is written like those of `refusals/`, each by itself, against its own examples.
///
/// # Errors
///
/// Why the file is no list of phrases.
pub fn check_examples(file: &str, toml: &str) -> Result<Vec<Failure>, RuleErrorKind> {
    let File {
        language,
        source,
        phrase,
        ..
    } = read(file, toml)?;
    let fail = |id: &str, problem: &str| Failure {
        rule: id.to_owned(),
        example: String::new(),
        problem: problem.to_owned(),
    };
    let mut failures = Vec::new();
    failures.extend((source.len() < 5).then(|| fail(file, "a file of phrases needs a source")));
    failures.extend((language.len() != 2).then(|| fail(file, "expected a language as in ISO 639-1")));
    for phrase in phrase {
        let group = match Group::new(&[(&language, phrase.clone())]) {
            Ok(group) => group,
            Err(problem) => {
                failures.push(fail(&phrase.id, &problem.to_string()));
                continue;
            }
        };
        let examples = Examples {
            id: &phrase.id,
            matches: &phrase.matches,
            misses: &phrase.misses,
        };
        failures.extend(examples.check(|text| Ok(group.find(text)?.map(|found| found.range).collect())));
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_phrase_finds_its_examples_and_nothing_else() {
        for (file, toml) in REFUSALS {
            assert_eq!(check_examples(file, toml).unwrap(), [], "{file}");
        }
    }

    #[test]
    fn languages_are_in_order() {
        let files: Vec<File> = REFUSALS.iter().map(|(file, toml)| read(file, toml).unwrap()).collect();
        let orders: HashSet<u32> = files.iter().map(|file| file.order).collect();
        let languages: HashSet<&str> = files.iter().map(|file| file.language.as_str()).collect();
        assert_eq!((orders.len(), languages.len()), (files.len(), files.len()));
        let refusals = refusals().unwrap();
        let found = refusals
            .find("Lo siento, no puedo. I cannot help. 我无法回答。")
            .unwrap();
        let languages: Vec<&str> = found.iter().map(|found| found.language).collect();
        assert_eq!(languages, ["en", "zh", "es"]);
    }

    #[test]
    fn ordinary_answers_are_no_refusals() {
        for (_, toml) in REFUSALS {
            for phrase in read("", toml).unwrap().phrase {
                for text in phrase.misses {
                    assert_eq!(refusals().unwrap().find(&text).unwrap(), [], "{text}");
                }
            }
        }
    }

    #[test]
    fn some_phrases_count_at_the_beginning_only() {
        let found = |text: &str| refusals().unwrap().find(text).unwrap().len();
        let phrase = "Hacking is illegal and unethical.";
        assert_eq!(
            (found(phrase), found(&format!("{}{phrase}", "Well. ".repeat(60)))),
            (1, 0)
        );
        let emoji = "😀".repeat(135);
        assert_eq!(
            (
                found(&format!("{}{phrase}", &emoji[4..])),
                found(&format!("{emoji}{phrase}"))
            ),
            (1, 0)
        );
    }
}
