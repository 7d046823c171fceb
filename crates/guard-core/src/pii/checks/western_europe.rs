//! Numbers of people and companies in the Netherlands, Belgium, Luxembourg, France, Germany, Austria, Switzerland,
//! Spain, Italy, Portugal and Greece.

use super::calendar::is_day_of_any_century;
use super::cards::{has_luhn_digit, is_luhn};
use super::digits::{
    alphanumerics, base36, digits, has_check_digit, is_mod_11_10, is_monotonous, number, pair, sum_of_digits,
    weighted_sum,
};
use super::verhoeff;

/// A Dutch burgerservicenummer: the test of eleven (Wet algemene bepalingen burgerservicenummer; Logisch ontwerp BSN).
pub fn is_nl_bsn(value: &str) -> bool {
    has_check_digit(value, &[9, 8, 7, 6, 5, 4, 3, 2], |sum| sum % 11)
}

/// A Belgian rijksregisternummer or BIS number: 97 minus the remainder modulo 97 of nine digits, with a 2 before them
/// for people born since 2000 (koninklijk besluit van 3 april 1984).
pub fn is_be_national_number(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || is_monotonous(&digits) {
        return false;
    }
    let (body, check) = (number(&digits[..9]), number(&digits[9..]));
    pair(&digits, 2) % 20 <= 12 && [body, 2_000_000_000 + body].iter().any(|body| 97 - body % 97 == check)
}

/// A Belgian enterprise number: 97 minus the remainder modulo 97 (Kruispuntbank van Ondernemingen).
pub fn is_be_enterprise(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10 && digits[0] < 2 && number(&digits) > 1 && 97 - number(&digits[..8]) % 97 == number(&digits[8..])
}

