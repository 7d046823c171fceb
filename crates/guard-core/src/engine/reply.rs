//! What a caller gets back: scores by part of the text, spans, and how long each stage took.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::backend::HeadScores;
use super::error::EngineError;
use super::spans::EntitySpan;

/// What a model says of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The parts of the text that were scored, in order. For claims: the parts of the first claim with each window of the
    /// premise, then those of the next claim.
    pub parts: Vec<ScoredPart>,
    /// What heads over tokens found, in order; only where the text was read in windows.
    pub spans: Vec<EntitySpan>,
    /// Tokens of the whole text, without special ones; with claims, those of the claims too.
    pub tokens: usize,
    /// Bytes of the text that were not read.
    pub skipped: Option<Range<usize>>,
    /// How long the answer took.
    pub timings: Timings,
}

/// A part of a text and its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPart {
    /// Bytes of the text that the row was made from.
    pub range: Range<usize>,
    /// The part of a claim that was read behind the text, where there is one.
    pub claim: Option<ClaimRange>,
    /// Probabilities by head and label.
    pub heads: HeadScores,
}

/// A part of one of the claims of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRange {
    /// The index of the claim in the question.
    pub index: usize,
    /// Bytes of the claim.
    pub range: Range<usize>,
}

/// Where the time of an answer went. The three add up to the time from the question to the answer, as the engine saw it:
/// each moment counts once. Callers who asked the same question at the same time share an answer and its times, which are
/// those of the first of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Waiting: for a thread for tokenization, then for a worker, and between the runs of a long text while other texts had
    /// their turn.
    pub queued: Duration,
    /// Making tokens and rows. This includes waiting for another model's thread that is just tokenizing the same text.
    pub tokenized: Duration,
    /// The time in which at least one row of the text was in a run. Rows that share a run share its time.
    pub inferred: Duration,
}

/// Receives the answer, on a thread of the engine (or on the caller's own, for an abort or a refusal).
pub type OnReply = Box<dyn FnOnce(Result<Arc<Reply>, EngineError>) + Send>;

/// One caller that waits for an answer.
#[derive(Clone)]
pub struct Ticket(Arc<Mutex<Option<OnReply>>>);

impl Ticket {
    pub(super) fn new(on_reply: OnReply) -> Self {
        Self(Arc::new(Mutex::new(Some(on_reply))))
    }

    /// Answers this caller with [`EngineError::Aborted`] now; a question that nobody waits for any more leaves the queue.
    pub fn abort(&self) {
        self.answer(Err(EngineError::Aborted));
    }

    /// Answers this caller, unless it has an answer already.
    pub(super) fn answer(&self, result: Result<Arc<Reply>, EngineError>) {
        let waiting = self.lock().take();
        if let Some(on_reply) = waiting {
            on_reply(result);
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<OnReply>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
