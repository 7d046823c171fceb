//! Linear models: labels of texts in microseconds.

use std::path::Path;
use std::sync::Arc;

use guard_core::lang::code::{CodeFinder, Piece};
use guard_core::lang::linear::LinearModel;
use guard_core::lang::natural;
use guard_core::lang::parts;
use guard_core::lang::telling::{self, Teller, Told};
use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, off_thread, on_text, on_text_with, on_texts};
use crate::error::Failure;
use crate::spans::{Span, with_spans};

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
    pub fn classify<'env>(&self, env: &'env Env, texts: Vec<String>) -> Result<Answer<'env, Vec<Vec<f64>>>> {
        let model = Arc::clone(&self.0);
        on_texts(env, Cost(40), texts, move |texts| Ok(classify(&model, texts)))
    }

    /// The parts of a text, from its beginning to its end: those in one of the languages `known`, and those in others, where the model
    /// is one of languages. Languages that are `familiar` are named even where the model is not sure of them.
    #[napi]
    pub fn foreign_parts<'env>(
        &self,
        text: JsString<'env>,
        known: Vec<String>,
        familiar: Vec<String>,
    ) -> Result<Answer<'env, Vec<ForeignPart>>> {
        on_text_with(&self.0, Cost(200), text, move |model, text| {
            Ok(foreign_parts(model, text, &known, &familiar))
        })
    }

    /// Whether a text, and each of its sentences, is clearly in another language than the expected ones, where the model is one of
    /// languages. `code` is a model that finds code, which is in no language.
    #[napi]
    pub fn other_languages<'env>(
        &self,
        text: JsString<'env>,
        expected: Vec<String>,
        code: &NativeLinear,
    ) -> Result<Answer<'env, NativeTold>> {
        let code = Arc::clone(&code.0);
        on_text_with(&self.0, Cost(600), text, move |model, text| {
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            let (whole, sentences) = Teller::new(model, Some(CodeFinder::new(&code, &[])?)).others(text, &expected);
            Ok(NativeTold {
                judged: whole.judged,
                whole: whole.other.map(guess),
                sentences: with_spans(text, sentences, |part| part.range.clone(), told_part),
            })
        })
    }

    /// Whether an answer is clearly in another language than its prompt, where the model is one of languages. A language is in a
    /// text where its probability is above `threshold`.
    #[napi]
    pub fn differs<'env>(
        &self,
        env: &'env Env,
        prompt: String,
        answer: String,
        threshold: f64,
        code: &NativeLinear,
    ) -> Result<Answer<'env, NativeTold>> {
        let (model, code) = (Arc::clone(&self.0), Arc::clone(&code.0));
        on_texts(env, Cost(600), vec![prompt, answer], move |texts| {
            let teller = Teller::new(&model, Some(CodeFinder::new(&code, &[])?));
            #[expect(clippy::cast_possible_truncation, reason = "a probability needs no more digits")]
            let told = teller.differs(&texts[0], &texts[1], threshold as f32);
            Ok(NativeTold {
                judged: told.judged,
                whole: told.other.map(guess),
                sentences: Vec::new(),
            })
        })
    }

    /// The pieces of a text that may be code. `listed` are the indices of the labels that are looked for.
    #[napi]
    pub fn find_code<'env>(&self, text: JsString<'env>, listed: Vec<u32>) -> Result<Answer<'env, Vec<CodePiece>>> {
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

fn classify(model: &LinearModel, texts: &[String]) -> Vec<Vec<f64>> {
    texts
        .iter()
        .map(|text| model.probabilities(text).into_iter().map(f64::from).collect())
        .collect()
}

/// A language and its probability.
#[napi(object)]
pub struct NativeGuess {
    pub language: String,
    pub probability: f64,
}

/// A part of a text that is in a known language or, where `language` is given, in that other one.
#[napi(object)]
pub struct ForeignPart {
    pub start: u32,
    pub end: u32,
    /// The ISO 639-1 code of another language, or `und-` and the code of a script whose languages cannot be told apart.
    pub language: Option<String>,
}

fn guess(found: natural::Guess) -> NativeGuess {
    NativeGuess {
        language: found.language,
        probability: f64::from(found.probability),
    }
}

/// A sentence that was compared with the expected languages.
#[napi(object)]
pub struct NativeToldPart {
    pub start: u32,
    pub end: u32,
    /// The likeliest language that was not expected; absent where none can be told.
    pub other: Option<NativeGuess>,
    /// Whether there is enough text to tell a language.
    pub judged: bool,
}

fn told_part(part: Told, Span { start, end }: Span) -> NativeToldPart {
    NativeToldPart {
        start,
        end,
        other: part.other.map(guess),
        judged: part.judged,
    }
}

/// What a text says about the expected languages: as a whole, and its sentences.
#[napi(object)]
pub struct NativeTold {
    /// The likeliest language that was not expected; absent where none can be told.
    pub whole: Option<NativeGuess>,
    /// Whether there is enough text to tell a language.
    pub judged: bool,
    pub sentences: Vec<NativeToldPart>,
}

/// Whether a text has enough words for a language to be told, whatever the model.
#[napi]
pub fn tells_language(text: JsString) -> Result<Answer<bool>> {
    on_text(Cost(60), text, |text| Ok(telling::tells(text)))
}

fn foreign_parts(model: &LinearModel, text: &str, known: &[String], familiar: &[String]) -> Vec<ForeignPart> {
    let part = |part: parts::Part, Span { start, end }| ForeignPart {
        start,
        end,
        language: part.foreign,
    };
    with_spans(
        text,
        parts::foreign(model, text, known, familiar),
        |part| part.range.clone(),
        part,
    )
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

fn find_code(model: &LinearModel, text: &str, listed: &[u32]) -> std::result::Result<Vec<CodePiece>, Failure> {
    let listed: Vec<usize> = listed.iter().map(|label| *label as usize).collect();
    let pieces = CodeFinder::new(model, &listed)?.find(text);
    let name = |label: Option<usize>| label.map(|label| model.labels()[label].clone());
    let piece = |piece: Piece, Span { start, end }| CodePiece {
        start,
        end,
        code: f64::from(piece.code),
        listed: f64::from(piece.listed),
        listed_label: name(piece.listed_label),
        other_label: name(piece.other_label),
    };
    Ok(with_spans(text, pieces, |piece| piece.range.clone(), piece))
}
