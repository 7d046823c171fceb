//! Cuts a text into pieces: by tokens, by sentences, by characters.

use std::ops::Range;

use super::rows::{Row, Rows};
use super::tokenizer::Tokens;
use crate::text::sentences;

/// The characters of a chunk, and the most characters of a text that
/// [`LongTextStrategy::HeadTailChars`](super::LongTextStrategy::HeadTailChars) keeps whole.
pub(super) const CHUNK_CHARS: usize = 256;
/// The characters that two neighbouring chunks share.
const CHUNK_OVERLAP: usize = 25;
/// The overlap of two windows, as a divisor of their length: an attack that one window cuts is whole in the other if it
/// is shorter than a quarter of a window.
pub(super) const WINDOW_OVERLAP_DIVISOR: usize = 4;

/// Cuts `count` tokens into pieces of at most `room`. Each piece repeats the last `overlap` tokens of the previous one.
pub(super) fn cuts(count: usize, room: usize, overlap: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < count {
        let end = (start + room).min(count);
        pieces.push(start..end);
        if end == count {
            break;
        }
        start = end - overlap;
    }
    pieces
}

/// The end of the window of at most `room` tokens at `start`, and the start of the next window.
///
/// The window ends before the last sentence that begins in its second half, so that the next window needs no overlap.
/// Without such a sentence, the next window repeats a part of this one.
pub(super) fn window(count: usize, start: usize, room: usize, sentences: &[usize]) -> (usize, usize) {
    let end = start + room;
    if end >= count {
        return (count, count);
    }
    let behind = sentences.partition_point(|&begins| begins <= end);
    match behind.checked_sub(1).map(|last| sentences[last]) {
        Some(begins) if begins > start + room / 2 => (begins, begins),
        _ => (end, end - room / WINDOW_OVERLAP_DIVISOR),
    }
}

/// The index of the first token of each sentence.
pub(super) fn sentence_starts(text: &str, tokens: &Tokens) -> Vec<usize> {
    let sentences = sentences::split(text).into_iter();
    sentences
        .map(|sentence| {
            let before = |&(_, end): &(usize, usize)| end <= sentence.start;
            tokens.offsets.partition_point(before)
        })
        .collect()
}

/// The bytes of a token without leading white space, on character boundaries, since a token may be a part of a
/// character.
pub(super) fn visible(text: &str, (start, end): (usize, usize)) -> Range<usize> {
    let start = text.floor_char_boundary(start);
    let token = &text[start..text.ceil_char_boundary(end).max(start)];
    let shown = token.trim();
    let start = start + (token.len() - token.trim_start().len()).min(token.len() - shown.len());
    start..start + shown.len()
}

/// Cuts a text into pieces of [`CHUNK_CHARS`] characters. Each piece starts [`CHUNK_OVERLAP`] characters before the end
/// of the previous one.
pub(super) fn chunks(text: &str) -> Vec<Range<usize>> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let count = starts.len() - 1;
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < count {
        let end = (start + CHUNK_CHARS).min(count);
        chunks.push(starts[start]..starts[end]);
        if end == count {
            break;
        }
        start += CHUNK_CHARS - CHUNK_OVERLAP;
    }
    chunks
}

/// Keeps rows of both ends, each end with a weight of at most `half` but at least one row; all rows if they weigh no
/// more than both ends. The other bytes are skipped.
pub(super) fn ends(mut rows: Rows, half: usize, weight: impl Fn(&Row) -> usize) -> Rows {
    let all: usize = rows.rows.iter().map(&weight).sum();
    if all <= half.saturating_mul(2) || rows.rows.len() <= 2 {
        return rows;
    }
    let fitting = |of: &mut dyn Iterator<Item = &Row>| {
        let mut sum = 0;
        let fits = of.take_while(|row| {
            sum += weight(row);
            sum <= half
        });
        fits.count().max(1)
    };
    let head = fitting(&mut rows.rows.iter());
    let tail = rows.rows.len() - fitting(&mut rows.rows.iter().rev());
    rows.rows.drain(head..tail);
    // A row decides the pieces that it shared with a removed row.
    let last = &mut rows.rows[head - 1];
    last.core.end = last.pieces.len();
    let end = last.range.end;
    let first = &mut rows.rows[head];
    first.core.start = 0;
    rows.skipped = Some(end..first.range.start).filter(|skipped| !skipped.is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_overlap_by_25_characters() {
        let text = "a b c d e ".repeat(60);
        assert_eq!(chunks(&text), [0..256, 231..487, 462..600]);
    }
}
