//! Engines, and the pools of threads and models that they share.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::config::Source;
use super::error::EngineError;
use super::onnx::Model;
use super::question::Question;
use super::queue::Client;
use super::reply::{OnReply, Ticket};
use super::runtime::Runtime;
use super::settings::{self, Settings};
use super::workers::Workers;
use crate::memory;
use crate::model_files::ModelFileError;
use crate::tokens::Tokenizers;

/// How long the end of the process waits for the runs that are under way.
const EXIT_PATIENCE: Duration = Duration::from_secs(10);

/// Loads models and runs them.
///
/// An engine is made of its [`Settings`] and passed to whoever loads models. It costs little: engines with the same library,
/// the same providers and the same number of threads share one pool, so that the number of inference threads holds for all
/// of them and a model is in memory once. Engines with other settings have threads, and copies of the models, of their own.
/// How many questions may wait is no setting of the engine: [`Engine::load`] takes it for each handle of a model.
///
/// The threads of a pool live until the process ends, asleep when nothing is asked; the memory of a model is freed with the
/// last handle. Only the ONNX Runtime library is one for the process: see [`Runtime::load`].
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
    models: Mutex<HashMap<Source, Slot>>,
    next_model: AtomicU64,
}

/// What pools are told apart by.
#[derive(PartialEq, Eq)]
struct PoolKey {
    library: PathBuf,
    providers: Vec<&'static str>,
    threads: usize,
}

/// Pools are never dropped: ONNX Runtime must not be unloaded while one of its threads may still run.
static POOLS: Mutex<Vec<(PoolKey, &'static Pool)>> = Mutex::new(Vec::new());

/// The place of a model, locked while it is loaded: callers who want the same one wait for it, and others do not.
type Slot = Arc<Mutex<Weak<Loaded>>>;

/// A model in memory.
struct Loaded {
    id: u64,
    model: Arc<Model>,
}

/// A model that is ready for questions, with a limit of how many may wait. Clones share the limit; when the last one is
/// dropped, what waits for this handle is answered with [`EngineError::Closed`]. Other handles of the same model go on; its
/// memory is freed with the last of them.
#[derive(Clone)]
pub struct ModelHandle(Arc<Handle>);

struct Handle {
    loaded: Arc<Loaded>,
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
    /// An engine of these settings. The first one with such settings starts the threads; the first one of the process loads
    /// the ONNX Runtime library.
    ///
    /// # Errors
    /// Those of [`Runtime::load`]; [`EngineError::Setting`] for an impossible number of threads. After an error the next call
    /// tries again.
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

    /// Threads for inference: as many runs go on at a time.
    pub fn threads(&self) -> usize {
        self.pool.threads
    }

    /// Questions that wait or run, of all models and all engines that share the pool.
    pub fn pending(&self) -> usize {
        self.pool.workers.len()
    }

    /// Texts that were turned into tokens so far, by all engines that share the pool: fewer than were asked for, because
    /// models with the same tokenizer file share the tokens of a text.
    pub fn encoded(&self) -> u64 {
        self.pool.tokenizers.encoded()
    }

    /// Loads a model, or shares it when it is loaded already. Takes long: not for a thread that must answer.
    ///
    /// `capacity` is how many questions of this handle may wait or run at a time; the next one is refused with
    /// [`EngineError::Overloaded`]. Other handles of the same model have limits of their own.
    ///
    /// # Errors
    /// [`EngineError::File`] and [`EngineError::Tokenize`] name the file at fault.
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
    fn load(&self, source: &Source) -> Result<Arc<Loaded>, EngineError> {
        let folder = std::fs::canonicalize(&source.folder).map_err(|_| ModelFileError::Missing {
            path: source.folder.clone(),
        })?;
        let source = Source {
            folder,
            ..source.clone()
        };
        let slot = {
            let mut models = lock(&self.models);
            // The places of models that are gone, and that nobody loads.
            models.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|model| model.strong_count() > 0)
            });
            Arc::clone(models.entry(source.clone()).or_default())
        };
        let mut model_of_slot = lock(&slot);
        if let Some(loaded) = model_of_slot.upgrade() {
            return Ok(loaded);
        }
        let load = || Model::load(&self.runtime, self.threads, &self.tokenizers, &source);
        let model = catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|panic| Err(EngineError::from_panic(panic)))?;
        stop_at_exit();
        // Files and graphs took several times as much as the model does.
        memory::give_back();
        let loaded = Arc::new(Loaded {
            id: self.next_model.fetch_add(1, Ordering::Relaxed),
            model: Arc::new(model),
        });
        *model_of_slot = Arc::downgrade(&loaded);
        Ok(loaded)
    }
}

impl ModelHandle {
    /// The model itself.
    pub fn model(&self) -> &Model {
        &self.0.loaded.model
    }

    /// Questions of this handle that wait or run.
    pub fn pending(&self) -> usize {
        self.0.pool.workers.pending(self.0.client)
    }

    /// Asks a question. `on_reply` is called once: from a thread of the engine, or at once when the question is refused with
    /// [`EngineError::Overloaded`] or [`EngineError::Closed`].
    pub fn ask(&self, question: Question, on_reply: OnReply) -> Ticket {
        let Handle { loaded, client, pool } = &*self.0;
        pool.workers.ask(*client, &loaded.model, question, on_reply)
    }
}

/// Stops all runs when the process ends.
///
/// Runs that are under way then would use ONNX Runtime while its static objects are destroyed. They are destroyed in the
/// reverse order of their creation, and some are created by the first run of a model: so this handler is registered anew
/// after each model was loaded, and stops the runs before any of these objects goes.
#[cfg(unix)]
fn stop_at_exit() {
    extern "C" fn stop() {
        // A lock that is held now may be held by a thread that will never run again.
        if let Ok(pools) = POOLS.try_lock() {
            for (_, pool) in pools.iter() {
                pool.workers.shut_down(EXIT_PATIENCE);
            }
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
