//! Recognizers of the data files, and their table.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::checks::Check;
use super::names::{LinkData, Links};
use crate::rules::RuleErrorKind;
use crate::rules::data::abbreviations::Abbreviations;
use crate::rules::data::{self, DataFile};

/// The files of all recognizers.
pub(super) const FILES: &[DataFile] = data::embedded!("pii_recognizers");

/// Words by language, in lower case; a final `*` stands for more letters.
pub type Words = BTreeMap<String, Vec<String>>;

/// The key, in place of a language, of a list that names words of `shared.toml` to add.
const SHARED_WORDS: &str = "shared";

/// The shared data of all recognizers.
const SHARED: &str = include_str!("shared.toml");

/// A finder for values that a pattern alone can't describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finder {
    /// [`crate::rules::urls`].
    Url,
    /// E-mail addresses, also with `[at]` and `[dot]`.
    Email,
    /// [`crate::rules::urls`] that are only a host name.
    Domain,
    /// Addresses with enough parts to need no context.
    Address,
    /// Addresses that need a word of context near them.
    LikelyAddress,
    /// Addresses that need a phrase of context directly before them.
    PossibleAddress,
}

/// The characters that must not touch a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// A letter or digit, or a dot, hyphen, slash or colon that connects the match to more digits. A slash between two
    /// whole numbers of at least seven digits connects nothing.
    #[default]
    Number,
    /// Like `Number`, for values with proof: a slash may be followed by a path or a date, and a hyphen by a value with
    /// dots.
    Proven,
    /// Like `Number`, for dates: the Russian word for the year may follow directly.
    Date,
    /// A letter or digit.
    Word,
    /// A letter before the match, except Chinese; anything may follow it.
    Start,
}

/// A recognizer in a file of `recognizers/`.
///
/// In `pattern`, a name in braces stands for an abbreviation of `shared.toml`, and `\d` means ASCII digits. A pattern
/// is tried at every start of a word, a number or one of `+([#$:`, so it needs no boundaries. Names in braces work in
/// `before` and `behind` too.
///
/// Scores are at least 0.8 for values that a checksum or their form proves, 0.5 to 0.8 for values that are hardly
/// anything else, and below 0.5 (the default threshold) for values that need a context word.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The type of its findings.
    pub entity: String,
    /// The unique id, in kebab-case.
    pub id: String,
    /// The standard or document that defines the format.
    pub source: String,
    /// The format, in the syntax of the `regex` crate.
    #[serde(default)]
    pub pattern: Option<String>,
    /// A pattern that must end directly before the finding, for values without a distinctive form, such as ages. It
    /// sees the last 96 bytes.
    #[serde(default)]
    pub before: Option<String>,
    /// Like `before`, for a pattern that must begin directly after the finding.
    #[serde(default)]
    pub behind: Option<String>,
    /// Whether a match may have no digit. Such patterns are tried at every word.
    #[serde(default)]
    pub of_words: bool,
    /// A finder in place of a pattern.
    #[serde(default)]
    pub finder: Option<Finder>,
    /// A further condition; without it there is no finding.
    #[serde(default)]
    pub check: Option<Check>,
    /// The score without a context word nearby. Without it, the format is tried only directly after a name.
    #[serde(default)]
    pub score: f64,
    /// The score with a context word next to the finding. It falls by up to 0.1 with the distance of the word.
    #[serde(default)]
    pub context_score: Option<f64>,
    /// Context words.
    #[serde(default)]
    pub context: Words,
    /// The names of the value. A value directly after a name is a finding, with a low score if its checksum is wrong.
    /// Hyphens and underscores match spaces, accents are optional, and an English name also matches as one word. With a
    /// `score` and without `context`, names are the context words as well.
    #[serde(default)]
    pub names: Words,
    /// The format directly after a name, if it is broader than `pattern`.
    #[serde(default)]
    pub named_pattern: Option<String>,
    /// Whether the format alone is evidence of the value, without its checksum.
    #[serde(default)]
    pub form_only: bool,
    /// Whether only a word directly before the finding counts as context.
    #[serde(default)]
    pub adjacent: bool,
    /// Words that make the value after them something else: the score is at most 0.3 then, whatever the context.
    /// `version 10.1.2.3` contains no IPv4 address. Words such as "number", and other numbers joined by "and", may
    /// stand between them.
    #[serde(default)]
    pub not_after: Words,
    /// Like `not_after`, for words directly after the finding.
    #[serde(default)]
    pub not_before: Words,
    /// The languages that it applies to; empty for all.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The characters that must not touch a match.
    #[serde(default)]
    pub boundary: Boundary,
    /// Whether it is used only if its type is requested by name.
    #[serde(default)]
    pub opt_in: bool,
    /// Texts with marked matches ([`crate::rules::data::examples`]), in the first of the languages.
    pub matches: Vec<String>,
    /// Texts without matches.
    pub misses: Vec<String>,
}

