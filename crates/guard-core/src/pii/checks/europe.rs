//! Numbers of people and companies in Europe, except Russia.

use super::calendar::{is_day, is_day_of_any_century};
use super::cards::is_luhn;
use super::digits::{alphanumerics, base36, digits, is_monotonous, number, weighted_sum};

/// A number of the British National Health Service: modulus 11 (NHS Data Dictionary, "NHS NUMBER").
pub fn is_uk_nhs(value: &str) -> bool {
    let digits = digits(value);
    let check = |digits: &[u32]| 11 - weighted_sum(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    digits.len() == 10 && !is_monotonous(&digits) && check(&digits) % 11 == digits[9]
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

/// The letter of a Spanish number: its remainder modulo 23 (Real Decreto 338/1990; Orden INT/2058/2008).
fn es_letter(number: u64) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE"[(number % 23) as usize]
}

/// A Spanish NIF: eight digits and their letter.
pub fn is_es_nif(value: &str) -> bool {
    let digits = digits(value);
    (7..=8).contains(&digits.len())
        && alphanumerics(value).last() == Some(&es_letter(number(&digits)))
        && !is_monotonous(&digits)
}

/// A Spanish NIE: X, Y or Z, which stand for 0, 1 and 2, seven digits, and their letter.
pub fn is_es_nie(value: &str) -> bool {
    let characters = alphanumerics(value);
    let digits = digits(value);
    let Some(series) = characters
        .first()
        .and_then(|first| b"XYZ".iter().position(|letter| letter == first))
    else {
        return false;
    };
    digits.len() == 7 && characters.last() == Some(&es_letter(series as u64 * 10_000_000 + number(&digits)))
}

/// An Italian codice fiscale: a date of birth and a check letter (Decreto ministeriale 12 marzo 1974, 13.813).
pub fn is_it_fiscal_code(value: &str) -> bool {
    /// The values of characters at odd positions: a digit and the letter of the same order have the same value.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
    ];
    /// Letters that replace 0 to 9 if two people would otherwise have the same code.
    const STAND_INS: &[u8; 10] = b"LMNPQRSTUV";
    let characters = alphanumerics(value);
    if characters.len() != 16 {
        return false;
    }
    let order = |byte: u8| {
        if byte.is_ascii_digit() {
            byte - b'0'
        } else {
            byte - b'A'
        }
    };
    let sum: u32 = characters[..15]
        .iter()
        .enumerate()
        .map(|(index, &byte)| match index % 2 {
            0 => ODD[usize::from(order(byte))],
            _ => u32::from(order(byte)),
        })
        .sum();
    let digit = |byte: u8| {
        let stand_in = STAND_INS.iter().position(|&letter| letter == byte);
        if byte.is_ascii_digit() {
            Some(u32::from(byte - b'0'))
        } else {
            stand_in.map(|digit| digit as u32)
        }
    };
    let pair = |at: usize| Some(digit(characters[at])? * 10 + digit(characters[at + 1])?);
    let month = b"ABCDEHLMPRST".iter().position(|&letter| letter == characters[8]);
    let is_born = match (pair(6), month, pair(9)) {
        // Women have 40 added to the day.
        (Some(year), Some(month), Some(day)) => {
            is_day_of_any_century(year, month as u32 + 1, if day > 40 { day - 40 } else { day })
        }
        _ => false,
    };
    is_born && u32::from(characters[15]) == u32::from(b'A') + sum % 26
}

/// An Italian partita IVA: eleven digits with Luhn's check digit (Decreto ministeriale 23 dicembre 1976, 13813).
pub fn is_it_vat(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11 && is_luhn(&digits) && !is_monotonous(&digits)
}

/// A German tax identification number: among its first ten digits one occurs twice or three times and the others once
/// at most, and the last is the check digit of ISO/IEC 7064, MOD 11,10 (Bundeszentralamt für Steuern, § 139b AO).
pub fn is_de_tax_id(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let mut counts = [0; 10];
    for &digit in &digits[..10] {
        counts[digit as usize] += 1;
    }
    let repeated: Vec<u32> = counts.iter().copied().filter(|&count| count > 1).collect();
    let product = digits[..10].iter().fold(10, |product, &digit| {
        let sum = match (digit + product) % 10 {
            0 => 10,
            sum => sum,
        };
        sum * 2 % 11
    });
    matches!(repeated.as_slice(), [2 | 3]) && (11 - product) % 10 == digits[10]
}

/// A serial number of a German identity card or passport with its check digit of weights 7, 3, 1 (ICAO Doc 9303-3,
/// section 4.9; § 5 PAuswG and Bundesdruckerei on the characters in use).
pub fn is_de_id_card(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 10
        || !characters[..9]
            .iter()
            .all(|byte| b"0123456789CFGHJKLMNPRTVWXYZ".contains(byte))
    {
        return false;
    }
    let values: Vec<u32> = characters.iter().map(|&byte| base36(byte)).collect();
    weighted_sum(&values[..9], &[7, 3, 1, 7, 3, 1, 7, 3, 1]) % 10 == values[9]
}

