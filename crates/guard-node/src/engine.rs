//! The engine: models and their scores.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use guard_core::engine::{
    self, Activation, Engine, EngineError, EntitySpan, HeadScores, ModelHandle, Question, Reply, ScoredPart, Settings,
    Source, Ticket, Timings,
};
use guard_core::model_files::ModelFileError;
use guard_core::model_folder::ModelFolder;
use guard_core::tokens;
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, JsValue, Result};
use napi_derive::napi;

use crate::answer::off_thread;
use crate::error::{Failure, at_once};
use crate::spans::{Span, spans};

/// Settings of an engine; see `Settings` of guard-core.
#[napi(object)]
#[derive(Clone)]
pub struct EngineSettings {
    pub libraries: Vec<String>,
    pub providers: Vec<String>,
    pub threads: Option<u32>,
}

/// The runtime of an engine.
#[napi(object)]
pub struct EngineInfo {
    /// The path of the loaded ONNX Runtime library.
    pub library: String,
    /// Full names of the execution providers, in order of preference.
    pub providers: Vec<String>,
    /// The number of inference threads, and so of concurrent runs.
    pub threads: u32,
    /// The waiting and running texts of all models of all engines with these settings.
    pub pending: u32,
}

impl From<Engine> for EngineInfo {
    fn from(engine: Engine) -> Self {
        Self {
            library: engine.runtime().library().display().to_string(),
            providers: engine.runtime().providers().into_iter().map(str::to_owned).collect(),
            threads: engine.threads() as u32,
            pending: engine.pending() as u32,
        }
    }
}

impl From<EngineSettings> for Settings {
    fn from(settings: EngineSettings) -> Self {
        Self {
            libraries: settings.libraries.into_iter().map(PathBuf::from).collect(),
            providers: settings.providers,
            threads: settings.threads.map(|threads| threads as usize),
        }
    }
}

/// Loads and runs models. Engines with equal settings share threads and loaded models.
#[napi]
pub struct NativeEngine(Settings);

#[napi]
impl NativeEngine {
    /// Creates an engine. Nothing is loaded before the first call.
    #[napi(constructor)]
    pub fn new(settings: EngineSettings) -> Self {
        Self(settings.into())
    }

    /// Loads the library if needed, and describes the runtime.
    #[napi]
    pub fn info<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, EngineInfo>> {
        let settings = self.0.clone();
        off_thread(env, move || Ok(EngineInfo::from(Engine::new(&settings)?)))
    }

    /// Loads a model, or shares a loaded one. At most `queueCapacity` texts may wait for this handle.
    #[napi]
    pub fn load<'env>(
        &self,
        env: &'env Env,
        source: ModelSource,
        queue_capacity: u32,
    ) -> Result<PromiseRaw<'env, NativeModel>> {
        let (settings, source) = (self.0.clone(), Source::from(source));
        off_thread(env, move || {
            let model = Engine::new(&settings)?.load(&source, queue_capacity as usize)?;
            Ok(NativeModel(Some(model)))
        })
    }
}

/// The location of a model; see `Source` of guard-core.
#[napi(object)]
pub struct ModelSource {
    pub folder: String,
    pub graph: Option<String>,
    pub max_length: Option<u32>,
}

impl From<ModelSource> for Source {
    fn from(source: ModelSource) -> Self {
        Self {
            folder: source.folder.into(),
            graph: source.graph.map(PathBuf::from),
            max_length: source.max_length.map(|length| length as usize),
        }
    }
}

/// One output of a model.
#[napi(object)]
pub struct ModelHead {
    pub name: String,
    pub labels: Vec<String>,
    /// Whether labels are independent; otherwise exactly one applies.
    pub multi_label: bool,
    /// Whether it returns a vector, which has no labels.
    pub is_vector: bool,
    /// The kinds of spans that it finds; absent for a head over whole texts.
    pub kinds: Option<Vec<String>>,
    /// Whether texts may leave the model early if only heads with this flag are needed.
    pub has_early_exit: bool,
}

/// A part of a text and its probabilities by head and label, or the vector of a head; empty for a head that finds
/// spans.
#[napi(object)]
pub struct Part {
    pub start: u32,
    pub end: u32,
    pub heads: Vec<Vec<f64>>,
}

/// The result of a model for a text.
#[napi(object)]
pub struct Classification {
    pub parts: Vec<Part>,
    /// The spans of token heads, if the whole text is read in windows: in order, without overlaps within a head.
    pub spans: Vec<ModelSpan>,
    pub tokens: u32,
    /// The code units of the text that were not read.
    pub skipped_chars: u32,
    pub timings: EngineTimings,
}

