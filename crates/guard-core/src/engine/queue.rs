//! The queue between callers and the threads that run models.
//!
//! A text passes two stages, each with threads of its own: tokenization, then inference. Inference goes round robin
//! over the texts that wait, one batch of rows each: a long document, which is many rows, delays a short prompt by one
//! batch and not by all of its windows. A text that is asked for while the same text is on its way is answered from
//! that one pass.
//!
//! The queue knows nothing of ONNX: what it runs is behind [`Pass`], and its tests bring their own.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::EngineError;
use super::spans::{Span, joined};
use super::tags::RowSpan;
use crate::tokens::windows::{Reading, Row, Rows};

/// How rows may share a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// One row a run. Dynamically quantized models need it: their activation scale is taken over the whole batch, so
    /// that a row's score would depend on its neighbours.
    Single,
    /// Rows of similar length together, padded to the longest, up to so many tokens.
    Tokens(usize),
}

/// The scores of one row: for each head of the model, one probability per label; none for a head over tokens.
pub type HeadScores = Vec<Vec<f32>>;

/// What a model says of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowScores {
    /// What its heads over the whole row say.
    pub heads: HeadScores,
    /// What its heads over tokens found, in order for each head.
    pub spans: Vec<RowSpan>,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Question {
    /// To judge a text.
    Text(Arc<str>, Reading),
    /// To judge a text, in windows, together with a claim on it.
    Pair(Arc<str>, Arc<str>),
}

impl Question {
    /// The text in which the places of the answer are.
    fn text(&self) -> &str {
        match self {
            Self::Text(text, _) | Self::Pair(text, _) => text,
        }
    }
}

/// Something that turns texts into rows and rows into scores: a loaded model.
pub trait Pass: Send + Sync + 'static {
    /// Turns a text, or a text and a claim, into the rows that are to be run.
    fn tokenize(&self, question: &Question) -> Result<Rows, EngineError>;
    /// Runs rows; the result is as long as `rows`. `lane` tells what the run may use. Calls on one lane are rare to meet, and
    /// must take turns.
    fn run(&self, lane: Lane, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError>;
    /// How rows of this model may share a run.
    fn batching(&self) -> Batching;
}

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// All threads: nothing else is waiting or running, so the answer comes soonest this way.
    Wide,
    /// The one thread of this worker: with work for every worker, this gives the highest throughput.
    Worker(usize),
}

/// A part of a text and its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPart {
    /// Bytes of the text that the row was made from.
    pub range: Range<usize>,
    /// Bytes of the claim that the row was made from, where there is one.
    pub claim: Option<Range<usize>>,
    /// Probabilities by head and label.
    pub heads: HeadScores,
}

/// What a pass over one text found.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The parts of the text that were scored, in order.
    pub parts: Vec<ScoredPart>,
    /// What heads over tokens found, in order; only of a text that was read in windows.
    pub spans: Vec<Span>,
    /// Tokens of the whole text, without special ones.
    pub tokens: usize,
    /// Bytes of the text that were not read.
    pub skipped: Option<Range<usize>>,
}

/// Receives the answer, on a thread of the queue (or the caller's own, for an abort).
pub type OnReply = Box<dyn FnOnce(Result<Arc<Reply>, EngineError>) + Send>;

/// One caller that waits for a text.
#[derive(Clone)]
pub struct Ticket(Arc<Mutex<Option<OnReply>>>);

impl Ticket {
    fn new(on_reply: OnReply) -> Self {
        Self(Arc::new(Mutex::new(Some(on_reply))))
    }

    /// Answers this caller with [`EngineError::Aborted`] now; a text that nobody waits for any more leaves the queue.
    pub fn abort(&self) {
        self.answer(Err(EngineError::Aborted));
    }

    fn answer(&self, result: Result<Arc<Reply>, EngineError>) {
        let waiting = lock(&self.0).take();
        if let Some(on_reply) = waiting {
            on_reply(result);
        }
    }

