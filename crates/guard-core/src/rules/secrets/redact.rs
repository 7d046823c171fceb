//! Redacts secrets.

use md5::{Digest, Md5};

use super::secret::Secret;

/// The replacement of a secret, as in llm-guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactMode {
    /// `******`.
    All,
    /// The first two and the last two characters, with `..` between them; a secret of up to five characters is hidden.
    Partial,
    /// The MD5 hash (RFC 1321) in hexadecimal. Equal secrets have equal hashes. A short or weak secret can be guessed
    /// from its hash, so this hides less than the other modes.
    Hash,
}

/// Replaces every secret. `secrets` must ascend without overlaps, as [`super::Secrets::find`] returns them.
pub fn redact(text: &str, secrets: &[Secret<'_>], mode: RedactMode) -> String {
    let mut result = String::with_capacity(text.len());
    let mut shown = 0;
    for secret in secrets {
        result.push_str(&text[shown..secret.range.start]);
        result.push_str(&replacement(&text[secret.range.clone()], mode));
        shown = secret.range.end;
    }
    result.push_str(&text[shown..]);
    result
}

fn replacement(secret: &str, mode: RedactMode) -> String {
    let edge = |index: usize| secret.char_indices().nth(index).map_or(secret.len(), |(at, _)| at);
    match mode {
        RedactMode::Partial if secret.chars().count() > 5 => {
            let last = secret.char_indices().nth_back(1).map_or(0, |(at, _)| at);
            format!("{}..{}", &secret[..edge(2)], &secret[last..])
        }
        RedactMode::All | RedactMode::Partial => "******".to_owned(),
        RedactMode::Hash => Md5::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
