//! Engines, and the pools of threads and models that they share.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::config::Source;
use super::error::EngineError;
use super::onnx::{LayerFiles, Model};
use super::question::Question;
use super::queue::Client;
use super::reply::{OnReply, Ticket};
use super::runtime::Runtime;
use super::settings::{self, Settings};
use super::workers::Workers;
use crate::memory;
use crate::model_files::ModelFileError;
use crate::tokens::Tokenizers;

/// How long the end of the process waits for current runs.
const EXIT_PATIENCE: Duration = Duration::from_secs(10);

/// Loads models and runs them.
///
/// Create an engine from its [`Settings`], and pass it to the code that loads models. Engines are cheap: those with the
/// same library, providers and number of threads share one pool, so the number of inference threads holds for all of
/// them, and a model is in memory once. Engines with other settings have their own threads and models. The queue
/// capacity is set per handle of a model in [`Engine::load`].
///
/// The threads of a pool live until the process ends, and sleep when idle. The memory of a model is freed with its last
/// handle. The ONNX Runtime library is shared by the process: see [`Runtime::load`].
#[derive(Clone, Copy)]
pub struct Engine {
    pool: &'static Pool,
}

/// The threads and models of all engines with the same settings.
struct Pool {
    threads: usize,
    runtime: Runtime,
    workers: Workers<Model>,
    tokenizers: Tokenizers,
    layer_files: LayerFiles,
    models: Mutex<HashMap<Source, Slot>>,
    next_model: AtomicU64,
}

/// The settings that identify a pool.
#[derive(PartialEq, Eq)]
struct PoolKey {
    library: PathBuf,
    providers: Vec<&'static str>,
    threads: usize,
}

/// Pools are never dropped: ONNX Runtime must not be unloaded while one of its threads may run.
static POOLS: Mutex<Vec<(PoolKey, &'static Pool)>> = Mutex::new(Vec::new());

/// The slot of a model, locked while it loads: callers of the same model wait, others do not.
type Slot = Arc<Mutex<Weak<LoadedModel>>>;

/// A model in memory.
struct LoadedModel {
    id: u64,
    model: Arc<Model>,
}

/// A handle of a loaded model, with a queue limit. Clones share the limit. When the last clone is dropped, its waiting
/// questions get [`EngineError::Closed`]. Other handles of the model continue; its memory is freed with the last one.
#[derive(Clone)]
pub struct ModelHandle(Arc<Handle>);

struct Handle {
    loaded: Arc<LoadedModel>,
    client: Client,
    pool: &'static Pool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.pool.workers.close(self.client);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Creates an engine. The first one with its settings starts the threads; the first one of the process loads the
    /// ONNX Runtime library.
    ///
    /// # Errors
    /// Those of [`Runtime::load`], or [`EngineError::Setting`] for an invalid number of threads. After an error, the
    /// next call tries again.
    pub fn new(settings: &Settings) -> Result<Self, EngineError> {
        let threads = settings::threads(settings.threads)?;
        let runtime = Runtime::load(&settings.libraries, &settings.providers)?;
        let key = PoolKey {
            library: runtime.library().to_owned(),
            providers: runtime.providers(),
            threads,
        };
        let mut pools = lock(&POOLS);
        if let Some((_, pool)) = pools.iter().find(|(other, _)| *other == key) {
            return Ok(Self { pool });
        }
        let no_threads = |error: std::io::Error| EngineError::Setting {
            name: "threads".into(),
            message: error.to_string(),
        };
        let pool: &'static Pool = Box::leak(Box::new(Pool {
            threads,
            runtime,
            workers: Workers::start(threads).map_err(no_threads)?,
            tokenizers: Tokenizers::start().map_err(no_threads)?,
            layer_files: LayerFiles::default(),
            models: Mutex::default(),
            next_model: AtomicU64::new(0),
        }));
        pools.push((key, pool));
        Ok(Self { pool })
    }

    /// The loaded library and its providers.
    pub fn runtime(&self) -> &Runtime {
        &self.pool.runtime
    }

    /// The number of inference threads, and so of concurrent runs.
    pub fn threads(&self) -> usize {
        self.pool.threads
    }

    /// The waiting and running questions of all models and engines of the pool.
    pub fn pending(&self) -> usize {
        self.pool.workers.len()
    }

    /// The number of texts tokenized so far by all engines of the pool. It is lower than the number of questions,
    /// because models with the same tokenizer file share tokens.
    pub fn tokenized_texts(&self) -> u64 {
        self.pool.tokenizers.tokenized_texts()
    }

    /// The number of rows that passed shared layers so far, in all engines of the pool. It is lower than the number of
    /// rows, because models with the same layers share their vectors.
    pub fn rows_of_shared_layers(&self) -> u64 {
        self.pool.layer_files.computed_rows()
    }

    /// Loads a model, or shares a loaded one. This takes long, so don't call it on a thread that must respond.
    ///
    /// `capacity` is the most waiting and running questions of this handle; further ones get
    /// [`EngineError::Overloaded`]. Other handles of the model have their own limits.
    ///
    /// # Errors
    /// [`EngineError::File`] or [`EngineError::Tokenize`], which name the file.
    pub fn load(&self, source: &Source, capacity: usize) -> Result<ModelHandle, EngineError> {
        let loaded = self.pool.load(source)?;
        Ok(ModelHandle(Arc::new(Handle {
            client: self.pool.workers.client(loaded.id, capacity),
            loaded,
            pool: self.pool,
        })))
    }
}

