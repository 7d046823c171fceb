//! The threads that answer questions.
//!
//! A text passes two stages with threads of their own: tokenization, then inference. Inference serves the waiting texts
//! in turn, one batch of rows each: a long document with many rows delays a short prompt by one batch, not by all of
//! its windows. Equal concurrent questions share one answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::backend::Backend;
use super::error::EngineError;
use super::question::Question;
use super::queue::{Client, Queue};
use super::reply::{OnReply, Ticket};

/// The most tokenization threads. Tokenization is much faster than inference, so more threads would only wait.
const MAX_TOKENIZERS: usize = 4;
/// How long dropped [`Workers`] wait for current runs.
const DROP_PATIENCE: Duration = Duration::from_secs(60);

/// Threads for tokenization and inference, for any number of models, and their queue.
///
/// They know nothing of ONNX. This example is a whole engine with a model that counts letters:
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use guard_core::engine::{Backend, Batching, EngineError, Question, RowScores, Workers};
/// use guard_core::tokens::{LongTextStrategy, Row, Rows, TokenizeError};
///
/// struct Letters;
///
/// impl Backend for Letters {
///     fn tokenize(&self, question: &Question) -> Result<Rows, TokenizeError> {
///         let text = question.text();
///         let row = Row { ids: vec![1; text.len()].into(), range: 0..text.len(), ..Row::default() };
///         Ok(Rows { rows: vec![row], tokens: text.len(), skipped: None })
///     }
///     fn run(&self, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError> {
///         let score = |row: &&Row| RowScores { heads: vec![vec![row.ids.len() as f32]], spans: vec![] };
///         Ok(rows.iter().map(score).collect())
///     }
///     fn batching(&self) -> Batching {
///         Batching::Tokens(512)
///     }
/// }
///
/// let workers = Workers::start(2)?;
/// // A client of model 0 that may have eight questions under way.
/// let client = workers.client(0, 8);
/// let (send, receive) = mpsc::channel();
/// let question = Question::Text("seven".into(), LongTextStrategy::Windows, usize::MAX);
/// workers.ask(client, &Arc::new(Letters), question, Box::new(move |reply| send.send(reply).unwrap()));
/// let reply = receive.recv()??;
/// assert_eq!(reply.parts[0].heads, [[5.0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Workers<B: Backend> {
    shared: Arc<SharedState<B>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    next_client: AtomicU64,
}

/// The state that the threads share. `tokenization.rs` and `inference.rs` have the loops of the two stages.
pub(super) struct SharedState<B> {
    queue: Mutex<Queue<B>>,
    /// Notified when a question waits for tokenization.
    pub tokenize: Condvar,
    /// Notified when rows wait for a run.
    pub run: Condvar,
    /// Notified when a stage ends while the workers close.
    pub idle: Condvar,
}

impl<B> SharedState<B> {
    pub fn lock(&self) -> MutexGuard<'_, Queue<B>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Backend> Workers<B> {
    /// Starts `count` inference threads, and as many tokenization threads, up to four.
    ///
    /// # Errors
    /// If the system can't start a thread.
    pub fn start(count: usize) -> std::io::Result<Self> {
        let shared = Arc::new(SharedState {
            queue: Mutex::default(),
            tokenize: Condvar::new(),
            run: Condvar::new(),
            idle: Condvar::new(),
        });
        let mut threads = Vec::new();
        for index in 0..count {
            let shared = Arc::clone(&shared);
            threads.push(spawn(format!("guard-infer-{index}"), move || {
                shared.infer_forever();
            })?);
        }
        for index in 0..count.min(MAX_TOKENIZERS) {
            let shared = Arc::clone(&shared);
            threads.push(spawn(format!("guard-token-{index}"), move || {
                shared.tokenize_forever();
            })?);
        }
        Ok(Self {
            shared,
            threads: Mutex::new(threads),
            next_client: AtomicU64::new(0),
        })
    }

    /// Creates a client of a model with at most `capacity` waiting and running questions. Clients of one model share
    /// answers, but not limits.
    pub fn client(&self, model: u64, capacity: usize) -> Client {
        Client {
            id: self.next_client.fetch_add(1, Ordering::Relaxed),
            model,
            capacity,
        }
    }

    /// Asks a question; `backend` is the client's model. `on_reply` is called exactly once: immediately with
    /// [`EngineError::Overloaded`] if the client's queue is full or [`EngineError::Closed`] while closing; otherwise
    /// later from another thread. A question counts once, whatever its number of rows; a question equal to a current
    /// one does not count again.
    pub fn ask(&self, client: Client, backend: &Arc<B>, question: Question, on_reply: OnReply) -> Ticket {
        let ticket = Ticket::new(on_reply);
        let entered = self.shared.lock().enter(client, backend, question, &ticket);
        match entered {
            Ok(_dropped_without_the_lock) => self.shared.tokenize.notify_one(),
            Err(refusal) => ticket.answer(Err(refusal)),
        }
        ticket
    }

    /// Answers all questions of a client with [`EngineError::Closed`]. Other clients with equal questions still get
    /// their answers.
    pub fn close(&self, client: Client) {
        let (tickets, removed) = {
            let mut queue = self.shared.lock();
            queue.record_close();
            queue.remove_client(client)
        };
        // A thread that sleeps without a timeout must learn the time of the next release.
        self.shared.run.notify_one();
        for ticket in tickets {
            ticket.answer(Err(EngineError::Closed));
        }
        drop(removed);
    }

    /// The waiting and running questions of a client.
    pub fn pending(&self, client: Client) -> usize {
        self.shared.lock().pending(client)
    }

    /// The waiting and running questions of all clients.
    pub fn len(&self) -> usize {
        self.shared.lock().len()
    }

    /// Whether nothing waits or runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rejects new questions, answers waiting ones with [`EngineError::Closed`], and waits until nothing runs, for at
    /// most `patience`. Returns whether everything stopped.
    pub fn shut_down(&self, patience: Duration) -> bool {
        let mut queue = self.shared.lock();
        queue.closing = true;
        let removed = queue.remove_all();
        drop(queue);
        self.shared.tokenize.notify_all();
        self.shared.run.notify_all();
        for entry in removed {
            entry.answer(&Err(EngineError::Closed));
        }
        let deadline = Instant::now() + patience;
        let mut queue = self.shared.lock();
        while queue.running + queue.tokenizing > 0 {
            let now = Instant::now();
            if now >= deadline {
                return false;
            }
            queue = self
                .shared
                .idle
                .wait_timeout(queue, deadline - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}

impl<B: Backend> Drop for Workers<B> {
    fn drop(&mut self) {
        self.shut_down(DROP_PATIENCE);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // Panics of a thread were caught and reported to callers.
            let _ = thread.join();
        }
    }
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).spawn(body)
}

#[cfg(test)]
mod tests;
