//! Recognizers as they are written in data files, and the table of all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::checks::Check;
use crate::rules::RuleErrorKind;
use crate::rules::data::abbreviations::Abbreviations;
use crate::rules::data::{self, DataFile};

/// The files of all recognizers.
pub(super) const FILES: &[DataFile] = data::embedded!("pii_recognizers");
/// What all recognizers share.
const SHARED: &str = include_str!("shared.toml");

/// What finds things that a pattern alone does not describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finder {
    /// [`crate::rules::urls`].
    Url,
    /// Addresses of e-mail, also written with `[at]` and `[dot]`.
    Email,
    /// [`crate::rules::urls`] that are nothing but the name of a host.
    Domain,
}

/// What must not stand beside a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// A letter or digit, or a dot, hyphen, slash or colon that connects the match to further digits. A slash between two whole
    /// numbers, of seven digits at least, connects nothing.
    #[default]
    Number,
    /// As `Number`, for values that prove themselves: a path or a date may stand behind a slash, and a value with dots behind a hyphen.
    Proven,
    /// As `Number`, for dates: the Russian word for the year may stand directly behind.
    Date,
    /// A letter or digit.
    Word,
    /// Before the match, a letter that is not Chinese; after it, anything may stand.
    Start,
}

/// A recognizer as it is written in a file of `recognizers/`.
///
/// In `pattern`, a name in braces stands for the abbreviation of `shared.toml` with that name, and `\d` means ASCII digits. A
/// pattern is tried at every position where a word, a number or one of `+([#$:` begins, so it needs no boundaries. The same goes
/// for names in `before` and `behind`.
///
/// Scores are 0.8 and more for what a checksum or its form proves; 0.5 to 0.8 for what is hardly anything else; and below 0.5,
/// and so below the default threshold, for what needs a word of context.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The type of what is found.
    pub entity: String,
    /// The unique name, in kebab-case.
    pub id: String,
    /// The standard or the document that defines the form.
    pub source: String,
    /// The form, in the syntax of the `regex` crate.
    #[serde(default)]
    pub pattern: Option<String>,
    /// What must end directly before the finding, in the same syntax: for values whose form says nothing, such as ages. Only the
    /// last 96 bytes are looked at.
    #[serde(default)]
    pub before: Option<String>,
    /// As `before`, for what must begin directly behind the finding.
    #[serde(default)]
    pub behind: Option<String>,
    /// Whether a match may have no digit. Such patterns are tried at every word.
    #[serde(default)]
    pub of_words: bool,
    /// What finds it instead of a pattern.
    #[serde(default)]
    pub finder: Option<Finder>,
    /// What else must hold; otherwise there is no finding at all.
    #[serde(default)]
    pub check: Option<Check>,
    /// The score where no word of the context is near.
    pub score: f64,
    /// The score where a word of the context is beside the finding; the farther away the word is, the lower the score, by up to
    /// 0.1.
    #[serde(default)]
    pub context_score: Option<f64>,
    /// Words of the context by language, in lower case; `*` at the end stands for more letters.
    #[serde(default)]
    pub context: BTreeMap<String, Vec<String>>,
    /// Whether only a word directly before the finding counts as context.
    #[serde(default)]
    pub adjacent: bool,
    /// Words by language, as in `context`, that make what stands directly behind them something else: the score is 0.3 at most
    /// then, whatever the context: no address of IPv4 in `version 10.1.2.3`. Words such as "number" may stand between them, and
    /// so may other numbers joined by "and".
    #[serde(default)]
    pub not_after: BTreeMap<String, Vec<String>>,
    /// As `not_after`, for words that stand directly behind the finding.
    #[serde(default)]
    pub not_before: BTreeMap<String, Vec<String>>,
    /// The languages that it applies to; none for all.
    #[serde(default)]
    pub languages: Vec<String>,
    /// What must not stand beside a match.
    #[serde(default)]
    pub boundary: Boundary,
    /// Whether it is used only where its type is asked for by name.
    #[serde(default)]
    pub opt_in: bool,
    /// Texts with all that must be found, in double braces ([`crate::rules::data::examples`]), in the first of the languages.
    pub matches: Vec<String>,
    /// Texts in which it must find nothing.
    pub misses: Vec<String>,
}

