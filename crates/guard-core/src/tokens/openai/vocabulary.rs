//! The tokens of an encoding and their ranks, in memory that is part of the program: nothing is loaded at the start,
//! and the system pages in only what is used.

use std::sync::LazyLock;

use super::layout::{HEAD, RANK, place};

/// The vocabularies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    R50k,
    P50k,
    Cl100k,
    O200k,
}

macro_rules! laid_out {
    ($name:literal) => {
        Vocabulary::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".vocabulary")))
    };
}

impl Source {
    /// The vocabulary.
    pub(super) fn vocabulary(self) -> Option<&'static Vocabulary> {
        static ALL: LazyLock<[Vocabulary; 4]> = LazyLock::new(|| {
            [
                laid_out!("r50k_base"),
                laid_out!("p50k_base"),
                laid_out!("cl100k_base"),
                laid_out!("o200k_base"),
            ]
        });
        ALL.get(self as usize)
    }
}

/// Tokens with their ranks: of two possible merges, the one with the lower rank wins.
pub(super) struct Vocabulary {
    /// The data of the build script; see [`super::layout`].
    data: &'static [u8],
    log_slots: u32,
    /// The starts of the slots and of the bytes of the tokens.
    slots: usize,
    bytes: usize,
}

impl Vocabulary {
    fn new(data: &'static [u8]) -> Self {
        let mut vocabulary = Self {
            data,
            log_slots: 0,
            slots: 0,
            bytes: 0,
        };
        vocabulary.log_slots = vocabulary.number(4);
        vocabulary.slots = HEAD + 4 * vocabulary.number(0) as usize;
        vocabulary.bytes = vocabulary.slots + (4 << vocabulary.log_slots);
        vocabulary
    }

    fn number(&self, at: usize) -> u32 {
        self.data[at..]
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// The rank of a token; `None` if the bytes are no token.
    pub fn rank(&self, token: &[u8]) -> Option<u32> {
        let (mut slot, mark) = place(token, self.log_slots);
        loop {
            let found = self.number(self.slots + 4 * slot);
            if found == 0 {
                return None;
            }
            let rank = (found & RANK) - 1;
            if found & !RANK == mark && self.token(rank) == token {
                return Some(rank);
            }
            slot = (slot + 1) % (1 << self.log_slots);
        }
    }

    /// The bytes of the token with this rank.
    pub fn token(&self, rank: u32) -> &'static [u8] {
        let end = |rank: u32| self.number(HEAD + 4 * rank as usize) as usize;
        let start = if rank == 0 { 0 } else { end(rank - 1) };
        &self.data[self.bytes + start..self.bytes + end(rank)]
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A vocabulary has about 100,000 entries, so it is left out.
        formatter.write_str("Vocabulary(..)")
    }
}
