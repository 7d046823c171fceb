//! Numbers of people and companies in the USA and Canada.

use super::cards::{has_luhn_digit, is_luhn};
use super::digits::{digits, has_check_digit, is_monotonous, number};

/// A US social security number that was ever issued: the area is not 000, 666 or above 899, the group not 00, the
/// serial not 0000 (Social Security Administration, POMS RM 10201.035).
pub fn is_us_ssn(value: &str) -> bool {
    let digits = digits(value);
    // Numbers from advertisements, never valid (SSA, "Social Security Numbers: invalid numbers").
    let advertised = matches!(number(&digits), 78_051_120 | 219_099_999);
    digits.len() == 9
        && !matches!(number(&digits[..3]), 0 | 666 | 900..)
        && number(&digits[3..5]) != 0
        && number(&digits[5..]) != 0
        && !is_monotonous(&digits)
        && !advertised
}

/// A US individual taxpayer identification number: 9 first, the group in 50-65, 70-88, 90-92 or 94-99 (IRS, Internal
/// Revenue Manual 3.21.263.8.1).
pub fn is_us_itin(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 9 && digits[0] == 9 && matches!(number(&digits[3..5]), 50..=65 | 70..=88 | 90..=92 | 94..=99)
}

/// A registration number of the US Drug Enforcement Administration: two letters, and a check digit that is the last of
/// the sum of the digits at odd positions and twice those at even positions (DEA Diversion Control Division, "DEA
/// registration number").
pub fn is_dea(value: &str) -> bool {
    let number = &value[value.len().saturating_sub(7)..];
    has_check_digit(number, &[1, 2, 1, 2, 1, 2], |sum| sum % 10)
}

/// A Canadian social insurance number: Luhn's check digit; 0 and 8 are not issued as first digits (Employment and
/// Social Development Canada, Social Insurance Number Code of Practice).
pub fn is_ca_sin(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 9 && !matches!(digits[0], 0 | 8) && is_luhn(&digits)
}

/// An American National Provider Identifier: Luhn's check digit with 80840 before the ten digits (45 CFR 162.406; CMS, "NPI
/// check digit").
pub fn is_us_npi(value: &str) -> bool {
    let mut digits = digits(value);
    if digits.len() != 10 || !matches!(digits[0], 1 | 2) {
        return false;
    }
    digits.splice(..0, [8, 0, 8, 4, 0]);
    is_luhn(&digits)
}

/// A Canadian business number: nine digits with Luhn's check digit, perhaps with a program and four digits (Canada
/// Revenue Agency, RC2).
pub fn is_ca_business(value: &str) -> bool {
    let digits = digits(value);
    matches!(digits.len(), 9 | 13) && is_luhn(&digits[..9]) && !is_monotonous(&digits[..9])
}

/// An Ontario health number: ten digits with Luhn's check digit (Ministry of Health, Health number validation).
pub fn is_ca_ohip(value: &str) -> bool {
    digits(value).first() != Some(&0) && has_luhn_digit(value, 10)
}

/// A personal health number of British Columbia: 9 and modulus 11 (Ministry of Health, "PHN validation").
pub fn is_ca_bc_phn(value: &str) -> bool {
    // The first digit is 9, and has no weight.
    digits(value).first() == Some(&9) && has_check_digit(value, &[0, 2, 4, 8, 5, 10, 9, 7, 3], |sum| 11 - sum % 11)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn united_states() {
        assert!(is_us_ssn("239-02-7946"));
        for none in [
            "000-12-3456",
            "666-12-3456",
            "900-12-3456",
            "239-00-7946",
            "239-02-0000",
            "078-05-1120",
            "111-11-1111",
        ] {
            assert!(!is_us_ssn(none), "{none}");
        }
        assert!(is_us_itin("912-70-1234"));
        assert!(!is_us_itin("912-69-1234"));
        assert!(!is_us_itin("912-93-1234"));
        assert!(is_dea("AB1234563"));
        assert!(!is_dea("AB1234564"));
    }

    #[test]
    fn health() {
        assert!(is_us_npi("1234567893"));
        assert!(!is_us_npi("1234567894"));
        assert!(is_ca_business("123456782RT0001"));
        assert!(!is_ca_business("123456783RT0001"));
        assert!(is_ca_ohip("9876 543 217"));
        assert!(!is_ca_ohip("9876 543 218"));
        assert!(is_ca_bc_phn("9698658215"));
        assert!(!is_ca_bc_phn("9698658216"));
    }

    #[test]
    fn canada() {
        assert!(is_ca_sin("130 692 544"));
        assert!(!is_ca_sin("130 692 543"));
        assert!(!is_ca_sin("046 454 286"), "an example that is never issued");
    }
}