/// A file of `recognizers/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    recognizer: Vec<Source>,
}

/// What all recognizers share, as it is written in `shared.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shared {
    /// All types, those with priority first.
    priority: Vec<String>,
    /// Words that contain words of context, but do not count as such.
    compounds: Vec<String>,
    /// Parts of patterns by name.
    pub abbreviations: Abbreviations,
}

/// The embedded recognizers, ready to be compiled.
struct Table {
    sources: Vec<Arc<Source>>,
    compounds: Vec<String>,
}

/// The recognizers of a file, with the abbreviations in their patterns replaced.
pub(super) fn read(file: &str, toml: &str, abbreviations: &Abbreviations) -> Result<Vec<Source>, RuleErrorKind> {
    let mut sources = data::parse::<File>(file, toml)?.recognizer;
    for source in &mut sources {
        let id = &source.id;
        for pattern in [&mut source.pattern, &mut source.before, &mut source.behind] {
            if let Some(written) = pattern {
                let expanded = abbreviations.expand(written).map_err(|cause| cause.of_rule(id))?;
                *pattern = Some(expanded.replace(r"\d", "[0-9]"));
            }
        }
    }
    Ok(sources)
}

pub(super) fn shared() -> Result<Shared, RuleErrorKind> {
    data::parse("shared.toml", SHARED)
}

fn table() -> Result<&'static Table, RuleErrorKind> {
    static TABLE: LazyLock<Result<Table, RuleErrorKind>> = LazyLock::new(|| {
        let Shared {
            priority,
            compounds,
            abbreviations,
        } = shared()?;
        let ranks: HashMap<&str, usize> = priority
            .iter()
            .enumerate()
            .map(|(rank, entity)| (&**entity, rank))
            .collect();
        let mut ids = HashSet::new();
        let mut ranked: Vec<(usize, Source)> = Vec::new();
        for (file, toml) in FILES {
            for source in read(file, toml, &abbreviations)? {
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
        Ok(Table { sources, compounds })
    });
    TABLE.as_ref().map_err(Clone::clone)
}

/// The embedded recognizers, in the priority of their types: of two findings alike in all else, the type that comes first
/// wins ([`super::merge`]).
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
/// What is wrong with the data files.
pub fn sources() -> Result<&'static [Arc<Source>], RuleErrorKind> {
    table().map(|table| &*table.sources)
}

/// Types that models find, and that are looked for on demand only, as in llm-guard 0.3.16: the names of towns, companies and
/// peoples stand in most texts, and few say who somebody is.
const OF_MODELS_ON_DEMAND: [&str; 3] = ["LOCATION", "NRP", "ORGANIZATION"];

/// The types that are looked for only where they are asked for by name: those of which every recognizer is
/// [on demand](Source::opt_in), and those of models that say who somebody is only together with more.
///
/// ```
/// let on_demand = guard_core::pii::on_demand()?;
/// assert!(on_demand.contains("LOCATION") && on_demand.contains("URL") && !on_demand.contains("PERSON"));
/// # Ok::<(), guard_core::rules::RuleErrorKind>(())
/// ```
///
/// # Errors
///
/// What is wrong with the data files.
pub fn on_demand() -> Result<BTreeSet<&'static str>, RuleErrorKind> {
    let of = |opt_in: bool| -> Result<BTreeSet<&'static str>, RuleErrorKind> {
        let sources = sources()?.iter().filter(|source| source.opt_in == opt_in);
        Ok(sources.map(|source| &*source.entity).collect())
    };
    let mut on_demand = &of(true)? - &of(false)?;
    on_demand.extend(OF_MODELS_ON_DEMAND);
    Ok(on_demand)
}

/// All types in the order of their priority.
#[cfg(test)]
pub(super) fn priority() -> Result<Vec<String>, RuleErrorKind> {
    shared().map(|shared| shared.priority)
}

/// Words that contain words of context, but do not count as such; in lower case.
///
/// # Errors
///
/// What is wrong with the data files.
pub(super) fn compounds() -> Result<&'static [String], RuleErrorKind> {
    table().map(|table| &*table.compounds)
}
