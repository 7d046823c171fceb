//! The thread pool for texts that would block the event loop for too long.
//!
//! The pool is separate from Node's, because Node's queue allows no removal, and file reads and DNS lookups would wait
//! for texts that nobody needs any more. A task that is aborted before its turn never runs, and frees its text
//! immediately; a running task stops at its next [`guard_core::stop::point`].

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, available_parallelism};

use guard_core::engine::EngineError;
use guard_core::stop::{self, StopFlag, Stopped};
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, JsValue, Result};
use napi_derive::napi;

use crate::error::{Code, Failure, caught};

/// The fewest threads: while one has a long text, others can still be scanned.
const LEAST_THREADS: usize = 2;

/// Work on a text, together with the promise of its result.
struct Task {
    flag: StopFlag,
    /// `None` once the task has begun or was aborted.
    job: Mutex<Option<Job>>,
}

/// Runs the work of a task under its flag and settles its promise; without a flag, it only rejects the promise.
type Job = Box<dyn FnOnce(Option<&StopFlag>) + Send>;

impl Task {
    fn take(&self) -> Option<Job> {
        let job = lock(&self.job).take();
        if job.is_some() {
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
        job
    }

    fn run(&self) {
        let Some(job) = self.take() else { return };
        RUNNING.fetch_add(1, Ordering::Relaxed);
        job(Some(&self.flag));
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }

    fn stop(&self) {
        self.flag.raise();
        if let Some(job) = self.take() {
            job(None);
        }
    }
}

/// The tasks in the order of arrival. Aborted ones stay in it, empty.
static QUEUE: Mutex<VecDeque<Arc<Task>>> = Mutex::new(VecDeque::new());
static FILLED: Condvar = Condvar::new();
static WAITING: AtomicUsize = AtomicUsize::new(0);
static RUNNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The last task that this JavaScript thread started.
    static LAST: RefCell<Weak<Task>> = const { RefCell::new(Weak::new()) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the threads on the first call, and returns their number.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let wanted = available_parallelism().map_or(LEAST_THREADS, |cores| cores.get().max(LEAST_THREADS));
        let start = |number: &usize| {
            let named = thread::Builder::new().name(format!("guard-rules-{number}"));
            named.spawn(work_off).is_ok()
        };
        (0..wanted).filter(start).count()
    })
}

/// Runs tasks until the process ends.
fn work_off() {
    loop {
        let mut queue = lock(&QUEUE);
        let task = loop {
            match queue.pop_front() {
                Some(task) => break task,
                None => queue = FILLED.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queue);
        task.run();
    }
}

/// Runs `work` on the pool. Its result returns to the JavaScript thread, which alone can create an error.
pub fn in_pool<'env, T: ToNapiValue + Send + 'static>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<PromiseRaw<'env, T>> {
    if threads() == 0 {
        return Err(Failure::new(Code::Runtime, "no thread could be started").into_js(env));
    }
    let (deferred, promise) = env.create_deferred::<T, _>()?;
    let job: Job = Box::new(move |flag| {
        let done = match flag {
            Some(flag) => caught(|| stop::run(flag, work).unwrap_or_else(|Stopped| Err(EngineError::Aborted.into()))),
            None => {
                drop(work);
                Err(EngineError::Aborted.into())
            }
        };
        deferred.resolve(move |env: Env| done.map_err(|failure: Failure| failure.into_js(&env)));
    });
    let task = Arc::new(Task {
        flag: StopFlag::default(),
        job: Mutex::new(Some(job)),
    });
    LAST.set(Arc::downgrade(&task));
    WAITING.fetch_add(1, Ordering::Relaxed);
    lock(&QUEUE).push_back(task);
    FILLED.notify_one();
    Ok(PromiseRaw::new(env.raw(), promise.value().value))
}

/// A current task.
#[napi]
pub struct RuleTask(Weak<Task>);

#[napi]
impl RuleTask {
    /// Rejects its promise with `GUARD_ABORTED`: immediately if it has not begun, otherwise at its next cancellation
    /// point. Does nothing if it has ended.
    #[napi]
    pub fn abort(&self) {
        if let Some(task) = self.0.upgrade() {
            task.stop();
        }
    }
}

/// The task of the promise that a function of this addon just returned. Call it once, right after that function, on the
/// same thread.
#[napi]
pub fn last_task() -> RuleTask {
    RuleTask(LAST.take())
}

/// The current tasks.
#[napi(object)]
pub struct RuleTasks {
    /// The waiting tasks.
    pub waiting: u32,
    /// The running tasks, including aborted ones that have not stopped yet.
    pub running: u32,
}

/// Counts the current tasks of this process, without immediate work.
#[napi]
pub fn rule_tasks() -> RuleTasks {
    RuleTasks {
        waiting: WAITING.load(Ordering::Relaxed) as u32,
        running: RUNNING.load(Ordering::Relaxed) as u32,
    }
}
