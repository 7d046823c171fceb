//! Linear models: labels of texts in microseconds.

use std::path::Path;
use std::sync::Arc;

use guard_core::lang::code::CodeFinder;
use guard_core::lang::linear::LinearModel;
use guard_core::lang::natural;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::error;
use crate::off_thread::OffThread;
use crate::places::{Span, spans};

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

    /// The probabilities of the labels, for each text.
    #[napi]
    pub fn classify(&self, texts: Vec<String>) -> Vec<Vec<f64>> {
        classify(&self.0, &texts)
    }

    /// The languages of a text, where the model is one of languages.
    #[napi]
    pub fn languages(&self, text: String) -> NativeLanguages {
        languages(&self.0, &text)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<NativeLanguages>")]
    pub fn languages_long(&self, text: String) -> AsyncTask<OffThread<NativeLanguages>> {
        let model = Arc::clone(&self.0);
        OffThread::new(move || Ok(languages(&model, &text)))
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<number[][]>")]
    pub fn classify_long(&self, texts: Vec<String>) -> AsyncTask<OffThread<Vec<Vec<f64>>>> {
        let model = Arc::clone(&self.0);
        OffThread::new(move || Ok(classify(&model, &texts)))
    }

    /// The pieces of a text that may be code. `listed` are places among the labels.
    #[napi]
    pub fn find_code(&self, text: String, listed: Vec<u32>) -> Result<Vec<CodePiece>> {
        find_code(&self.0, &text, &listed)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<CodePiece[]>")]
    pub fn find_code_long(&self, text: String, listed: Vec<u32>) -> AsyncTask<OffThread<Vec<CodePiece>>> {
        let model = Arc::clone(&self.0);
        OffThread::new(move || find_code(&model, &text, &listed))
    }
}

fn classify(model: &LinearModel, texts: &[String]) -> Vec<Vec<f64>> {
    texts
        .iter()
        .map(|text| model.probabilities(text).into_iter().map(f64::from).collect())
        .collect()
}

/// Loading of a linear model.
pub struct LoadLinear(String);

impl Task for LoadLinear {
    type Output = LinearModel;
    type JsValue = NativeLinear;

    fn compute(&mut self) -> Result<LinearModel> {
        LinearModel::load(Path::new(&self.0)).map_err(|cause| error(cause.code(), cause))
    }

    fn resolve(&mut self, _: Env, model: LinearModel) -> Result<NativeLinear> {
        Ok(NativeLinear(Arc::new(model)))
    }
}

/// Loads the linear model in a folder.
#[napi(ts_return_type = "Promise<NativeLinear>")]
pub fn load_linear(folder: String) -> AsyncTask<LoadLinear> {
    AsyncTask::new(LoadLinear(folder))
}

/// A language and its probability.
#[napi(object)]
pub struct NativeGuess {
    pub language: String,
    pub probability: f64,
}

/// A piece of a text and its languages, the likeliest first.
#[napi(object)]
pub struct NativeLanguagePart {
    pub start: u32,
    pub end: u32,
    pub guesses: Vec<NativeGuess>,
}

/// The languages of a text as a whole, and of its sentences.
#[napi(object)]
pub struct NativeLanguages {
    pub whole: Vec<NativeGuess>,
    pub sentences: Vec<NativeLanguagePart>,
}

fn guesses(found: Vec<natural::Guess>) -> Vec<NativeGuess> {
    found
        .into_iter()
        .map(|guess| NativeGuess {
            language: guess.language,
            probability: f64::from(guess.probability),
        })
        .collect()
}

fn languages(model: &LinearModel, text: &str) -> NativeLanguages {
    let parts = natural::detect_sentences(model, text);
    let places = spans(text, parts.iter().map(|part| part.range.clone()));
    NativeLanguages {
        whole: guesses(natural::detect(model, text)),
        sentences: parts
            .into_iter()
            .zip(places)
            .map(|(part, Span { start, end })| NativeLanguagePart {
                start,
                end,
                guesses: guesses(part.guesses),
            })
            .collect(),
    }
}

/// A piece of text that may be code.
#[napi(object)]
pub struct CodePiece {
    pub start: u32,
    pub end: u32,
    /// The probability that it is code.
    pub code: f64,
    /// The probability that it is code in one of the listed languages.
    pub listed: f64,
    /// The most probable of the listed languages.
    pub listed_label: Option<String>,
    /// The most probable of the others.
    pub other_label: Option<String>,
}

fn find_code(model: &LinearModel, text: &str, listed: &[u32]) -> Result<Vec<CodePiece>> {
    let listed: Vec<usize> = listed.iter().map(|label| *label as usize).collect();
    let pieces = CodeFinder::new(model, &listed)
        .map_err(|cause| error("GUARD_MODEL", cause))?
        .find(text);
    let name = |label: Option<usize>| label.map(|label| model.labels()[label].clone());
    Ok(pieces
        .iter()
        .zip(spans(text, pieces.iter().map(|piece| piece.range.clone())))
        .map(|(piece, Span { start, end })| CodePiece {
            start,
            end,
            code: f64::from(piece.code),
            listed: f64::from(piece.listed),
            listed_label: name(piece.listed_label),
            other_label: name(piece.other_label),
        })
        .collect())
}