/// The time of each stage in milliseconds; see `Timings` of guard-core. The three add up to the time from the question
/// to the answer.
#[napi(object)]
pub struct EngineTimings {
    /// Waiting for a thread.
    pub queued: f64,
    /// Tokenizing the text.
    pub tokenized: f64,
    /// Running the model.
    pub inferred: f64,
}

impl From<Timings> for EngineTimings {
    fn from(timings: Timings) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        Self {
            queued: milliseconds(timings.queued),
            tokenized: milliseconds(timings.tokenized),
            inferred: milliseconds(timings.inferred),
        }
    }
}

/// A part of a premise with a part of a claim, and their joint probabilities by head and label.
#[napi(object)]
pub struct ClaimPart {
    pub start: u32,
    pub end: u32,
    /// The index of the claim.
    pub claim: u32,
    pub claim_start: u32,
    pub claim_end: u32,
    pub heads: Vec<Vec<f64>>,
}

/// The result of a model for claims on a premise.
#[napi(object)]
pub struct ScoredClaims {
    /// The parts by claim: each part of a claim with each window of the premise.
    pub parts: Vec<ClaimPart>,
    pub timings: EngineTimings,
}

/// A span that a token head found, such as a name.
#[napi(object)]
pub struct ModelSpan {
    pub start: u32,
    pub end: u32,
    pub kind: String,
    /// The mean probability of its tokens.
    pub score: f64,
}

/// How a text is fitted into the model's input; see `tokens::LongTextStrategy` of guard-core.
#[napi(string_enum = "snake_case")]
pub enum LongTextStrategy {
    Windows,
    Full,
    Sentence,
    TruncateTokenHeadTail,
    TruncateHeadTail,
    Chunks,
}

impl From<LongTextStrategy> for tokens::LongTextStrategy {
    fn from(strategy: LongTextStrategy) -> Self {
        match strategy {
            LongTextStrategy::Windows => Self::Windows,
            LongTextStrategy::Full => Self::Head,
            LongTextStrategy::Sentence => Self::Sentences,
            LongTextStrategy::TruncateTokenHeadTail => Self::HeadTail,
            LongTextStrategy::TruncateHeadTail => Self::HeadTailChars,
            LongTextStrategy::Chunks => Self::Chunks,
        }
    }
}

/// Aborts a current call.
#[napi]
#[derive(Default)]
pub struct Abort(Option<Ticket>);

#[napi]
impl Abort {
    /// Creates an abort without a call.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rejects the call with `GUARD_ABORTED`. Does nothing if it is already settled.
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
            .enumerate()
            .map(|(index, head)| ModelHead {
                name: head.name.clone(),
                labels: head.labels.clone(),
                multi_label: head.activation == Activation::Sigmoid,
                is_vector: head.activation == Activation::None,
                kinds: model.span_kinds(index).map(<[String]>::to_vec),
                has_early_exit: head.early_exit.is_some(),
            })
            .collect())
    }

    /// The longest input in tokens, special ones included.
    #[napi(getter)]
    pub fn max_length(&self, env: &Env) -> Result<u32> {
        Ok(self.handle(env)?.model().max_length() as u32)
    }

    /// The waiting and running texts of this handle.
    #[napi(getter)]
    pub fn pending(&self) -> u32 {
        self.0.as_ref().map_or(0, |handle| handle.pending() as u32)
    }

    /// Classifies a text. It reads at most `most_windows` windows: the beginning and the end of a longer text. With
    /// `alone`, only heads with an early exit run, if there are any, and the lists of other heads are empty.
    #[napi]
    pub fn classify<'env>(
        &self,
        env: &'env Env,
        text: String,
        #[napi(
            ts_arg_type = "'windows' | 'full' | 'sentence' | 'truncate_token_head_tail' | 'truncate_head_tail' | 'chunks'"
        )]
        strategy: LongTextStrategy,
        most_windows: u32,
        abort: Option<&mut Abort>,
        alone: Option<bool>,
    ) -> Result<PromiseRaw<'env, Classification>> {
        let kinds: Vec<Vec<String>> = self
            .heads(env)?
            .into_iter()
            .map(|head| head.kinds.unwrap_or_default())
            .collect();
        let text: Arc<str> = text.into();
        let (asked, most) = (Arc::clone(&text), most_windows as usize);
        let question = if alone == Some(true) {
            Question::Alone(asked, strategy.into(), most)
        } else {
            Question::Text(asked, strategy.into(), most)
        };
        self.ask(env, question, abort, move |reply| classification(&text, reply, &kinds))
    }

    /// Classifies claims, each together with each window of a premise, which is tokenized once.
    #[napi]
    pub fn score_claims<'env>(
        &self,
        env: &'env Env,
        premise: String,
        claims: Vec<String>,
        abort: Option<&mut Abort>,
    ) -> Result<PromiseRaw<'env, ScoredClaims>> {
        let premise: Arc<str> = premise.into();
        let claims: Arc<[Arc<str>]> = claims.into_iter().map(Arc::from).collect();
        let question = Question::Claims(Arc::clone(&premise), Arc::clone(&claims));
        self.ask(env, question, abort, move |reply| {
            scored_claims(&premise, &claims, reply)
        })
    }

    /// Closes the handle: its calls are rejected with `GUARD_CLOSED`. The model's memory is freed when nobody else in
    /// the process uses it.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }

    /// Asks a question, and returns a promise of `answer` applied to the reply.
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
    let mut of_parts = spans(text, ranges.cloned());
    let skipped = reply.skipped.as_ref().and_then(|_| of_parts.pop());
    let parts = reply
        .parts
        .iter()
        .zip(of_parts)
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
        timings: reply.timings.into(),
    }
}