    fn is_waiting(&self) -> bool {
        lock(&self.0).is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    model: u64,
    question: Question,
}

/// A text on its way.
struct Entry<P> {
    key: Key,
    pass: Arc<P>,
    tickets: Vec<Ticket>,
    work: Option<Work>,
}

struct Work {
    rows: Arc<Rows>,
    next: usize,
    missing: usize,
    parts: Vec<Option<RowScores>>,
}

impl<P> Entry<P> {
    fn is_abandoned(&self) -> bool {
        !self.tickets.iter().any(Ticket::is_waiting)
    }
}

type EntryId = u64;

struct State<P> {
    entries: HashMap<EntryId, Entry<P>>,
    by_key: HashMap<Key, EntryId>,
    waiting: HashMap<u64, usize>,
    to_tokenize: VecDeque<EntryId>,
    to_run: VecDeque<EntryId>,
    next_id: EntryId,
    running: usize,
    tokenizing: usize,
    closing: bool,
}

struct Shared<P> {
    state: Mutex<State<P>>,
    tokenize: Condvar,
    run: Condvar,
    idle: Condvar,
    capacity: usize,
}

/// The rows of one run, with the entry and position that each belongs to.
struct Batch<P> {
    pass: Arc<P>,
    items: Vec<(EntryId, usize, Arc<Rows>)>,
    wide: bool,
}

/// Queue, tokenization threads and workers for any number of models.
pub struct Queue<P: Pass> {
    shared: Arc<Shared<P>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<P: Pass> Queue<P> {
    /// Starts `workers` inference threads and as many tokenization threads (at most four). At most `capacity` texts of a
    /// model wait at a time.
    pub fn new(workers: usize, capacity: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                entries: HashMap::new(),
                by_key: HashMap::new(),
                waiting: HashMap::new(),
                to_tokenize: VecDeque::new(),
                to_run: VecDeque::new(),
                next_id: 0,
                running: 0,
                tokenizing: 0,
                closing: false,
            }),
            tokenize: Condvar::new(),
            run: Condvar::new(),
            idle: Condvar::new(),
            capacity,
        });
        let mut threads = Vec::new();
        for index in 0..workers {
            let shared = Arc::clone(&shared);
            threads.push(spawn(format!("guard-infer-{index}"), move || {
                shared.infer_forever(index)
            })?);
        }
        for index in 0..workers.min(4) {
            let shared = Arc::clone(&shared);
            threads.push(spawn(format!("guard-token-{index}"), move || {
                shared.tokenize_forever()
            })?);
        }
        Ok(Self {
            shared,
            threads: Mutex::new(threads),
        })
    }

    /// Asks the model `model` a question. `on_reply` is called exactly once: at once, with
    /// [`EngineError::Overloaded`] when too many texts of this model wait or [`EngineError::Closed`] when closing, else
    /// later from another thread.
    pub fn submit(&self, model: u64, pass: &Arc<P>, question: Question, on_reply: OnReply) -> Ticket {
        let ticket = Ticket::new(on_reply);
        if let Err(refusal) = self.enter(Key { model, question }, pass, &ticket) {
            ticket.answer(Err(refusal));
        }
        ticket
    }

    fn enter(&self, key: Key, pass: &Arc<P>, ticket: &Ticket) -> Result<(), EngineError> {
        let model = key.model;
        let mut dropped = Vec::new();
        let mut state = self.shared.lock();
        if state.closing {
            return Err(EngineError::Closed);
        }
        if let Some(id) = state.by_key.get(&key).copied()
            && let Some(entry) = state.entries.get_mut(&id)
        {
            entry.tickets.push(ticket.clone());
            return Ok(());
        }
        if state.waiting.get(&model).copied().unwrap_or(0) >= self.shared.capacity {
            dropped = state.remove_where(|entry| entry.is_abandoned());
            if state.waiting.get(&model).copied().unwrap_or(0) >= self.shared.capacity {
                return Err(EngineError::Overloaded {
                    capacity: self.shared.capacity,
                });
            }
        }
        let id = state.next_id;
        state.next_id += 1;
        *state.waiting.entry(model).or_default() += 1;
        state.by_key.insert(key.clone(), id);
        state.entries.insert(
            id,
            Entry {
                key,
                pass: Arc::clone(pass),
                tickets: vec![ticket.clone()],
                work: None,
            },
        );
        state.to_tokenize.push_back(id);
        drop(state);
        self.shared.tokenize.notify_one();
        drop(dropped);
        Ok(())
    }

    /// Answers everything that waits for this model with [`EngineError::Closed`].
    pub fn close_model(&self, model: u64) {
        let removed = self.shared.lock().remove_where(|entry| entry.key.model == model);
        answer_all(removed, &Err(EngineError::Closed));
    }

    /// Texts that wait or run, of all models.
    pub fn len(&self) -> usize {
        self.shared.lock().entries.len()
    }

    /// Whether nothing waits or runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes no more work, answers what waits with [`EngineError::Closed`], and waits until nothing runs, at most for
    /// `patience`. Returns whether everything stopped.
    pub fn shut_down(&self, patience: Duration) -> bool {
        let mut state = self.shared.lock();
        state.closing = true;
        let removed = state.remove_where(|_| true);
        drop(state);
        self.shared.tokenize.notify_all();
        self.shared.run.notify_all();
        answer_all(removed, &Err(EngineError::Closed));
        let deadline = Instant::now() + patience;
        let mut state = self.shared.lock();
        while state.running + state.tokenizing > 0 {
            let now = Instant::now();
            if now >= deadline {
                return false;
            }
            state = self
                .shared
                .idle
                .wait_timeout(state, deadline - now)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}

impl<P: Pass> Drop for Queue<P> {
    fn drop(&mut self) {
        self.shut_down(Duration::from_secs(60));
        for thread in lock(&self.threads).drain(..) {
            // Its panics were caught and answered; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).spawn(body)
}

fn answer_all<P>(entries: Vec<Entry<P>>, result: &Result<Arc<Reply>, EngineError>) {
    for ticket in entries.iter().flat_map(|entry| &entry.tickets) {
        ticket.answer(result.clone());
    }
}

impl<P> State<P> {
    fn remove(&mut self, id: EntryId) -> Option<Entry<P>> {
        let entry = self.entries.remove(&id)?;
        self.by_key.remove(&entry.key);
        if let Some(count) = self.waiting.get_mut(&entry.key.model) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&entry.key.model);
            }
        }
        Some(entry)
    }

    /// Removes entries; ids that stay behind in a stage's list are skipped there.
    fn remove_where(&mut self, condition: impl Fn(&Entry<P>) -> bool) -> Vec<Entry<P>> {
        let ids: Vec<EntryId> = self
            .entries
            .iter()
            .filter(|(_, e)| condition(e))
            .map(|(id, _)| *id)
            .collect();
        let removed = ids.into_iter().filter_map(|id| self.remove(id)).collect();
        let entries = &self.entries;
        self.to_tokenize.retain(|id| entries.contains_key(id));
        self.to_run.retain(|id| entries.contains_key(id));
        removed
    }
}

