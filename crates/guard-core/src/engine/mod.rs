//! Inference: models, their queue, and the ONNX Runtime library they run on.
//!
//! There is one [`Engine`] in a process. It is shared by all threads that use guard, so that the number of inference
//! threads holds for the process and a model is in memory once.

mod error;
mod model;
mod queue;
mod runtime;
mod spans;
mod tags;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

pub use error::EngineError;
pub(crate) use model::ordered_labels;
pub use model::{Activation, Head, HeadKind, Model, Pooling, Source, span_kinds};
pub use queue::{Batching, HeadScores, Lane, OnReply, Pass, Question, Queue, Reply, RowScores, ScoredPart, Ticket};
pub use runtime::Runtime;
pub use spans::Span;
pub use tags::{RowSpan, Tagging};

/// How the engine of a process is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the ONNX Runtime library may be; the first file that exists is taken.
    pub libraries: Vec<PathBuf>,
    /// Execution providers in order of preference, by short or full name; empty means the CPU.
    pub providers: Vec<String>,
    /// Threads in all for inference; `None` means the physical cores, or fewer where the process may not use them all.
    pub threads: Option<usize>,
    /// Texts that may wait for one model.
    pub queue_capacity: usize,
}

/// How the threads are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// Threads in all.
    pub total: usize,
    /// Runs that go on at the same time.
    pub workers: usize,
    /// Threads of each of these.
    pub per_worker: usize,
}

/// More sessions than this of one model would cost more memory than they bring.
const MAX_WORKERS: usize = 16;
/// How long the end of the process waits for the runs that are under way.
const EXIT_PATIENCE: Duration = Duration::from_secs(10);

impl Threads {
    fn new(total: Option<usize>) -> Result<Self, EngineError> {
        let total = match total {
            Some(0) => {
                return Err(EngineError::Setting {
                    name: "threads".into(),
                    message: "must be at least 1".into(),
                });
            }
            Some(total) => total,
            None => std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(num_cpus::get_physical()),
        };
        let per_worker = total.div_ceil(MAX_WORKERS);
        Ok(Self {
            total,
            workers: total / per_worker,
            per_worker,
        })
    }
}

/// The models of a process and the threads that run them.
pub struct Engine {
    settings: Settings,
    threads: Threads,
    runtime: Runtime,
    queue: Queue<Model>,
    models: Mutex<HashMap<Source, Weak<Loaded>>>,
    /// Held while a model is loaded, so that two callers who want the same one load it once.
    loading: Mutex<()>,
    next_model: AtomicU64,
}

struct Loaded {
    id: u64,
    model: Arc<Model>,
    engine: &'static Engine,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.engine.queue.close_model(self.id);
    }
}

/// A model that is ready for texts. Clones share it; when the last one is dropped, what waits for it is answered with
/// [`EngineError::Closed`] and its memory is freed.
#[derive(Clone)]
pub struct ModelHandle(Arc<Loaded>);

/// Lives until the end of the process: ONNX Runtime must not be unloaded while one of its threads may still run.
static ENGINE: Mutex<Option<&'static Engine>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// The engine of this process; the first call starts it.
    ///
    /// # Errors
    /// Those of [`Runtime::load`]; [`EngineError::Setting`] when it runs already with other settings. After an error the
    /// next call tries again.
    pub fn start(settings: &Settings) -> Result<&'static Engine, EngineError> {
        let mut started = lock(&ENGINE);
        if let Some(engine) = *started {
            return if engine.settings == *settings {
                Ok(engine)
            } else {
                Err(EngineError::Setting {
                    name: "engine".into(),
                    message: "it runs already in this process with other settings".into(),
                })
            };
        }
        let threads = Threads::new(settings.threads)?;
        let runtime = Runtime::load(&settings.libraries, &settings.providers)?;
        let queue = Queue::new(threads.workers, settings.queue_capacity).map_err(|error| EngineError::Setting {
            name: "threads".into(),
            message: error.to_string(),
        })?;
        let engine: &'static Engine = Box::leak(Box::new(Engine {
            settings: settings.clone(),
            threads,
            runtime,
            queue,
            models: Mutex::default(),
            loading: Mutex::default(),
            next_model: AtomicU64::new(0),
        }));
        *started = Some(engine);
        Ok(engine)
    }

    /// The loaded library and its providers.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// How the threads are divided.
    pub fn threads(&self) -> Threads {
        self.threads
    }

    /// Texts that wait or run, of all models.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Loads a model, or shares it when it is loaded already. Takes long: not for a thread that must answer.
    ///
    /// # Errors
    /// [`EngineError::MissingFile`] and [`EngineError::BadFile`] name the file at fault.
    pub fn load(&'static self, source: &Source) -> Result<ModelHandle, EngineError> {
        let _one_at_a_time = lock(&self.loading);
        let folder = std::fs::canonicalize(&source.folder).map_err(|_| EngineError::MissingFile {
            path: source.folder.clone(),
        })?;
        let source = Source {
            folder,
            ..source.clone()
        };
        if let Some(loaded) = lock(&self.models).get(&source).and_then(Weak::upgrade) {
            return Ok(ModelHandle(loaded));
        }
        let load = || Model::load(&self.runtime, self.threads, &source);
        let model = std::panic::catch_unwind(std::panic::AssertUnwindSafe(load))
            .unwrap_or_else(|panic| Err(EngineError::from_panic(panic)))?;
        stop_at_exit();
        let id = self.next_model.fetch_add(1, Ordering::Relaxed);
        let loaded = Arc::new(Loaded {
            id,
            model: Arc::new(model),
            engine: self,
        });
        let mut models = lock(&self.models);
        models.retain(|_, model| model.strong_count() > 0);
        models.insert(source, Arc::downgrade(&loaded));
        Ok(ModelHandle(loaded))
    }
}

impl ModelHandle {
    /// The model itself.
    pub fn model(&self) -> &Model {
        &self.0.model
    }

    /// Asks a question. `on_reply` is called once: from a thread of the engine, or at once when the question is refused with
    /// [`EngineError::Overloaded`] or [`EngineError::Closed`].
    pub fn ask(&self, question: Question, on_reply: OnReply) -> Ticket {
        self.0.engine.queue.submit(self.0.id, &self.0.model, question, on_reply)
    }
}

/// Runs that are under way when the process ends would use ONNX Runtime while its static objects are destroyed. That
/// happens in the reverse order of their creation, and some are created by the first run of a model: so this handler is
/// registered anew after each model was loaded and warmed up, and stops the runs before any of these objects goes.
#[cfg(unix)]
fn stop_at_exit() {
    extern "C" fn stop() {
        // A lock that is held now may be held by a thread that will never run again.
        if let Ok(started) = ENGINE.try_lock()
            && let Some(engine) = *started
        {
            engine.queue.shut_down(EXIT_PATIENCE);
        }
    }
    // SAFETY: `stop` is a plain function without unwinding: what it calls does not panic.
    unsafe {
        libc::atexit(stop);
    }
}

/// On Windows the threads are gone before exit handlers of a library run.
#[cfg(not(unix))]
fn stop_at_exit() {}
