//! Identity numbers of South Africa.

use super::calendar::is_day_of_any_century;
use super::cards::is_luhn;
use super::digits::{digits, pair};

/// A South African identity number: date of birth, sex, citizenship (0, 1 or 2) and Luhn's check digit (Identification
/// Act 68 of 1997, regulations).
pub fn is_za_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13
        && is_day_of_any_century(pair(&digits, 0), pair(&digits, 2), pair(&digits, 4))
        && digits[10] < 3
        && is_luhn(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_numbers() {
        assert!(is_za_id("8001015009087"));
        assert!(!is_za_id("8001015009088"));
        assert!(!is_za_id("8013015009087"));
    }
}
