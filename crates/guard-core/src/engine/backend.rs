//! The interface between the queue and a model.

use super::error::EngineError;
use super::question::Question;
use super::tags::RowSpan;
use crate::tokens::{Row, Rows, TokenizeError};

/// A model that the workers run.
///
/// The [`Workers`](super::Workers) and their queue know nothing else of a model, so tests bring models of their own.
/// [`Model`](super::Model) implements it for ONNX Runtime.
pub trait Backend: Send + Sync + 'static {
    /// Makes the rows of a question, on a tokenization thread.
    ///
    /// # Errors
    /// If the tokenizer rejects a text.
    fn tokenize(&self, question: &Question) -> Result<Rows, TokenizeError>;

    /// Runs rows; the result has one entry per row. Several threads call this concurrently.
    ///
    /// # Errors
    /// [`EngineError::Inference`], which fails all texts that have rows in this run.
    fn run(&self, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError>;

    /// How rows of this model may share a run.
    fn batching(&self) -> Batching;

    /// Whether a run of this row would wait for a current run of another model. Other rows run before it.
    fn would_wait(&self, _row: &Row) -> bool {
        false
    }

    /// Releases memory that only runs need. It is called while nothing runs, and takes no longer than a run of one
    /// short row.
    fn rest(&self) {}
}

/// How rows may share a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// One row per run. Dynamically quantized models need this: their activation scale covers the whole batch, so the
    /// score of a row would depend on its neighbours.
    Single,
    /// Rows of similar length together, padded to the longest, up to this many tokens.
    Tokens(usize),
}

/// The scores of one row: for each head, one probability per label, or its vector; empty for a token head.
pub type HeadScores = Vec<Vec<f32>>;

/// The results of a model for one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowScores {
    /// The scores of heads over the whole row.
    pub heads: HeadScores,
    /// The spans of token heads: head by head, in the order of the text.
    pub spans: Vec<RowSpan>,
}
