//! Addresses of crypto currencies.

use bech32::segwit;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

use crate::random::SplitMix64;

/// A legacy Bitcoin address (mainnet, versions 0 and 5): 25 bytes in base 58, the last four of which begin the double
/// SHA-256 of the others (<https://en.bitcoin.it/wiki/Base58Check_encoding>, BIP 13).
pub fn is_base58check(value: &str) -> bool {
    let Ok(bytes) = bs58::decode(value).into_vec() else {
        return false;
    };
    let Some((payload, checksum)) = bytes.split_last_chunk::<4>() else {
        return false;
    };
    payload.len() == 21 && matches!(payload[0], 0 | 5) && base58check(payload) == *checksum
}

/// The checksum of base58check.
fn base58check(payload: &[u8]) -> [u8; 4] {
    let hash = Sha256::digest(Sha256::digest(payload));
    std::array::from_fn(|index| hash[index])
}

/// Makes another legacy Bitcoin address of the same version and length.
pub(crate) fn like_base58check(value: &str, random: &mut SplitMix64) -> Option<String> {
    let original = bs58::decode(value).into_vec().ok()?;
    // The length depends on the number that the bytes form: the more leading bytes stay, the surer the length stays.
    (1..original.len()).find_map(|kept| {
        let mut bytes = original.clone();
        let (payload, checksum) = bytes.split_last_chunk_mut::<4>()?;
        payload.get_mut(kept..)?.fill_with(|| random.next() as u8);
        *checksum = base58check(payload);
        Some(bs58::encode(&bytes).into_string()).filter(|other| other.len() == value.len())
    })
}

/// A segregated witness address of Bitcoin's mainnet: bech32 for version 0, bech32m from version 1 on (BIP 173, BIP
/// 350).
pub fn is_bech32(value: &str) -> bool {
    segwit::decode(value).is_ok_and(|(prefix, ..)| prefix.as_str().eq_ignore_ascii_case("bc"))
}

/// Makes another such address of the same version, length and case.
pub(crate) fn like_bech32(value: &str, random: &mut SplitMix64) -> Option<String> {
    let (prefix, version, mut program) = segwit::decode(value).ok()?;
    program.fill_with(|| random.next() as u8);
    let other = segwit::encode(prefix, version, &program).ok()?;
    let is_upper = value.starts_with(|first: char| first.is_ascii_uppercase());
    Some(if is_upper { other.to_ascii_uppercase() } else { other })
}

/// An Ethereum address: 20 bytes in hexadecimal after `0x`; in mixed case, the case is a checksum (EIP-55).
pub fn is_ethereum(value: &str) -> bool {
    let Some(address) = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) else {
        return false;
    };
    if address.len() != 40 || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    !is_mixed(address) || eip55(&address.to_ascii_lowercase()) == address
}

/// Makes another Ethereum address, in lower, upper or mixed case like `value`.
pub(crate) fn like_ethereum(value: &str, random: &mut SplitMix64) -> Option<String> {
    let (prefix, address) = value.split_at_checked(2)?;
    let digit = |_| char::from(b"0123456789abcdef"[random.below(16)]);
    let other: String = (0..address.len()).map(digit).collect();
    let cased = match address {
        _ if is_mixed(address) => eip55(&other),
        _ if address.contains(|digit: char| digit.is_ascii_uppercase()) => other.to_ascii_uppercase(),
        _ => other,
    };
    Some(format!("{prefix}{cased}"))
}

fn is_mixed(address: &str) -> bool {
    address.bytes().any(|byte| byte.is_ascii_lowercase()) && address.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Applies the checksum case to lower-case digits.
fn eip55(address: &str) -> String {
    let hash = Keccak256::digest(address.as_bytes());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let cased = address.chars().zip(nibbles).map(|(digit, nibble)| match nibble {
        0..8 => digit,
        _ => digit.to_ascii_uppercase(),
    });
    cased.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitcoin() {
        for address in [
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
            "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
            "1LgqButDNV2rVHe9DATt6WqD8tKZEKvaK2",
            "19P6EYhu6kZzRy9Au4wRRZVE8RemrxPbZP",
            "1bones8KbQge9euDn523z5wVhwkTP3uc1",
        ] {
            assert!(is_base58check(address), "{address}");
        }
        assert!(!is_base58check("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"));
        assert!(!is_base58check(""));
        // From BIP 173 and BIP 350.
        assert!(is_bech32("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"));
        assert!(is_bech32(
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"
        ));
        assert!(!is_bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"));
        assert!(!is_bech32("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"));
    }

    #[test]
    fn ethereum() {
        // From EIP-55.
        for address in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0xde709f2102306220921060314715629080e2fb77",
        ] {
            assert!(is_ethereum(address), "{address}");
        }
        assert!(!is_ethereum("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"));
        assert!(!is_ethereum("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe"));
    }
}
