//! Counts the tokens of OpenAI's encodings without creating them.
//!
//! The vocabularies and results are those of `tiktoken-rs`: a text is split into words, numbers, signs and white space
//! ([`split`]), and each of these is one token or is merged from its bytes ([`merge`]). `tiktoken-rs` splits with a
//! pattern that needs backtracking, and keeps each token twice in a map. Here a table has the kinds of characters, and
//! the build script lays out the tokens so that they need no loading. Property tests compare both.

mod characters;
mod layout;
mod merge;
mod split;
mod vocabulary;

use merge::Merger;
use split::Split;
use vocabulary::{Source, Vocabulary};

use crate::stop;

/// One of OpenAI's encodings.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAi {
    vocabulary: &'static Vocabulary,
    split: Split,
}

/// The encodings by name, with their vocabularies and splits.
const ENCODINGS: [(&str, Source, Split); 7] = [
    ("cl100k_base", Source::Cl100k, Split::Cl100k),
    ("gpt2", Source::R50k, Split::Gpt2),
    ("o200k_base", Source::O200k, Split::O200k),
    ("o200k_harmony", Source::O200k, Split::O200k),
    ("p50k_base", Source::P50k, Split::Gpt2),
    ("p50k_edit", Source::P50k, Split::Gpt2),
    ("r50k_base", Source::R50k, Split::Gpt2),
];

/// The names of all encodings.
pub(super) const NAMES: [&str; ENCODINGS.len()] = {
    let mut names = [""; ENCODINGS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = ENCODINGS[index].0;
        index += 1;
    }
    names
};

impl OpenAi {
    /// The encoding with this name; `None` for a name that is not in [`NAMES`].
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let (_, source, split) = ENCODINGS.iter().find(|(known, ..)| *known == name)?;
        Some(Self {
            vocabulary: source.vocabulary()?,
            split: *split,
        })
    }

    /// The number of tokens of `text`, and the end of the first `limit` of them, perhaps within a character; the length
    /// of the text if it has no more.
    pub(super) fn cut(self, text: &str, limit: usize) -> (usize, usize) {
        let mut merger = Merger::new(self.vocabulary);
        let (mut tokens, mut at) = (0, 0);
        let mut end = text.len();
        while at < text.len() {
            stop::point();
            let next = self.split.next(text, at);
            let piece = &text.as_bytes()[at..next];
            let count = merger.count(piece);
            if tokens <= limit && tokens + count > limit {
                end = at + merger.bytes_of(piece, limit - tokens);
            }
            tokens += count;
            at = next;
        }
        (tokens, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton, p50k_base_singleton, r50k_base_singleton};

    fn peers() -> [(&'static str, &'static CoreBPE); 4] {
        [
            ("cl100k_base", cl100k_base_singleton()),
            ("o200k_base", o200k_base_singleton()),
            ("p50k_base", p50k_base_singleton()),
            ("gpt2", r50k_base_singleton()),
        ]
    }

    /// The ends of the tokens, by cutting at every number of them.
    fn ends(encoding: OpenAi, text: &str) -> Vec<usize> {
        let (tokens, _) = encoding.cut(text, usize::MAX);
        (0..=tokens).map(|limit| encoding.cut(text, limit).1).collect()
    }

    fn ends_of_peer(peer: &CoreBPE, text: &str) -> Vec<usize> {
        let (tokens, _) = peer.encode(text, &HashSet::new()).unwrap();
        let lengths = tokens.iter().map(|&token| peer.decode_bytes(&[token]).unwrap().len());
        let mut end = 0;
        let ends = lengths.map(|length| {
            end += length;
            end
        });
        std::iter::once(0).chain(ends).collect()
    }

    fn same_as_peers(text: &str) {
        for (name, peer) in peers() {
            let encoding = OpenAi::by_name(name).unwrap();
            assert_eq!(ends(encoding, text), ends_of_peer(peer, text), "{name} {text:?}");
        }
    }

    #[test]
    fn tokens_are_those_of_tiktoken() {
        for text in [
            "",
            "I'd say: it's 12345 o'clock, DON'T wait!\r\n\r\n  \tNo.",
            "camelCase HTTPServer ÀÉÎ中文ABC 日本語のテキスト",
            "'ſ 'LL we'Ve ' s",
            "a\u{301}\u{301} \u{301}B ǅ ʰʰA ªb",
            "x =  y\n\n\n\tz // ---\n/\r\n/ end   ",
            "½ ⅷ ٣٤٥٦ 1234567",
            "👩‍👩‍👧 🏳️‍🌈 🫠",
            "<|endoftext|> <|fim_prefix|>",
            "\u{a0}\u{a0}word \u{3000}\u{85}\u{b}\u{c}x",
        ] {
            same_as_peers(text);
        }
        same_as_peers(&"Donaudampfschifffahrtsgesellschaft".repeat(9));
        same_as_peers(&"неразделимое".repeat(30));
        same_as_peers(&"=".repeat(700));
        same_as_peers(&" \n".repeat(300));
    }

    #[test]
    fn each_token_has_its_rank_and_its_bytes() {
        for (name, peer) in peers() {
            let encoding = OpenAi::by_name(name).unwrap();
            for rank in 0..50_000 {
                let token = encoding.vocabulary.token(rank);
                assert_eq!(peer.decode_bytes(&[rank]).unwrap(), token);
                assert_eq!(encoding.vocabulary.rank(token), Some(rank));
            }
            assert_eq!(encoding.vocabulary.rank(b"<|endoftext|>"), None);
        }
    }

    #[test]
    fn names_are_known() {
        for name in NAMES {
            assert!(OpenAi::by_name(name).is_some());
        }
        assert!(OpenAi::by_name("gpt3").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn any_text_has_the_tokens_of_tiktoken(text in "\\PC{0,24}|[a-zA-Z' 0-9ſéÉǅªʰ中\u{301}\n\r\t/!.\u{a0}]{0,24}|(?s:.){0,16}") {
            same_as_peers(&text);
        }

        #[test]
        fn words_have_the_tokens_of_tiktoken(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    " the", "Token", "ization", " ", "  ", "\n", "\r\n", "'s", "'RE", "1234", " über", "Не", "可", "могу", "_", "--", "/*", "\t",
                    "İ", "ﬀ", "e\u{301}", "zzzq", "🙂",
                ]),
                0..60,
            ),
        ) {
            same_as_peers(&words.concat());
        }
    }
}
