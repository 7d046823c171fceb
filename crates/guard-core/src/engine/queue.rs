//! The queue: the stage, the callers and the age of each text.
//!
//! The threads of [`Workers`](super::Workers) share this data behind one lock. The queue starts no threads and answers
//! nobody: it returns finished entries to the caller, who answers without holding the lock.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::backend::{Backend, Batching, RowScores};
use super::error::EngineError;
use super::question::Question;
use super::reply::{ClaimRange, Reply, ScoredPart, Ticket, Timings};
use super::spans::join;
use crate::tokens::{Row, Rows};

/// The idle time before models release memory.
const REST_AFTER: Duration = Duration::from_secs(2);
/// The time after a release at which the next idle moment triggers another.
const REST_EVERY: Duration = Duration::from_secs(30);

/// A client: one handle of a model, with its own limit. Created by [`Workers::client`](super::Workers::client).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    pub(super) id: u64,
    /// The model; questions to different models differ.
    pub(super) model: u64,
    /// The most waiting and running questions.
    pub(super) capacity: usize,
}

#[derive(PartialEq, Eq, Hash, Clone)]
pub(super) struct Key {
    pub model: u64,
    pub question: Question,
}

pub(super) type EntryId = u64;

/// A question in the queue.
pub(super) struct Entry<B> {
    pub key: Key,
    pub backend: Arc<B>,
    /// The client whose capacity it uses: the first one that still waits.
    owner: u64,
    /// The waiting callers, with their clients.
    tickets: Vec<(u64, Ticket)>,
    entered: Instant,
    tokenized: Duration,
    work: Option<Work>,
}

/// The rows of an entry and their results.
struct Work {
    rows: Arc<Rows>,
    /// For each row, the first row with the same input. Only this one runs.
    first_of: Vec<usize>,
    /// The index of the next row to run.
    next: usize,
    /// The number of rows to run that have no result.
    missing: usize,
    parts: Vec<Option<RowScores>>,
    /// The number of rows in a run, and the start of the current time with at least one.
    running: usize,
    since: Instant,
    inferred: Duration,
}

/// One row of a run.
pub(super) struct Item {
    pub entry: EntryId,
    pub rows: Arc<Rows>,
    pub index: usize,
}

/// The rows of one run.
pub(super) struct Batch<B> {
    pub backend: Arc<B>,
    pub items: Vec<Item>,
}

/// A question to tokenize.
pub(super) struct ToTokenize<B> {
    pub entry: EntryId,
    pub backend: Arc<B>,
    pub question: Question,
}

/// The state of a question after tokenization.
pub(super) enum TokenizeOutcome<B> {
    /// It has no rows, so it is answered; or its callers are gone.
    Finished(Option<Box<(Entry<B>, Arc<Reply>)>>),
    /// It waits for the runs of its rows.
    Waiting { rows: usize },
}

pub(super) struct Queue<B> {
    entries: HashMap<EntryId, Entry<B>>,
    by_key: HashMap<Key, EntryId>,
    /// The number of entries by their owner.
    waiting: HashMap<u64, usize>,
    to_tokenize: VecDeque<EntryId>,
    to_run: VecDeque<EntryId>,
    next_id: EntryId,
    /// The number of current runs.
    pub running: usize,
    /// The number of current tokenizations.
    pub tokenizing: usize,
    pub closing: bool,
    /// The models that ran since the last release.
    used: Vec<Weak<B>>,
    /// Whether a model was closed since the last release.
    is_freed: bool,
    last_run: Option<Instant>,
    last_rest: Option<Instant>,
}

impl<B> Default for Queue<B> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            by_key: HashMap::new(),
            waiting: HashMap::new(),
            to_tokenize: VecDeque::new(),
            to_run: VecDeque::new(),
            next_id: 0,
            running: 0,
            tokenizing: 0,
            closing: false,
            used: Vec::new(),
            is_freed: false,
            last_run: None,
            last_rest: None,
        }
    }
}

impl<B> Entry<B> {
    fn is_abandoned(&self) -> bool {
        !self.tickets.iter().any(|(_, ticket)| ticket.is_waiting())
    }

    /// Answers all callers.
    pub fn answer(&self, result: &Result<Arc<Reply>, EngineError>) {
        for (_, ticket) in &self.tickets {
            ticket.answer(result.clone());
        }
    }

    /// Combines the results of all rows.
    pub fn take_reply(&mut self) -> Option<Reply> {
        let mut reply = self.work.take()?.into_reply(self.key.question.text());
        reply.timings = self.timings(reply.timings.inferred);
        Some(reply)
    }

