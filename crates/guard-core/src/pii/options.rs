//! Options of the search for personal data.

use super::checks::phone::Phones;
use crate::rules::{RuleError, RuleErrorKind};

/// A user's pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomPattern {
    /// The recognizer in its findings.
    pub id: String,
    /// The type of its findings.
    pub entity: String,
    /// Alternative patterns in the syntax of [`crate::rules::regex`].
    pub expressions: Vec<String>,
    /// Alternative texts, which match as whole words in any case.
    pub words: Vec<String>,
    /// Context words, which add 0.35 to the score of a match near them.
    pub context: Vec<String>,
    /// The score of a match, from 0 to 1.
    pub score: f64,
    /// The languages of texts that it applies to; empty for all.
    pub languages: Vec<String>,
}

/// Which expressions a user's patterns may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatternLimits {
    /// Those of a configuration: look-around and back-references too, under a limit of time.
    #[default]
    Config,
    /// Those of a request, whose author may be unknown: linear time, and small when compiled
    /// ([`crate::rules::regex::Patterns::compile_linear`]).
    Request,
}

/// Whether a value must have a valid checksum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Not if it is directly beside its name: it may be mistyped.
    #[default]
    Lenient,
    /// Always.
    Strict,
}

/// Options of [`super::Recognizers`] and [`super::Detector`].
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Types to find; `None` for all except those that are on demand only ([`super::Source::opt_in`]). Unknown types
    /// are ignored, since a model may know them.
    pub entities: Option<Vec<String>>,
    /// Languages of the texts (ISO 639-1); empty for all. Context words are searched for in these and in English.
    pub languages: Vec<String>,
    /// Regions (ISO 3166-1) whose telephone numbers are found without `+`; `None` for the regions of the languages.
    pub regions: Option<Vec<String>>,
    /// A user's patterns, which apply whatever `entities` is.
    pub patterns: Vec<CustomPattern>,
    /// Which expressions the patterns may have.
    pub pattern_limits: PatternLimits,
    /// Values that are not personal, compared without case.
    pub allowed: Vec<String>,
    /// The least score of a finding, from 0 to 1.
    pub threshold: f64,
    /// Whether values must have a valid checksum.
    pub checksum: Checksum,
    /// Whether names of people are looked for: a model finds them, so names after closings of letters count too.
    pub names: bool,
}

impl Default for Options {
    /// All types, in all languages, with llm-guard 0.3.16's threshold of 0.5.
    fn default() -> Self {
        Self {
            entities: None,
            languages: Vec::new(),
            regions: None,
            patterns: Vec::new(),
            pattern_limits: PatternLimits::Config,
            allowed: Vec::new(),
            threshold: 0.5,
            checksum: Checksum::Lenient,
            names: false,
        }
    }
}

/// The regions of a language whose telephone numbers are written without `+`: those of most speakers.
const REGIONS: [(&str, &[&str]); 16] = [
    ("en", &["US", "GB", "IN", "AU"]),
    ("ru", &["RU", "BY"]),
    ("zh", &["CN", "TW", "HK"]),
    ("de", &["DE", "AT", "CH"]),
    ("es", &["ES", "MX", "AR", "CO"]),
    ("fr", &["FR", "BE", "CH"]),
    ("it", &["IT"]),
    ("pt", &["BR", "PT"]),
    ("nl", &["NL", "BE"]),
    ("pl", &["PL"]),
    ("tr", &["TR"]),
    ("uk", &["UA"]),
    ("ja", &["JP"]),
    ("ko", &["KR"]),
    ("sv", &["SE"]),
    ("fi", &["FI"]),
];

impl Options {
    /// Whether a recognizer for `languages` is wanted.
    pub(super) fn wants_language(&self, languages: &[String]) -> bool {
        self.languages.is_empty()
            || languages.is_empty()
            || languages.iter().any(|language| self.languages.contains(language))
    }

    /// Whether context words in `language` are searched for.
    pub(super) fn reads(&self, language: &str) -> bool {
        language == "en" || self.languages.is_empty() || self.languages.iter().any(|chosen| chosen == language)
    }

    /// The telephone numbers of the selected regions.
    ///
    /// # Errors
    ///
    /// The first unknown region.
    pub(super) fn phones(&self) -> Result<Phones, RuleError> {
        let regions = self.phone_regions();
        Phones::new(&regions)
            .map_err(|index| RuleErrorKind::UnknownRegion(regions[index].clone()).at(format!("regions.{index}")))
    }

    /// The regions whose telephone numbers are found without `+`. The default is the regions of en, ru, zh, de and es.
    pub(super) fn phone_regions(&self) -> Vec<String> {
        if let Some(regions) = &self.regions {
            return regions.clone();
        }
        let mut regions: Vec<String> = Vec::new();
        for (index, (language, of_language)) in REGIONS.iter().enumerate() {
            let is_wanted = if self.languages.is_empty() {
                index < 5
            } else {
                self.reads(language)
            };
            let new = of_language
                .iter()
                .filter(|_| is_wanted)
                .map(|&region| region.to_owned());
            for region in new {
                if !regions.contains(&region) {
                    regions.push(region);
                }
            }
        }
        regions
    }
}
