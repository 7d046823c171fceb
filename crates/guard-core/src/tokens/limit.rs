//! Counting tokens as the large models do, and cutting a text to a number of them.

use std::path::Path;
use std::sync::Arc;

use super::openai::{NAMES, OpenAi};
use crate::stop;
use tiktoken_rs::tokenizer::{Tokenizer as Known, get_tokenizer};

/// Bytes of white space in a row after which a text is cut in two before it is encoded with a file.
///
/// The patterns by which such encodings split texts need backtracking for white space, and fail, or panic, on a
/// megabyte of it. A cut can change the tokens only right around it, so a text without such a run has the exact tokens.
const LONGEST_SPACE: usize = 16 * 1024;

/// Why there is no encoding.
#[derive(Debug, thiserror::Error)]
pub enum EncodingError {
    /// No encoding has this name.
    #[error("unknown encoding {0:?}; the known ones are {known}", known = NAMES.join(", "))]
    UnknownName(String),
    /// No encoding is known for a model of this name.
    #[error(
        "no encoding is known for the model {0:?}; name the encoding instead, one of {known}",
        known = NAMES.join(", ")
    )]
    UnknownModel(String),
    /// The vocabulary of a known encoding could not be read.
    #[error("the encoding {0:?} could not be loaded")]
    Load(String),
    /// The file is missing or is no `tokenizer.json`.
    #[error("the tokenizer file could not be loaded: {0}")]
    File(String),
}

/// A way to turn text into tokens. Cheap to clone and usable from several threads.
#[derive(Debug, Clone)]
pub struct Encoding(Kind);

#[derive(Clone)]
enum Kind {
    /// One of OpenAI's, whose vocabulary is read once per process.
    OpenAi(OpenAi),
    /// One from a file of Hugging Face's tokenizers.
    File(Arc<tokenizers::Tokenizer>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A vocabulary has some hundred thousand entries.
        formatter.write_str(match self {
            Self::OpenAi(_) => "OpenAi(..)",
            Self::File(_) => "File(..)",
        })
    }
}

/// Where a text must be cut to keep to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// The number of tokens of the whole text, also when it is cut.
    pub tokens: usize,
    /// The UTF-8 byte offset at which the longest allowed prefix ends, on a character boundary; the length of the text
    /// when nothing must be cut.
    pub end: usize,
}

impl Encoding {
    /// The encoding of OpenAI's `tiktoken` with this name: `cl100k_base`, `gpt2`, `o200k_base`, `o200k_harmony`,
    /// `p50k_base`, `p50k_edit` or `r50k_base`. Its vocabulary is loaded at the first use in the process.
    ///
    /// # Errors
    ///
    /// [`EncodingError::UnknownName`], which lists the known names.
    pub fn by_name(name: &str) -> Result<Self, EncodingError> {
        if !NAMES.contains(&name) {
            return Err(EncodingError::UnknownName(name.to_owned()));
        }
        let encoding = OpenAi::by_name(name).ok_or_else(|| EncodingError::Load(name.to_owned()))?;
        Ok(Self(Kind::OpenAi(encoding)))
    }

    /// The encoding that a model of OpenAI uses, such as `gpt-4o` or one made from it (`ft:gpt-4o:acme::id`), by the tables
    /// of `tiktoken`.
    ///
    /// # Errors
    ///
    /// [`EncodingError::UnknownModel`] for a model in none of the tables.
    pub fn for_model(model: &str) -> Result<Self, EncodingError> {
        let tuned = || get_tokenizer(model.strip_prefix("ft:")?.split(':').next()?);
        let encoding = get_tokenizer(model)
            .or_else(tuned)
            .ok_or_else(|| EncodingError::UnknownModel(model.to_owned()))?;
        Self::by_name(match encoding {
            Known::O200kHarmony => "o200k_harmony",
            Known::O200kBase => "o200k_base",
            Known::Cl100kBase => "cl100k_base",
            Known::P50kBase => "p50k_base",
            Known::P50kEdit => "p50k_edit",
            Known::R50kBase => "r50k_base",
            Known::Gpt2 => "gpt2",
        })
    }