    /// The timings until now, with a given time of inference.
    fn timings(&self, inferred: Duration) -> Timings {
        let queued = (self.entered.elapsed()).saturating_sub(self.tokenized + inferred);
        Timings {
            queued,
            tokenized: self.tokenized,
            inferred,
        }
    }
}

impl<B: Backend> Queue<B> {
    /// Adds a question. Returns removed entries, which must be dropped without the lock.
    ///
    /// # Errors
    /// [`EngineError::Closed`] and [`EngineError::Overloaded`].
    pub fn enter(
        &mut self,
        client: Client,
        backend: &Arc<B>,
        question: Question,
        ticket: &Ticket,
    ) -> Result<Vec<Entry<B>>, EngineError> {
        if self.closing {
            return Err(EngineError::Closed);
        }
        let key = Key {
            model: client.model,
            question,
        };
        if let Some(entry) = self.by_key.get(&key).and_then(|id| self.entries.get_mut(id)) {
            entry.tickets.push((client.id, ticket.clone()));
            return Ok(Vec::new());
        }
        let mut removed = Vec::new();
        if self.pending(client) >= client.capacity {
            removed = self.remove_where(Entry::is_abandoned);
            if self.pending(client) >= client.capacity {
                return Err(EngineError::Overloaded {
                    capacity: client.capacity,
                });
            }
        }
        let id = self.next_id;
        self.next_id += 1;
        *self.waiting.entry(client.id).or_default() += 1;
        self.by_key.insert(key.clone(), id);
        self.entries.insert(
            id,
            Entry {
                key,
                backend: Arc::clone(backend),
                owner: client.id,
                tickets: vec![(client.id, ticket.clone())],
                entered: Instant::now(),
                tokenized: Duration::ZERO,
                work: None,
            },
        );
        self.to_tokenize.push_back(id);
        Ok(removed)
    }

    /// The waiting and running questions of a client.
    pub fn pending(&self, client: Client) -> usize {
        self.waiting.get(&client.id).copied().unwrap_or(0)
    }

    /// The waiting and running questions of all clients.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes the callers of a client, and the questions that nobody else waits for. The caller must answer the
    /// tickets.
    pub fn remove_client(&mut self, client: Client) -> (Vec<Ticket>, Vec<Entry<B>>) {
        let mut tickets = Vec::new();
        let mut owners = Vec::new();
        for entry in self.entries.values_mut() {
            let (gone, rest) = std::mem::take(&mut entry.tickets)
                .into_iter()
                .partition(|(asker, _)| *asker == client.id);
            entry.tickets = rest;
            tickets.extend::<Vec<_>>(gone);
            // Another caller becomes the owner, with the capacity that the entry uses.
            if let Some((next, _)) = entry.tickets.first().filter(|_| entry.owner == client.id) {
                entry.owner = *next;
                owners.push(*next);
            }
        }
        for owner in owners {
            self.release(client.id);
            *self.waiting.entry(owner).or_default() += 1;
        }
        let removed = self.remove_where(|entry| entry.tickets.is_empty());
        (tickets.into_iter().map(|(_, ticket)| ticket).collect(), removed)
    }

    /// Removes all entries.
    pub fn remove_all(&mut self) -> Vec<Entry<B>> {
        self.remove_where(|_| true)
    }

    pub fn remove(&mut self, id: EntryId) -> Option<Entry<B>> {
        let entry = self.entries.remove(&id)?;
        self.by_key.remove(&entry.key);
        self.release(entry.owner);
        Some(entry)
    }