impl Source {
    /// Whether the format is tried everywhere, not only after a name.
    pub(super) fn is_tried_everywhere(&self) -> bool {
        self.score > 0.0 || !self.context.is_empty()
    }

    /// The format directly after a name.
    pub(super) fn pattern_after_name(&self) -> Option<&String> {
        let has_names = !self.names.is_empty();
        self.named_pattern
            .as_ref()
            .or(self.pattern.as_ref())
            .filter(|_| has_names)
    }
}

/// A file of `recognizers/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    recognizer: Vec<Source>,
}

/// The content of `shared.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedData {
    /// All types in the order of priority.
    priority: Vec<String>,
    /// Compounds that contain context words, but are none.
    compounds: Vec<String>,
    /// Words between names and values.
    links: LinkData,
    /// Named parts of patterns.
    abbreviations: Abbreviations,
    /// Words that several recognizers have, by name and language.
    words: BTreeMap<String, Words>,
}

impl SharedData {
    /// Adds the words that a list names under [`SHARED_WORDS`].
    fn add_words(&self, list: &mut Words) -> Result<(), RuleErrorKind> {
        for name in list.remove(SHARED_WORDS).unwrap_or_default() {
            let Some(words) = self.words.get(&name) else {
                return Err(RuleErrorKind::UnknownWords(name));
            };
            for (language, words) in words {
                list.entry(language.clone()).or_default().extend_from_slice(words);
            }
        }
        Ok(())
    }
}

/// The parsed embedded recognizers.
struct Table {
    sources: Vec<Arc<Source>>,
    compounds: Vec<String>,
    links: Arc<Links>,
}

/// Parses the recognizers of a file, adds the shared words that they name, and replaces the abbreviations in their
/// patterns.
pub(super) fn read(file: &str, toml: &str, shared: &SharedData) -> Result<Vec<Source>, RuleErrorKind> {
    let mut sources = data::parse::<File>(file, toml)?.recognizer;
    for source in &mut sources {
        let id = &source.id;
        for list in [
            &mut source.context,
            &mut source.names,
            &mut source.not_after,
            &mut source.not_before,
        ] {
            shared.add_words(list).map_err(|cause| cause.of_rule(id))?;
        }
        for pattern in [
            &mut source.pattern,
            &mut source.named_pattern,
            &mut source.before,
            &mut source.behind,
        ] {
            if let Some(written) = pattern {
                let expanded = shared
                    .abbreviations
                    .expand(written)
                    .map_err(|cause| cause.of_rule(id))?;
                *pattern = Some(expanded.replace(r"\d", "[0-9]"));
            }
        }
    }
    Ok(sources)
}

pub(super) fn shared_data() -> Result<SharedData, RuleErrorKind> {
    data::parse("shared.toml", SHARED)
}