/// A Luxembourgish matricule of 13 digits: a day, Luhn's and Verhoeff's check digits (loi du 19 juin 2013 relative à
/// l'identification des personnes physiques).
pub fn is_lu_matricule(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 13 {
        return false;
    }
    let mut last = digits[..11].to_vec();
    last.push(digits[12]);
    is_luhn(&digits[..12]) && verhoeff::is_valid(&last)
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

/// A French SIREN or SIRET: Luhn's check digit over nine and over fourteen digits, but for La Poste's establishments,
/// whose digits have a sum divisible by 5 (INSEE, "Le numéro SIRET").
pub fn is_fr_siren(value: &str) -> bool {
    let digits = digits(value);
    if is_monotonous(&digits) {
        return false;
    }
    let is_of_post = || number(&digits[..9]) == 356_000_000 && digits.iter().sum::<u32>().is_multiple_of(5);
    match digits.len() {
        9 => is_luhn(&digits),
        14 => is_luhn(&digits) || is_of_post(),
        _ => false,
    }
}

/// A French numéro fiscal: ten digits and their remainder modulo 511 (Direction générale des Finances publiques).
pub fn is_fr_tax_number(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13 && digits[0] < 4 && number(&digits) > 0 && number(&digits[..10]) % 511 == number(&digits[10..])
}

/// The French RIB: 97 minus the remainder modulo 97 of bank, branch and account with the weights 89, 15 and 3; letters
/// count as digits (Comité français d'organisation et de normalisation bancaires).
pub fn is_fr_rib(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 23 {
        return false;
    }
    let digit = |byte: u8| match byte {
        b'A'..=b'I' => byte - b'A' + 1,
        b'J'..=b'R' => byte - b'J' + 1,
        b'S'..=b'Z' => byte - b'S' + 2,
        _ => byte - b'0',
    };
    let digits: Vec<u32> = characters.iter().map(|&byte| u32::from(digit(byte))).collect();
    let sum = 89 * number(&digits[..5]) + 15 * number(&digits[5..10]) + 3 * number(&digits[10..21]);
    97 - sum % 97 == number(&digits[21..])
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
    matches!(repeated.as_slice(), [2 | 3]) && is_mod_11_10(&digits)
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

/// A German USt-IdNr. of nine digits, the last of which is the check digit of ISO/IEC 7064, MOD 11,10
/// (Bundeszentralamt für Steuern).
pub fn is_de_vat(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 9 && digits[0] > 0 && is_mod_11_10(&digits)
}

/// The digits of a number with letters, which count as two digits: A is 01.
fn with_letters_as_pairs(characters: &[u8]) -> Vec<u32> {
    let mut digits = Vec::with_capacity(characters.len() + 1);
    for &byte in characters {
        if byte.is_ascii_digit() {
            digits.push(u32::from(byte - b'0'));
        } else {
            let order = base36(byte) - 9;
            digits.extend([order / 10, order % 10]);
        }
    }
    digits
}

/// A German Rentenversicherungsnummer: the sum of the digits of products (Deutsche Rentenversicherung, VKVV § 4).
pub fn is_de_pension(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 12 || !characters[8].is_ascii_alphabetic() {
        return false;
    }
    let digits = with_letters_as_pairs(&characters);
    digits.len() == 13 && sum_of_digits(&digits, &[2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1]) % 10 == digits[12]
}

/// A German Krankenversichertennummer: a letter and nine digits, the sum of the digits of products (GKV-Spitzenverband,
/// § 290 SGB V).
pub fn is_de_health(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 10 || !characters[0].is_ascii_alphabetic() {
        return false;
    }
    let digits = with_letters_as_pairs(&characters);
    digits.len() == 11 && sum_of_digits(&digits, &[1, 2, 1, 2, 1, 2, 1, 2, 1, 2]) % 10 == digits[10]
}

/// An Austrian Sozialversicherungsnummer: the fourth digit checks the others modulo 11, and the last six are a day whose
/// month may be up to 15 (Dachverband der Sozialversicherungsträger).
pub fn is_at_svnr(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 10 || digits[0] == 0 {
        return false;
    }
    let sum = weighted_sum(&digits, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
    (1..=31).contains(&pair(&digits, 4)) && (1..=15).contains(&pair(&digits, 6)) && sum % 11 == digits[3]
}

/// An Austrian UID: seven digits and a check digit, like Luhn's with 4 added (Bundesministerium für Finanzen).
pub fn is_at_vat(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 8 && (96 - sum_of_digits(&digits, &[1, 2, 1, 2, 1, 2, 1])) % 10 == digits[7]
}

/// A Swiss AHV number: 756 and the check digit of EAN-13 (Zentrale Ausgleichsstelle; GS1 General Specifications).
pub fn is_ch_ahv(value: &str) -> bool {
    digits(value).starts_with(&[7, 5, 6])
        && has_check_digit(value, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3], |sum| (10 - sum % 10) % 10)
}

/// A Swiss UID: CHE and nine digits modulo 11 (eCH-0097).
pub fn is_ch_uid(value: &str) -> bool {
    has_check_digit(value, &[5, 4, 3, 2, 7, 6, 5, 4], |sum| (11 - sum % 11) % 11)
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

/// A Spanish CIF: a letter, seven digits, and a digit or letter (Orden EHA/451/2008).
pub fn is_es_cif(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 9 || !b"ABCDEFGHJNPQRSUVW".contains(&characters[0]) {
        return false;
    }
    let digits: Vec<u32> = characters[1..8].iter().map(|&byte| base36(byte)).collect();
    let check = (10 - sum_of_digits(&digits, &[2, 1, 2, 1, 2, 1, 2]) % 10) % 10;
    characters[1..8].iter().all(u8::is_ascii_digit)
        && !is_monotonous(&digits)
        && (u32::from(characters[8]) == u32::from(b'0') + check || characters[8] == b"JABCDEFGHI"[check as usize])
}

/// A Spanish social security number: twelve digits modulo 97 (Tesorería General de la Seguridad Social).
pub fn is_es_nss(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 12 || !(1..=66).contains(&pair(&digits, 0)) {
        return false;
    }
    let serial = number(&digits[2..10]);
    let body = match serial < 10_000_000 {
        true => serial + u64::from(pair(&digits, 0)) * 10_000_000,
        false => number(&digits[..10]),
    };
    body % 97 == number(&digits[10..])
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
    has_luhn_digit(value, 11)
}

/// A Portuguese NIF: modulus 11 (Decreto-Lei 14/2013; Autoridade Tributária e Aduaneira).
pub fn is_pt_nif(value: &str) -> bool {
    let check = |sum: u32| (11 - sum % 11) % 11 % 10;
    digits(value).first().is_some_and(|first| (1..=9).contains(first))
        && has_check_digit(value, &[9, 8, 7, 6, 5, 4, 3, 2], check)
}

/// A Portuguese NISS: eleven digits with primes as weights (Segurança Social).
pub fn is_pt_niss(value: &str) -> bool {
    matches!(digits(value).first(), Some(1 | 2))
        && has_check_digit(value, &[29, 23, 19, 17, 13, 11, 7, 5, 3, 2], |sum| 9 - sum % 10)
}

/// The number of a Portuguese Cartão de Cidadão: Luhn's formula with letters (Agência para a Modernização
/// Administrativa, "Validação de número de documento do Cartão de Cidadão").
pub fn is_pt_citizen_card(value: &str) -> bool {
    let characters = alphanumerics(value);
    let doubled = |value: u32| if value * 2 > 9 { value * 2 - 9 } else { value * 2 };
    let sum = characters
        .iter()
        .rev()
        .enumerate()
        .map(|(index, &byte)| match index % 2 {
            0 => base36(byte),
            _ => doubled(base36(byte)),
        });
    characters.len() == 12 && sum.sum::<u32>().is_multiple_of(10)
}

/// A Greek ΑΦΜ: powers of two modulo 11 (Ανεξάρτητη Αρχή Δημοσίων Εσόδων).
pub fn is_gr_afm(value: &str) -> bool {
    has_check_digit(value, &[256, 128, 64, 32, 16, 8, 4, 2], |sum| sum % 11 % 10)
}

/// A Greek ΑΜΚΑ: a day and Luhn's check digit (ΗΔΙΚΑ, Ν. 3655/2008).
pub fn is_gr_amka(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11
        && is_day_of_any_century(pair(&digits, 4), pair(&digits, 2), pair(&digits, 0))
        && is_luhn(&digits)
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn the_low_countries_and_france() {
        check(
            is_be_national_number,
            &["85.07.30-033.28", "17 07 30 033 84"],
            &["85.07.30-033.27"],
        );
        check(is_be_enterprise, &["0403.019.261"], &["0403.019.262"]);
        check(is_lu_matricule, &["1893120105732"], &["1893120105733"]);
        check(
            is_fr_siren,
            &["552 008 443", "73282932000074", "356 000 000 49837"],
            &["552008444"],
        );
        check(is_fr_tax_number, &["30 23 217 600 053"], &["30 23 217 600 054"]);
        check(
            is_fr_rib,
            &["20041 01005 0500013M026 06"],
            &["20041 01005 0500013M026 07"],
        );
    }

    #[test]
    fn german_speaking() {
        check(is_de_vat, &["DE136695976"], &["DE136695978"]);
        check(is_de_pension, &["15 070649 C 103"], &["15 070649 C 104"]);
        check(is_de_health, &["A123456780"], &["A123456781"]);
        check(is_at_svnr, &["1237 010180"], &["2237 010180"]);
        check(is_at_vat, &["ATU13585627"], &["ATU13585626"]);
        check(is_ch_ahv, &["756.9217.0769.85"], &["756.9217.0769.84", "1234567890128"]);
        check(is_ch_uid, &["CHE-100.155.212"], &["CHE-100.155.213"]);
    }

    #[test]
    fn southern() {
        check(is_es_cif, &["J99216582", "B65410011"], &["J99216583"]);
        check(is_es_nss, &["28 1234567 840", "281234567840"], &["281234567841"]);
        check(is_pt_nif, &["501964843"], &["501964842"]);
        check(is_pt_niss, &["11234567892"], &["11234567893"]);
        check(is_pt_citizen_card, &["00000000 0 ZZ4"], &["00000000 0 ZZ3"]);
        check(is_gr_afm, &["094259216", "123456783"], &["123456781"]);
        check(is_gr_amka, &["01013099997"], &["01013099999"]);
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
    fn germany_france_and_the_netherlands() {
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
        check(is_nl_bsn, &["111222333", "123456782"], &["123456783", "000000000"]);
    }
}
