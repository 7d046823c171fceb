//! Personal data in texts.

use std::sync::{Arc, OnceLock};

use guard_core::pii::{self, CustomPattern, Detector, Finding, Lookalikes, Options, PiiError};
use guard_core::rules::placeholders::{self, Matching};
use guard_core::text::offsets::{self, Unit};
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::error;
use crate::off_thread::OffThread;
use crate::places::{Span, spans};
use crate::rules::RuleMatch;

/// A pattern of a user.
#[napi(object)]
pub struct PiiPattern {
    pub entity: String,
    pub expressions: Vec<String>,
    pub context: Vec<String>,
    pub score: f64,
    pub languages: Vec<String>,
}

/// What is looked for.
#[napi(object)]
pub struct PiiOptions {
    /// Absent: all types but those that are looked for on demand.
    pub entities: Option<Vec<String>>,
    /// None for all.
    pub languages: Vec<String>,
    pub patterns: Vec<PiiPattern>,
    pub hidden: Vec<String>,
    pub allowed: Vec<String>,
    pub threshold: f64,
}

/// Something personal in a text.
#[napi(object)]
pub struct PiiFinding {
    pub start: u32,
    pub end: u32,
    pub entity: String,
    pub score: f64,
    /// The id of what found it.
    pub recognizer: String,
}

/// A number that a placeholder in a text has.
#[napi(object)]
pub struct PlaceholderNumber {
    pub entity: String,
    pub number: u32,
}

/// What is personal in a text.
#[napi(object)]
pub struct PiiScan {
    /// In order, without overlaps.
    pub findings: Vec<PiiFinding>,
    /// The highest score of anything found, before findings were merged.
    pub highest: f64,
    /// Where placeholders of the vault stand; `rule` is the index of the placeholder.
    pub known: Vec<RuleMatch>,
    /// Numbers of what looks like a placeholder, whoever wrote it.
    pub numbers: Vec<PlaceholderNumber>,
}

/// The path of the value at fault stands between code and message: `GUARD_VALIDATION|patterns.2.score|...`.
fn pii_error(code: &str, PiiError { path, message }: PiiError) -> napi::Error {
    error(code, format_args!("{path}|{message}"))
}

/// Looks for personal data.
#[napi]
pub struct PersonalData {
    detector: Arc<Detector>,
    options: Options,
    lookalikes: OnceLock<Lookalikes>,
}

#[napi]
impl PersonalData {
    #[napi(constructor)]
    pub fn new(options: PiiOptions) -> Result<Self> {
        let patterns = options.patterns.into_iter().map(|pattern| CustomPattern {
            entity: pattern.entity,
            expressions: pattern.expressions,
            context: pattern.context,
            score: pattern.score,
            languages: pattern.languages,
        });
        let hidden = options.hidden;
        let options = Options {
            entities: options.entities,
            languages: options.languages,
            regions: None,
            patterns: patterns.collect(),
            allowed: options.allowed,
            threshold: options.threshold,
        };
        let detector = Detector::new(&options, &hidden).map_err(|cause| pii_error("GUARD_VALIDATION", cause))?;
        Ok(Self {
            detector: Arc::new(detector),
            options,
            lookalikes: OnceLock::new(),
        })
    }

    /// Finds what is personal, together with what others found, but nothing in `placeholders`.
    #[napi]
    pub fn find(&self, text: String, others: Vec<PiiFinding>, placeholders: Vec<String>) -> Result<PiiScan> {
        find(&self.detector, &text, others, &placeholders)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<PiiScan>")]
    pub fn find_long(
        &self,
        text: String,
        others: Vec<PiiFinding>,
        placeholders: Vec<String>,
    ) -> AsyncTask<OffThread<PiiScan>> {
        let detector = Arc::clone(&self.detector);
        OffThread::new(move || find(&detector, &text, others, &placeholders))
    }

    /// Another value of the form in which a recognizer found this one; null where there is none.
    #[napi]
    pub fn lookalike(&self, recognizer: String, value: String, seed: f64) -> Result<Option<String>> {
        let lookalikes = match self.lookalikes.get() {
            Some(lookalikes) => lookalikes,
            None => {
                let made = Lookalikes::new(&self.options).map_err(|cause| pii_error("GUARD_VALIDATION", cause))?;
                self.lookalikes.get_or_init(|| made)
            }
        };
        Ok(lookalikes.of(&recognizer, &value, seed.to_bits()))
    }
}

fn find(detector: &Detector, text: &str, others: Vec<PiiFinding>, vault: &[String]) -> Result<PiiScan> {
    let known = placeholders::find(text, vault, Matching::Exact)
        .map_err(|cause| error("GUARD_VALIDATION", cause))?
        .found;
    let places: Vec<_> = known.iter().map(|found| found.range.clone()).collect();
    let detection = detector
        .find(text, in_bytes(text, others), &places)
        .map_err(|cause| pii_error("GUARD_PATTERN", cause))?;
    let findings = detection.findings;
    let findings = spans(text, findings.iter().map(|finding| finding.range.clone()))
        .into_iter()
        .zip(findings)
        .map(|(Span { start, end }, finding)| PiiFinding {
            start,
            end,
            entity: finding.entity.to_string(),
            score: finding.score,
            recognizer: finding.recognizer.to_string(),
        });
    let known = spans(text, places)
        .into_iter()
        .zip(known)
        .map(|(Span { start, end }, found)| RuleMatch {
            start,
            end,
            rule: found.placeholder as u32,
            view: None,
        });
    let numbers = pii::numbers(text).into_iter();
    Ok(PiiScan {
        findings: findings.collect(),
        highest: detection.highest,
        known: known.collect(),
        numbers: numbers
            .map(|(entity, number)| PlaceholderNumber { entity, number })
            .collect(),
    })
}

fn in_bytes(text: &str, findings: Vec<PiiFinding>) -> Vec<Finding> {
    let mut bytes: Vec<usize> = findings
        .iter()
        .flat_map(|finding| [finding.start as usize, finding.end as usize])
        .collect();
    offsets::convert_back(text, Unit::Utf16, &mut bytes);
    let finding = |(finding, range): (PiiFinding, &[usize])| Finding {
        range: range[0]..range[1],
        entity: finding.entity.into(),
        score: finding.score,
        recognizer: finding.recognizer.into(),
    };
    findings.into_iter().zip(bytes.chunks_exact(2)).map(finding).collect()
}

/// The types that are found without a model or a pattern of the user, each once.
#[napi]
pub fn pii_entities() -> Result<Vec<String>> {
    let sources = pii::sources().map_err(|message| error("GUARD_RUNTIME", message))?;
    let mut entities: Vec<String> = sources.iter().map(|source| source.entity.clone()).collect();
    entities.sort_unstable();
    entities.dedup();
    Ok(entities)
}

/// The type of hidden names.
#[napi]
pub fn hidden_entity() -> &'static str {
    pii::HIDDEN
}
