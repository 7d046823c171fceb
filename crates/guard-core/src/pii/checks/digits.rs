//! Arithmetic on the digits of a value, for checksums.

/// The values of the ASCII digits in `value`, in order.
pub(super) fn digits(value: &str) -> Vec<u32> {
    let mut digits = Vec::with_capacity(value.len());
    let found = value.bytes().filter(u8::is_ascii_digit);
    digits.extend(found.map(|byte| u32::from(byte - b'0')));
    digits
}

/// The ASCII letters and digits in `value`, in upper case.
pub(super) fn alphanumerics(value: &str) -> Vec<u8> {
    value
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_uppercase())
        .collect()
}

/// Letters and digits as numbers from 0 to 35: `A` is 10.
pub(super) fn base36(byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'A'..=b'Z' => u32::from(byte - b'A') + 10,
        _ => 0,
    }
}

/// The sum of the digits, each times the weight at the same index.
pub(super) fn weighted_sum(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The digits as one number.
pub(super) fn number(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 10 + u64::from(digit))
}

/// Whether all digits are the same, as in a made-up number.
pub(super) fn is_monotonous(digits: &[u32]) -> bool {
    digits.iter().all(|digit| Some(digit) == digits.first())
}
