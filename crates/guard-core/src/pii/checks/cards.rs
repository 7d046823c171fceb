//! Payment cards and mobile devices: numbers with the Luhn checksum.

use super::digits::{digits, is_monotonous};

/// The formula of H. P. Luhn, US patent 2,950,048, as in ISO/IEC 7812-1, annex B: from the right, every second digit
/// counts twice, and the sum of all digits is a multiple of ten.
pub fn is_luhn(digits: &[u32]) -> bool {
    let numbered = digits.iter().rev().enumerate();
    let doubled = |digit: u32| digit * 2 - if digit > 4 { 9 } else { 0 };
    let sum: u32 = numbered
        .map(|(position, &digit)| if position % 2 == 1 { doubled(digit) } else { digit })
        .sum();
    digits.len() > 1 && sum.is_multiple_of(10)
}

/// Whether a value has `count` digits, not all the same, and the last is Luhn's check digit.
pub(super) fn has_luhn_digit(value: &str, count: usize) -> bool {
    let digits = digits(value);
    digits.len() == count && is_luhn(&digits) && !is_monotonous(&digits)
}

/// The ranges of the first four digits of each issuer, and the lengths of its cards. Sources: ISO/IEC 7812-2 (register
/// of issuer identification numbers) and the ranges that the schemes publish; for Maestro, the lengths in use.
const ISSUERS: [(u64, u64, &[usize]); 27] = [
    (2200, 2204, &[16, 17, 18, 19]),         // Mir
    (2221, 2720, &[16]),                     // Mastercard
    (3000, 3059, &[14, 16, 17, 18, 19]),     // Diners Club
    (3088, 3094, &[16, 17, 18, 19]),         // JCB
    (3095, 3095, &[14, 16, 17, 18, 19]),     // Diners Club
    (3096, 3120, &[16, 17, 18, 19]),         // JCB
    (3158, 3159, &[16, 17, 18, 19]),         // JCB
    (3337, 3349, &[16, 17, 18, 19]),         // JCB
    (3400, 3499, &[15]),                     // American Express
    (3528, 3589, &[16, 17, 18, 19]),         // JCB
    (3600, 3699, &[14, 15, 16, 17, 18, 19]), // Diners Club
    (3700, 3799, &[15]),                     // American Express
    (3800, 3999, &[14, 16, 17, 18, 19]),     // Diners Club
    (4000, 4999, &[13, 16, 19]),             // Visa
    (5000, 5099, &[16, 18, 19]),             // Maestro, Elo, Verve
    (5100, 5599, &[16]),                     // Mastercard
    (5600, 5899, &[16, 18, 19]),             // Maestro
    (6011, 6011, &[16, 17, 18, 19]),         // Discover
    (6060, 6099, &[16]),                     // RuPay, Hipercard
    (6200, 6299, &[16, 17, 18, 19]),         // UnionPay
    (6300, 6399, &[16, 18, 19]),             // Maestro, Elo
    (6440, 6599, &[16, 17, 18, 19]),         // Discover, RuPay, Elo
    (6700, 6799, &[16, 18, 19]),             // Maestro
    (8100, 8299, &[16, 17, 18, 19]),         // UnionPay, RuPay
    (8600, 8600, &[16]),                     // Uzcard
    (9792, 9792, &[16]),                     // Troy
    (9860, 9860, &[16]),                     // Humo
];

/// Whether digits are grouped like one number: with one separator, or else in groups of at least three. "4-334 5-365
/// 6-440" are scores.
fn is_one_number(value: &str) -> bool {
    let mut separators = value.chars().filter(|character| !character.is_ascii_digit());
    let first = separators.next();
    let is_uniform = separators.all(|separator| Some(separator) == first);
    is_uniform
        || value
            .split(|character: char| !character.is_ascii_digit())
            .all(|group| group.len() >= 3)
}

/// A payment card: an issuer's range and length, and Luhn's formula (ISO/IEC 7812-1).
pub fn is_card(value: &str) -> bool {
    is_issued(value) && is_luhn(&digits(value))
}

/// A payment card in separate groups, with the same signs between them.
pub fn is_card_apart(value: &str) -> bool {
    let mut gaps = value
        .split(|character: char| character.is_ascii_digit())
        .filter(|gap| !gap.is_empty());
    let first = gaps.next();
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    gaps.all(|gap| Some(gap) == first) && is_card(&digits)
}

/// A number with an issuer's range and length. Its checksum may be wrong, as in a mistyped or made-up number.
pub fn is_issued(value: &str) -> bool {
    // The first four digits rule most numbers out.
    let mut digits = value.bytes().filter(u8::is_ascii_digit);
    let first = digits
        .by_ref()
        .take(4)
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    let issuer = ISSUERS.iter().find(|(from, to, _)| (*from..=*to).contains(&first));
    issuer.is_some_and(|(.., lengths)| lengths.contains(&(4 + digits.count()))) && is_one_number(value)
}

/// An International Mobile Equipment Identity of 15 digits: 3GPP TS 23.003, section 6.2 and annex B.
pub fn is_imei(value: &str) -> bool {
    if value.bytes().filter(u8::is_ascii_digit).count() != 15 {
        return false;
    }
    let digits = digits(value);
    is_luhn(&digits) && !is_monotonous(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_all_schemes() {
        // The schemes' test numbers.
        for card in [
            "4111 1111 1111 1111",
            "4222222222222",
            "5555-5555-5555-4444",
            "2223003122003222",
            "378282246310005",
            "30569309025904",
            "6011111111111117",
            "3530111333300000",
            "6200000000000005",
            "2200 0000 0000 0004",
        ] {
            assert!(is_card(card), "{card}");
        }
        for no_card in [
            "4111 1111 1111 1112",
            "1111111111111117",
            "0000000000000000",
            "411111111111111",
            "",
        ] {
            assert!(!is_card(no_card), "{no_card}");
        }
    }

    #[test]
    fn numbers_of_issuers() {
        assert!(is_issued("4567-8901-2345-6789"));
        assert!(!is_issued("1234 5678 9012 3456"));
        assert!(!is_issued("4-334 5-365 6-440 7-502"));
    }

    #[test]
    fn devices() {
        assert!(is_imei("49-015420-323751-8"));
        assert!(!is_imei("49-015420-323751-7"));
        assert!(!is_imei("000000000000000"));
    }
}