impl Pool {
    fn load(&self, source: &Source) -> Result<Arc<LoadedModel>, EngineError> {
        let folder = std::fs::canonicalize(&source.folder).map_err(|_| ModelFileError::Missing {
            path: source.folder.clone(),
        })?;
        let source = Source {
            folder,
            ..source.clone()
        };
        let slot = {
            let mut models = lock(&self.models);
            // Remove the slots of dropped models that nobody loads.
            models.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|model| model.strong_count() > 0)
            });
            Arc::clone(models.entry(source.clone()).or_default())
        };
        let mut model_of_slot = lock(&slot);
        if let Some(loaded) = model_of_slot.upgrade() {
            return Ok(loaded);
        }
        let load = || {
            Model::load(
                &self.runtime,
                self.threads,
                &self.tokenizers,
                &self.layer_files,
                &source,
            )
        };
        let model = catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|panic| Err(EngineError::from_panic(panic)))?;
        stop_at_exit();
        // Loading needed several times the memory of the model.
        memory::give_back();
        let loaded = Arc::new(LoadedModel {
            id: self.next_model.fetch_add(1, Ordering::Relaxed),
            model: Arc::new(model),
        });
        *model_of_slot = Arc::downgrade(&loaded);
        Ok(loaded)
    }
}

impl ModelHandle {
    /// The model.
    pub fn model(&self) -> &Model {
        &self.0.loaded.model
    }

    /// The waiting and running questions of this handle.
    pub fn pending(&self) -> usize {
        self.0.pool.workers.pending(self.0.client)
    }

    /// Asks a question. `on_reply` is called once: from an engine thread, or immediately with
    /// [`EngineError::Overloaded`] or [`EngineError::Closed`].
    pub fn ask(&self, question: Question, on_reply: OnReply) -> Ticket {
        let Handle { loaded, client, pool } = &*self.0;
        pool.workers.ask(*client, &loaded.model, question, on_reply)
    }
}

/// Stops all runs when the process ends.
///
/// Running inference would use ONNX Runtime while its static objects are destroyed. They are destroyed in the reverse
/// order of their creation, and the first run of a model creates some. So this handler is registered again after each
/// model is loaded, to stop the runs before that.
#[cfg(unix)]
fn stop_at_exit() {
    extern "C" fn stop() {
        // The holder of a lock may be a thread that will never run again.
        if let Ok(pools) = POOLS.try_lock() {
            for (_, pool) in pools.iter() {
                pool.workers.shut_down(EXIT_PATIENCE);
            }
        }
    }
    // SAFETY: `stop` does not unwind, since nothing in it panics.
    unsafe {
        libc::atexit(stop);
    }
}

/// On Windows, the threads are gone before exit handlers of a library run.
#[cfg(not(unix))]
fn stop_at_exit() {}
