//! What a model reads of a text: rows of token ids.

use std::ops::Range;

use super::ids::Ids;

/// How a text is read by a model with a maximum input length.
///
/// The names and numbers of the last three follow llm-guard 0.3.16 (`PromptInjection`'s `MatchType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// All of the text: in one row where it fits, otherwise in windows of at most the maximum length, or of the length that
    /// [`TextReader::with_windows_of`](super::TextReader::with_windows_of) sets. Windows overlap, because an attack may be
    /// many sentences long. Where rows tell the offsets of their tokens, a window ends with a sentence instead if it can:
    /// names are looked for in sentences.
    Windows,
    /// The beginning, up to the maximum length.
    Head,
    /// Each sentence by itself; a sentence that is too long is read in windows.
    Sentences,
    /// In tokens: the first quarter of the maximum length and the rest from the end, in one row.
    HeadTail,
    /// In characters: the first and the last 126, joined by three dots.
    HeadTailChars,
    /// Pieces of 256 characters that overlap by 25.
    Chunks,
}

/// One input of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Token ids, special ones included.
    pub ids: Ids,
    /// Bytes of the text from the row's first token to its last one.
    pub range: Range<usize>,
    /// For each token of the text, the bytes that it was made from, without white space; an empty range for a token that
    /// shows nothing. The list is empty for a model without heads over tokens.
    pub pieces: Vec<Range<usize>>,
    /// Indices of the pieces that this row decides: those that are farther from its ends than from the ends of any other
    /// row that has them too.
    pub core: Range<usize>,
    /// Whether tokens of the text stand before the first one of the row.
    pub follows: bool,
    /// The claim behind the text, where the two are read together.
    pub claim: Option<ClaimPart>,
    /// Whether only the head is asked for which rows may leave the model early.
    pub alone: bool,
}

/// The part of a claim in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPart {
    /// Which of the claims it is a part of.
    pub index: usize,
    /// The index of the first of the row's token ids that belongs to it; the special tokens behind it belong to it too.
    pub from: usize,
    /// Bytes of the claim.
    pub range: Range<usize>,
}

/// A text as a model reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The inputs, in the order of the text; of claims, in the order of the claims.
    pub rows: Vec<Row>,
    /// Tokens of the whole text, without special ones. For readings that look at parts: the tokens of these parts.
    pub tokens: usize,
    /// Bytes of the text that are in no row.
    pub skipped: Option<Range<usize>>,
}
