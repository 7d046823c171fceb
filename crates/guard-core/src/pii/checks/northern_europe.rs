//! Numbers of people and companies in Denmark, Norway, Iceland, Finland, Sweden, the Baltic states, Ireland and Britain.

use super::calendar::{is_day, is_day_of_any_century};
use super::cards::is_luhn;
use super::digits::{
    alphanumerics, base36, digits, has_check_digit, is_monotonous, number, pair, sum_modulo_11, weighted_sum,
};

/// A Danish CPR number: a day and a serial number. Its former modulus 11 is no longer kept since 2007 (CPR-kontoret,
/// "Personnummeret i CPR-systemet").
pub fn is_dk_cpr(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10 && is_day_of_any_century(pair(&digits, 4), pair(&digits, 2), pair(&digits, 0))
}

/// A Danish CVR number: modulus 11 (Erhvervsstyrelsen, "Modulus 11-kontrol").
pub fn is_dk_cvr(value: &str) -> bool {
    digits(value).first() != Some(&0) && has_check_digit(value, &[2, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 11)
}

/// A Norwegian fødselsnummer or D-nummer: two check digits modulo 11 (Skatteetaten, "Fødselsnummer"; 40 is added to the
/// day of the latter, and 40 or 80 to the month of synthetic and of interim numbers).
pub fn is_no_fnr(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 {
        return false;
    }
    let day = pair(&digits, 0) % 40;
    let month = pair(&digits, 2) % 40;
    let first = weighted_sum(&digits, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]);
    let second = weighted_sum(&digits, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]);
    is_day_of_any_century(pair(&digits, 4), month, day) && first.is_multiple_of(11) && second.is_multiple_of(11)
}

