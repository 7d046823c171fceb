//! Decodes base58.

use super::alphabets::ALPHABETS;

/// The shortest run of digits that is decoded. Shorter identifiers decode to words by chance.
const LEAST: usize = 16;
/// The longest run. The time grows with the square of the length, because base58 is one large number.
const MOST: usize = 1024;
/// The digits that are added to the number at once, and the base to the power of that number.
const TOGETHER: usize = 5;
const BASE: u64 = 58;

/// The bytes of a run of base58 digits. It has letters in both cases, unlike most words.
pub(super) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    let has = |kind: fn(&u8) -> bool| digits.iter().any(kind);
    if !(LEAST..=MOST).contains(&digits.len())
        || digits.iter().any(|byte| matches!(byte, b'0' | b'O' | b'I' | b'l'))
        // A leading 1 is a zero byte, which text does not have.
        || digits[0] == b'1'
        || !has(u8::is_ascii_lowercase)
        || !has(u8::is_ascii_uppercase)
    {
        return None;
    }
    let alphabet = &ALPHABETS.as_ref()?.base58;
    // A number in base 2^32, the lowest digit first.
    let mut number: Vec<u32> = Vec::with_capacity(digits.len() / TOGETHER + 1);
    for chunk in digits.chunks(TOGETHER) {
        let mut carry = 0;
        for &byte in chunk {
            carry = carry * BASE + u64::from(alphabet.value(byte)?);
        }
        let factor = BASE.pow(chunk.len() as u32);
        for place in &mut number {
            let product = u64::from(*place) * factor + carry;
            *place = product as u32;
            carry = product >> u32::BITS;
        }
        if carry > 0 {
            number.push(carry as u32);
        }
    }
    let bytes = number.iter().rev().flat_map(|place| place.to_be_bytes());
    Some(bytes.skip_while(|&byte| byte == 0).collect())
}

#[cfg(test)]
mod tests {
    use super::decode;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_found_again(bytes in prop::collection::vec(1_u8.., 16..200)) {
            let encoded = bs58::encode(&bytes).into_string();
            prop_assert_eq!(decode(encoded.as_bytes()), Some(bytes));
        }
    }
}