fn in_doubles(heads: &HeadScores) -> Vec<Vec<f64>> {
    let of_head = |labels: &Vec<f32>| labels.iter().map(|score| f64::from(*score)).collect();
    heads.iter().map(of_head).collect()
}

fn scored_claims(premise: &str, claims: &[Arc<str>], reply: &Reply) -> ScoredClaims {
    let of_premise = spans(premise, reply.parts.iter().map(|part| part.range.clone()));
    // The parts of one claim are consecutive.
    let of_claims = reply
        .parts
        .chunk_by(|a, b| claim_index(a) == claim_index(b))
        .flat_map(|parts| {
            let ranges = parts
                .iter()
                .flat_map(|part| &part.claim)
                .map(|claim| claim.range.clone());
            let index = claim_index(&parts[0]);
            spans(&claims[index], ranges).into_iter().map(move |span| (index, span))
        });
    let parts = reply
        .parts
        .iter()
        .zip(of_premise)
        .zip(of_claims)
        .map(|((part, Span { start, end }), (claim, of_claim))| ClaimPart {
            start,
            end,
            claim: claim as u32,
            claim_start: of_claim.start,
            claim_end: of_claim.end,
            heads: in_doubles(&part.heads),
        })
        .collect();
    ScoredClaims {
        parts,
        timings: reply.timings.into(),
    }
}

fn claim_index(part: &ScoredPart) -> usize {
    part.claim.as_ref().map_or(0, |claim| claim.index)
}

fn model_spans(text: &str, reply: &Reply, kinds: &[Vec<String>]) -> Vec<ModelSpan> {
    let of_spans = spans(text, reply.spans.iter().map(|span| span.range.clone()));
    let of_model = |(span, Span { start, end }): (&EntitySpan, Span)| ModelSpan {
        start,
        end,
        kind: kinds[span.head][span.kind].clone(),
        score: span.score,
    };
    reply.spans.iter().zip(of_spans).map(of_model).collect()
}

/// The kinds of spans of the model in a folder, from its `config.json`, without loading the model.
#[napi]
pub fn span_kinds(env: &Env, folder: String) -> Result<Vec<String>> {
    at_once(env, || Ok(engine::span_kinds(Path::new(&folder))?))
}

/// Reads a text file of a model's folder, verified against the folder's manifest; absent if there is no such file.
#[napi]
pub fn read_model_file(env: &Env, folder: String, file: String) -> Result<Option<String>> {
    at_once(env, || {
        let Some(content) = ModelFolder::open(Path::new(&folder))?.read_optional(Path::new(&file))? else {
            return Ok(None);
        };
        let text = String::from_utf8(content.bytes).map_err(|error| ModelFileError::Bad {
            path: content.path,
            message: error.to_string(),
        })?;
        Ok(Some(text))
    })
}

/// Whether the addon was built for musl, the C library of Alpine, which can't load libraries for glibc.
#[napi]
pub fn is_musl() -> bool {
    cfg!(target_env = "musl")
}

/// Limits the heaps of glibc's allocator in this process. Does nothing with other C libraries.
#[napi]
pub fn limit_heaps(most: u16) {
    guard_core::memory::limit_heaps(most);
}

/// Returns memory that was freed to the system, which glibc's allocator otherwise keeps. Takes milliseconds. Does nothing
/// with other C libraries.
#[napi]
pub fn release_memory() {
    guard_core::memory::give_back();
}
