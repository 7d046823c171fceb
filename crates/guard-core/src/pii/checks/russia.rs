//! Numbers of people and companies in Russia.

use super::digits::{digits, is_monotonous, number, weighted_sum};

/// An INN: ten digits of a company with one check digit, twelve of a person with two (Federal Tax Service, order
/// ММВ-7-6/435@ of 29.06.2012, appendix).
pub fn is_inn(value: &str) -> bool {
    const WEIGHTS: [u32; 11] = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];
    let digits = digits(value);
    let check = |count: usize| weighted_sum(&digits[..count], &WEIGHTS[11 - count..]) % 11 % 10 == digits[count];
    let fits = match digits.len() {
        10 => check(9),
        12 => check(10) && check(11),
        _ => false,
    };
    fits && !is_monotonous(&digits)
}

/// An OGRN of thirteen digits or an OGRNIP of fifteen: the last digit is the remainder of the others modulo 11 or 13,
/// modulo ten (Ministry of Finance, order 165н of 30.10.2017).
pub fn is_ogrn(value: &str) -> bool {
    let digits = digits(value);
    let check = |count: usize, modulus: u64| number(&digits[..count]) % modulus % 10 == u64::from(digits[count]);
    match digits.len() {
        13 => matches!(digits[0], 1 | 2 | 5) && check(12, 11),
        15 => digits[0] == 3 && check(14, 13),
        _ => false,
    }
}

/// A SNILS: the check number is the sum of the digits with weights 9 to 1, modulo 101, where 100 counts as 0; numbers
/// up to 001-001-998 have none (Pension Fund, resolution 485п of 03.06.2019, appendix 1).
pub fn is_snils(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11
        && number(&digits[..9]) > 1_001_998
        && u64::from(weighted_sum(&digits[..9], &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100) == number(&digits[9..])
        && !is_monotonous(&digits[..9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taxpayers() {
        for inn in ["7707083893", "7830002293", "500100732259"] {
            assert!(is_inn(inn), "{inn}");
        }
        for none in ["7707083894", "500100732258", "500100732269", "0000000000", "77070838"] {
            assert!(!is_inn(none), "{none}");
        }
    }

    #[test]
    fn companies() {
        assert!(is_ogrn("1027700132195"));
        assert!(is_ogrn("304500116000157"));
        assert!(!is_ogrn("1027700132196"));
        assert!(!is_ogrn("304500116000158"));
    }

    #[test]
    fn pensions() {
        assert!(is_snils("112-233-445 95"));
        assert!(is_snils("087-654-303 00"));
        assert!(!is_snils("112-233-445 96"));
        assert!(!is_snils("001-001-998 00"));
    }
}
