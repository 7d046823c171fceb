//! Numbers of people and companies in China.

use super::calendar::is_day;
use super::digits::{alphanumerics, base36, pair};

/// The first two digits of a province or region (GB/T 2260).
fn is_province(code: u32) -> bool {
    matches!(code, 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 91)
}

/// A resident identity number: the code of a district, a date of birth, and the check character of ISO/IEC 7064, MOD
/// 11-2 (GB 11643-1999).
pub fn is_resident_id(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 18 || !characters[..17].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let digits: Vec<u32> = characters[..17].iter().map(|&byte| base36(byte)).collect();
    let year = pair(&digits, 6) * 100 + pair(&digits, 8);
    let sum = digits.iter().fold(0, |sum, digit| (sum + digit) * 2 % 11);
    // A 9 precedes the district code of a foreigner with permanent residence.
    (is_province(pair(&digits, 0)) || digits[0] == 9 && is_province(pair(&digits, 1)))
        && (1850..=2100).contains(&year)
        && is_day(year, pair(&digits, 10), pair(&digits, 12))
        && b"10X98765432"[(sum % 11) as usize] == characters[17]
}

/// A unified social credit code: the check character of ISO/IEC 7064, MOD 31-3 (GB 32100-2015).
pub fn is_uscc(value: &str) -> bool {
    const CHARACTERS: &[u8; 31] = b"0123456789ABCDEFGHJKLMNPQRTUWXY";
    let characters = alphanumerics(value);
    let value = |byte: &u8| CHARACTERS.iter().position(|character| character == byte);
    let values: Option<Vec<usize>> = characters.iter().map(value).collect();
    let Some(values) = values.filter(|values| values.len() == 18) else {
        return false;
    };
    let sum = values[..17]
        .iter()
        .fold((0, 1), |(sum, weight), value| (sum + value * weight, weight * 3 % 31))
        .0;
    let code = characters[2..4].iter().fold(0, |code, &byte| code * 10 + base36(byte));
    (31 - sum % 31) % 31 == values[17]
        && characters[2..8].iter().all(u8::is_ascii_digit)
        && (is_province(code) || code == 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residents() {
        // The examples of GB 11643-1999.
        assert!(is_resident_id("11010519491231002X"));
        assert!(is_resident_id("440524188001010014"));
        assert!(!is_resident_id("110105194912310021"));
        assert!(!is_resident_id("11010519491331002X"));
        assert!(!is_resident_id("99010519491231002X"));
    }

    #[test]
    fn companies() {
        assert!(is_uscc("91350100M000100Y43"));
        assert!(!is_uscc("91350100M000100Y44"));
        assert!(!is_uscc("91350100M000100I43"));
    }
}
