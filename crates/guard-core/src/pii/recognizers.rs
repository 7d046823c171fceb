//! Compiled recognizers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::adjacent_patterns::AdjacentPatterns;
use super::character_width::canonical_form;
use super::checks::Check;
use super::checks::phone::Phones;
use super::context::Vocabulary;
use super::names::Names;
use super::options::{Checksum, CustomPattern, Options, PatternLimits};
use super::prefixes::Prefixes;
use super::recognizer::{Finder, Source, compounds, links, sources};
use crate::rules::regex::Patterns;
use crate::rules::substrings::{MatchType, Substrings, SubstringsError};
use crate::rules::{RuleError, RuleErrorKind};

/// A recognizer in use.
#[derive(Debug)]
pub(super) struct Recognizer {
    pub source: Arc<Source>,
    pub entity: Arc<str>,
    pub id: Arc<str>,
    pub adjacent: AdjacentPatterns,
}

impl Recognizer {
    /// Whether its values have a checksum.
    pub fn has_checksum(&self) -> bool {
        self.source.check.is_some_and(Check::is_checksum)
    }
}

/// Patterns that are searched for together.
#[derive(Debug)]
pub(super) struct PatternGroup {
    pub prefixes: Arc<Prefixes>,
    /// For each pattern, the indices of its recognizers.
    pub of_pattern: Vec<Vec<usize>>,
}

impl PatternGroup {
    /// Compiles the patterns of the recognizers that are tried everywhere and have this value of [`Source::of_words`];
    /// `None` if there are none.
    fn new(recognizers: &[Recognizer], of_words: bool) -> Result<Option<Self>, RuleErrorKind> {
        let wanted = recognizers.iter().enumerate().filter(|(_, recognizer)| {
            recognizer.source.of_words == of_words && recognizer.source.is_tried_everywhere()
        });
        Self::of_patterns(
            recognizers,
            wanted.filter_map(|(index, recognizer)| Some((index, recognizer.source.pattern.clone()?))),
        )
    }

    /// Compiles the patterns that are tried after names.
    fn of_names(recognizers: &[Recognizer]) -> Result<Option<Self>, RuleErrorKind> {
        let wanted = recognizers.iter().enumerate();
        Self::of_patterns(
            recognizers,
            wanted.filter_map(|(index, recognizer)| Some((index, recognizer.source.pattern_after_name()?.clone()))),
        )
    }

    fn of_patterns(
        recognizers: &[Recognizer],
        patterns: impl Iterator<Item = (usize, String)>,
    ) -> Result<Option<Self>, RuleErrorKind> {
        let mut indices: HashMap<String, usize> = HashMap::new();
        let mut of_pattern: Vec<Vec<usize>> = Vec::new();
        let mut distinct: Vec<String> = Vec::new();
        for (recognizer, pattern) in patterns {
            let index = *indices.entry(pattern).or_insert_with_key(|pattern| {
                distinct.push(pattern.clone());
                of_pattern.push(Vec::new());
                distinct.len() - 1
            });
            of_pattern[index].push(recognizer);
        }
        if distinct.is_empty() {
            return Ok(None);
        }
        let prefixes = Prefixes::shared(&distinct).map_err(|(pattern, kind)| match pattern {
            Some(pattern) => kind.of_rule(&recognizers[of_pattern[pattern][0]].id),
            None => kind,
        })?;
        Ok(Some(Self { prefixes, of_pattern }))
    }
}

/// The patterns of the user.
#[derive(Debug)]
pub(super) struct CustomPatterns {
    pub patterns: Vec<Custom>,
    /// All expressions of all patterns.
    pub expressions: Patterns,
    /// For each expression, the index of its pattern.
    pub of_expression: Vec<usize>,
    /// All words of all patterns.
    pub words: Option<Substrings>,
    /// For each word, the index of its pattern.
    pub of_word: Vec<usize>,
}

/// A pattern of the user.
#[derive(Debug)]
pub(super) struct Custom {
    pub id: Arc<str>,
    pub entity: Arc<str>,
    pub score: f64,
    context: Vec<String>,
}

