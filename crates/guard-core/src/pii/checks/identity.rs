//! Numbers of documents, contracts and vehicles of any country, without a checksum.

use super::calendar::{is_date, is_undated};
use super::digits::{digits, is_monotonous};

/// Whether a value looks like a number of a document and not like words, a date or an amount.
pub fn is_identifier(value: &str) -> bool {
    let digits = digits(value);
    let length = value.chars().filter(|character| character.is_alphanumeric()).count();
    (6..=24).contains(&length)
        && digits.len() >= 4
        && !is_monotonous(&digits)
        && !is_day(value)
        && !are_two_numbers(value)
        && has_groups_of_a_number(value)
}

/// Whether a slash divides two long numbers.
fn are_two_numbers(value: &str) -> bool {
    let is_long = |part: &str| digits(part).len() > 6;
    value
        .split_once('/')
        .is_some_and(|(one, other)| is_long(one) && is_long(other))
}

/// Whether a value is a day in numbers, or as one number.
fn is_day(value: &str) -> bool {
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"-/.".contains(&byte);
    !is_undated(value) || value.bytes().all(is_numeric) && is_date(value)
}

/// Whether a value is a year.
fn is_year(value: &str) -> bool {
    value.len() == 4 && matches!(value.parse::<u32>(), Ok(1900..=2099))
}

/// Whether the groups of a value are digits, perhaps with letters: a word in small letters is no group, and letters
/// alone neither end a value after a space nor are many.
fn has_groups_of_a_number(value: &str) -> bool {
    let groups = value.split_inclusive([' ', '\u{a0}', '.', '-', '/', '‐', '‑', '–']);
    let mut after_space = false;
    let mut is_last_word = false;
    for group in groups {
        let own = group.trim_end_matches(|character: char| !character.is_alphanumeric());
        let has_digit = own.bytes().any(|byte| byte.is_ascii_digit());
        let is_word = !own.is_empty() && !has_digit;
        if is_word && (own.chars().any(char::is_lowercase) || own.chars().count() > 4) {
            return false;
        }
        is_last_word = is_word && after_space;
        after_space = group.ends_with([' ', '\u{a0}']);
    }
    !is_last_word
}

/// Whether a value looks like a license plate: four to ten letters and digits with at least one digit, in capitals, and
/// no year alone.
pub fn is_plate(value: &str) -> bool {
    let length = value.chars().filter(|character| character.is_alphanumeric()).count();
    let digits = digits(value);
    let letters = length - digits.len();
    (4..=10).contains(&length)
        && !digits.is_empty()
        && (letters > 0 || digits.len() >= 6)
        && !are_years(value)
        && letters <= 5
        && !value.chars().any(char::is_lowercase)
        && !is_day(value)
}

/// Whether a value is two years: "2024-2025".
fn are_years(value: &str) -> bool {
    value
        .split_once(['-', '/'])
        .is_some_and(|(from, to)| is_year(from) && is_year(to))
}

/// Whether a value looks like the code of a bank: neither a year nor a day as one number.
pub fn is_bank_code(value: &str) -> bool {
    is_undated(value) && !is_year(value)
}

/// Whether a value looks like the number of a bank account: at least six digits, perhaps in groups, and neither a date
/// nor one digit repeated.
pub fn is_account(value: &str) -> bool {
    let digits = digits(value);
    (6..=30).contains(&digits.len()) && !is_monotonous(&digits) && !is_day(value) && has_groups_of_a_number(value)
}

#[cfg(test)]
mod tests {
    use super::super::accepts;
    use super::*;

    #[test]
    fn numbers_of_documents() {
        accepts(
            is_identifier,
            &[
                "140285193064",
                "HP-4285193",
                "V-14285193",
                "28.451.936",
                "AB 12 34 56",
                "14.285.193-K",
                "99 8877 6655",
            ],
            &[
                "2024-05-12",
                "12/05/2024",
                "20240512",
                "1234",
                "12345 and",
                "12345 A",
                "11111111",
                "ABCDEF",
                "Model 12345",
                "112-233-445 95/500100732259",
            ],
        );
    }

    #[test]
    fn plates() {
        accepts(
            is_plate,
            &[
                "M-AB 4285",
                "34 ABC 428",
                "7ABC428",
                "MH12DE4285",
                "12-345-67",
                "京A12345",
            ],
            &["2024", "1234", "ABCDEF", "20240512", "12 km", "2024-2025"],
        );
    }

    #[test]
    fn codes_of_banks() {
        accepts(is_bank_code, &["37040044", "123", "20-45-53"], &["2024", "20240512"]);
    }

    #[test]
    fn accounts() {
        accepts(
            is_account,
            &[
                "1234567890",
                "12-3456-7890123-00",
                "110-123-456789",
                "30002 00550 0000157845Z 02",
            ],
            &["20240131", "31.01.2024", "0000000", "1234"],
        );
    }
}
