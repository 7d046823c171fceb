//! Personal data in texts.

use std::sync::{Arc, OnceLock};

use guard_core::pii::{self, CustomPattern, Detector, Finding, Lookalikes, Options};
use guard_core::rules::placeholders::{self, Matching};
use napi::bindgen_prelude::Float64Array;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_with};
use crate::error::{Failure, at_once};
use crate::js_text::with_text;
use crate::spans::{Names, Rows, Span, byte_ranges, has_rows, rows};

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

/// What is personal in a text. Names are the types and the ids of what found something, each once.
#[napi(object)]
pub struct PiiScan {
    /// In order, without overlaps: the start and the end of each, its score, and the indices of the names of its type and of what
    /// found it.
    pub findings: Rows,
    /// The highest score of anything found, before findings were merged.
    pub highest: f64,
    /// Where placeholders of the vault stand: the start and the end of each.
    pub known: Rows,
    /// Numbers of what looks like a placeholder, whoever wrote it: the index of the name of its type, and the number.
    pub numbers: Float64Array,
    pub names: Vec<String>,
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
    pub fn new(env: &Env, options: PiiOptions) -> Result<Self> {
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
        at_once(env, || {
            Ok(Self {
                detector: Arc::new(Detector::new(&options, &hidden)?),
                options,
                lookalikes: OnceLock::new(),
            })
        })
    }

    /// Finds what is personal, together with what others found, but nothing in `placeholders`.
    #[napi]
    pub fn find<'env>(
        &self,
        text: JsString<'env>,
        others: Vec<PiiFinding>,
        placeholders: Vec<String>,
    ) -> Result<Answer<'env, PiiScan>> {
        on_text_with(&self.detector, Cost(300), text, move |detector, text| {
            find(detector, text, others, &placeholders)
        })
    }

    /// Whether there is anything personal in an example, which is looked at at once whatever its length.
    #[napi]
    pub fn finds(&self, env: &Env, example: JsString<'_>) -> Result<bool> {
        with_text(&example, |example| {
            at_once(env, || {
                Ok(has_rows(&find(&self.detector, example, Vec::new(), &[])?.findings))
            })
        })?
    }

    /// Another value of the form in which a recognizer found this one; null where there is none.
    #[napi]
    pub fn lookalike(&self, env: &Env, recognizer: String, value: String, seed: f64) -> Result<Option<String>> {
        at_once(env, || {
            let lookalikes = match self.lookalikes.get() {
                Some(lookalikes) => lookalikes,
                None => {
                    let made = Lookalikes::new(&self.options)?;
                    self.lookalikes.get_or_init(|| made)
                }
            };
            Ok(lookalikes.of(&recognizer, &value, seed.to_bits()))
        })
    }
}

fn find(
    detector: &Detector,
    text: &str,
    others: Vec<PiiFinding>,
    vault: &[String],
) -> std::result::Result<PiiScan, Failure> {
    let known = placeholders::find(text, vault, Matching::Exact)?.found;
    let ranges: Vec<_> = known.iter().map(|found| found.range.clone()).collect();
    let detection = detector
        .find(text, in_bytes(text, others), &ranges)
        .map_err(Failure::in_search)?;
    let mut names = Names::default();
    let findings = rows(
        text,
        &detection.findings,
        |finding| finding.range.clone(),
        |finding| {
            let of_type = names.index(&finding.entity);
            [finding.score, of_type, names.index(&finding.recognizer)]
        },
    );
    let numbers: Vec<f64> = pii::numbers(text)
        .into_iter()
        .flat_map(|(entity, number)| [names.index(&entity), f64::from(number)])
        .collect();
    Ok(PiiScan {
        findings,
        highest: detection.highest,
        known: rows(text, &known, |found| found.range.clone(), |_| []),
        numbers: numbers.into(),
        names: names.into_list(),
    })
}

fn in_bytes(text: &str, findings: Vec<PiiFinding>) -> Vec<Finding> {
    let spans = findings
        .iter()
        .map(|&PiiFinding { start, end, .. }| Span { start, end });
    let ranges = byte_ranges(text, spans);
    let finding = |(finding, range): (PiiFinding, _)| Finding {
        range,
        entity: finding.entity.into(),
        score: finding.score,
        recognizer: finding.recognizer.into(),
    };
    findings.into_iter().zip(ranges).map(finding).collect()
}

/// The types that are found without a model or a pattern of the user, each once.
#[napi]
pub fn pii_entities(env: &Env) -> Result<Vec<String>> {
    at_once(env, || {
        let sources = pii::sources()?;
        let mut entities: Vec<String> = sources.iter().map(|source| source.entity.clone()).collect();
        entities.sort_unstable();
        entities.dedup();
        Ok(entities)
    })
}

/// The types that are looked for only where they are asked for by name, each once.
#[napi]
pub fn pii_entities_on_demand(env: &Env) -> Result<Vec<String>> {
    at_once(env, || Ok(pii::on_demand()?.into_iter().map(str::to_owned).collect()))
}

/// The type of hidden names.
#[napi]
pub fn hidden_entity() -> &'static str {
    pii::HIDDEN
}
