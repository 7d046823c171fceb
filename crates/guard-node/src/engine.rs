//! The engine: models and their scores.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard_core::engine::{
    self, Activation, Engine, EngineError, HeadScores, ModelHandle, Question, Reply, Settings, Source, Ticket,
};
use guard_core::tokens::windows::Reading;
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, JsValue, Result};
use napi_derive::napi;

use crate::answer::off_thread;
use crate::error::{Failure, at_once};
use crate::spans::{Span, spans};

/// How the engine of this process is set up; see `Settings` of guard-core.
#[napi(object)]
#[derive(Clone)]
pub struct EngineSettings {
    pub libraries: Vec<String>,
    pub providers: Vec<String>,
    pub threads: Option<u32>,
    pub queue_capacity: u32,
}

/// What the engine runs on.
#[napi(object)]
pub struct EngineInfo {
    pub library: String,
    pub providers: Vec<String>,
    pub threads: u32,
    pub workers: u32,
    /// Texts that wait or run now, of all models.
    pub pending: u32,
}

impl From<EngineSettings> for Settings {
    fn from(settings: EngineSettings) -> Self {
        Self {
            libraries: settings.libraries.into_iter().map(PathBuf::from).collect(),
            providers: settings.providers,
            threads: settings.threads.map(|threads| threads as usize),
            queue_capacity: settings.queue_capacity as usize,
        }
    }
}

/// Starts the engine, or finds it started. Loads a library: call it before traffic.
#[napi]
pub fn start_engine(env: &Env, settings: EngineSettings) -> Result<EngineInfo> {
    at_once(env, || {
        let engine = Engine::start(&settings.into())?;
        let threads = engine.threads();
        Ok(EngineInfo {
            library: engine.runtime().library().display().to_string(),
            providers: engine.runtime().providers().into_iter().map(str::to_owned).collect(),
            threads: threads.total as u32,
            workers: threads.workers as u32,
            pending: engine.pending() as u32,
        })
    })
}

/// One output of a model.
#[napi(object)]
pub struct ModelHead {
    pub name: String,
    pub labels: Vec<String>,
    /// Whether each label stands for itself; otherwise exactly one is right.
    pub multi_label: bool,
    /// Whether it gives a vector, which has no labels.
    pub is_vector: bool,
    /// The kinds of spans that it finds; absent where it judges a text as a whole.
    pub kinds: Option<Vec<String>>,
}

/// A part of a text and its probabilities, by head and label, or the vector that a head gives; a head that finds spans has none.
#[napi(object)]
pub struct Part {
    pub start: u32,
    pub end: u32,
    pub heads: Vec<Vec<f64>>,
}

/// What a model says of a text.
#[napi(object)]
pub struct Classification {
    pub parts: Vec<Part>,
    /// What heads over tokens find, where all of a text is read in windows: in order, without overlaps within a head.
    pub spans: Vec<ModelSpan>,
    pub tokens: u32,
    /// Code units of the text that were not read.
    pub skipped_chars: u32,
}

/// A part of a text with one of a claim on it, and the probabilities of both together, by head and label.
#[napi(object)]
pub struct PairPart {
    pub start: u32,
    pub end: u32,
    pub claim_start: u32,
    pub claim_end: u32,
    pub heads: Vec<Vec<f64>>,
}

/// Something of a kind in a text.
#[napi(object)]
pub struct ModelSpan {
    pub start: u32,
    pub end: u32,
    pub kind: String,
    /// The mean probability, over its tokens, that they are of this kind.
    pub score: f64,
}

/// How a text is read; see `Reading` of guard-core.
#[napi(string_enum = "snake_case")]
pub enum ReadingMode {
    Windows,
    Full,
    Sentence,
    TruncateTokenHeadTail,
    TruncateHeadTail,
    Chunks,
}

impl From<ReadingMode> for Reading {
    fn from(mode: ReadingMode) -> Self {
        match mode {
            ReadingMode::Windows => Self::Windows,
            ReadingMode::Full => Self::Head,
            ReadingMode::Sentence => Self::Sentences,
            ReadingMode::TruncateTokenHeadTail => Self::HeadTail,
            ReadingMode::TruncateHeadTail => Self::HeadTailChars,
            ReadingMode::Chunks => Self::Chunks,
        }
    }
}

/// Stops a call that is under way.
#[napi]
#[derive(Default)]
pub struct Abort(Option<Ticket>);

#[napi]
impl Abort {
    /// An abort of nothing yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the call with an error of code `GUARD_ABORTED`; does nothing when it is answered already.
    #[napi]
    pub fn abort(&self) {
        if let Some(ticket) = &self.0 {
            ticket.abort();
        }
    }
}

/// A loaded model.
#[napi]
pub struct NativeModel(Option<ModelHandle>);

#[napi]
impl NativeModel {
    /// The heads of the model, in the order of `Part.heads`.
    #[napi(getter)]
    pub fn heads(&self, env: &Env) -> Result<Vec<ModelHead>> {
        let model = self.handle(env)?.model();
        Ok(model
            .heads()
            .iter()
            .enumerate()
            .map(|(index, head)| ModelHead {
                name: head.name.clone(),
                labels: head.labels.clone(),
                multi_label: head.activation == Activation::Sigmoid,
                is_vector: head.activation == Activation::None,
                kinds: model.span_kinds(index).map(<[String]>::to_vec),
            })
            .collect())
    }

    /// The longest input in tokens, special ones included.
    #[napi(getter)]
    pub fn max_length(&self, env: &Env) -> Result<u32> {
        Ok(self.handle(env)?.model().max_length() as u32)
    }