impl<P: Pass> Shared<P> {
    fn lock(&self) -> MutexGuard<'_, State<P>> {
        lock(&self.state)
    }

    fn tokenize_forever(&self) {
        loop {
            let (id, pass, key) = {
                let mut state = self.lock();
                loop {
                    if state.closing {
                        return;
                    }
                    match state.to_tokenize.pop_front() {
                        Some(id) => {
                            let Some(entry) = state.entries.get(&id) else { continue };
                            if entry.is_abandoned() {
                                state.remove(id);
                                continue;
                            }
                            let job = (id, Arc::clone(&entry.pass), entry.key.clone());
                            state.tokenizing += 1;
                            break job;
                        }
                        None => state = self.tokenize.wait(state).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            };
            let result = catch_unwind(AssertUnwindSafe(|| pass.tokenize(&key.question)))
                .unwrap_or_else(|panic| Err(EngineError::from_panic(panic)));
            // Dropped before the state says idle: the last owner of a model frees its sessions.
            drop(pass);
            let mut state = self.lock();
            state.tokenizing -= 1;
            if state.closing {
                self.idle.notify_all();
            }
            let mut alone = None;
            let finished = match result {
                Ok(rows) if rows.rows.is_empty() => {
                    let reply = Reply {
                        parts: Vec::new(),
                        spans: Vec::new(),
                        tokens: rows.tokens,
                        skipped: rows.skipped,
                    };
                    state.remove(id).map(|entry| (entry, Ok(Arc::new(reply))))
                }
                Ok(rows) => {
                    let count = rows.rows.len();
                    if let Some(entry) = state.entries.get_mut(&id) {
                        entry.work = Some(Work {
                            rows: Arc::new(rows),
                            next: 0,
                            missing: count,
                            parts: vec![None; count],
                        });
                        state.to_run.push_back(id);
                        if count == 1 && state.to_run.len() == 1 && Self::is_idle(&state) {
                            // Nobody else is there: this thread goes on with the text, since waking another one takes longer
                            // than the tokenization of a short prompt.
                            alone = Self::next_batch(&mut state);
                            state.running += usize::from(alone.is_some());
                        } else if count > 1 {
                            self.run.notify_all();
                        } else {
                            self.run.notify_one();
                        }
                    }
                    None
                }
                Err(error) => state.remove(id).map(|entry| (entry, Err(error))),
            };
            drop(state);
            if let Some((entry, result)) = finished {
                answer_all(vec![entry], &result);
            }
            if let Some(batch) = alone {
                self.run_batch(batch, 0);
            }
        }
    }

    /// Whether no text is being worked on, those that wait for a run aside.
    fn is_idle(state: &State<P>) -> bool {
        state.running == 0 && state.tokenizing == 0 && state.to_tokenize.is_empty()
    }

    fn infer_forever(&self, worker: usize) {
        loop {
            let batch = {
                let mut state = self.lock();
                loop {
                    if state.closing {
                        return;
                    }
                    if let Some(batch) = Self::next_batch(&mut state) {
                        state.running += 1;
                        break batch;
                    }
                    state = self.run.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            };
            self.run_batch(batch, worker);
        }
    }

    /// Runs a batch that was taken from the queue and answers the texts that are complete with it.
    fn run_batch(&self, batch: Batch<P>, worker: usize) {
        let lane = if batch.wide { Lane::Wide } else { Lane::Worker(worker) };
        let rows: Vec<&Row> = batch.items.iter().map(|(_, index, rows)| &rows.rows[*index]).collect();
        let result = catch_unwind(AssertUnwindSafe(|| batch.pass.run(lane, &rows)))
            .unwrap_or_else(|panic| Err(EngineError::from_panic(panic)))
            .and_then(|scores| {
                if scores.len() == rows.len() {
                    Ok(scores)
                } else {
                    Err(EngineError::Inference {
                        message: format!("the model gave {} results for {} rows", scores.len(), rows.len()),
                    })
                }
            });
        let Batch { items, pass, .. } = batch;
        drop(pass);
        let mut state = self.lock();
        state.running -= 1;
        if state.closing {
            self.idle.notify_all();
        }
        let mut finished = Vec::new();
        match result {
            Ok(scores) => {
                for ((id, index, _), of_row) in items.into_iter().zip(scores) {
                    let done = state
                        .entries
                        .get_mut(&id)
                        .and_then(|entry| entry.work.as_mut())
                        .is_some_and(|work| {
                            work.parts[index] = Some(of_row);
                            work.missing -= 1;
                            work.missing == 0
                        });
                    if done && let Some(entry) = state.remove(id) {
                        finished.push((entry, Ok(())));
                    }
                }
            }
            Err(error) => {
                for (id, _, _) in items {
                    if let Some(entry) = state.remove(id) {
                        finished.push((entry, Err(error.clone())));
                    }
                }
            }
        }
        drop(state);
        for (mut entry, result) in finished {
            let work = entry.work.take();
            let reply = result.and_then(|()| {
                let work = work.ok_or(EngineError::Closed)?;
                catch_unwind(AssertUnwindSafe(|| {
                    Arc::new(work.into_reply(entry.key.question.text()))
                }))
                .map_err(EngineError::from_panic)
            });
            answer_all(vec![entry], &reply);
        }
    }

    /// Takes the next rows: of the text in front, and with it, where the model batches, rows of similar length of others.
    fn next_batch(state: &mut State<P>) -> Option<Batch<P>> {
        let (pass, model, mut items, mut longest) = loop {
            let id = state.to_run.pop_front()?;
            let Some(entry) = state.entries.get_mut(&id) else {
                continue;
            };
            if entry.is_abandoned() {
                state.remove(id);
                continue;
            }
            let (pass, model) = (Arc::clone(&entry.pass), entry.key.model);
            let Some(work) = entry.work.as_mut() else { continue };
            let item = work.take(id);
            let longest = work.rows.rows[item.1].ids.len();
            if work.next < work.rows.rows.len() {
                state.to_run.push_back(id);
            }
            break (pass, model, vec![item], longest);
        };
        if let Batching::Tokens(budget) = pass.batching() {
            let State { entries, to_run, .. } = &mut *state;
            for id in to_run.iter() {
                let Some(entry) = entries.get_mut(id).filter(|entry| entry.key.model == model) else {
                    continue;
                };
                let Some(work) = entry.work.as_mut() else { continue };
                while work.next < work.rows.rows.len() {
                    let length = work.rows.rows[work.next].ids.len();
                    let padded = longest.max(length);
                    // A quarter of padding is the most that sharing a run is worth.
                    let similar = 4 * length.min(longest) >= 3 * padded;
                    if !similar || padded * (items.len() + 1) > budget {
                        break;
                    }
                    longest = padded;
                    items.push(work.take(*id));
                }
            }
            to_run.retain(|id| {
                entries
                    .get(id)
                    .and_then(|entry| entry.work.as_ref())
                    .is_some_and(|work| work.next < work.rows.rows.len())
            });
        }
        let wide = Self::is_idle(state) && state.to_run.is_empty();
        Some(Batch { pass, items, wide })
    }
}

impl Work {
    fn take(&mut self, id: EntryId) -> (EntryId, usize, Arc<Rows>) {
        let index = self.next;
        self.next += 1;
        (id, index, Arc::clone(&self.rows))
    }

    fn into_reply(self, text: &str) -> Reply {
        let mut found = Vec::new();
        let parts = self
            .rows
            .rows
            .iter()
            .zip(self.parts)
            .map(|(row, scores)| {
                let RowScores { heads, spans } = scores.unwrap_or_default();
                found.extend(spans);
                let range = row.range.clone();
                let claim = row.claim.as_ref().map(|claim| claim.range.clone());
                ScoredPart { range, claim, heads }
            })
            .collect();
        Reply {
            parts,
            spans: joined(text, found),
            tokens: self.rows.tokens,
            skipped: self.rows.skipped.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    /// Rows of one token a character; the score is the length of the text.
    struct Counting {
        runs: AtomicUsize,
        largest: AtomicUsize,
        delay: Duration,
        batching: Batching,
    }

    impl Counting {
        fn new(delay_ms: u64, batching: Batching) -> Arc<Self> {
            Arc::new(Self {
                runs: AtomicUsize::new(0),
                largest: AtomicUsize::new(0),
                delay: Duration::from_millis(delay_ms),
                batching,
            })
        }
    }

    impl Pass for Counting {
        fn tokenize(&self, question: &Question) -> Result<Rows, EngineError> {
            let text = question.text();
            assert!(!text.contains("panic in tokenizer"), "as the test wants");
            let rows = text
                .split('|')
                .map(|part| Row {
                    ids: vec![1; part.len()],
                    range: 0..part.len(),
                    ..Row::default()
                })
                .collect::<Vec<_>>();
            Ok(Rows {
                tokens: text.len(),
                skipped: None,
                rows,
            })
        }

        fn run(&self, _: Lane, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            self.largest.fetch_max(rows.len(), Ordering::SeqCst);
            std::thread::sleep(self.delay);
            assert!(rows.iter().all(|row| row.ids.len() != 13), "unlucky");
            let scores = |row: &&Row| RowScores {
                heads: vec![vec![row.ids.len() as f32]],
                spans: Vec::new(),
            };
            Ok(rows.iter().map(scores).collect())
        }

        fn batching(&self) -> Batching {
            self.batching
        }
    }

    type Answers = mpsc::Receiver<Result<Arc<Reply>, EngineError>>;

    fn ask(queue: &Queue<Counting>, pass: &Arc<Counting>, text: &str) -> (Ticket, Answers) {
        let (send, receive) = mpsc::channel();
        let on_reply: OnReply = Box::new(move |result| send.send(result).expect("the test waits"));
        (
            queue.submit(1, pass, Question::Text(text.into(), Reading::Windows), on_reply),
            receive,
        )
    }

    fn wait(answers: &Answers) -> Result<Arc<Reply>, EngineError> {
        answers
            .recv_timeout(Duration::from_secs(20))
            .expect("an answer in time")
    }

    #[test]
    fn answers_each_text_with_its_own_parts_in_order() {
        let queue = Queue::new(2, 100).unwrap();
        let pass = Counting::new(1, Batching::Single);
        let asked: Vec<_> = ["a", "bb|cccc", "ddd"]
            .iter()
            .map(|text| ask(&queue, &pass, text).1)
            .collect();
        let lengths: Vec<Vec<f32>> = asked
            .iter()
            .map(|answers| {
                wait(answers)
                    .unwrap()
                    .parts
                    .iter()
                    .map(|part| part.heads[0][0])
                    .collect()
            })
            .collect();
        assert_eq!(lengths, [vec![1.0], vec![2.0, 4.0], vec![3.0]]);
        assert_eq!(pass.largest.load(Ordering::SeqCst), 1);
        assert!(queue.is_empty());
    }

    #[test]
    fn the_same_text_in_flight_is_computed_once() {
        let queue = Queue::new(2, 100).unwrap();
        let pass = Counting::new(30, Batching::Single);
        let asked: Vec<_> = (0..20).map(|_| ask(&queue, &pass, "same text").1).collect();
        let replies: Vec<_> = asked.iter().map(|answers| wait(answers).unwrap()).collect();
        assert!(replies.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(pass.runs.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn rows_of_similar_length_share_a_run() {
        let queue = Queue::new(1, 100).unwrap();
        let pass = Counting::new(30, Batching::Tokens(64));
        let asked: Vec<_> = ["x", "aaaaaaaa", "bbbbbbbb", "ccccccc", &"y".repeat(60)]
            .iter()
            .map(|text| ask(&queue, &pass, text).1)
            .collect();
        let lengths: Vec<f32> = asked
            .iter()
            .map(|answers| wait(answers).unwrap().parts[0].heads[0][0])
            .collect();
        assert_eq!(lengths, [1.0, 8.0, 8.0, 7.0, 60.0]);
        let largest = pass.largest.load(Ordering::SeqCst);
        assert!((1..=3).contains(&largest), "{largest} rows in one run");
        assert!(pass.runs.load(Ordering::SeqCst) < 5);
    }

    #[test]
    fn a_full_queue_refuses_at_once_and_aborted_texts_make_room() {
        let queue = Queue::new(1, 2).unwrap();
        let pass = Counting::new(100, Batching::Single);
        let first = ask(&queue, &pass, "first");
        let second = ask(&queue, &pass, "second");
        let third = ask(&queue, &pass, "third");
        assert!(matches!(wait(&third.1), Err(EngineError::Overloaded { capacity: 2 })));
        second.0.abort();
        assert!(matches!(wait(&second.1), Err(EngineError::Aborted)));
        let fourth = ask(&queue, &pass, "fourth");
        assert!(wait(&first.1).is_ok() && wait(&fourth.1).is_ok());
        assert_eq!(pass.runs.load(Ordering::SeqCst), 2, "the aborted text was not run");
    }

    #[test]
    fn a_panic_is_the_error_of_one_call() {
        let queue = Queue::new(2, 100).unwrap();
        let pass = Counting::new(1, Batching::Single);
        let bad = ask(&queue, &pass, "unlucky: thir");
        let worse = ask(&queue, &pass, "a panic in tokenizer");
        assert!(matches!(wait(&bad.1), Err(EngineError::Panic { message }) if message.contains("unlucky")));
        assert!(matches!(wait(&worse.1), Err(EngineError::Panic { .. })));
        for round in 0..8 {
            assert!(wait(&ask(&queue, &pass, &format!("fine {round}")).1).is_ok());
        }
    }

    #[test]
    fn a_long_text_does_not_hold_up_a_short_one() {
        let queue = Queue::new(1, 100).unwrap();
        let pass = Counting::new(5, Batching::Single);
        let long = ask(&queue, &pass, &["part"; 100].join("|"));
        while pass.runs.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        wait(&ask(&queue, &pass, "short").1).unwrap();
        assert!(pass.runs.load(Ordering::SeqCst) < 50, "the short text came in between");
        assert_eq!(wait(&long.1).unwrap().parts.len(), 100);
    }

    #[test]
    fn closing_while_busy_answers_everybody() {
        let queue = Queue::new(2, 100).unwrap();
        let pass = Counting::new(20, Batching::Single);
        let asked: Vec<_> = (0..50).map(|i| ask(&queue, &pass, &format!("text {i}")).1).collect();
        assert!(queue.shut_down(Duration::from_secs(20)));
        for answers in &asked {
            let result = wait(answers);
            assert!(matches!(result, Ok(_) | Err(EngineError::Closed)));
        }
        assert!(matches!(wait(&ask(&queue, &pass, "late").1), Err(EngineError::Closed)));
    }

    #[test]
    fn closing_one_model_leaves_the_others() {
        let queue = Queue::new(1, 100).unwrap();
        let pass = Counting::new(20, Batching::Single);
        let (send, receive) = mpsc::channel();
        let _busy = ask(&queue, &pass, "busy");
        let mine = ask(&queue, &pass, "mine");
        let on_reply: OnReply = Box::new(move |result| send.send(result).expect("the test waits"));
        queue.submit(2, &pass, Question::Text("other".into(), Reading::Windows), on_reply);
        queue.close_model(1);
        assert!(matches!(wait(&mine.1), Err(EngineError::Closed)));
        assert!(wait(&receive).is_ok());
    }
}