fn table() -> Result<&'static Table, RuleErrorKind> {
    static TABLE: LazyLock<Result<Table, RuleErrorKind>> = LazyLock::new(|| {
        let shared = shared_data()?;
        let ranks: HashMap<&str, usize> = shared
            .priority
            .iter()
            .enumerate()
            .map(|(rank, entity)| (&**entity, rank))
            .collect();
        let mut ids = HashSet::new();
        let mut ranked: Vec<(usize, Source)> = Vec::new();
        for (file, toml) in FILES {
            for source in read(file, toml, &shared)? {
                let rank = ranks.get(&*source.entity).copied();
                let unranked = || RuleErrorKind::NoPriority(source.entity.clone()).of_rule(&source.id);
                let rank = rank.ok_or_else(unranked)?;
                if !ids.insert(source.id.clone()) {
                    return Err(RuleErrorKind::DuplicateId(source.id));
                }
                ranked.push((rank, source));
            }
        }
        // Recognizers of one type stay in the order of their files.
        ranked.sort_by_key(|(rank, _)| *rank);
        let sources = ranked.into_iter().map(|(_, source)| Arc::new(source)).collect();
        Ok(Table {
            sources,
            links: Arc::new(Links::new(&shared.links)),
            compounds: shared.compounds,
        })
    });
    TABLE.as_ref().map_err(Clone::clone)
}

/// Returns the embedded recognizers by the priority of their types: of two otherwise equal findings, the type that
/// comes first wins ([`super::merge`]).
///
/// ```
/// let sources = guard_core::pii::sources()?;
/// let card = sources.iter().find(|source| source.id == "credit-card").unwrap();
/// assert_eq!(card.entity, "CREDIT_CARD");
/// assert_eq!(card.matches[0], "{{4111111111111111}}");
/// # Ok::<(), guard_core::rules::RuleErrorKind>(())
/// ```
///
/// # Errors
///
/// An error in the data files.
pub fn sources() -> Result<&'static [Arc<Source>], RuleErrorKind> {
    table().map(|table| &*table.sources)
}

/// Model types that are on demand only, as in llm-guard 0.3.16: most texts contain names of towns, companies and
/// peoples, and few of these identify a person.
const OF_MODELS_ON_DEMAND: [&str; 3] = ["LOCATION", "NRP", "ORGANIZATION"];

/// Returns the types that are found only if requested by name: those with only [on-demand](Source::opt_in) recognizers,
/// and model types that rarely identify a person by themselves.
///
/// ```
/// let on_demand = guard_core::pii::on_demand()?;
/// assert!(on_demand.contains("LOCATION") && on_demand.contains("URL") && !on_demand.contains("PERSON"));
/// # Ok::<(), guard_core::rules::RuleErrorKind>(())
/// ```
///
/// # Errors
///
/// An error in the data files.
pub fn on_demand() -> Result<BTreeSet<&'static str>, RuleErrorKind> {
    let of = |opt_in: bool| -> Result<BTreeSet<&'static str>, RuleErrorKind> {
        let sources = sources()?.iter().filter(|source| source.opt_in == opt_in);
        Ok(sources.map(|source| &*source.entity).collect())
    };
    let mut on_demand = &of(true)? - &of(false)?;
    on_demand.extend(OF_MODELS_ON_DEMAND);
    Ok(on_demand)
}

/// All types in the order of priority.
#[cfg(test)]
pub(super) fn priority() -> Result<Vec<String>, RuleErrorKind> {
    shared_data().map(|shared| shared.priority)
}

/// Returns the lower-case compounds that contain context words, but are none.
///
/// # Errors
///
/// An error in the data files.
pub(super) fn compounds() -> Result<&'static [String], RuleErrorKind> {
    table().map(|table| &*table.compounds)
}

/// Returns the words between names and values.
///
/// # Errors
///
/// An error in the data files.
pub(super) fn links() -> Result<Arc<Links>, RuleErrorKind> {
    table().map(|table| Arc::clone(&table.links))
}
