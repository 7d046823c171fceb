//! Linear models, which classify texts in microseconds.

use std::path::Path;
use std::sync::Arc;

use guard_core::lang::code::{CodeFinder, Piece};
use guard_core::lang::language_check::{self, LanguageCheck, LanguageChecker};
use guard_core::lang::linear::LinearModel;
use guard_core::lang::natural;
use guard_core::lang::parts;
use guard_core::lang::word_evidence::{self, WordEvidence};
use napi::bindgen_prelude::{Float64Array, PromiseRaw, Uint8Array};
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, off_thread, on_text, on_text_with, on_texts};
use crate::error::Failure;
use crate::spans::{Names, Rows, rows};

/// A loaded linear model.
#[napi]
pub struct NativeLinear(pub(crate) Arc<LinearModel>);

#[napi]
impl NativeLinear {
    /// The labels, in the order of the probabilities.
    #[napi(getter)]
    pub fn labels(&self) -> Vec<String> {
        self.0.labels().to_vec()
    }

    /// The probabilities of the labels, text by text.
    #[napi]
    pub fn classify<'env>(&self, env: &'env Env, texts: Vec<String>) -> Result<Answer<'env, Float64Array>> {
        let model = Arc::clone(&self.0);
        on_texts(env, Cost(40), texts, move |texts| {
            Ok(numbers(texts, |text| model.probabilities(text)))
        })
    }

    /// The same, without counting repetition as evidence for the labels with these indices.
    #[napi]
    pub fn classify_once<'env>(
        &self,
        env: &'env Env,
        texts: Vec<String>,
        labels: Vec<u32>,
    ) -> Result<Answer<'env, Float64Array>> {
        let model = Arc::clone(&self.0);
        let labels: Vec<usize> = labels.into_iter().map(|label| label as usize).collect();
        on_texts(env, Cost(80), texts, move |texts| {
            Ok(numbers(texts, |text| model.probabilities_once(text, &labels)))
        })
    }

    /// Cuts a text into parts in one of the languages `known` and parts in other languages; the model must detect
    /// languages. Languages in `familiar` are named even if the model is not sure.
    #[napi]
    pub fn foreign_parts<'env>(
        &self,
        text: JsString<'env>,
        known: Vec<String>,
        familiar: Vec<String>,
    ) -> Result<Answer<'env, ForeignParts>> {
        on_text_with(&self.0, Cost(200), text, move |model, text| {
            Ok(foreign_parts(model, text, &known, &familiar))
        })
    }

    /// Checks whether a text, and each of its sentences, is clearly not in the expected languages; the model must
    /// detect languages. `code` is a model that finds code, which has no language.
    #[napi]
    pub fn check_languages<'env>(
        &self,
        text: JsString<'env>,
        expected: Vec<String>,
        code: &NativeLinear,
    ) -> Result<Answer<'env, LanguageReport>> {
        let code = Arc::clone(&code.0);
        on_text_with(&self.0, Cost(600), text, move |model, text| {
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            let (whole, sentences) =
                LanguageChecker::new(model, Some(CodeFinder::new(&code, &[])?)).check_text(text, &expected);
            Ok(language_report(text, whole, &sentences))
        })
    }

    /// Checks whether an answer is clearly in another language than its prompt; the model must detect languages. A text
    /// has the languages with a probability above `threshold`.
    #[napi]
    pub fn check_answer_language<'env>(
        &self,
        env: &'env Env,
        prompt: String,
        answer: String,
        threshold: f64,
        code: &NativeLinear,
    ) -> Result<Answer<'env, LanguageReport>> {
        let (model, code) = (Arc::clone(&self.0), Arc::clone(&code.0));
        on_texts(env, Cost(600), vec![prompt, answer], move |texts| {
            let checker = LanguageChecker::new(&model, Some(CodeFinder::new(&code, &[])?));
            #[expect(clippy::cast_possible_truncation, reason = "a probability needs no more digits")]
            let check = checker.check_answer(&texts[0], &texts[1], threshold as f32);
            Ok(language_report(&texts[1], check, &[]))
        })
    }

    /// Finds pieces of code in a text. `listed` are the indices of labels. Each row has the start, the end, the
    /// probability of code, the probability of code in a listed language, and the indices of the most probable listed
    /// label and of the most probable other label. An index is -1 if there is no such label.
    #[napi]
    pub fn find_code<'env>(&self, text: JsString<'env>, listed: Vec<u32>) -> Result<Answer<'env, Rows>> {
        on_text_with(&self.0, Cost(250), text, move |model, text| {
            find_code(model, text, &listed)
        })
    }
}

