//! Replies: scores by part of the text, spans, and timings.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::backend::HeadScores;
use super::error::EngineError;
use super::spans::EntitySpan;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The scored parts of the text, in order. For claims: the parts of the first claim with each window of the
    /// premise, then those of the next claim.
    pub parts: Vec<ScoredPart>,
    /// The spans of token heads, in order; only if the text was read in windows.
    pub spans: Vec<EntitySpan>,
    /// The number of tokens of the text and of the claims, without special ones.
    pub tokens: usize,
    /// The bytes of the text that were not read.
    pub skipped: Option<Range<usize>>,
    /// The timings.
    pub timings: Timings,
}

/// A part of a text and its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPart {
    /// The bytes of the text in the row.
    pub range: Range<usize>,
    /// The part of a claim after the text, if there is one.
    pub claim: Option<ClaimRange>,
    /// Probabilities by head and label.
    pub heads: HeadScores,
}

/// A part of one of the claims of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRange {
    /// The index of the claim in the question.
    pub index: usize,
    /// The bytes of the claim.
    pub range: Range<usize>,
}

/// The time of each stage. The three add up to the time from the question to the answer in the engine. Callers with
/// equal concurrent questions share the answer and the timings of the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Waiting for a tokenization thread, for a worker, and between the runs of a long text while other texts have
    /// their turn.
    pub queued: Duration,
    /// Tokenization, including waiting for another model's thread that tokenizes the same text.
    pub tokenized: Duration,
    /// The time with at least one row of the text in a run. Rows in the same run share its time.
    pub inferred: Duration,
}

/// Receives the answer, on an engine thread (or on the caller's, after an abort or a rejection).
pub type OnReply = Box<dyn FnOnce(Result<Arc<Reply>, EngineError>) + Send>;

/// A caller that waits for an answer.
#[derive(Clone)]
pub struct Ticket(Arc<Mutex<Option<OnReply>>>);

impl Ticket {
    pub(super) fn new(on_reply: OnReply) -> Self {
        Self(Arc::new(Mutex::new(Some(on_reply))))
    }

    /// Answers this caller with [`EngineError::Aborted`] immediately. A question without callers leaves the queue.
    pub fn abort(&self) {
        self.answer(Err(EngineError::Aborted));
    }

    /// Answers this caller, unless that happened before.
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
