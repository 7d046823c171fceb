//! The encodings of OpenAI's models, as `tiktoken` has them (<https://github.com/openai/tiktoken>).
//!
//! A text is cut into pieces by a pattern. A piece that is a token is one; else its bytes are merged, the pair with the lowest rank
//! first, until no two neighbours are a token together (byte pair encoding: Sennrich, Haddow and Birch,
//! <https://arxiv.org/abs/1508.07909>).
//!
//! The vocabularies are those of the crate `tiktoken-rs`, which the build script lays out so that they need no loading; the tests
//! compare the tokens with those of that crate.

mod layout;
mod vocabulary;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::LazyLock;

use fancy_regex::Regex;
use vocabulary::{Source, Vocabulary};

use crate::stop;

/// The patterns of `openai_public.py` in tiktoken.
const R50K: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|",
    r"\s*[\r\n]|\s+(?!\S)|\s"
);
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// An encoding.
pub(super) struct Tiktoken {
    vocabulary: &'static Vocabulary,
    pattern: Regex,
    /// What the copies of the pattern are known by.
    number: usize,
}

macro_rules! encoding {
    ($source:expr, $pattern:expr) => {
        LazyLock::new(|| Tiktoken::new($source, $pattern))
    };
}

static R50K_BASE: LazyLock<Option<Tiktoken>> = encoding!(Source::R50k, R50K);
static P50K_BASE: LazyLock<Option<Tiktoken>> = encoding!(Source::P50k, R50K);
static CL100K_BASE: LazyLock<Option<Tiktoken>> = encoding!(Source::Cl100k, CL100K);
static O200K_BASE: LazyLock<Option<Tiktoken>> = encoding!(Source::O200k, O200K);

thread_local! {
    /// Each thread searches with copies of the patterns: searches of several threads with one wait for its memory.
    static PATTERNS: RefCell<HashMap<usize, Regex>> = RefCell::default();
}

impl Tiktoken {
    /// The encoding of a tokenizer of OpenAI. What differs between some of them are special tokens only, which no text has here.
    ///
    /// `None` if its pattern cannot be compiled, which the tests rule out.
    pub fn of(tokenizer: tiktoken_rs::tokenizer::Tokenizer) -> Option<&'static Self> {
        use tiktoken_rs::tokenizer::Tokenizer;
        let encoding = match tokenizer {
            Tokenizer::R50kBase | Tokenizer::Gpt2 => &R50K_BASE,
            Tokenizer::P50kBase | Tokenizer::P50kEdit => &P50K_BASE,
            Tokenizer::Cl100kBase => &CL100K_BASE,
            Tokenizer::O200kBase | Tokenizer::O200kHarmony => &O200K_BASE,
        };
        encoding.as_ref()
    }

    fn new(source: Source, pattern: &str) -> Option<Self> {
        Some(Self {
            vocabulary: source.vocabulary()?,
            pattern: Regex::new(pattern).ok()?,
            number: source as usize,
        })
    }

    /// The ranks of the tokens of `text`; `None` where the pattern fails in it.
    pub fn encode(&self, text: &str) -> Option<Vec<u32>> {
        let pattern = PATTERNS.with_borrow_mut(|patterns| {
            // It is taken out, so that a search that is left by a panic leaves nothing borrowed.
            patterns.remove(&self.number).unwrap_or_else(|| self.pattern.clone())
        });
        let mut ranks = Vec::with_capacity(text.len() / 4);
        let mut merging = Merging::default();
        let mut pieces = pattern.find_iter(text);
        let done = pieces.try_for_each(|piece| {
            stop::point();
            let piece = piece.ok()?.as_str().as_bytes();
            match self.vocabulary.rank(piece) {
                Some(rank) => ranks.push(rank),
                None => merging.merge(self.vocabulary, piece, &mut ranks),
            }
            Some(())
        });
        PATTERNS.with_borrow_mut(|patterns| patterns.insert(self.number, pattern));
        done.map(|()| ranks)
    }

    /// How many bytes these tokens have.
    pub fn length(&self, ranks: &[u32]) -> usize {
        ranks.iter().map(|&rank| self.vocabulary.token(rank).len()).sum()
    }
}

/// The memory in which pieces are merged, which serves one after the other.
#[derive(Default)]
struct Merging {
    /// For each byte of the piece at which a part begins, that part.
    parts: Vec<Part>,
    /// Pairs that may be merged, by rank and then by place.
    pairs: BinaryHeap<Reverse<(u32, usize)>>,
}