    /// The encoding of a `tokenizer.json` as Hugging Face's tokenizers write it, without the truncation, the padding and
    /// the special tokens around a text that the file may ask for. Unlike the named ones it is loaded at every call.
    ///
    /// # Errors
    ///
    /// [`EncodingError::File`] when the file can not be read or is not of this format.
    pub fn from_tokenizer_file(path: impl AsRef<Path>) -> Result<Self, EncodingError> {
        let path = path.as_ref();
        let file = |error: tokenizers::Error| EncodingError::File(format!("{}: {error}", path.display()));
        let mut tokenizer = tokenizers::Tokenizer::from_file(path).map_err(file)?;
        tokenizer.with_truncation(None).map_err(file)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self(Kind::File(Arc::new(tokenizer))))
    }

    /// The number of tokens of `text`. What looks like a special token, such as `<|endoftext|>`, is ordinary text.
    pub fn count(&self, text: &str) -> usize {
        self.truncate(text, usize::MAX).tokens
    }

    /// Finds the longest prefix of `text` that is made of at most `limit` of its tokens.
    ///
    /// A token may end inside a character; the prefix then ends before that character.
    pub fn truncate(&self, text: &str, limit: usize) -> Truncation {
        let (tokens, end) = match &self.0 {
            Kind::OpenAi(encoding) => encoding.cut(text, limit),
            Kind::File(tokenizer) => cut(tokenizer, text, limit),
        };
        Truncation {
            tokens,
            end: text.floor_char_boundary(end),
        }
    }

    /// Where `text` must be cut to keep to `limit` tokens, or `None` where it keeps to it already.
    ///
    /// A text of no more than [`Encoding::surely_within`] bytes is not encoded.
    pub fn excess(&self, text: &str, limit: usize) -> Option<Truncation> {
        if text.len() <= self.surely_within(limit) {
            return None;
        }
        let truncation = self.truncate(text, limit);
        (truncation.tokens > limit).then_some(truncation)
    }

    /// The UTF-8 bytes that a text may have which surely keeps to `limit` tokens: a token of OpenAI's encodings is a byte at least.
    /// The tokens of a `tokenizer.json` may also stand for nothing that the text has.
    pub fn surely_within(&self, limit: usize) -> usize {
        match self.0 {
            Kind::OpenAi(_) => limit,
            Kind::File(_) => 0,
        }
    }
}

/// The number of tokens of `text`, and the byte at which the first `limit` of them end, which may be within a character; the length of
/// the text where it has no more.
fn cut(tokenizer: &tokenizers::Tokenizer, text: &str, limit: usize) -> (usize, usize) {
    let mut tokens = 0;
    let mut end = None;
    let mut start = 0;
    for piece in pieces(text) {
        stop::point();
        visit(tokenizer, piece, &mut |part, offsets| {
            if end.is_none() && tokens + offsets.len() > limit {
                end = Some(start + prefix(part, offsets, limit - tokens));
            }
            tokens += offsets.len();
            start += part.len();
        });
    }
    (tokens, end.unwrap_or(text.len()))
}

/// Is told of a part of a text and the byte range of each of its tokens.
type Seeing<'a> = dyn FnMut(&str, &[(usize, usize)]) + 'a;

/// Encodes a piece, in as few parts as that takes, and passes each part on with the byte range of each of its tokens.
fn visit(tokenizer: &tokenizers::Tokenizer, piece: &str, see: &mut Seeing<'_>) {
    if piece.is_empty() {
        return;
    }
    if let Ok(encoding) = tokenizer.encode(piece, false) {
        return see(piece, encoding.get_offsets());
    }
    let middle = piece.floor_char_boundary(piece.len() / 2);
    if middle == 0 {
        // Nothing is left to split: count a character that can not be encoded as one token per byte.
        let offsets: Vec<_> = (0..piece.len()).map(|byte| (byte, byte + 1)).collect();
        return see(piece, &offsets);
    }
    visit(tokenizer, &piece[..middle], see);
    visit(tokenizer, &piece[middle..], see);
}

/// The bytes of the first `count` tokens of a part, fewer than all, up to the last complete character.
fn prefix(part: &str, offsets: &[(usize, usize)], count: usize) -> usize {
    let end = offsets[..count].iter().map(|&(_, end)| end).max().unwrap_or(0);
    // The tokens of one character all have its range, so a next one that starts earlier means a cut in it.
    part.floor_char_boundary(end.min(offsets[count].0))
}

/// Cuts a text within overlong runs of white space; nearly every text is one piece.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(overlong_space(rest).unwrap_or(rest.len()));
        rest = after;
        Some(piece)
    })
}

