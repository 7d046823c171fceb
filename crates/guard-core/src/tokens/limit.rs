//! Counts tokens like large language models, and cuts a text to a number of them.

use std::path::Path;
use std::sync::Arc;

use super::openai::{NAMES, OpenAi};
use crate::stop;
use tiktoken_rs::tokenizer::{Tokenizer as Known, get_tokenizer};

/// The most consecutive bytes of white space before a text is cut in two for a tokenizer file.
///
/// The patterns of such encodings need backtracking for white space, and fail or panic on 1 MB of it. A cut may change
/// the tokens around it only, so a text without such a run has exact tokens.
const LONGEST_SPACE: usize = 16 * 1024;

/// An error of loading an encoding.
#[derive(Debug, thiserror::Error)]
pub enum EncodingError {
    /// No encoding has this name.
    #[error("unknown encoding {0:?}; the known ones are {known}", known = NAMES.join(", "))]
    UnknownName(String),
    /// No encoding is known for the model.
    #[error(
        "no encoding is known for the model {0:?}; name the encoding instead, one of {known}",
        known = NAMES.join(", ")
    )]
    UnknownModel(String),
    /// The vocabulary of a known encoding could not be loaded.
    #[error("the encoding {0:?} could not be loaded")]
    Load(String),
    /// The file is missing or is not a `tokenizer.json`.
    #[error("the tokenizer file could not be loaded: {0}")]
    File(String),
}

/// A token encoding. It is cheap to clone, and usable from several threads.
#[derive(Debug, Clone)]
pub struct Encoding(Kind);

#[derive(Clone)]
enum Kind {
    /// An OpenAI encoding.
    OpenAi(OpenAi),
    /// A tokenizer file of Hugging Face.
    File(Arc<tokenizers::Tokenizer>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A vocabulary has about 100,000 entries, so it is left out.
        formatter.write_str(match self {
            Self::OpenAi(_) => "OpenAi(..)",
            Self::File(_) => "File(..)",
        })
    }
}

/// The cut of a text at a token limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// The number of tokens of the whole text.
    pub tokens: usize,
    /// The end of the longest allowed prefix in UTF-8 bytes, on a character boundary; the length of the text if nothing
    /// is cut.
    pub end: usize,
}

impl Encoding {
    /// The `tiktoken` encoding with this name: `cl100k_base`, `gpt2`, `o200k_base`, `o200k_harmony`, `p50k_base`,
    /// `p50k_edit` or `r50k_base`. Its vocabulary is loaded on first use.
    ///
    /// # Errors
    ///
    /// [`EncodingError::UnknownName`] with the known names.
    pub fn by_name(name: &str) -> Result<Self, EncodingError> {
        if !NAMES.contains(&name) {
            return Err(EncodingError::UnknownName(name.to_owned()));
        }
        let encoding = OpenAi::by_name(name).ok_or_else(|| EncodingError::Load(name.to_owned()))?;
        Ok(Self(Kind::OpenAi(encoding)))
    }

    /// The encoding of an OpenAI model, such as `gpt-4o` or a fine-tuned one (`ft:gpt-4o:acme::id`), from the tables of
    /// `tiktoken`.
    ///
    /// # Errors
    ///
    /// [`EncodingError::UnknownModel`] for a model that is in no table.
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

    /// The encoding of a `tokenizer.json` of Hugging Face, without its truncation, padding and special tokens around a
    /// text. Unlike named encodings, every call loads it again.
    ///
    /// # Errors
    ///
    /// [`EncodingError::File`] if the file is unreadable or invalid.
    pub fn from_tokenizer_file(path: impl AsRef<Path>) -> Result<Self, EncodingError> {
        let path = path.as_ref();
        let file = |error: tokenizers::Error| EncodingError::File(format!("{}: {error}", path.display()));
        let mut tokenizer = tokenizers::Tokenizer::from_file(path).map_err(file)?;
        tokenizer.with_truncation(None).map_err(file)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self(Kind::File(Arc::new(tokenizer))))
    }

    /// The number of tokens of `text`. Special tokens in the text, such as `<|endoftext|>`, count as ordinary text.
    pub fn count(&self, text: &str) -> usize {
        self.truncate(text, usize::MAX).tokens
    }

    /// Finds the longest prefix of `text` with at most `limit` of its tokens.
    ///
    /// If the last token ends within a character, the prefix ends before that character.
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

    /// The cut of `text` at `limit` tokens, or `None` if it has no more.
    ///
    /// A text of at most [`Encoding::surely_within`] bytes is not tokenized.
    pub fn excess(&self, text: &str, limit: usize) -> Option<Truncation> {
        if text.len() <= self.surely_within(limit) {
            return None;
        }
        let truncation = self.truncate(text, limit);
        (truncation.tokens > limit).then_some(truncation)
    }

    /// The most UTF-8 bytes of a text that surely has at most `limit` tokens: a token of an OpenAI encoding has at
    /// least one byte. Tokens of a `tokenizer.json` may have none.
    pub fn surely_within(&self, limit: usize) -> usize {
        match self.0 {
            Kind::OpenAi(_) => limit,
            Kind::File(_) => 0,
        }
    }
}

/// The number of tokens of `text`, and the end of the first `limit` of them, perhaps within a character; the length of
/// the text if it has no more.
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

/// Receives a part of a text and the byte ranges of its tokens.
type Visitor<'a> = dyn FnMut(&str, &[(usize, usize)]) + 'a;

/// Tokenizes a piece in as few parts as possible, and passes each part on with the byte ranges of its tokens.
fn visit(tokenizer: &tokenizers::Tokenizer, piece: &str, see: &mut Visitor<'_>) {
    if piece.is_empty() {
        return;
    }
    if let Ok(encoding) = tokenizer.encode(piece, false) {
        return see(piece, encoding.get_offsets());
    }
    let middle = piece.floor_char_boundary(piece.len() / 2);
    if middle == 0 {
        // A character that can't be encoded counts as one token per byte.
        let offsets: Vec<_> = (0..piece.len()).map(|byte| (byte, byte + 1)).collect();
        return see(piece, &offsets);
    }
    visit(tokenizer, &piece[..middle], see);
    visit(tokenizer, &piece[middle..], see);
}

/// The end of the first `count` tokens of a part, fewer than all, on a character boundary.
fn prefix(part: &str, offsets: &[(usize, usize)], count: usize) -> usize {
    let end = offsets[..count].iter().map(|&(_, end)| end).max().unwrap_or(0);
    // All tokens of a character have its range, so a next token that starts earlier means a cut within it.
    part.floor_char_boundary(end.min(offsets[count].0))
}

/// Cuts a text within overlong runs of white space. Nearly every text is one piece.
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

/// The end of the first run of [`LONGEST_SPACE`] bytes of white space.
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

    /// A byte tokenizer without merges, the start of byte-level BPE.
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
                    // The kept prefix is within the limit.
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
