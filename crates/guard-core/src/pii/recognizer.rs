//! One recognizer as it is written, and the table of all of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::checks::Check;

/// The embedded table.
const TABLE: &str = include_str!("recognizers.toml");

/// What finds things that a pattern alone does not describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finder {
    /// [`crate::rules::urls`].
    Url,
    /// Addresses of e-mail, also written with `[at]` and `[dot]`.
    Email,
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

/// A recognizer as it is written in `recognizers.toml`.
///
/// In `pattern`, a name in braces stands for the abbreviation of the table with that name, and `\d` means ASCII digits. It is
/// matched at every place where a word, a number or one of `+([#$:` begins, so it needs no boundaries.
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
    /// What finds it in place of a pattern.
    #[serde(default)]
    pub finder: Option<Finder>,
    /// What else must hold; otherwise there is no finding at all.
    #[serde(default)]
    pub check: Option<Check>,
    /// The score where no word of the context is near.
    pub score: f64,
    /// The score where one is, at most; up to 0.1 less the farther away it is.
    #[serde(default)]
    pub context_score: Option<f64>,
    /// Words of the context by language, in lower case; `*` at the end stands for more letters.
    #[serde(default)]
    pub context: BTreeMap<String, Vec<String>>,
    /// Whether only a word directly before the finding counts as context.
    #[serde(default)]
    pub adjacent: bool,
    /// Words by language, as in `context`, that make what stands directly behind them something else: the score is 0.3 at most
    /// then, whatever the context. Words such as "number" may stand between, and others of its kind with "and".
    #[serde(default)]
    pub not_after: BTreeMap<String, Vec<String>>,
    /// The same for words that stand directly behind the finding.
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
    /// Texts with what must be found in double braces, in the first of the languages.
    pub matches: Vec<String>,
    /// Texts in which it must find nothing.
    #[serde(default)]
    pub misses: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Words in which nothing of what they contain is a word of context.
    compounds: Vec<String>,
    /// Parts of patterns by name, which may contain names themselves.
    abbreviations: BTreeMap<String, String>,
    recognizer: Vec<Source>,
}

static READ: LazyLock<Result<Table, String>> = LazyLock::new(|| {
    let mut table: Table = toml::from_str(TABLE).map_err(|error: toml::de::Error| error.to_string())?;
    for pattern in table.recognizer.iter_mut().filter_map(|source| source.pattern.as_mut()) {
        // Abbreviations are nested by three at most.
        for _ in 0..3 {
            for (name, meaning) in &table.abbreviations {
                *pattern = pattern.replace(&format!("{{{name}}}"), &format!("(?:{meaning})"));
            }
        }
        *pattern = pattern.replace(r"\d", "[0-9]");
    }
    Ok(table)
});

/// The embedded recognizers. Their order is that of their types: of two findings alike in all else, the type that
/// comes first wins.
///
/// # Errors
///
/// What is wrong with the embedded table.
pub fn sources() -> Result<&'static [Source], String> {
    READ.as_ref().map(|table| &*table.recognizer).map_err(Clone::clone)
}

/// Words of which no part is a word of context, in lower case.
///
/// # Errors
///
/// What is wrong with the embedded table.
pub(super) fn compounds() -> Result<&'static [String], String> {
    READ.as_ref().map(|table| &*table.compounds).map_err(Clone::clone)
}