    fn release(&mut self, owner: u64) {
        if let Some(count) = self.waiting.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&owner);
            }
        }
    }

    /// Removes entries from the queue and from the lists of the stages.
    fn remove_where(&mut self, condition: impl Fn(&Entry<B>) -> bool) -> Vec<Entry<B>> {
        let ids: Vec<EntryId> = self
            .entries
            .iter()
            .filter(|(_, entry)| condition(entry))
            .map(|(id, _)| *id)
            .collect();
        let removed = ids.into_iter().filter_map(|id| self.remove(id)).collect();
        let entries = &self.entries;
        self.to_tokenize.retain(|id| entries.contains_key(id));
        self.to_run.retain(|id| entries.contains_key(id));
        removed
    }

    /// The oldest question to tokenize. Questions without callers are dropped.
    pub fn next_to_tokenize(&mut self) -> Option<ToTokenize<B>> {
        while let Some(id) = self.to_tokenize.pop_front() {
            let Some(entry) = self.entries.get(&id) else { continue };
            if entry.is_abandoned() {
                self.remove(id);
                continue;
            }
            let next = ToTokenize {
                entry: id,
                backend: Arc::clone(&entry.backend),
                question: entry.key.question.clone(),
            };
            self.tokenizing += 1;
            return Some(next);
        }
        None
    }

    /// Adds the rows of a question, and the time of their tokenization.
    pub fn add_rows(&mut self, id: EntryId, rows: Rows, took: Duration) -> TokenizeOutcome<B> {
        let Some(entry) = self.entries.get_mut(&id) else {
            return TokenizeOutcome::Finished(None);
        };
        entry.tokenized = took;
        let count = rows.rows.len();
        if count == 0 {
            let reply = Arc::new(Reply {
                parts: Vec::new(),
                spans: Vec::new(),
                tokens: rows.tokens,
                skipped: rows.skipped,
                timings: entry.timings(Duration::ZERO),
            });
            return TokenizeOutcome::Finished(self.remove(id).map(|entry| Box::new((entry, reply))));
        }
        let first_of = first_of_equal(&rows.rows);
        let missing = (0..count).filter(|&index| first_of[index] == index).count();
        entry.work = Some(Work {
            rows: Arc::new(rows),
            first_of,
            next: 0,
            missing,
            parts: vec![None; count],
            running: 0,
            since: Instant::now(),
            inferred: Duration::ZERO,
        });
        self.to_run.push_back(id);
        TokenizeOutcome::Waiting { rows: missing }
    }

    /// Whether nothing is processed, except texts that wait for a run.
    fn is_idle(&self) -> bool {
        self.running == 0 && self.tokenizing == 0 && self.to_tokenize.is_empty()
    }

    /// Whether exactly one text waits for a run, and nothing else is processed.
    pub fn has_one_to_run(&self) -> bool {
        self.to_run.len() == 1 && self.is_idle()
    }

    /// Takes the next rows: one of the first text that need not wait for another model and, if the model batches, rows
    /// of similar length of other texts. A text with more rows moves to the end of the line.
    pub fn next_batch(&mut self) -> Option<Batch<B>> {
        let now = Instant::now();
        let (backend, model, mut items, mut longest) = loop {
            let index = self.to_run.iter().position(|id| !self.would_wait(*id)).unwrap_or(0);
            let id = self.to_run.remove(index)?;
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            if entry.is_abandoned() {
                self.remove(id);
                continue;
            }
            let (backend, model) = (Arc::clone(&entry.backend), entry.key.model);
            let Some(work) = entry.work.as_mut() else { continue };
            let item = work.take(id, now);
            let longest = work.length(item.index);
            if work.has_next() {
                self.to_run.push_back(id);
            }
            break (backend, model, vec![item], longest);
        };
        if let Batching::Tokens(budget) = backend.batching() {
            let Self { entries, to_run, .. } = self;
            for id in to_run.iter() {
                let Some(entry) = entries.get_mut(id).filter(|entry| entry.key.model == model) else {
                    continue;
                };
                let Some(work) = entry.work.as_mut() else { continue };
                while work.has_next() {
                    let length = work.length(work.next);
                    let padded = longest.max(length);
                    // Sharing a run is worth at most a quarter of padding.
                    let similar = 4 * length.min(longest) >= 3 * padded;
                    if !similar || padded * (items.len() + 1) > budget {
                        break;
                    }
                    longest = padded;
                    items.push(work.take(*id, now));
                }
            }
            to_run.retain(|id| {
                entries
                    .get(id)
                    .and_then(|entry| entry.work.as_ref())
                    .is_some_and(Work::has_next)
            });
        }
        self.running += 1;
        Some(Batch { backend, items })
    }

    /// Whether the next row of a text would wait for a run of another model.
    fn would_wait(&self, id: EntryId) -> bool {
        let entry = self.entries.get(&id);
        let next = entry.and_then(|entry| Some((&entry.backend, entry.work.as_ref().filter(|work| work.has_next())?)));
        next.is_some_and(|(backend, work)| backend.would_wait(&work.rows.rows[work.next]))
    }

    /// Records that a model ran. Returns whether it is the first one since the last release.
    pub fn record_run(&mut self, backend: Weak<B>) -> bool {
        self.last_run = Some(Instant::now());
        let is_first = self.used.is_empty();
        if !self.used.iter().any(|other| other.ptr_eq(&backend)) {
            self.used.push(backend);
        }
        is_first
    }

    /// Records that a model was closed, whose memory is released next time.
    pub fn record_close(&mut self) {
        self.last_run = Some(Instant::now());
        self.is_freed = true;
    }

    /// The time until the next release of memory; `None` if no model ran or was closed since the last one. Memory is
    /// released when idle for [`REST_AFTER`], or when idle at all [`REST_EVERY`] after the last release, so that
    /// occasional requests do not keep the memory of a burst.
    pub fn rest_after(&self, now: Instant) -> Option<Duration> {
        if self.used.is_empty() && !self.is_freed {
            return None;
        }
        if !self.entries.is_empty() || self.running > 0 {
            return Some(REST_AFTER);
        }
        let left = |since: Option<Instant>, pause: Duration| {
            since.map_or(pause, |since| {
                pause.saturating_sub(now.saturating_duration_since(since))
            })
        };
        Some(left(self.last_run, REST_AFTER).min(left(self.last_rest, REST_EVERY)))
    }

    /// The models that ran since the last call.
    pub fn take_run_models(&mut self) -> Vec<Weak<B>> {
        self.is_freed = false;
        std::mem::take(&mut self.used)
    }

    /// Records the end of a release, which counted as a run.
    pub fn end_release(&mut self) {
        self.running -= 1;
        self.last_rest = Some(Instant::now());
    }

    /// Adds the results of a run, and returns the entries that it completed or failed.
    pub fn finish(
        &mut self,
        items: Vec<Item>,
        result: Result<Vec<RowScores>, EngineError>,
    ) -> Vec<(Entry<B>, Result<(), EngineError>)> {
        self.running -= 1;
        let mut finished = Vec::new();
        match result {
            Ok(scores) => {
                let now = Instant::now();
                for (item, of_row) in items.into_iter().zip(scores) {
                    let entry = self.entries.get_mut(&item.entry);
                    let is_complete = entry
                        .and_then(|entry| entry.work.as_mut())
                        .is_some_and(|work| work.complete(item.index, of_row, now));
                    if is_complete && let Some(entry) = self.remove(item.entry) {
                        finished.push((entry, Ok(())));
                    }
                }
            }
            Err(error) => {
                for item in items {
                    if let Some(entry) = self.remove(item.entry) {
                        finished.push((entry, Err(error.clone())));
                    }
                }
            }
        }
        finished
    }
}