/// A Norwegian organisasjonsnummer: modulus 11 (Brønnøysundregistrene, "Om organisasjonsnummeret").
pub fn is_no_orgnr(value: &str) -> bool {
    has_check_digit(value, &[3, 2, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 11)
}

/// An Icelandic kennitala: a day, to which 40 is added for companies, and a check digit modulo 11 (Þjóðskrá Íslands,
/// "Um kennitölur").
pub fn is_is_kennitala(value: &str) -> bool {
    let digits = digits(value);
    let day = |digits: &[u32]| {
        if digits[0] > 3 {
            pair(digits, 0) - 40
        } else {
            pair(digits, 0)
        }
    };
    digits.len() == 10
        && is_day_of_any_century(pair(&digits, 4), pair(&digits, 2), day(&digits))
        && matches!(digits[9], 0 | 8 | 9)
        && (11 - weighted_sum(&digits, &[3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11 == digits[8]
}

/// A Finnish henkilötunnus: a date, the century's sign, and the remainder modulo 31 of the nine digits (Digital and
/// Population Data Services Agency; further signs from 2023 by the decree 128/2010 as amended).
pub fn is_fi_hetu(value: &str) -> bool {
    let upper = value.to_ascii_uppercase();
    let Some((&[d1, d2, m1, m2, y1, y2, sign], rest)) = upper.as_bytes().split_first_chunk::<7>() else {
        return false;
    };
    let century = match sign {
        b'+' => 1800,
        b'-' | b'U'..=b'Y' => 1900,
        b'A'..=b'F' => 2000,
        _ => return false,
    };
    let digits = digits(&upper);
    let pair = |first: u8, second: u8| base36(first) * 10 + base36(second);
    digits.len() >= 9
        && rest.len() == 4
        && is_day(century + pair(y1, y2), pair(m1, m2), pair(d1, d2))
        && b"0123456789ABCDEFHJKLMNPRSTUVWXY"[(number(&digits[..9]) % 31) as usize] == rest[3]
}

/// A Finnish Y-tunnus: modulus 11 (Patentti- ja rekisterihallitus, "Y-tunnus").
pub fn is_fi_business_id(value: &str) -> bool {
    has_check_digit(value, &[7, 9, 10, 5, 8, 4, 2], |sum| (11 - sum % 11) % 11)
}

/// A Swedish personnummer or samordningsnummer: a date (whose day has 60 added in the latter) and Luhn's check digit
/// over the last ten digits (Skatteverket SKV 704, SKV 707).
pub fn is_se_personnummer(value: &str) -> bool {
    let digits = digits(value);
    let Some(ten) = digits.len().checked_sub(10).map(|before| &digits[before..]) else {
        return false;
    };
    let (month, day) = (pair(ten, 2), pair(ten, 4));
    let day = if day > 60 { day - 60 } else { day };
    let is_born = match digits.len() {
        10 => is_day_of_any_century(pair(ten, 0), month, day),
        12 => matches!(number(&digits[..2]), 18..=20) && is_day(number(&digits[..4]) as u32, month, day),
        _ => false,
    };
    is_born && is_luhn(ten)
}

/// A Swedish organisationsnummer: Luhn's check digit, and a third digit of at least 2 (Skatteverket SKV 709).
pub fn is_se_orgnr(value: &str) -> bool {
    let digits = digits(value);
    let ten = &digits[digits.len().saturating_sub(10)..];
    ten.len() == 10 && matches!(digits.len(), 10 | 12) && is_luhn(ten)
}

/// The check digit of Estonia and Lithuania: modulo 11 with the weights 1 to 9 and 1, or if that gives 10, with 3 to 9
/// and 1 to 3 (EVS 585:2007; Lietuvos Respublikos gyventojų registro įstatymas).
pub fn is_baltic_id(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || digits[0] == 0 || digits[0] > 8 {
        return false;
    }
    let sum = sum_modulo_11(
        &digits,
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1],
        &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3],
    );
    is_day_of_any_century(pair(&digits, 1), pair(&digits, 3), pair(&digits, 5)) && sum % 10 == digits[10]
}

/// A Latvian personas kods: a day or, since 2017, 32 to 39, and a check digit modulo 11 (Pilsonības un migrācijas lietu
/// pārvalde). New numbers have no check digit.
pub fn is_lv_personal_code(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || is_monotonous(&digits) {
        return false;
    }
    let sum = weighted_sum(&digits, &[1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
    matches!(pair(&digits, 0), 32..=39)
        || is_day_of_any_century(pair(&digits, 4), pair(&digits, 2), pair(&digits, 0))
            && (1101 - sum) % 11 % 10 == digits[10]
}

/// An Irish PPS number: seven digits, a check letter modulo 23, and perhaps a letter that counts nine times (Revenue
/// Commissioners, "Details of PPS number checks").
pub fn is_ie_pps(value: &str) -> bool {
    let characters = alphanumerics(value);
    let digits = digits(value);
    if digits.len() != 7 || !(8..=9).contains(&characters.len()) || is_monotonous(&digits) {
        return false;
    }
    let second = characters.get(8).map_or(0, |&letter| match letter {
        b'W' => 0,
        letter => base36(letter) - 9,
    });
    let sum = weighted_sum(&digits, &[8, 7, 6, 5, 4, 3, 2]) + 9 * second;
    b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize] == characters[7]
}

/// A number of the British National Health Service: modulus 11 (NHS Data Dictionary, "NHS NUMBER").
pub fn is_uk_nhs(value: &str) -> bool {
    has_check_digit(value, &[10, 9, 8, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 11)
}

/// A British national insurance number: letters that are in use (HMRC, National Insurance Manual NIM39110).
pub fn is_uk_nino(value: &str) -> bool {
    let characters = alphanumerics(value);
    let &[first, second, .., last] = characters.as_slice() else {
        return false;
    };
    characters.len() == 9
        && !b"DFIQUV".contains(&first)
        && !b"DFIOQUV".contains(&second)
        && !matches!(&[first, second], b"BG" | b"GB" | b"NK" | b"KN" | b"TN" | b"NT" | b"ZZ")
        && (b'A'..=b'D').contains(&last)
}

/// A British unique taxpayer reference: the first digit checks the other nine modulo 11 (HMRC, "Specification of UTR
/// validation").
pub fn is_uk_utr(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10
        && !is_monotonous(&digits)
        && [2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1][(weighted_sum(&digits[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11) as usize]
            == digits[0]
}

/// A British VAT number: nine digits modulo 97, without or with 55 added (HMRC, VAT Notice 700/21 and its algorithm).
pub fn is_uk_vat(value: &str) -> bool {
    let digits = digits(value);
    if !matches!(digits.len(), 9 | 12) || is_monotonous(&digits) {
        return false;
    }
    let sum = weighted_sum(&digits[..7], &[8, 7, 6, 5, 4, 3, 2]) + number(&digits[7..9]) as u32;
    sum.is_multiple_of(97) || (sum + 55).is_multiple_of(97)
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn nordic() {
        check(is_dk_cpr, &["140285-1003"], &["321385-1003"]);
        check(is_dk_cvr, &["13585628"], &["13585627"]);
        check(is_no_fnr, &["151086 95088"], &["151086 95089"]);
        check(is_no_orgnr, &["988 077 917"], &["988 077 918"]);
        check(is_is_kennitala, &["450401-3150"], &["450401-3140"]);
        check(is_fi_business_id, &["2077474-0"], &["2077474-1"]);
        check(is_se_orgnr, &["212000-0142"], &["212000-0143"]);
        check(
            is_fi_hetu,
            &["131052-308T", "010594Y9032"],
            &["131052-308U", "131352-308T", "131052-308"],
        );
        check(
            is_se_personnummer,
            &["811218-9876", "19811218-9876", "670919-9530"],
            &["811218-9875", "811318-9876", "17811218-9876"],
        );
    }

    #[test]
    fn baltic_and_british() {
        check(is_baltic_id, &["37605030299", "33309240064"], &["37605030298"]);
        check(
            is_lv_personal_code,
            &["161175-19997", "327654-32109"],
            &["161175-19998"],
        );
        check(is_ie_pps, &["6433435F", "6433435OA"], &["6433435E"]);
        check(is_uk_utr, &["1955839661"], &["2955839661"]);
        check(is_uk_vat, &["GB 980 7806 84"], &["GB 802311781"]);
        check(
            is_uk_nhs,
            &["943 476 5919", "4010232137"],
            &["943 476 5918", "0000000000"],
        );
        check(
            is_uk_nino,
            &["AB 12 34 56 C", "jg103759a"],
            &["BG123456A", "DA123456A", "AO123456A", "AB123456E"],
        );
    }
}