/// A French NIR: 97 minus the remainder modulo 97 of the thirteen digits, in which Corsica's 2A and 2B count as 19 and
/// 18 (INSEE, décret 82-103).
pub fn is_fr_nir(value: &str) -> bool {
    let mut characters = alphanumerics(value);
    if characters.len() != 15 {
        return false;
    }
    match &characters[5..7] {
        b"2A" => characters[5..7].copy_from_slice(b"19"),
        b"2B" => characters[5..7].copy_from_slice(b"18"),
        _ => {}
    }
    if !characters.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let digits: Vec<u32> = characters.iter().map(|&byte| base36(byte)).collect();
    matches!(digits[0], 1..=4 | 7 | 8) && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

/// A Polish PESEL: date of birth with the century in the month, and a check digit (Ustawa o ewidencji ludności, art.
/// 15).
pub fn is_pl_pesel(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 {
        return false;
    }
    let pair = |at: usize| digits[at] * 10 + digits[at + 1];
    let century = [1900, 2000, 2100, 2200, 1800][(pair(2) / 20) as usize];
    let sum = weighted_sum(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    is_day(century + pair(0), pair(2) % 20, pair(4)) && (10 - sum % 10) % 10 == digits[10]
}

/// A Dutch burgerservicenummer: the test of eleven (Wet algemene bepalingen burgerservicenummer; Logisch ontwerp BSN).
pub fn is_nl_bsn(value: &str) -> bool {
    let digits = digits(value);
    // The last digit has the weight -1, which is 10 modulo 11.
    let sum = weighted_sum(&digits, &[9, 8, 7, 6, 5, 4, 3, 2, 10]);
    digits.len() == 9 && sum.is_multiple_of(11) && !is_monotonous(&digits)
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

/// A Swedish personnummer or samordningsnummer: a date (whose day has 60 added in the latter) and Luhn's check digit
/// over the last ten digits (Skatteverket SKV 704, SKV 707).
pub fn is_se_personnummer(value: &str) -> bool {
    let digits = digits(value);
    let Some(ten) = digits.len().checked_sub(10).map(|before| &digits[before..]) else {
        return false;
    };
    let pair = |at: usize| ten[at] * 10 + ten[at + 1];
    let day = if pair(4) > 60 { pair(4) - 60 } else { pair(4) };
    let is_born = match digits.len() {
        10 => is_day_of_any_century(pair(0), pair(2), day),
        12 => matches!(number(&digits[..2]), 18..=20) && is_day(number(&digits[..4]) as u32, pair(2), day),
        _ => false,
    };
    is_born && is_luhn(ten)
}

/// A Turkish T.C. kimlik numarası: two check digits (Nüfus ve Vatandaşlık İşleri Genel Müdürlüğü).
pub fn is_tr_tckn(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let odd: u32 = digits[..9].iter().step_by(2).sum();
    let even: u32 = digits[1..8].iter().step_by(2).sum();
    // 40 is added so that nothing goes below zero.
    (odd * 7 + 40 - even) % 10 == digits[9] && digits[..10].iter().sum::<u32>() % 10 == digits[10]
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn britain() {
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

    #[test]
    fn spain_and_italy() {
        check(is_es_nif, &["12345678Z", "12345678-z"], &["12345678A", "00000000T"]);
        check(is_es_nie, &["X1234567L", "Z-1234567-R"], &["X1234567M", "A1234567L"]);
        check(
            is_it_fiscal_code,
            &["RSSMRA85T10A562S", "RSSMRA85T10A5S2E"],
            &["RSSMRA85T10A562T", "RSSMRA85T80A562S"],
        );
        check(is_it_vat, &["00743110157"], &["00743110158", "00000000000"]);
    }

    #[test]
    fn germany_and_france() {
        check(
            is_de_tax_id,
            &["86095742719", "47 036 892 816", "65929970489"],
            &["86095742718", "12345678903", "06095742719"],
        );
        check(
            is_de_id_card,
            &["T220001293", "L01X00T471"],
            &["T220001294", "T22000129"],
        );
        check(
            is_fr_nir,
            &["2 55 08 14 168 025 38", "1 84 12 76 451 089 46"],
            &["2 55 08 14 168 025 39"],
        );
        // Corsica: the key is computed with 19 and 18.
        let with_key = |body: &str, plain: u64| format!("{body}{:02}", 97 - plain % 97);
        assert!(is_fr_nir(&with_key("155122A004001", 1_551_219_004_001)));
        assert!(is_fr_nir(&with_key("155122B004001", 1_551_218_004_001)));
    }

    #[test]
    fn the_north() {
        check(is_nl_bsn, &["111222333", "123456782"], &["123456783", "000000000"]);
        check(
            is_pl_pesel,
            &["44051401359", "02070803628"],
            &["44051401358", "44133201359"],
        );
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
    fn turkey() {
        check(
            is_tr_tckn,
            &["10000000146", "19191919190"],
            &["10000000145", "00000000000"],
        );
    }
}