/// Where the first run of [`LONGEST_SPACE`] bytes of white space ends.
fn overlong_space(text: &str) -> Option<usize> {
    if text.len() <= LONGEST_SPACE {
        return None;
    }
    let mut start = 0;
    for (at, character) in text.char_indices() {
        if !character.is_whitespace() {
            start = at + character.len_utf8();
        } else if at - start >= LONGEST_SPACE {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn cl100k() -> Encoding {
        Encoding::by_name("cl100k_base").unwrap()
    }

    /// A tokenizer of bytes without any merges, as byte-level BPE starts from.
    fn byte_level() -> Encoding {
        let alphabet: Vec<_> = tokenizers::pre_tokenizers::byte_level::ByteLevel::alphabet()
            .into_iter()
            .collect();
        let vocabulary: Vec<String> = alphabet
            .iter()
            .enumerate()
            .map(|(id, c)| format!("{}:{id}", serde_json_string(*c)))
            .collect();
        let json = format!(
            r#"{{"version":"1.0","truncation":{{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":0}},
            "padding":null,"added_tokens":[],"normalizer":null,
            "pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":true}},
            "post_processor":null,"decoder":null,"model":{{"type":"BPE","vocab":{{{}}},"merges":[]}}}}"#,
            vocabulary.join(",")
        );
        let path = std::env::temp_dir().join(format!("guard-byte-level-{}.json", std::process::id()));
        static ONCE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _alone = ONCE.lock().unwrap();
        std::fs::write(&path, json).unwrap();
        let encoding = Encoding::from_tokenizer_file(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        encoding
    }

    fn serde_json_string(character: char) -> String {
        match character {
            '"' | '\\' => format!("\"\\{character}\""),
            _ => format!("\"{character}\""),
        }
    }

    #[test]
    fn counts_are_those_of_tiktoken() {
        assert_eq!(cl100k().count("hello world"), 2);
        assert_eq!(cl100k().count(""), 0);
        assert_eq!(Encoding::by_name("gpt2").unwrap().count("hello world"), 2);
        assert_eq!(Encoding::for_model("gpt-4o").unwrap().count("Привет, мир!"), 5);
        assert!(Encoding::for_model("ft:gpt-4o:acme::a1B2").is_ok());
        assert!(cl100k().count("<|endoftext|>") > 1);
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let message = Encoding::by_name("cl200k").unwrap_err().to_string();
        assert!(
            message.contains("\"cl200k\"") && message.contains("cl100k_base, gpt2, o200k_base"),
            "{message}"
        );
        assert!(
            Encoding::for_model("llama-3")
                .unwrap_err()
                .to_string()
                .contains("o200k_base")
        );
        assert!(matches!(
            Encoding::from_tokenizer_file("/nonexistent.json"),
            Err(EncodingError::File(_))
        ));
        for name in NAMES {
            assert!(Encoding::by_name(name).is_ok());
        }
    }

    #[test]
    fn truncation_keeps_whole_tokens() {
        let text = "hello world again";
        assert_eq!(cl100k().truncate(text, 2), Truncation { tokens: 3, end: 11 });
        assert_eq!(
            cl100k().truncate(text, 3),
            Truncation {
                tokens: 3,
                end: text.len()
            }
        );
        assert_eq!(cl100k().truncate(text, 0), Truncation { tokens: 3, end: 0 });
        assert_eq!(cl100k().truncate("", 0), Truncation { tokens: 0, end: 0 });
        assert_eq!(cl100k().truncate(text, usize::MAX).end, text.len());
    }

    #[test]
    fn truncation_never_cuts_a_character() {
        // Three tokens of one emoji.
        let text = "a🫠🫠";
        let tokens = cl100k().count(text);
        assert!(tokens > 3);
        let ends: HashSet<_> = (0..=tokens).map(|limit| cl100k().truncate(text, limit).end).collect();
        assert_eq!(ends, HashSet::from([0, 1, 5, 9]));
    }

    #[test]
    fn tokenizer_files_count_and_cut() {
        let encoding = byte_level();
        assert_eq!(encoding.count("a é 好!"), 9);
        let ends: Vec<_> = (0..=9).map(|limit| encoding.truncate("a é 好!", limit).end).collect();
        assert_eq!(ends, [0, 1, 2, 2, 4, 5, 5, 5, 8, 9]);
    }

    #[test]
    fn overlong_white_space_is_counted() {
        for name in ["cl100k_base", "o200k_base", "r50k_base"] {
            let encoding = Encoding::by_name(name).unwrap();
            let text = format!("a{}b", " ".repeat(1_100_000));
            let truncation = encoding.truncate(&text, 3);
            assert!(
                truncation.tokens > 1_000 && truncation.end > 1,
                "{name}: {truncation:?}"
            );
            assert_eq!(encoding.count(&text), truncation.tokens);
        }
    }

    #[test]
    fn overlong_words_are_counted() {
        assert_eq!(cl100k().count(&"a".repeat(1_000_000)), 125_000);
    }

    #[test]
    fn only_overlong_white_space_is_cut() {
        let text = "word ".repeat(20_000);
        assert_eq!(pieces(&text).count(), 1);
        let text = format!("a{}b", "\u{3000}".repeat(LONGEST_SPACE));
        assert!(pieces(&text).count() > 2);
        assert_eq!(pieces(&text).collect::<String>(), text);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn truncations_are_prefixes_that_grow(text in ".{0,40}") {
            for encoding in [cl100k(), Encoding::by_name("r50k_base").unwrap(), byte_level()] {
                let tokens = encoding.count(&text);
                let mut last = 0;
                for limit in 0..=tokens {
                    let truncation = encoding.truncate(&text, limit);
                    // Scanned again, what was kept keeps to the limit.
                    prop_assert!(encoding.count(&text[..truncation.end]) <= limit);
                    prop_assert_eq!(truncation.tokens, tokens);
                    prop_assert_eq!(encoding.excess(&text, limit), (tokens > limit).then_some(truncation));
                    prop_assert!(text.is_char_boundary(truncation.end) && truncation.end >= last);
                    last = truncation.end;
                }
                prop_assert_eq!(last, text.len());
                prop_assert!(encoding.surely_within(tokens) <= text.len());
            }
        }
    }
}