/// Loads the linear model in a folder.
#[napi]
pub fn load_linear(env: &Env, folder: String) -> Result<PromiseRaw<'_, NativeLinear>> {
    off_thread(env, move || {
        Ok(NativeLinear(Arc::new(LinearModel::load(Path::new(&folder))?)))
    })
}

fn numbers(texts: &[String], of: impl Fn(&str) -> Vec<f32>) -> Float64Array {
    let numbers = texts.iter().flat_map(|text| of(text).into_iter().map(f64::from));
    numbers.collect::<Vec<f64>>().into()
}

/// A language and its probability.
#[napi(object)]
pub struct NativeLanguageGuess {
    pub language: String,
    pub probability: f64,
}

/// The parts of a text, from its beginning to its end.
#[napi(object)]
pub struct ForeignParts {
    /// For each part: the start, the end, and the index of its language, or -1 for a known one.
    pub parts: Rows,
    /// The foreign languages: ISO 639-1 codes, or `und-` and the code of a script for an undetermined language.
    pub languages: Vec<String>,
}

fn guess(found: natural::LanguageGuess) -> NativeLanguageGuess {
    NativeLanguageGuess {
        language: found.language,
        probability: f64::from(found.probability),
    }
}

/// The language check of a text and of its sentences.
#[napi(object)]
pub struct LanguageReport {
    /// The likeliest unexpected language; absent without enough evidence.
    pub whole: Option<NativeLanguageGuess>,
    /// Whether there is enough text to detect a language.
    pub is_detectable: bool,
    /// For each sentence: the start; the end; 1 if it has enough text to detect a language, else 0; the index of the
    /// likeliest unexpected language, or -1 without enough evidence; and its probability.
    pub sentences: Rows,
    /// The languages of the sentences.
    pub languages: Vec<String>,
}

fn language_report(text: &str, whole: LanguageCheck, sentences: &[LanguageCheck]) -> LanguageReport {
    let mut languages = Names::default();
    let sentence = |LanguageCheck {
                        other, is_detectable, ..
                    }: &LanguageCheck| {
        let language = languages.index_of(other.as_ref().map(|guess| guess.language.as_str()));
        let probability = other.as_ref().map_or(0.0, |guess| f64::from(guess.probability));
        [f64::from(u8::from(*is_detectable)), language, probability]
    };
    let sentences = rows(text, sentences, |part| part.range.clone(), sentence);
    LanguageReport {
        is_detectable: whole.is_detectable,
        whole: whole.other.map(guess),
        sentences,
        languages: languages.into_list(),
    }
}

/// Whether a text has enough words to detect a language, whatever the model.
#[napi]
pub fn has_enough_words(text: JsString) -> Result<Answer<bool>> {
    on_text(Cost(60), text, |text| Ok(language_check::has_enough_words(text)))
}

/// What each text has enough words for: 1 for telling noise by its spelling, 2 for judging word order, 3 for both.
#[napi]
pub fn word_evidence(env: &Env, texts: Vec<String>) -> Result<Answer<'_, Uint8Array>> {
    on_texts(env, Cost(20), texts, |texts| {
        let bits = texts.iter().map(|text| {
            let WordEvidence { spelling, order } = word_evidence::word_evidence(text);
            u8::from(spelling) | u8::from(order) << 1
        });
        Ok(bits.collect::<Vec<u8>>().into())
    })
}

fn foreign_parts(model: &LinearModel, text: &str, known: &[String], familiar: &[String]) -> ForeignParts {
    let mut languages = Names::default();
    let parts = rows(
        text,
        &parts::foreign(model, text, known, familiar),
        |part| part.range.clone(),
        |part| [languages.index_of(part.foreign.as_deref())],
    );
    ForeignParts {
        parts,
        languages: languages.into_list(),
    }
}

fn find_code(model: &LinearModel, text: &str, listed: &[u32]) -> std::result::Result<Rows, Failure> {
    let listed: Vec<usize> = listed.iter().map(|label| *label as usize).collect();
    let pieces = CodeFinder::new(model, &listed)?.find(text);
    let index = |label: Option<usize>| label.map_or(-1.0, |label| label as f64);
    let piece = |piece: &Piece| {
        let probabilities = [f64::from(piece.code), f64::from(piece.listed)];
        [
            probabilities[0],
            probabilities[1],
            index(piece.listed_label),
            index(piece.other_label),
        ]
    };
    Ok(rows(text, &pieces, |piece| piece.range.clone(), piece))
}