impl CustomPatterns {
    /// The patterns of `options` that apply to its languages.
    fn new(options: &Options) -> Result<Self, RuleError> {
        for (index, pattern) in options.patterns.iter().enumerate() {
            if !(0.0..=1.0).contains(&pattern.score) {
                return Err(RuleErrorKind::Score.at(format!("patterns.{index}.score")));
            }
        }
        let wanted = options.patterns.iter().enumerate();
        let wanted: Vec<_> = wanted
            .filter(|(_, pattern)| options.wants_language(&pattern.languages))
            .collect();
        let numbered = wanted.iter().enumerate().flat_map(|(own, (index, pattern))| {
            let expressions = pattern.expressions.iter().enumerate();
            expressions
                .map(move |(number, expression)| (own, format!("patterns.{index}.expressions.{number}"), expression))
        });
        let numbered: Vec<(usize, String, &String)> = numbered.collect();
        let expressions: Vec<&str> = numbered.iter().map(|(.., expression)| expression.as_str()).collect();
        let compiled = match options.pattern_limits {
            PatternLimits::Config => Patterns::compile(&expressions),
            PatternLimits::Request => Patterns::compile_linear(&expressions),
        };
        let expressions = compiled.map_err(|error| {
            let path = numbered[error.pattern()].1.clone();
            RuleErrorKind::from(error).at(path)
        })?;
        let (words, of_word) = Self::words(&wanted)?;
        let patterns = wanted.iter().map(|(_, pattern)| Custom {
            id: pattern.id.as_str().into(),
            entity: pattern.entity.as_str().into(),
            score: pattern.score,
            context: pattern.context.clone(),
        });
        Ok(Self {
            patterns: patterns.collect(),
            expressions,
            of_expression: numbered.iter().map(|(own, ..)| *own).collect(),
            words,
            of_word,
        })
    }

    /// Compiles the words of patterns. Returns for each word the index of its pattern too.
    fn words(patterns: &[(usize, &CustomPattern)]) -> Result<(Option<Substrings>, Vec<usize>), RuleError> {
        let numbered = patterns.iter().enumerate().flat_map(|(own, (index, pattern))| {
            let words = pattern.words.iter().enumerate();
            words.map(move |(number, word)| (own, format!("patterns.{index}.words.{number}"), word))
        });
        let numbered: Vec<(usize, String, &String)> = numbered.collect();
        if numbered.is_empty() {
            return Ok((None, Vec::new()));
        }
        let words: Vec<&String> = numbered.iter().map(|(.., word)| *word).collect();
        let words = Substrings::new(&words, MatchType::Word, false).map_err(|error| {
            let path = match error {
                SubstringsError::Empty { substring } => numbered[substring].1.clone(),
                SubstringsError::TooLarge(_) => "patterns".to_owned(),
            };
            RuleErrorKind::from(error).at(path)
        })?;
        Ok((Some(words), numbered.iter().map(|(own, ..)| *own).collect()))
    }
}

