//! Tells passphrases from prose.

use super::words::{lists, spoken};

/// The most words of a passphrase with digits or other signs.
const WORDS: usize = 8;
/// The most function words of such a passphrase: "My dog Rex is 7!".
const FUNCTION_WORDS: usize = 2;
/// The fewest words of a passphrase of small letters only.
const PLAIN_WORDS: usize = 4;
/// The numbers of words of a seed phrase (BIP-39).
const SEED_WORDS: [usize; 5] = [12, 15, 18, 21, 24];

/// Whether a quoted value with white space is a passphrase. Prose about passwords has words of messages, or consists of
/// function words.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let spoken = spoken(value);
    let is_message = spoken
        .iter()
        .any(|word| lists().messages.contains(word) || names_password(word));
    let ends_sentence = text.ends_with(['.', ':', '…', '?', ',', ';']);
    let is_code = text.contains([
        '{', '}', '<', '>', '(', ')', '[', ']', '=', '|', '\\', '`', '"', '/', '\t',
    ]) || text.contains("%s")
        || text.contains("%d")
        || text.contains("  ")
        || text.contains(": ");
    if !text.contains(' ') || is_message || ends_sentence || is_code || is_date(text) {
        return false;
    }
    let function_words = spoken
        .iter()
        .filter(|word| lists().function_words.contains(*word))
        .count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let has_sign = text.contains(['!', '@', '#', '$', '%', '^', '&', '*', '~']);
    let mixed = spoken.len() <= WORDS
        && function_words <= FUNCTION_WORDS
        && is_spelled(value)
        && (digits >= 2 || digits > 0 && has_sign);
    let plain = spoken.len() >= PLAIN_WORDS
        && function_words == 0
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ')
        && spoken.iter().all(|word| (3..=12).contains(&word.len()));
    mixed || plain
}

/// Whether a word names a password, as messages about it do.
fn names_password(word: &str) -> bool {
    lists().password_stems.iter().any(|stem| word.contains(stem))
}

/// Whether a text is a date or a time.
fn is_date(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_digit() || "-:./+ TZ".contains(character);
    text.chars().all(is_part)
}

/// Whether a value has letters, all of them of scripts that write words apart.
pub(super) fn is_spelled(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    // Thai, Lao, Tibetan, Myanmar, Khmer, and the scripts of Chinese, Japanese and Korean.
    let is_joined =
        |character: char| matches!(u32::from(character), 0xE00..=0x109F | 0x1780..=0x17FF | 0x1100..=0x11FF | 0x2E80..);
    let is_sign = |character: char| !character.is_alphanumeric() && !character.is_ascii();
    text.chars().any(char::is_alphabetic) && !text.chars().any(|character| is_joined(character) || is_sign(character))
}

/// Whether a value states what a password must be like: `must_be_min_8_chars`, `base64-encoded`.
pub(super) fn is_requirement(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_lowercase();
    let parts: Vec<&str> = lower
        .split(['_', '-', ' ', '|', ':', ',', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let is_word = |part: &&str| part.chars().all(char::is_alphabetic) || part.len() <= 2 || part.starts_with("base");
    parts.len() >= 2 && parts.iter().any(|part| lists().messages.contains(*part)) && parts.iter().all(is_word)
}

/// Whether a text is a seed phrase: as many words as one has, and no prose.
pub(super) fn is_seed_phrase(value: &[u8]) -> bool {
    let spoken = spoken(value);
    SEED_WORDS.contains(&spoken.len()) && !spoken.iter().any(|word| lists().prose.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_no_prose() {
        for phrase in [
            "amber 41 quiet harbor",
            "Winter 1987!",
            "lantern orbit velvet thunder",
            "Our cat Tom is 12!",
            "Grüner Apfel 88",
        ] {
            assert!(is_passphrase(phrase.as_bytes()), "{phrase}");
        }
        for prose in [
            "Enter your password",
            "at least 8 characters",
            "Mindestens 8 Zeichen",
            "Не менее 8 символов",
            "Au moins 8 caractères",
            "two words",
            "saved in the vault since may",
            "2024-01-15 10:30:00",
            "VARCHAR(255) NOT NULL",
            "请输入 6 位",
            "${user} 12",
        ] {
            assert!(!is_passphrase(prose.as_bytes()), "{prose}");
        }
    }

    #[test]
    fn requirements_are_no_passwords() {
        for value in ["must_be_min_8_chars", "base64-encoded", "8-character", "required|min:8"] {
            assert!(is_requirement(value.as_bytes()), "{value}");
        }
        for value in ["tulip-moon-92x1", "Type7#kLong", "hunter2"] {
            assert!(!is_requirement(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn seed_phrases_have_a_number_of_words() {
        let words = "ocean lamp river stone cabin tiger maple cloud amber piano velvet globe";
        assert!(is_seed_phrase(words.as_bytes()));
        assert!(!is_seed_phrase(&words.as_bytes()[6..]));
        assert!(!is_seed_phrase(words.replace("cabin", "the").as_bytes()));
    }
}