    /// Scores a text.
    #[napi]
    pub fn classify<'env>(
        &self,
        env: &'env Env,
        text: String,
        mode: ReadingMode,
        abort: Option<&mut Abort>,
    ) -> Result<PromiseRaw<'env, Classification>> {
        let kinds: Vec<Vec<String>> = self
            .heads(env)?
            .into_iter()
            .map(|head| head.kinds.unwrap_or_default())
            .collect();
        let text: Arc<str> = text.into();
        let question = Question::Text(Arc::clone(&text), mode.into());
        self.ask(env, question, abort, move |reply| classification(&text, reply, &kinds))
    }

    /// Scores each part of a claim by each window of the text that it is on.
    #[napi]
    pub fn classify_pair<'env>(
        &self,
        env: &'env Env,
        text: String,
        claim: String,
        abort: Option<&mut Abort>,
    ) -> Result<PromiseRaw<'env, Vec<PairPart>>> {
        let (text, claim): (Arc<str>, Arc<str>) = (text.into(), claim.into());
        let question = Question::Pair(Arc::clone(&text), Arc::clone(&claim));
        self.ask(env, question, abort, move |reply| pair_parts(&text, &claim, reply))
    }

    /// Lets go of the model; its memory is freed when nobody else in the process uses it.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }

    /// The promise of what `answer` makes of the model's reply.
    fn ask<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        question: Question,
        abort: Option<&mut Abort>,
        answer: impl FnOnce(&Reply) -> T + Send + 'static,
    ) -> Result<PromiseRaw<'env, T>> {
        let handle = self.handle(env)?;
        let (deferred, promise) = env.create_deferred::<T, _>()?;
        let on_reply = Box::new(move |result: std::result::Result<Arc<Reply>, EngineError>| {
            let answer = result.map(|reply| answer(&reply)).map_err(Failure::from);
            deferred.resolve(move |env: Env| answer.map_err(|failure| failure.into_js(&env)));
        });
        let ticket = handle.ask(question, on_reply);
        if let Some(abort) = abort {
            abort.0 = Some(ticket);
        }
        Ok(PromiseRaw::new(env.raw(), promise.value().value))
    }

    fn handle(&self, env: &Env) -> Result<&ModelHandle> {
        at_once(env, || Ok(self.0.as_ref().ok_or(EngineError::Closed)?))
    }
}

fn classification(text: &str, reply: &Reply, kinds: &[Vec<String>]) -> Classification {
    let ranges = reply.parts.iter().map(|part| &part.range).chain(&reply.skipped);
    let mut places = spans(text, ranges.cloned());
    let skipped = reply.skipped.as_ref().and_then(|_| places.pop());
    let parts = reply
        .parts
        .iter()
        .zip(places)
        .map(|(part, Span { start, end })| Part {
            start,
            end,
            heads: in_doubles(&part.heads),
        })
        .collect();
    Classification {
        parts,
        spans: model_spans(text, reply, kinds),
        tokens: reply.tokens as u32,
        skipped_chars: skipped.map_or(0, |skipped| skipped.end - skipped.start),
    }
}

fn in_doubles(heads: &HeadScores) -> Vec<Vec<f64>> {
    let of_head = |labels: &Vec<f32>| labels.iter().map(|score| f64::from(*score)).collect();
    heads.iter().map(of_head).collect()
}

fn pair_parts(text: &str, claim: &str, reply: &Reply) -> Vec<PairPart> {
    let places = spans(text, reply.parts.iter().map(|part| part.range.clone()));
    let claims = spans(
        claim,
        reply.parts.iter().map(|part| part.claim.clone().unwrap_or_default()),
    );
    let parts = reply.parts.iter().zip(places).zip(claims);
    parts
        .map(|((part, Span { start, end }), of_claim)| PairPart {
            start,
            end,
            claim_start: of_claim.start,
            claim_end: of_claim.end,
            heads: in_doubles(&part.heads),
        })
        .collect()
}

fn model_spans(text: &str, reply: &Reply, kinds: &[Vec<String>]) -> Vec<ModelSpan> {
    let places = spans(text, reply.spans.iter().map(|span| span.range.clone()));
    let of_model = |(span, Span { start, end }): (&engine::Span, Span)| ModelSpan {
        start,
        end,
        kind: kinds[span.head][span.kind].clone(),
        score: span.score,
    };
    reply.spans.iter().zip(places).map(of_model).collect()
}

/// The kinds of spans that the model in a folder finds, as its `config.json` says: known before it is loaded.
#[napi]
pub fn span_kinds(env: &Env, folder: String) -> Result<Vec<String>> {
    at_once(env, || Ok(engine::span_kinds(Path::new(&folder))?))
}

/// Where a model is; see `Source` of guard-core.
#[napi(object)]
pub struct ModelSource {
    pub folder: String,
    pub graph: Option<String>,
    pub max_length: Option<u32>,
}

/// Loads a model. Starts the engine first.
#[napi]
pub fn load_model(env: &Env, settings: EngineSettings, source: ModelSource) -> Result<PromiseRaw<'_, NativeModel>> {
    let settings = Settings::from(settings);
    let source = Source {
        folder: source.folder.into(),
        graph: source.graph.map(PathBuf::from),
        max_length: source.max_length.map(|length| length as usize),
    };
    off_thread(env, move || {
        Ok(NativeModel(Some(Engine::start(&settings)?.load(&source)?)))
    })
}
