//! Tokenizes texts with one `tokenizer.json`.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tokenizers::{
    DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer, TokenizerImpl,
};

use super::error::TokenizeError;
use super::unigram::Pieces;
use crate::model_files::ModelFileError;
use crate::model_folder::{Content, ModelFolder};

/// The token ids of a text, without special ones, and their bytes.
#[derive(Debug)]
pub struct Tokens {
    /// The ids, in order.
    pub ids: Arc<[u32]>,
    /// For each id the range of its bytes; all tokens of a character have the range of that character.
    pub offsets: Vec<(usize, usize)>,
}

impl Tokens {
    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The bytes of the text from the first of these tokens to the last. There must be at least one.
    pub(super) fn range(&self, tokens: &Range<usize>) -> Range<usize> {
        let (start, end) = (self.offsets[tokens.start].0, self.offsets[tokens.end - 1].1);
        start..end.max(start)
    }
}

/// The special tokens around a text.
#[derive(Debug)]
pub(super) struct Frame {
    pub prefix: Arc<[u32]>,
    pub suffix: Arc<[u32]>,
}

impl Frame {
    pub fn len(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }
}

/// The special tokens around and between a text and a claim.
#[derive(Debug)]
pub(super) struct PairFrame {
    pub prefix: Arc<[u32]>,
    pub middle: Arc<[u32]>,
    pub suffix: Arc<[u32]>,
}

impl PairFrame {
    /// The tokens around two probes `bare` in `dressed`.
    fn from_probes(bare: &[u32], dressed: &[u32]) -> Option<Self> {
        let starts = |at: &usize| dressed[*at..].starts_with(bare);
        let mut positions = 0..=dressed.len().checked_sub(bare.len())?;
        let first = positions.clone().find(starts)?;
        let second = positions.rfind(starts)?;
        (first + bare.len() <= second).then(|| Self {
            prefix: dressed[..first].into(),
            middle: dressed[first + bare.len()..second].into(),
            suffix: dressed[second + bare.len()..].into(),
        })
    }

    pub fn len(&self) -> usize {
        self.prefix.len() + self.middle.len() + self.suffix.len()
    }
}

/// A tokenizer of the library with guard's own model.
type Compact = TokenizerImpl<Pieces, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// The part of the file with the kind of its model.
#[derive(Deserialize)]
struct TokenizerFile {
    model: ModelFile,
}

#[derive(Deserialize)]
struct ModelFile {
    /// Absent in old files.
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// A tokenizer of a `tokenizer.json`. It has no maximum input length: models with byte-identical files share it.
pub struct TextTokenizer {
    tokenizer: Compact,
    /// For each special token, the tokens that spell it in a text.
    spelled: HashMap<u32, Vec<u32>>,
    pub(super) frame: Frame,
    /// `None` if the post-processor changes the tokens of a pair.
    pub(super) pair: Option<PairFrame>,
    pad: u32,
}

impl TextTokenizer {
    /// Loads a `tokenizer.json` of the Hugging Face tokenizers library.
    ///
    /// # Errors
    /// [`TokenizeError::File`] if the file is missing, invalid, or differs from the manifest of its folder.
    pub fn from_file(path: &Path) -> Result<Self, TokenizeError> {
        Self::from_bytes(path, &Self::read(path)?.bytes)
    }

    /// Reads a tokenizer file, verified against the manifest of its folder.
    pub(super) fn read(path: &Path) -> Result<Content, ModelFileError> {
        let (folder, name) = (
            path.parent().unwrap_or(Path::new("")),
            path.file_name().unwrap_or_default(),
        );
        ModelFolder::open(folder)?.read(Path::new(name))
    }

    /// Parses the content of a tokenizer file. Errors have its path.
    pub(super) fn from_bytes(path: &Path, content: &[u8]) -> Result<Self, TokenizeError> {
        let bad = |message: String| {
            TokenizeError::from(ModelFileError::Bad {
                path: path.to_owned(),
                message,
            })
        };
        let failed = |error: tokenizers::Error| bad(error.to_string());
        let mut tokenizer = read(content).map_err(failed)?;
        // Only the post-processor adds special tokens: a text that spells `</s>` must not end there.
        tokenizer.set_encode_special_tokens(true);
        // The special tokens around a text are those that the post-processor adds to a probe.
        let probe = |special| tokenizer.encode("a", special).map_err(failed);
        let (bare, dressed) = (probe(false)?.get_ids().to_vec(), probe(true)?.get_ids().to_vec());
        let at = (0..=dressed.len().saturating_sub(bare.len()))
            .find(|at| dressed[*at..].starts_with(&bare))
            .ok_or_else(|| bad("its post-processor changes tokens of the text".to_owned()))?;
        let frame = Frame {
            prefix: dressed[..at].into(),
            suffix: dressed[at + bare.len()..].into(),
        };
        let dressed = tokenizer.encode(("a", "a"), true).map_err(failed)?;
        let pair = PairFrame::from_probes(&bare, dressed.get_ids());
        let pad = ["[PAD]", "<pad>"]
            .iter()
            .find_map(|token| tokenizer.token_to_id(token))
            .unwrap_or(0);
        let spelled = spelled_out(&tokenizer).map_err(failed)?;
        Ok(Self {
            tokenizer,
            spelled,
            frame,
            pair,
            pad,
        })
    }

