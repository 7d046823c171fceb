//! The engine: models and their scores.

use std::path::PathBuf;
use std::sync::Arc;

use guard_core::engine::{Activation, Engine, EngineError, ModelHandle, Reply, Settings, Source, Ticket};
use guard_core::tokens::windows::Reading;
use napi::bindgen_prelude::{AsyncTask, PromiseRaw};
use napi::{Env, JsValue, Result, Task};
use napi_derive::napi;

use crate::error;
use crate::places::{Span, spans};

fn failed(cause: EngineError) -> napi::Error {
    error(cause.code(), &cause)
}

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
pub fn start_engine(settings: EngineSettings) -> Result<EngineInfo> {
    let engine = Engine::start(&settings.into()).map_err(failed)?;
    let threads = engine.threads();
    Ok(EngineInfo {
        library: engine.runtime().library().display().to_string(),
        providers: engine.runtime().providers().into_iter().map(str::to_owned).collect(),
        threads: threads.total as u32,
        workers: threads.workers as u32,
        pending: engine.pending() as u32,
    })
}

/// One output of a model.
#[napi(object)]
pub struct ModelHead {
    pub name: String,
    pub labels: Vec<String>,
    /// Whether each label stands for itself; otherwise exactly one is right.
    pub multi_label: bool,
}

/// A part of a text and its probabilities, by head and label.
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
    pub tokens: u32,
    /// Code units of the text that were not read.
    pub skipped_chars: u32,
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
    pub fn heads(&self) -> Result<Vec<ModelHead>> {
        Ok(self
            .handle()?
            .model()
            .heads()
            .iter()
            .map(|head| ModelHead {
                name: head.name.clone(),
                labels: head.labels.clone(),
                multi_label: head.activation == Activation::Sigmoid,
            })
            .collect())
    }

    /// The longest input in tokens, special ones included.
    #[napi(getter)]
    pub fn max_length(&self) -> Result<u32> {
        Ok(self.handle()?.model().max_length() as u32)
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
        let handle = self.handle()?;
        let (deferred, promise) = env.create_deferred::<Classification, _>()?;
        let text: Arc<str> = text.into();
        let asked = Arc::clone(&text);
        let on_reply = Box::new(
            move |result: std::result::Result<Arc<Reply>, EngineError>| match result {
                Ok(reply) => {
                    let classification = classification(&asked, &reply);
                    deferred.resolve(move |_| Ok(classification));
                }
                Err(cause) => deferred.reject(failed(cause)),
            },
        );
        let ticket = handle.classify(text, mode.into(), on_reply);
        if let Some(abort) = abort {
            abort.0 = Some(ticket);
        }
        Ok(PromiseRaw::new(env.raw(), promise.value().value))
    }

    /// Lets go of the model; its memory is freed when nobody else in the process uses it.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }

    fn handle(&self) -> Result<&ModelHandle> {
        self.0.as_ref().ok_or_else(|| failed(EngineError::Closed))
    }
}

fn classification(text: &str, reply: &Reply) -> Classification {
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
            heads: part
                .heads
                .iter()
                .map(|labels| labels.iter().map(|score| f64::from(*score)).collect())
                .collect(),
        })
        .collect();
    Classification {
        parts,
        tokens: reply.tokens as u32,
        skipped_chars: skipped.map_or(0, |skipped| skipped.end - skipped.start),
    }
}

/// Loading of a model, off the event loop.
pub struct LoadModel {
    settings: Settings,
    source: Source,
}

impl Task for LoadModel {
    type Output = ModelHandle;
    type JsValue = NativeModel;

    fn compute(&mut self) -> Result<ModelHandle> {
        let engine = Engine::start(&self.settings).map_err(failed)?;
        engine.load(&self.source).map_err(failed)
    }

    fn resolve(&mut self, _: Env, handle: ModelHandle) -> Result<NativeModel> {
        Ok(NativeModel(Some(handle)))
    }
}

/// Where a model is; see `Source` of guard-core.
#[napi(object)]
pub struct ModelSource {
    pub folder: String,
    pub graph: Option<String>,
    pub max_length: Option<u32>,
}

/// Loads a model. Starts the engine first.
#[napi(ts_return_type = "Promise<NativeModel>")]
pub fn load_model(settings: EngineSettings, source: ModelSource) -> AsyncTask<LoadModel> {
    let source = Source {
        folder: source.folder.into(),
        graph: source.graph.map(PathBuf::from),
        max_length: source.max_length.map(|length| length as usize),
    };
    AsyncTask::new(LoadModel {
        settings: settings.into(),
        source,
    })
}