impl Work {
    fn has_next(&self) -> bool {
        self.next < self.rows.rows.len()
    }

    /// The number of tokens of a row.
    fn length(&self, index: usize) -> usize {
        self.rows.rows[index].ids.len()
    }

    /// Takes the next row for a run that begins at `now`.
    fn take(&mut self, entry: EntryId, now: Instant) -> Item {
        let index = self.next;
        self.next += 1;
        while self.has_next() && self.first_of[self.next] != self.next {
            self.next += 1;
        }
        if self.running == 0 {
            self.since = now;
        }
        self.running += 1;
        Item {
            entry,
            rows: Arc::clone(&self.rows),
            index,
        }
    }

    /// Adds the result of a row whose run ended at `now`. Returns whether it was the last one.
    fn complete(&mut self, index: usize, scores: RowScores, now: Instant) -> bool {
        self.parts[index] = Some(scores);
        self.missing -= 1;
        self.running -= 1;
        if self.running == 0 {
            self.inferred += now.saturating_duration_since(self.since);
        }
        self.missing == 0
    }

    fn into_reply(mut self, text: &str) -> Reply {
        for (index, &first) in self.first_of.iter().enumerate() {
            if first != index {
                self.parts[index] = self.parts[first].clone();
            }
        }
        let mut found = Vec::new();
        let parts = self
            .rows
            .rows
            .iter()
            .zip(self.parts)
            .map(|(row, scores)| {
                let RowScores { heads, spans } = scores.unwrap_or_default();
                found.extend(spans);
                ScoredPart {
                    range: row.range.clone(),
                    claim: row.claim.as_ref().map(|claim| ClaimRange {
                        index: claim.index,
                        range: claim.range.clone(),
                    }),
                    heads,
                }
            })
            .collect();
        Reply {
            parts,
            spans: join(text, found),
            tokens: self.rows.tokens,
            skipped: self.rows.skipped.clone(),
            timings: Timings {
                inferred: self.inferred,
                ..Timings::default()
            },
        }
    }
}

/// Returns for each row the index of the first row with the same input, such as the windows of a text that repeats
/// itself. The spans of token heads are positions in the text, so rows of models with such heads are all distinct.
fn first_of_equal(rows: &[Row]) -> Vec<usize> {
    if rows.len() == 1 {
        return vec![0];
    }
    let mut known = HashMap::with_capacity(rows.len());
    let mut first_of = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let claim = row.claim.as_ref().map(|claim| claim.from);
        first_of.push(match row.pieces.is_empty() {
            true => *known.entry((&row.ids, claim, row.alone)).or_insert(index),
            false => index,
        });
    }
    first_of
}