    /// The number of special tokens before the text in each row.
    pub fn lead(&self) -> usize {
        self.frame.prefix.len()
    }

    /// The padding id.
    pub fn pad(&self) -> u32 {
        self.pad
    }

    /// Tokenizes a text, without special tokens around it.
    ///
    /// Control characters at the start of the text are dropped. Models know none of them, and if the normalizer of the
    /// file drops them there (as SentencePiece does), `tokenizers` 0.22 does not count them in the offsets of later
    /// tokens.
    ///
    /// # Errors
    /// [`TokenizeError::Refused`] if the tokenizer rejects the text.
    pub fn encode(&self, text: &str) -> Result<Tokens, TokenizeError> {
        let is_space = |character: char| matches!(character, '\t' | '\n' | '\u{C}' | '\r' | '\u{85}');
        let is_dropped = |character: char| character.is_control() && !is_space(character);
        let shown = text.trim_start_matches(is_dropped);
        let lead = text.len() - shown.len();
        let encoding = self
            .tokenizer
            .encode(shown, false)
            .map_err(TokenizeError::from_refusal)?;
        let mut all_ids = Vec::with_capacity(encoding.len());
        let mut offsets = Vec::with_capacity(encoding.len());
        for (id, (start, end)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
            let ids = self.spelled.get(id).map_or(std::slice::from_ref(id), Vec::as_slice);
            all_ids.extend(ids);
            offsets.extend(ids.iter().map(|_| (start + lead, end + lead)));
        }
        Ok(Tokens {
            ids: all_ids.into(),
            offsets,
        })
    }
}

/// Parses a tokenizer, without padding and truncation.
fn read(content: &[u8]) -> tokenizers::Result<Compact> {
    let file: TokenizerFile = serde_json::from_slice(content)?;
    if file.model.kind.as_deref() == Some("Unigram") {
        let mut tokenizer: Compact = serde_json::from_slice(content)?;
        tokenizer.with_truncation(None)?;
        tokenizer.with_padding(None);
        return Ok(tokenizer);
    }
    let tokenizer = Tokenizer::from_bytes(content)?;
    let mut compact = Compact::new(Pieces::Other(Box::new(tokenizer.get_model().clone())));
    compact
        .with_normalizer(tokenizer.get_normalizer().cloned())
        .with_pre_tokenizer(tokenizer.get_pre_tokenizer().cloned())
        .with_post_processor(tokenizer.get_post_processor().cloned())
        .with_decoder(tokenizer.get_decoder().cloned())
        .with_added_vocabulary(tokenizer.get_added_vocabulary().clone());
    Ok(compact)
}

/// For each special token, the ordinary tokens that spell it.
///
/// The vocabulary of a Unigram model contains the special tokens with the highest score, so a text that spells `</s>`
/// would become that token. The token of unknown characters is excluded: it has no other meaning.
fn spelled_out(tokenizer: &Compact) -> tokenizers::Result<HashMap<u32, Vec<u32>>> {
    let mut spelled = HashMap::new();
    for (id, token) in tokenizer.get_added_tokens_decoder() {
        let Some((last, _)) = token.content.char_indices().next_back() else {
            continue;
        };
        if !token.special || ["<unk>", "[UNK]"].contains(&token.content.as_str()) {
            continue;
        }
        let mut ids = Vec::new();
        for part in [&token.content[..last], &token.content[last..]] {
            let encoding = tokenizer.encode(part, false)?;
            let tokens = encoding.get_ids().iter().zip(encoding.get_tokens());
            // SentencePiece adds white space before a text, which is not in the text.
            ids.extend(tokens.filter(|(_, token)| *token != "▁").map(|(id, _)| *id));
        }
        if !ids.is_empty() && !ids.contains(&id) {
            spelled.insert(id, ids);
        }
    }
    Ok(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_broken_tokenizer_names_its_file() {
        let missing = TextTokenizer::from_file(Path::new("/nowhere/tokenizer.json"))
            .err()
            .unwrap();
        assert!(
            matches!(&missing, TokenizeError::File(ModelFileError::Missing { path }) if path.ends_with("tokenizer.json"))
        );
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let broken = TextTokenizer::from_file(&manifest).err().unwrap();
        assert!(matches!(&broken, TokenizeError::File(ModelFileError::Bad { path, .. }) if *path == manifest));
    }
}
