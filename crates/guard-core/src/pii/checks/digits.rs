//! Arithmetic on the digits of a value, for checksums.

/// The values of the ASCII digits in `value`, in order.
pub(in crate::pii) fn digits(value: &str) -> Vec<u32> {
    let mut digits = Vec::with_capacity(value.len());
    let found = value.bytes().filter(u8::is_ascii_digit);
    digits.extend(found.map(|byte| u32::from(byte - b'0')));
    digits
}

/// The ASCII letters and digits in `value`, in upper case.
pub(in crate::pii) fn alphanumerics(value: &str) -> Vec<u8> {
    value
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_uppercase())
        .collect()
}

/// Letters and digits as numbers from 0 to 35: `A` is 10.
pub(in crate::pii) fn base36(byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'A'..=b'Z' => u32::from(byte - b'A') + 10,
        _ => 0,
    }
}

/// The sum of the digits, each times the weight at the same index.
pub(in crate::pii) fn weighted_sum(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The sum of the digits, each times a weight, from the last digit on.
pub(in crate::pii) fn weighted_sum_from_end(digits: &[u32], weights: impl IntoIterator<Item = u32>) -> u32 {
    digits
        .iter()
        .rev()
        .zip(weights)
        .map(|(digit, weight)| digit * weight)
        .sum()
}

/// The sum of the digits of the products of each digit with the weight at the same index.
pub(in crate::pii) fn sum_of_digits(digits: &[u32], weights: &[u32]) -> u32 {
    let products = digits.iter().zip(weights).map(|(digit, weight)| digit * weight);
    products.map(|product| product / 10 + product % 10).sum()
}

/// The weighted sum modulo 11, with the `second` weights if the first give 10.
pub(in crate::pii) fn sum_modulo_11(digits: &[u32], first: &[u32], second: &[u32]) -> u32 {
    match weighted_sum(digits, first) % 11 {
        10 => weighted_sum(digits, second) % 11,
        sum => sum,
    }
}

/// Whether the last digit is the check digit of ISO/IEC 7064, MOD 11,10.
pub(in crate::pii) fn is_mod_11_10(digits: &[u32]) -> bool {
    let Some((last, body)) = digits.split_last() else {
        return false;
    };
    let product = body.iter().fold(10, |product, &digit| match (digit + product) % 10 {
        0 => 20 % 11,
        sum => sum * 2 % 11,
    });
    (11 - product) % 10 == *last
}

/// The digits as one number.
pub(in crate::pii) fn number(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 10 + u64::from(digit))
}

/// Whether all digits are the same, as in a made-up number.
pub(in crate::pii) fn is_monotonous(digits: &[u32]) -> bool {
    digits.iter().all(|digit| Some(digit) == digits.first())
}

/// Whether a value has a digit for each weight and then its check digit, which `check` makes from the weighted sum. The
/// digits must not be all the same.
pub(in crate::pii) fn has_check_digit(value: &str, weights: &[u32], check: fn(u32) -> u32) -> bool {
    let digits = digits(value);
    digits.len() == weights.len() + 1
        && !is_monotonous(&digits)
        && check(weighted_sum(&digits, weights)) == digits[weights.len()]
}

/// The number that the digits from `at` on have, two of them.
pub(in crate::pii) fn pair(digits: &[u32], at: usize) -> u32 {
    digits[at] * 10 + digits[at + 1]
}
