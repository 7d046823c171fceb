//! What the queue knows of a model: it makes rows of a question, and scores rows.

use super::error::EngineError;
use super::question::Question;
use super::tags::RowSpan;
use crate::tokens::{Row, Rows, TokenizeError};

/// What runs rows through a model.
///
/// The [`Workers`](super::Workers) and their queue know nothing else of a model, so that tests bring models of their own; the
/// one for real models is [`Model`](super::Model), on ONNX Runtime.
pub trait Backend: Send + Sync + 'static {
    /// Makes the rows of a question. It is called on a thread for tokenization.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    fn tokenize(&self, question: &Question) -> Result<Rows, TokenizeError>;

    /// Runs rows; the result has one entry for each of them. Several threads call this at a time.
    ///
    /// # Errors
    /// [`EngineError::Inference`], which fails all texts that have rows in this run.
    fn run(&self, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError>;

    /// How rows of this model may share a run.
    fn batching(&self) -> Batching;

    /// Gives back memory that only runs need. It is called when nothing runs, and takes no longer than a run of one short row.
    fn rest(&self) {}
}

/// How rows may share a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// One row a run. Dynamically quantized models need it: their activation scale is taken over the whole batch, so that a
    /// row's score would depend on its neighbours.
    Single,
    /// Rows of similar length together, padded to the longest, up to so many tokens.
    Tokens(usize),
}

/// The scores of one row: for each head of the model, one probability for each label, or the vector that the head gives; an
/// empty list for a head over tokens.
pub type HeadScores = Vec<Vec<f32>>;

/// What a model says of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowScores {
    /// What its heads over the whole row say.
    pub heads: HeadScores,
    /// What its heads over tokens found: head by head, in the order of the text.
    pub spans: Vec<RowSpan>,
}
