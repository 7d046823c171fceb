//! Byte-pair encoding of a piece: of all neighbours that together are a token, those with the lowest rank are merged
//! first, the leftmost of equal ones (Sennrich, Haddow and Birch 2016, <https://arxiv.org/abs/1508.07909>).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tiktoken_rs::Rank;

use super::vocabulary::Vocabulary;
use crate::stop;

/// The maximum bytes of a short piece. In a short piece, every merge searches all parts, which is fast for few parts.
const SHORT: usize = 96;
/// The rank of bytes that are no token.
const NONE: Rank = Rank::MAX;
/// Merges between two cancellation points.
const STEPS: usize = 4096;

/// Counts the tokens of pieces, reusing its memory.
pub(super) struct Merger {
    vocabulary: &'static Vocabulary,
    /// For each part of the piece its start, and the rank of it together with the next one.
    parts: Vec<(u32, Rank)>,
}

impl Merger {
    pub(super) fn new(vocabulary: &'static Vocabulary) -> Self {
        Self {
            vocabulary,
            parts: Vec::new(),
        }
    }

    /// The number of tokens of a non-empty piece.
    #[inline]
    pub(super) fn count(&mut self, piece: &[u8]) -> usize {
        match self.vocabulary.rank(piece) {
            Some(_) => 1,
            None => self.starts(piece).len(),
        }
    }

    /// The bytes of the first `count` tokens of a piece, fewer than all.
    pub(super) fn bytes_of(&mut self, piece: &[u8], count: usize) -> usize {
        match self.vocabulary.rank(piece) {
            Some(_) => 0,
            None => self.starts(piece)[count].0 as usize,
        }
    }

    /// Merges the bytes of a piece. The first number of each part is the start of a token.
    fn starts(&mut self, piece: &[u8]) -> &[(u32, Rank)] {
        self.parts.clear();
        if piece.len() <= SHORT {
            self.merge_short(piece);
        } else {
            self.merge_long(piece);
        }
        &self.parts
    }

    fn merge_short(&mut self, piece: &[u8]) {
        let Self { vocabulary, parts } = self;
        let rank = |start: usize, end: usize| vocabulary.rank(&piece[start..end]).unwrap_or(NONE);
        parts.extend((0..piece.len()).map(|start| match start + 1 < piece.len() {
            true => (start as u32, rank(start, start + 2)),
            false => (start as u32, NONE),
        }));
        loop {
            let mut lowest = (NONE, 0);
            for (index, &(_, rank)) in parts.iter().enumerate() {
                if rank < lowest.0 {
                    lowest = (rank, index);
                }
            }
            let (found, index) = lowest;
            if found == NONE {
                return;
            }
            parts.remove(index + 1);
            // The part together with the next one.
            let together = |parts: &[(u32, Rank)], index: usize| {
                let end = match parts.get(index + 2) {
                    Some(&(start, _)) => start as usize,
                    None if index + 1 < parts.len() => piece.len(),
                    None => return NONE,
                };
                rank(parts[index].0 as usize, end)
            };
            parts[index].1 = together(parts, index);
            if index > 0 {
                parts[index - 1].1 = together(parts, index - 1);
            }
        }
    }

    /// The same for a piece of any length, in nearly linear time.
    fn merge_long(&mut self, piece: &[u8]) {
        let length = piece.len() as u32;
        // By the start of a part: the start of the part before it, and its end; the end is 0 if no part starts there
        // any more.
        let mut before: Vec<u32> = (0..length).map(|start| start.saturating_sub(1)).collect();
        let mut ends: Vec<u32> = (1..=length).collect();
        let mut merges = BinaryHeap::new();
        let consider = |merges: &mut BinaryHeap<_>, start: u32, end: u32| {
            if let Some(rank) = self.vocabulary.rank(&piece[start as usize..end as usize]) {
                merges.push(Reverse((rank, start, end)));
            }
        };
        for start in 0..length - 1 {
            if (start as usize).is_multiple_of(STEPS) {
                stop::point();
            }
            consider(&mut merges, start, start + 2);
        }
        let mut steps: usize = 0;
        while let Some(Reverse((_, start, end))) = merges.pop() {
            steps += 1;
            if steps.is_multiple_of(STEPS) {
                stop::point();
            }
            let middle = ends[start as usize];
            // Either part may have been merged meanwhile.
            if middle == 0 || middle >= end || ends[middle as usize] != end {
                continue;
            }
            ends[start as usize] = end;
            ends[middle as usize] = 0;
            if end < length {
                before[end as usize] = start;
                consider(&mut merges, start, ends[end as usize]);
            }
            if start > 0 {
                consider(&mut merges, before[start as usize], end);
            }
        }
        let mut start = 0;
        while start < length {
            self.parts.push((start, NONE));
            start = ends[start as usize];
        }
    }
}
