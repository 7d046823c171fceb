//! What a user wants to be found.

use super::checks::phone::Phones;
use crate::rules::{RuleError, RuleErrorKind};

/// A pattern of a user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomPattern {
    /// The type of what it finds, which is also its name.
    pub entity: String,
    /// Patterns in the syntax of [`crate::rules::regex`], of which any may match.
    pub expressions: Vec<String>,
    /// Words that, near to a match, add 0.35 to its score.
    pub context: Vec<String>,
    /// The score of a match, from 0 to 1.
    pub score: f64,
    /// Languages that it applies to; none for all.
    pub languages: Vec<String>,
}

/// What is to be found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Types to look for; `None` for all but those that are looked for on demand only ([`super::Source::opt_in`]). Types that
    /// no recognizer knows are ignored, since a model may know them.
    pub entities: Option<Vec<String>>,
    /// Languages of the texts, as in ISO 639-1; none for all. Words of context are looked for in these and in English.
    pub languages: Vec<String>,
    /// Regions, as in ISO 3166-1, whose telephone numbers are found without `+`; `None` for those of the languages.
    pub regions: Option<Vec<String>>,
    /// Patterns of the user; they are looked for whatever `entities` says.
    pub patterns: Vec<CustomPattern>,
    /// Values that are not personal, in any case of their letters.
    pub allowed: Vec<String>,
    /// The least score of a finding, from 0 to 1.
    pub threshold: f64,
}

impl Default for Options {
    /// Everything, in all languages, with the threshold of llm-guard 0.3.16, which is 0.5.
    fn default() -> Self {
        Self {
            entities: None,
            languages: Vec::new(),
            regions: None,
            patterns: Vec::new(),
            allowed: Vec::new(),
            threshold: 0.5,
        }
    }
}

/// The regions whose telephone numbers people write in a language, without `+`: where most of its speakers live.
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
    /// Whether something for `languages` is wanted.
    pub(super) fn wants_language(&self, languages: &[String]) -> bool {
        self.languages.is_empty()
            || languages.is_empty()
            || languages.iter().any(|language| self.languages.contains(language))
    }

    /// Whether words of context in `language` are looked for.
    pub(super) fn reads(&self, language: &str) -> bool {
        language == "en" || self.languages.is_empty() || self.languages.iter().any(|chosen| chosen == language)
    }

    /// Numbers of telephones in those regions.
    ///
    /// # Errors
    ///
    /// The first region that is not known.
    pub(super) fn phones(&self) -> Result<Phones, RuleError> {
        let regions = self.phone_regions();
        Phones::new(&regions)
            .map_err(|index| RuleErrorKind::UnknownRegion(regions[index].clone()).at(format!("regions.{index}")))
    }

    /// The regions whose telephone numbers are found without `+`. Without languages, those of the five with most speakers on
    /// the web that this project serves first: en, ru, zh, de, es.
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
