//! The digits of base58 and base85.

use std::sync::LazyLock;

use serde::Deserialize;

/// The alphabets of `alphabets.toml`. If the file were broken, which a test rules out, nothing would be decoded.
pub(super) static ALPHABETS: LazyLock<Option<Alphabets>> =
    LazyLock::new(|| toml::from_str(include_str!("alphabets.toml")).ok());

#[derive(Deserialize)]
pub(super) struct Alphabets {
    pub(super) base58: Alphabet,
    pub(super) base85: Vec<Alphabet>,
}

/// The value of each byte as a digit, or [`NO_DIGIT`].
#[derive(Deserialize)]
#[serde(from = "Entry")]
pub(super) struct Alphabet([u8; 256]);

const NO_DIGIT: u8 = u8::MAX;

#[derive(Deserialize)]
struct Entry {
    digits: String,
}

impl From<Entry> for Alphabet {
    fn from(Entry { digits }: Entry) -> Self {
        let mut values = [NO_DIGIT; 256];
        for (value, digit) in digits.bytes().enumerate() {
            values[usize::from(digit)] = value as u8;
        }
        Self(values)
    }
}

impl Alphabet {
    pub(super) fn value(&self, byte: u8) -> Option<u32> {
        let value = self.0[usize::from(byte)];
        (value != NO_DIGIT).then_some(u32::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alphabet_has_all_of_its_digits() {
        let alphabets = ALPHABETS.as_ref().unwrap();
        let count = |alphabet: &Alphabet| (0..=u8::MAX).filter(|&byte| alphabet.value(byte).is_some()).count();
        assert_eq!(count(&alphabets.base58), 58);
        assert_eq!(alphabets.base85.iter().map(count).collect::<Vec<_>>(), [85; 3]);
    }
}
