//! Rows of token ids, the inputs of models.

use std::ops::Range;

use super::ids::Ids;

/// How a text is fitted into the maximum input length of a model.
///
/// The names and numbers of the last three follow llm-guard 0.3.16 (`PromptInjection`'s `MatchType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LongTextStrategy {
    /// The whole text: in one row if it fits, otherwise in windows of at most the maximum length, or of the length of
    /// [`TextReader::with_windows_of`](super::TextReader::with_windows_of). Windows overlap, because an attack may span
    /// many sentences. If rows have token offsets, a window ends with a sentence if possible, since names are within
    /// sentences.
    Windows,
    /// The beginning, up to the maximum length.
    Head,
    /// Each sentence separately; a sentence that is too long is read in windows.
    Sentences,
    /// In tokens: a quarter of the maximum length from the start and the rest from the end, in one row.
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
    /// The bytes of the text from the row's first token to its last one.
    pub range: Range<usize>,
    /// For each token of the text its bytes, without white space; empty for an invisible token. The list is empty for a
    /// model without token heads.
    pub pieces: Vec<Range<usize>>,
    /// The core: the indices of the pieces that this row decides. These are farther from its ends than from the ends of
    /// any other row that contains them.
    pub core: Range<usize>,
    /// Whether tokens of the text precede the row.
    pub follows: bool,
    /// The claim after the text, if both are read together.
    pub claim: Option<ClaimPart>,
    /// Whether only heads with an early exit are needed.
    pub alone: bool,
}

/// The part of a claim in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPart {
    /// The index of the claim.
    pub index: usize,
    /// The index of its first token id in the row; the special tokens after it belong to it too.
    pub from: usize,
    /// The bytes of the claim.
    pub range: Range<usize>,
}

/// The rows of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The rows in the order of the text, or of the claims.
    pub rows: Vec<Row>,
    /// The number of tokens of the text, without special ones. For readings of parts: the tokens of these parts.
    pub tokens: usize,
    /// The bytes of the text that are in no row.
    pub skipped: Option<Range<usize>>,
}