/// The context words of all recognizers and custom patterns; [`Recognizers::others`] explains their owners.
fn vocabulary(
    recognizers: &[Recognizer],
    custom: &CustomPatterns,
    options: &Options,
) -> Result<Vocabulary, RuleErrorKind> {
    let own_words = custom.patterns.iter().enumerate().flat_map(|(own, pattern)| {
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
    let others = recognizers.len() + custom.patterns.len();
    let other_words = recognizers.iter().enumerate().flat_map(|(index, recognizer)| {
        let lists = [&recognizer.source.not_after, &recognizer.source.not_before];
        lists.into_iter().enumerate().flat_map(move |(side, list)| {
            let languages = list.iter().filter(move |(language, _)| options.reads(language));
            languages
                .flat_map(move |(_, words)| words.iter().map(move |word| (word.as_str(), others + 2 * index + side)))
        })
    });
    // Without other context words, the names are the context.
    let is_context = |&(_, index): &(&str, usize)| {
        let source = &recognizers[index].source;
        source.context_score.is_some() && source.context.is_empty() && source.is_tried_everywhere()
    };
    let context_names = names(recognizers, options).filter(is_context);
    let words = words.chain(context_names).chain(own_words).chain(other_words);
    Vocabulary::new(words, compounds()?.iter().map(String::as_str))
}

/// The names of values, with the recognizers.
fn names<'a>(recognizers: &'a [Recognizer], options: &'a Options) -> impl Iterator<Item = (&'a str, usize)> {
    recognizers.iter().enumerate().flat_map(move |(index, recognizer)| {
        let languages = recognizer.source.names.iter();
        let languages = languages.filter(move |(language, _)| options.reads(language));
        languages.flat_map(move |(_, names)| names.iter().map(move |name| (name.as_str(), index)))
    })
}

/// Recognizers that search together.
#[derive(Debug)]
pub struct Recognizers {
    pub(super) recognizers: Vec<Recognizer>,
    /// The finders, each with the index of its recognizer.
    pub(super) finders: Vec<(usize, Finder)>,
    /// The patterns with a digit in every match.
    pub(super) with_digits: Option<PatternGroup>,
    /// The patterns that match without a digit.
    pub(super) of_words: Option<PatternGroup>,
    /// The patterns after names.
    pub(super) after_names: Option<PatternGroup>,
    pub(super) names: Names,
    /// Whether a value beside its name may have a wrong checksum.
    pub(super) is_lenient: bool,
    pub(super) custom: CustomPatterns,
    pub(super) vocabulary: Vocabulary,
    /// The first owner of negative words in the vocabulary. Context words belong to the index of their recognizer or,
    /// after those, of their custom pattern. From here on, each recognizer has two more numbers: for `not_after` and
    /// for `not_before` words.
    pub(super) others: usize,
    pub(super) phones: Phones,
    pub(super) allowed: HashSet<String>,
    pub(super) threshold: f64,
}

impl Recognizers {
    /// Compiles the recognizers that `options` select.
    ///
    /// # Errors
    ///
    /// The first invalid value, with its path in the options: `patterns.2.score`, `patterns.0.expressions.1`,
    /// `regions.0`.
    pub fn new(options: &Options) -> Result<Self, RuleError> {
        let is_wanted = |source: &Source| {
            let has_type = match &options.entities {
                Some(entities) => entities.contains(&source.entity),
                None => !source.opt_in,
            };
            has_type && !(source.form_only && options.checksum == Checksum::Strict)
        };
        let wanted = sources()?
            .iter()
            .filter(|source| is_wanted(source) && options.wants_language(&source.languages));
        Self::from_sources(wanted.cloned(), options)
    }

    /// Compiles recognizers from `sources`, with the options of the user.
    pub(super) fn from_sources(
        sources: impl Iterator<Item = Arc<Source>>,
        options: &Options,
    ) -> Result<Self, RuleError> {
        let recognizer = |source: Arc<Source>| -> Result<Recognizer, RuleErrorKind> {
            Ok(Recognizer {
                entity: source.entity.as_str().into(),
                id: source.id.as_str().into(),
                adjacent: AdjacentPatterns::from_source(&source).map_err(|kind| kind.of_rule(&source.id))?,
                source,
            })
        };
        let recognizers: Vec<Recognizer> = sources.map(recognizer).collect::<Result<_, _>>()?;
        let finders = recognizers.iter().enumerate();
        let finders = finders.filter_map(|(index, recognizer)| Some((index, recognizer.source.finder?)));
        let finders = finders.collect();
        let with_digits = PatternGroup::new(&recognizers, false)?;
        let of_words = PatternGroup::new(&recognizers, true)?;
        let after_names = PatternGroup::of_names(&recognizers)?;
        let custom = CustomPatterns::new(options)?;
        let vocabulary = vocabulary(&recognizers, &custom, options)?;
        let compounds = compounds()?.iter().map(String::as_str);
        let names = Names::new(names(&recognizers, options), compounds, links()?)?;
        Ok(Self {
            finders,
            with_digits,
            of_words,
            after_names,
            names,
            is_lenient: options.checksum == Checksum::Lenient,
            others: recognizers.len() + custom.patterns.len(),
            custom,
            vocabulary,
            phones: options.phones()?,
            allowed: options.allowed.iter().map(|value| canonical_form(value)).collect(),
            threshold: options.threshold,
            recognizers,
        })
    }
}
