//! How rare a string is in texts and code, by byte pairs.
//!
//! An encoding of byte pairs has a token for every frequent sequence of characters, so words and names take few tokens
//! and random strings take many: `getElementById` has 4.7 characters per token, `q7B9aB3dE5gH` has 1.2. Betterleaks
//! published this measure as token efficiency (<https://github.com/betterleaks/betterleaks>).

use std::sync::LazyLock;

use crate::tokens::limit::Encoding;

/// The encoding, whose vocabulary is part of the program and needs no loading.
static ENCODING: LazyLock<Option<Encoding>> = LazyLock::new(|| Encoding::by_name("cl100k_base").ok());

/// The most bytes that are counted; the rest of a longer string is as rare.
const MEASURED: usize = 256;

/// The bytes per token of a string; 0 for an empty one.
pub(super) fn bytes_per_token(value: &[u8]) -> f64 {
    let value = &value[..value.len().min(MEASURED)];
    let text = String::from_utf8_lossy(value);
    match ENCODING.as_ref().map(|encoding| encoding.count(&text)) {
        Some(tokens) if tokens > 0 => value.len() as f64 / tokens as f64,
        // Without an encoding, no string is too common to be a credential.
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::bytes_per_token;

    #[test]
    fn words_take_fewer_tokens_than_random_strings() {
        for common in ["getElementById", "loadCustomerDetailsFromServer", "validation-group-12"] {
            assert!(bytes_per_token(common.as_bytes()) > 3.0, "{common}");
        }
        for rare in ["q7B9aB3dE5gH7jK9", "Xk2#mQ8!vR4&z", "9f86d081884c7d659a2feaa0c55ad015"] {
            assert!(bytes_per_token(rare.as_bytes()) < 2.0, "{rare}");
        }
        assert_eq!(bytes_per_token(b""), 0.0);
    }
}
