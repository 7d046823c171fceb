//! Finds personal data in texts.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use guard_core::pii::{self, Checksum, CustomPattern, Detector, Evidence, Finding, Lookalikes, Options, PatternLimits};
use guard_core::rules::CheckResult;
use guard_core::rules::placeholders::{self, Matching};
use napi::bindgen_prelude::Float64Array;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_with};
use crate::error::{Failure, at_once};
use crate::js_text::with_text;
use crate::spans::{Names, Rows, Span, byte_ranges, has_rows, rows};

/// A user's pattern.
#[napi(object)]
pub struct PiiPattern {
    /// The recognizer in its findings.
    pub id: String,
    pub entity: String,
    pub expressions: Vec<String>,
    /// Texts that match as whole words in any case.
    pub words: Vec<String>,
    pub context: Vec<String>,
    pub score: f64,
    pub languages: Vec<String>,
}

/// Options of the search.
#[napi(object)]
pub struct PiiOptions {
    /// Absent: all types except those on demand.
    pub entities: Option<Vec<String>>,
    /// Empty for all.
    pub languages: Vec<String>,
    pub patterns: Vec<PiiPattern>,
    /// Whether the patterns come from a request: they must take linear time, and be small when compiled.
    pub is_request: bool,
    pub hidden: Vec<String>,
    pub allowed: Vec<String>,
    pub threshold: f64,
    /// Whether values must have a valid checksum, also beside their names.
    pub is_strict: bool,
    /// Whether a model finds names of people, so that names after closings of letters count too.
    pub names: bool,
}

/// A finding of personal data.
#[napi(object)]
pub struct PiiFinding {
    pub start: u32,
    pub end: u32,
    pub entity: String,
    pub score: f64,
    /// The id of the recognizer or model.
    pub recognizer: String,
    /// The context word that raised the score.
    pub context: Option<String>,
}

/// The personal data in a text. `names` are the distinct types, recognizers, context words and checks.
#[napi(object)]
pub struct PiiScan {
    /// The findings in order, without overlaps. For each: the start, the end, the score, the indices of the names of its
    /// type, recognizer, context word and check, and 1 if the check failed. The index of an absent name is -1.
    pub findings: Rows,
    /// The highest score before merging.
    pub highest: f64,
    /// The placeholders of the vault: the start and the end of each.
    pub known: Rows,
    /// The numbers of possible placeholders: the index of the name of the type, and the number.
    pub numbers: Float64Array,
    pub names: Vec<String>,
}

/// A search for personal data.
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
            id: pattern.id,
            entity: pattern.entity,
            expressions: pattern.expressions,
            words: pattern.words,
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
            pattern_limits: if options.is_request {
                PatternLimits::Request
            } else {
                PatternLimits::Config
            },
            allowed: options.allowed,
            threshold: options.threshold,
            checksum: if options.is_strict {
                Checksum::Strict
            } else {
                Checksum::Lenient
            },
            names: options.names,
        };
        at_once(env, || {
            Ok(Self {
                detector: Arc::new(Detector::new(&options, &hidden)?),
                options,
                lookalikes: OnceLock::new(),
            })
        })
    }

    /// Finds personal data, merged with the findings of other sources, but nothing in `placeholders`. With `only`, findings
    /// of other types are ignored before they are merged.
    #[napi]
    pub fn find<'env>(
        &self,
        text: JsString<'env>,
        others: Vec<PiiFinding>,
        placeholders: Vec<String>,
        only: Option<Vec<String>>,
    ) -> Result<Answer<'env, PiiScan>> {
        let only = only.map(|types| types.into_iter().collect());
        on_text_with(&self.detector, Cost(300), text, move |detector, text| {
            find(detector, text, others, &placeholders, only.as_ref())
        })
    }

    /// Whether an example contains personal data. It is scanned immediately, whatever its length.
    #[napi]
    pub fn finds(&self, env: &Env, example: JsString<'_>) -> Result<bool> {
        with_text(&example, |example| {
            at_once(env, || {
                Ok(has_rows(
                    &find(&self.detector, example, Vec::new(), &[], None)?.findings,
                ))
            })
        })?
    }

    /// Returns another value of the format of a finding; null if there is none.
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
            Ok(lookalikes.generate(&recognizer, &value, seed.to_bits()))
        })
    }
}

fn find(
    detector: &Detector,
    text: &str,
    others: Vec<PiiFinding>,
    vault: &[String],
    only: Option<&HashSet<String>>,
) -> std::result::Result<PiiScan, Failure> {
    let known = placeholders::find(text, vault, Matching::Exact)?.found;
    let ranges: Vec<_> = known.iter().map(|found| found.range.clone()).collect();
    let detection = detector
        .find_only(text, in_bytes(text, others), &ranges, only)
        .map_err(Failure::in_search)?;
    let mut names = Names::default();
    let findings = rows(
        text,
        &detection.findings,
        |finding| finding.range.clone(),
        |finding| {
            let check = finding.evidence.check;
            [
                finding.score,
                names.index(&finding.entity),
                names.index(&finding.recognizer),
                names.index_of(finding.evidence.context.as_deref()),
                names.index_of(check.map(|check| check.name)),
                f64::from(u8::from(CheckResult::is_failure(check))),
            ]
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
        evidence: Evidence {
            context: finding.context.map(Into::into),
            check: None,
        },
    };
    findings.into_iter().zip(ranges).map(finding).collect()
}

/// The distinct types that are found without a model or a user's pattern.
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

/// An embedded recognizer.
#[napi(object)]
pub struct PiiRecognizer {
    pub id: String,
    /// The type of its findings.
    pub entity: String,
    /// Empty for all.
    pub languages: Vec<String>,
    /// Whether it runs only if its type is requested by name.
    pub is_on_demand: bool,
}

/// The embedded recognizers, in their order.
#[napi]
pub fn pii_recognizers(env: &Env) -> Result<Vec<PiiRecognizer>> {
    at_once(env, || {
        let recognizer = |source: &Arc<pii::Source>| PiiRecognizer {
            id: source.id.clone(),
            entity: source.entity.clone(),
            languages: source.languages.clone(),
            is_on_demand: source.opt_in,
        };
        Ok(pii::sources()?.iter().map(recognizer).collect())
    })
}

/// The distinct types that are found only if requested by name.
#[napi]
pub fn pii_entities_on_demand(env: &Env) -> Result<Vec<String>> {
    at_once(env, || Ok(pii::on_demand()?.into_iter().map(str::to_owned).collect()))
}

/// The type of hidden names.
#[napi]
pub fn hidden_entity() -> &'static str {
    pii::HIDDEN
}
