//! Accounts and banks.

use iban::{Iban, IbanLike, ParseIbanError};

use super::digits::{digits, is_monotonous, number, weighted_sum};

/// An International Bank Account Number: ISO 13616-1, lengths and structures as in the SWIFT IBAN registry, and the two
/// check digits of ISO/IEC 7064, MOD 97-10.
pub fn is_iban(value: &str) -> bool {
    let compact: String = value
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|character| character.to_ascii_uppercase())
        .collect();
    match compact.parse::<Iban>() {
        Ok(_) => true,
        // In the registry, and not in `iban_validate` 5.0: four letters and sixteen letters or digits.
        Err(ParseIbanError::UnknownCountry(base)) => {
            let bank = base.electronic_str().get(4..8);
            base.country_code() == "PK"
                && base.electronic_str().len() == 24
                && bank.is_some_and(|bank| bank.bytes().all(|byte| byte.is_ascii_uppercase()))
        }
        Err(_) => false,
    }
}

/// An ABA routing transit number: a Federal Reserve prefix and the checksum of weights 3, 7, 1 (American Bankers
/// Association, "Routing Number Policy & Procedures", and 12 CFR 229, appendix A).
pub fn is_aba(value: &str) -> bool {
    let digits = digits(value);
    let issued = |prefix| matches!(prefix, 1..=12 | 21..=32 | 61..=72 | 80);
    digits.len() == 9
        && issued(number(&digits[..2]))
        && weighted_sum(&digits, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
        && !is_monotonous(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts() {
        // Examples of the SWIFT IBAN registry.
        for iban in [
            "GB29 NWBK 6016 1331 9268 19",
            "DE89370400440532013000",
            "FR14 2004 1010 0505 0001 3M02 606",
            "NO93 8601 1117 947",
            "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
            "PK36 SCBL 0000 0011 2345 6702",
        ] {
            assert!(is_iban(iban), "{iban}");
        }
        for no_iban in [
            "GB29 NWBK 6016 1331 9268 18",
            "DE8937040044053201300",
            "ZZ29 NWBK 6016 1331 9268 19",
            "PK37 SCBL 0000 0011 2345 6702",
            "",
        ] {
            assert!(!is_iban(no_iban), "{no_iban}");
        }
    }

    #[test]
    fn routing_numbers() {
        for routing in ["021000021", "0610-0010-4", "124003116"] {
            assert!(is_aba(routing), "{routing}");
        }
        assert!(!is_aba("021000022"));
        assert!(!is_aba("500000000"));
    }
}
