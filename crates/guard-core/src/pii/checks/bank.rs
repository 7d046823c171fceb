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
        Err(ParseIbanError::UnknownCountry(base)) => is_iban_of_newer_countries(base.electronic_str()),
        Err(_) => false,
    }
}

/// The countries of the SWIFT IBAN registry (release 99) that `iban_validate` 5.0 lacks, with the structure of their
/// accounts: `a` for a letter, `n` for a digit, `c` for either.
const NEWER_COUNTRIES: [(&str, &str); 10] = [
    ("BI", "nnnnnnnnnnnnnnnnnnnnnnn"),
    ("DJ", "nnnnnnnnnnnnnnnnnnnnnnn"),
    ("FK", "aannnnnnnnnnnn"),
    ("HN", "aaaannnnnnnnnnnnnnnnnnnn"),
    ("MN", "nnnnnnnnnnnnnnnn"),
    ("NI", "aaaannnnnnnnnnnnnnnnnnnn"),
    ("OM", "nnncccccccccccccccc"),
    ("PK", "aaaacccccccccccccccc"),
    ("SD", "nnnnnnnnnnnnnn"),
    ("SO", "nnnnnnnnnnnnnnnnnnn"),
];

/// An IBAN with right check digits of one of [`NEWER_COUNTRIES`].
fn is_iban_of_newer_countries(iban: &str) -> bool {
    let structure = NEWER_COUNTRIES.iter().find(|(country, _)| iban.starts_with(country));
    let fits = |(byte, kind): (u8, u8)| match kind {
        b'a' => byte.is_ascii_uppercase(),
        b'n' => byte.is_ascii_digit(),
        _ => byte.is_ascii_alphanumeric(),
    };
    structure.is_some_and(|(_, structure)| {
        let account = &iban[4..];
        account.len() == structure.len() && account.bytes().zip(structure.bytes()).all(fits)
    })
}

/// A Business Identifier Code (ISO 9362): the fifth and the sixth letter are a country of ISO 3166-1, or XK for Kosovo.
pub fn is_bic(value: &str) -> bool {
    const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AR AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CK CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MO MQ MR MS MT MU MV MW MX MY MZ NA NC NE NG NI NL NO NP NR NZ OM PA PE PF PG PH PK PL PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";
    value.len() >= 8 && COUNTRIES.split(' ').any(|country| value.get(4..6) == Some(country))
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
            "SD21 2901 0501 2340 01",
            "MN12 1234 1234 5678 9123",
            "OM81 0180 0000 0129 9123 456",
            "SO21 1000 0010 0100 0100 141",
            "FK88 SC12 3456 7890 12",
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
    fn codes_of_banks() {
        assert!(is_bic("DEUTDEFF500") && is_bic("COBADEFF"));
        assert!(!is_bic("KNOWLEDGE"));
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
