//! Linear models: labels of texts in microseconds.

use std::path::Path;
use std::sync::Arc;

use guard_core::lang::code::{CodeFinder, Piece};
use guard_core::lang::linear::LinearModel;
use guard_core::lang::natural;
use guard_core::lang::parts;
use guard_core::lang::telling::{self, Teller, Told};
use napi::bindgen_prelude::{Float64Array, PromiseRaw};
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

    /// The probabilities of the labels, for one text after the other.
    #[napi]
    pub fn classify<'env>(&self, env: &'env Env, texts: Vec<String>) -> Result<Answer<'env, Float64Array>> {
        let model = Arc::clone(&self.0);
        on_texts(env, Cost(40), texts, move |texts| {
            Ok(numbers(texts, |text| model.probabilities(text)))
        })
    }

    /// The same, where repetition alone does not speak for any of the labels with these indices.
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

    /// The parts of a text, from its beginning to its end: those in one of the languages `known`, and those in others, where the model
    /// is one of languages. Languages that are `familiar` are named even where the model is not sure of them.
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
            Ok(told(text, whole, &sentences))
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
            Ok(self::told(&texts[1], told, &[]))
        })
    }

    /// The pieces of a text that may be code. `listed` are the indices of the labels that are looked for. Of each piece: the start,
    /// the end, the probability that it is code, the probability that it is code in one of the listed languages, the index of the
    /// most probable of these, and that of the most probable of the others; -1 where there is none.
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
pub struct NativeGuess {
    pub language: String,
    pub probability: f64,
}

/// The parts of a text, from its beginning to its end.
#[napi(object)]
pub struct ForeignParts {
    /// The start and the end of each, and the index of its language, or -1 where that is a known one.
    pub parts: Rows,
    /// The languages that are not known: ISO 639-1 codes, or `und-` and the code of a script whose languages cannot be told apart.
    pub languages: Vec<String>,
}

fn guess(found: natural::Guess) -> NativeGuess {
    NativeGuess {
        language: found.language,
        probability: f64::from(found.probability),
    }
}

/// What a text says about the expected languages: as a whole, and its sentences.
#[napi(object)]
pub struct NativeTold {
    /// The likeliest language that was not expected; absent where none can be told.
    pub whole: Option<NativeGuess>,
    /// Whether there is enough text to tell a language.
    pub judged: bool,
    /// The start and the end of each sentence; 1 where it has enough text to tell a language, else 0; the index of the likeliest
    /// language that was not expected, or -1 where none can be told; and its probability.
    pub sentences: Rows,
    /// The languages of the sentences.
    pub languages: Vec<String>,
}

fn told(text: &str, whole: Told, sentences: &[Told]) -> NativeTold {
    let mut languages = Names::default();
    let sentence = |Told { other, judged, .. }: &Told| {
        let language = languages.index_of(other.as_ref().map(|guess| guess.language.as_str()));
        let probability = other.as_ref().map_or(0.0, |guess| f64::from(guess.probability));
        [f64::from(u8::from(*judged)), language, probability]
    };
    let sentences = rows(text, sentences, |part| part.range.clone(), sentence);
    NativeTold {
        judged: whole.judged,
        whole: whole.other.map(guess),
        sentences,
        languages: languages.into_list(),
    }
}

/// Whether a text has enough words for a language to be told, whatever the model.
#[napi]
pub fn tells_language(text: JsString) -> Result<Answer<bool>> {
    on_text(Cost(60), text, |text| Ok(telling::tells(text)))
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
