//! The threads on which texts are looked at that would hold the event loop for too long.
//!
//! They are guard's own, and not those of Node's pool: in that pool nothing can be taken out of the queue, and reading files and
//! looking up hosts would wait behind texts that nobody asks for any more. A task that is stopped before its turn is never run and
//! frees its text at once; one that runs is left at its next [`guard_core::stop::point`].

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, available_parallelism};

use guard_core::engine::EngineError;
use guard_core::stop::{self, Flag, Stopped};
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, JsValue, Result};
use napi_derive::napi;

use crate::error::{Code, Failure, caught};

/// Threads at least: while one of them has a long text, others are still looked at.
const LEAST_THREADS: usize = 2;

/// Work on a text, together with the promise of its result.
struct Task {
    flag: Flag,
    /// Absent once the task has begun or was stopped.
    job: Mutex<Option<Job>>,
}

/// Does the work of a task under its flag and settles its promise; without a flag, the promise alone is rejected.
type Job = Box<dyn FnOnce(Option<&Flag>) + Send>;

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

/// Tasks in the order in which they came. Those that were stopped stay in it, empty.
static QUEUE: Mutex<VecDeque<Arc<Task>>> = Mutex::new(VecDeque::new());
static FILLED: Condvar = Condvar::new();
static WAITING: AtomicUsize = AtomicUsize::new(0);
static RUNNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The task that this thread of JavaScript started last.
    static LAST: RefCell<Weak<Task>> = const { RefCell::new(Weak::new()) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of threads, which the first call starts.
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

/// Runs tasks for as long as the process lives.
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

/// Does `work` on one of the threads. What it returns comes back to the thread of JavaScript, which alone can make an error.
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
            Some(flag) => caught(|| stop::under(flag, work).unwrap_or_else(|Stopped| Err(EngineError::Aborted.into()))),
            None => {
                drop(work);
                Err(EngineError::Aborted.into())
            }
        };
        deferred.resolve(move |env: Env| done.map_err(|failure: Failure| failure.into_js(&env)));
    });
    let task = Arc::new(Task {
        flag: Flag::default(),
        job: Mutex::new(Some(job)),
    });
    LAST.set(Arc::downgrade(&task));
    WAITING.fetch_add(1, Ordering::Relaxed);
    lock(&QUEUE).push_back(task);
    FILLED.notify_one();
    Ok(PromiseRaw::new(env.raw(), promise.value().value))
}

/// Work on a text that goes on.
#[napi]
pub struct RuleTask(Weak<Task>);

#[napi]
impl RuleTask {
    /// Rejects its promise with `GUARD_ABORTED`: at once where it has not begun, and else as soon as it can be left. Does nothing
    /// when it has ended.
    #[napi]
    pub fn abort(&self) {
        if let Some(task) = self.0.upgrade() {
            task.stop();
        }
    }
}

/// The task behind the promise that a function of this addon has just returned for a text; to be called right after it, on the same
/// thread, and once.
#[napi]
pub fn last_task() -> RuleTask {
    RuleTask(LAST.take())
}

/// How much work on texts is under way.
#[napi(object)]
pub struct RuleTasks {
    /// Tasks that wait for a thread.
    pub waiting: u32,
    /// Tasks that a thread works on. Those that were aborted count until they are left.
    pub running: u32,
}

/// Counts the work on texts that is under way in this process, but for what is done at once.
#[napi]
pub fn rule_tasks() -> RuleTasks {
    RuleTasks {
        waiting: WAITING.load(Ordering::Relaxed) as u32,
        running: RUNNING.load(Ordering::Relaxed) as u32,
    }
}