/// Some bytes of a piece that are a token.
#[derive(Clone, Copy)]
struct Part {
    /// The rank of the token.
    rank: u32,
    /// Where it ends, and where the part before it begins.
    end: usize,
    before: usize,
    /// The rank of this part and the next one together, if that is a token.
    pair: Option<u32>,
}

impl Merging {
    /// Adds the ranks of the tokens of a piece.
    fn merge(&mut self, vocabulary: &Vocabulary, piece: &[u8], ranks: &mut Vec<u32>) {
        self.parts.clear();
        self.pairs.clear();
        for at in 0..piece.len() {
            // The build script makes sure that each byte is a token.
            let rank = vocabulary.rank(&piece[at..=at]).unwrap_or_default();
            self.parts.push(Part {
                rank,
                end: at + 1,
                before: at.saturating_sub(1),
                pair: None,
            });
        }
        for at in 0..piece.len() {
            self.look(vocabulary, piece, at);
        }
        while let Some(Reverse((rank, at))) = self.pairs.pop() {
            // What was merged with something else in the meantime is no pair any more.
            if self.parts[at].pair != Some(rank) {
                continue;
            }
            stop::point();
            let next = self.parts[at].end;
            let end = self.parts[next].end;
            self.parts[next].pair = None;
            self.parts[at].rank = rank;
            self.parts[at].end = end;
            if let Some(after) = self.parts.get_mut(end) {
                after.before = at;
            }
            self.look(vocabulary, piece, at);
            if at > 0 {
                self.look(vocabulary, piece, self.parts[at].before);
            }
        }
        let mut at = 0;
        while let Some(part) = self.parts.get(at) {
            ranks.push(part.rank);
            at = part.end;
        }
    }

    /// Looks whether the part at `at` and the next one are a token together.
    fn look(&mut self, vocabulary: &Vocabulary, piece: &[u8], at: usize) {
        let next = self.parts.get(self.parts[at].end);
        let pair = next.and_then(|next| vocabulary.rank(&piece[at..next.end]));
        self.parts[at].pair = pair;
        if let Some(rank) = pair {
            self.pairs.push(Reverse((rank, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tiktoken_rs::tokenizer::Tokenizer;

    use super::*;

    const ALL: [Tokenizer; 4] = [
        Tokenizer::R50kBase,
        Tokenizer::P50kBase,
        Tokenizer::Cl100kBase,
        Tokenizer::O200kBase,
    ];

    /// The ranks as `tiktoken-rs` has them.
    fn expected(tokenizer: Tokenizer, text: &str) -> Vec<u32> {
        tiktoken_rs::bpe_for_tokenizer(tokenizer).unwrap().encode_ordinary(text)
    }

    fn ranks(tokenizer: Tokenizer, text: &str) -> Vec<u32> {
        Tiktoken::of(tokenizer).unwrap().encode(text).unwrap()
    }

    #[test]
    fn the_tokens_of_real_texts_are_those_of_tiktoken() {
        let long = [
            include_str!("mod.rs"),
            &"a".repeat(3000),
            &"aé好😀".repeat(200),
            &"\n \t".repeat(500),
        ]
        .concat();
        for tokenizer in ALL {
            assert_eq!(ranks(tokenizer, &long), expected(tokenizer, &long), "{tokenizer:?}");
        }
    }

    #[test]
    fn each_token_has_its_rank_and_its_bytes() {
        for tokenizer in ALL {
            let encoding = Tiktoken::of(tokenizer).unwrap();
            let bpe = tiktoken_rs::bpe_for_tokenizer(tokenizer).unwrap();
            for rank in 0..50_000 {
                let token = encoding.vocabulary.token(rank);
                assert_eq!(bpe.decode_bytes(&[rank]).unwrap(), token);
                assert_eq!(encoding.vocabulary.rank(token), Some(rank));
                assert_eq!(encoding.length(&[rank, rank]), 2 * token.len());
            }
            assert_eq!(encoding.vocabulary.rank(b"<|endoftext|>"), None);
        }
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_tiktoken(
            text in prop::collection::vec(
                prop_oneof![
                    ".{0,6}", "[a-zA-Z']{1,12}", "[0-9]{1,8}", "[ \\n\\r\\t]{1,6}", "[а-яёßéñ]{1,8}", "[一-龥ぁ-ん가-힣]{1,4}", "[{}()/*=<>.,;:|-]{1,6}",
                ],
                0..12,
            ),
        ) {
            let text = text.concat();
            for tokenizer in ALL {
                prop_assert_eq!(ranks(tokenizer, &text), expected(tokenizer, &text), "{:?}", tokenizer);
            }
        }
    }
}
