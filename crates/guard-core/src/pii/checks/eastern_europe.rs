//! Numbers of people and companies in Central and Eastern Europe and Central Asia, except Russia.

use super::bank::is_iban;
use super::calendar::{is_day, is_day_of_any_century};
use super::digits::{
    alphanumerics, base36, digits, has_check_digit, is_mod_11_10, is_monotonous, number, pair, sum_modulo_11,
    weighted_sum, weighted_sum_from_end,
};

/// A Czech or Slovak rodné číslo: a day, with 50 added to the month of women and 20 if a day has no more numbers; ten
/// digits are divisible by eleven, nine were given until 1953 (zákon 133/2000 Sb.; zákon 301/1995 Z. z.).
pub fn is_cz_birth_number(value: &str) -> bool {
    let digits = digits(value);
    if !matches!(digits.len(), 9 | 10) {
        return false;
    }
    let month = pair(&digits, 2) % 50 % 20;
    let body = number(&digits[..9]) % 11 % 10;
    is_day_of_any_century(pair(&digits, 0), month, pair(&digits, 4))
        && (digits.len() == 9 || number(&digits).is_multiple_of(11) || u64::from(digits[9]) == body)
}

/// A Czech or Slovak IČO: modulus 11 (Český statistický úřad, "Identifikační číslo osoby").
pub fn is_cz_company(value: &str) -> bool {
    has_check_digit(value, &[8, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 10)
}

/// A Czech account: prefix and number are divisible by eleven with the powers of two as weights (vyhláška ČNB 169/2011
/// Sb.).
pub fn is_cz_account(value: &str) -> bool {
    let Some((account, bank)) = value.split_once('/') else {
        return false;
    };
    let (prefix, account) = account.split_once('-').unwrap_or(("", account));
    let is_valid =
        |part: &str| weighted_sum_from_end(&digits(part), [1, 2, 4, 8, 5, 10, 9, 7, 3, 6]).is_multiple_of(11);
    digits(bank).len() == 4 && is_valid(prefix) && is_valid(account) && digits(account).len() > 1
}

/// A Romanian CNP: a day and a check digit modulo 11 (O.U.G. 97/2005).
pub fn is_ro_cnp(value: &str) -> bool {
    let check = |sum: u32| match sum % 11 {
        10 => 1,
        check => check,
    };
    let digits = digits(value);
    digits.len() == 13
        && digits[0] > 0
        && is_day_of_any_century(pair(&digits, 1), pair(&digits, 3), pair(&digits, 5))
        && has_check_digit(value, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9], check)
}

/// A Romanian CUI: two to ten digits modulo 11 (Agenția Națională de Administrare Fiscală).
pub fn is_ro_cui(value: &str) -> bool {
    let digits = digits(value);
    let Some((last, body)) = digits.split_last() else {
        return false;
    };
    let sum = weighted_sum_from_end(body, [2, 3, 5, 7, 1, 2, 3, 5, 7]);
    (4..=9).contains(&body.len()) && !is_monotonous(&digits) && sum * 10 % 11 % 10 == *last
}

/// A Bulgarian ЕГН: a day, with 20 or 40 added to the month for other centuries, and modulus 11 (ГРАО, "Единен
/// граждански номер").
pub fn is_bg_egn(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10
        && is_day_of_any_century(pair(&digits, 0), pair(&digits, 2) % 20, pair(&digits, 4))
        && weighted_sum(&digits, &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == digits[9]
}

/// A Bulgarian ЛНЧ of foreigners: modulus 10 (Закон за чужденците).
pub fn is_bg_lnch(value: &str) -> bool {
    has_check_digit(value, &[21, 19, 17, 13, 11, 9, 7, 3, 1], |sum| sum % 10)
}

/// A Bulgarian ЕИК of nine digits: modulus 11 with two rows of weights (Закон за регистър БУЛСТАТ).
pub fn is_bg_eik(value: &str) -> bool {
    has_two_rows_of_weights(value, &[3, 4, 5, 6, 7, 8, 9, 10])
}

/// Whether the last of nine digits checks the others modulo 11 with the weights 1 to 8 or, if that gives 10, with the
/// `second` weights.
fn has_two_rows_of_weights(value: &str, second: &[u32]) -> bool {
    let digits = digits(value);
    digits.len() == 9
        && !is_monotonous(&digits)
        && sum_modulo_11(&digits, &[1, 2, 3, 4, 5, 6, 7, 8], second) % 10 == digits[8]
}

/// A JMBG or EMŠO of the successors of Yugoslavia: a day with three digits of the year, a region, and modulus 11 (zakon
/// o jedinstvenom matičnom broju građana).
pub fn is_jmbg(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13
        && matches!(digits[4], 0 | 8 | 9)
        && is_day_of_any_century(pair(&digits, 5), pair(&digits, 2), pair(&digits, 0))
        && (11 - weighted_sum(&digits, &[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11 == digits[12]
}

/// A Slovenian davčna številka: modulus 11 (Finančna uprava Republike Slovenije).
pub fn is_si_tax(value: &str) -> bool {
    digits(value).first() != Some(&0) && has_check_digit(value, &[8, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 10)
}

/// A Croatian OIB: the check digit of ISO/IEC 7064, MOD 11,10 (Zakon o osobnom identifikacijskom broju).
pub fn is_hr_oib(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11 && !is_monotonous(&digits) && is_mod_11_10(&digits)
}

/// A Serbian ПИБ: the check digit of ISO/IEC 7064, MOD 11,10 (Пореска управа).
pub fn is_rs_pib(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 9 && digits[0] > 0 && is_mod_11_10(&digits)
}

/// A Hungarian adóazonosító jel: modulus 11 with ascending weights (2017. évi CL. törvény).
pub fn is_hu_tax_id(value: &str) -> bool {
    digits(value).first() == Some(&8) && has_check_digit(value, &[1, 2, 3, 4, 5, 6, 7, 8, 9], |sum| sum % 11)
}

/// A Hungarian TAJ-szám: weights 3 and 7 (1996. évi XX. törvény).
pub fn is_hu_taj(value: &str) -> bool {
    has_check_digit(value, &[3, 7, 3, 7, 3, 7, 3, 7], |sum| sum % 10)
}

/// A Hungarian adószám: the eighth digit checks seven, and the VAT code and the county follow (2017. évi CL. törvény).
pub fn is_hu_company_tax(value: &str) -> bool {
    let digits = digits(value);
    let sum = weighted_sum(&digits, &[9, 7, 3, 1, 9, 7, 3]);
    matches!(digits.len(), 8 | 11) && !is_monotonous(&digits) && (10 - sum % 10) % 10 == digits[7]
}

/// A Polish PESEL: date of birth with the century in the month, and a check digit (Ustawa o ewidencji ludności, art.
/// 15).
pub fn is_pl_pesel(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 {
        return false;
    }
    let month = pair(&digits, 2);
    let century = [1900, 2000, 2100, 2200, 1800][(month / 20) as usize];
    let sum = weighted_sum(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    is_day(century + pair(&digits, 0), month % 20, pair(&digits, 4)) && (10 - sum % 10) % 10 == digits[10]
}

/// A Polish NIP: modulus 11 (ustawa o zasadach ewidencji i identyfikacji podatników).
pub fn is_pl_nip(value: &str) -> bool {
    has_check_digit(value, &[6, 5, 7, 2, 3, 4, 5, 6, 7], |sum| sum % 11)
}

/// A Polish REGON of nine or fourteen digits: modulus 11 (Główny Urząd Statystyczny).
pub fn is_pl_regon(value: &str) -> bool {
    has_check_digit(value, &[8, 9, 2, 3, 4, 5, 6, 7], |sum| sum % 11 % 10)
        || has_check_digit(value, &[2, 4, 8, 5, 0, 9, 7, 3, 6, 1, 2, 4, 8], |sum| sum % 11 % 10)
}

/// A Polish identity card: three letters, a check digit and five digits, with the weights 7, 3, 1 (Ministerstwo Cyfryzacji;
/// ICAO Doc 9303-3, section 4.9).
pub fn is_pl_id_card(value: &str) -> bool {
    let characters = alphanumerics(value);
    let values: Vec<u32> = characters.iter().map(|&byte| base36(byte)).collect();
    values.len() == 9 && weighted_sum(&values, &[7, 3, 1, 9, 7, 3, 1, 7, 3]).is_multiple_of(10)
}

/// A Polish account number (NRB): the check digits of an IBAN of Poland (Zarządzenie 7/2017 Prezesa NBP).
pub fn is_pl_account(value: &str) -> bool {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    digits.len() == 26 && is_iban(&format!("PL{digits}"))
}

/// A Ukrainian РНОКПП: days since 1899, a serial number and a check digit modulo 11 (Державна податкова служба, наказ
/// 822).
pub fn is_ua_tax(value: &str) -> bool {
    let digits = digits(value);
    let sum = || 11 * 10 + weighted_sum(&digits[1..], &[5, 7, 9, 4, 6, 10, 5, 7]) - digits[0];
    digits.len() == 10 && !is_monotonous(&digits) && sum() % 11 % 10 == digits[9]
}

/// A Ukrainian ЄДРПОУ: modulus 11 with weights by range (Державна служба статистики).
pub fn is_ua_company(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 8 || is_monotonous(&digits) {
        return false;
    }
    let is_middle = (30_000_000..60_000_000).contains(&number(&digits));
    let (first, second) = match is_middle {
        true => ([7, 1, 2, 3, 4, 5, 6], [9, 3, 4, 5, 6, 7, 8]),
        false => ([1, 2, 3, 4, 5, 6, 7], [3, 4, 5, 6, 7, 8, 9]),
    };
    sum_modulo_11(&digits, &first, &second) % 10 == digits[7]
}

/// A Moldovan IDNP: weights 7, 3, 1 (Legea 273/1994; Agenția Servicii Publice).
pub fn is_md_idnp(value: &str) -> bool {
    matches!(digits(value).first(), Some(0..=2))
        && has_check_digit(value, &[7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1], |sum| sum % 10)
}

/// A Kazakh ИИН: a day, the sex with the century, and a check digit modulo 11 (Закон Республики Казахстан о национальных
/// реестрах идентификационных номеров).
pub fn is_kz_iin(value: &str) -> bool {
    let digits = digits(value);
    let is_person =
        |digits: &[u32]| is_day_of_any_century(pair(digits, 0), pair(digits, 2), pair(digits, 4)) && digits[6] < 7;
    digits.len() == 12 && is_person(&digits) && has_kz_check(&digits)
}

/// A Kazakh БИН: the year and the month, the kind of company, and the check digit of the ИИН.
pub fn is_kz_bin(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 12 && (1..=12).contains(&pair(&digits, 2)) && (4..=6).contains(&digits[4]) && has_kz_check(&digits)
}

fn has_kz_check(digits: &[u32]) -> bool {
    let (first, second) = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]);
    sum_modulo_11(digits, &first, &second) == digits[11]
}

/// A Lithuanian company code: modulo 11 as in the codes of people (Registrų centras).
pub fn is_lt_company(value: &str) -> bool {
    has_two_rows_of_weights(value, &[3, 4, 5, 6, 7, 8, 9, 1])
}

/// A Slovak IČ DPH: divisible by eleven (Finančná správa).
pub fn is_sk_vat(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10 && digits[0] > 0 && number(&digits).is_multiple_of(11)
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn czech_slovak_polish_and_hungarian() {
        check(
            is_cz_birth_number,
            &["710319/2745", "991231123"],
            &["590312/2746", "855414/1235"],
        );
        check(is_cz_company, &["25123891"], &["25123892"]);
        check(
            is_cz_account,
            &["19-2000145399/0800", "2000145399/0800"],
            &["19-2000145398/0800", "2000145399"],
        );
        check(is_sk_vat, &["SK2022749619"], &["SK2022749618"]);
        check(
            is_pl_pesel,
            &["44051401359", "02070803628"],
            &["44051401358", "44133201359"],
        );
        check(is_pl_nip, &["526-104-08-28", "8567346215"], &["526-104-08-29"]);
        check(is_pl_regon, &["192598184", "12345678512347"], &["192598183"]);
        check(is_pl_id_card, &["ABA300000", "ABS123456"], &["ABA300001"]);
        check(
            is_pl_account,
            &["61 1090 1014 0000 0712 1981 2874"],
            &["62 1090 1014 0000 0712 1981 2874"],
        );
        check(is_hu_tax_id, &["8071592153"], &["8071592154"]);
        check(is_hu_taj, &["123 456 788"], &["123 456 789"]);
        check(is_hu_company_tax, &["12892312-2-04", "12892312"], &["12892313-2-04"]);
    }

    #[test]
    fn the_balkans() {
        check(is_ro_cnp, &["1630615123457"], &["1630615123458", "1631315123457"]);
        check(is_ro_cui, &["18547290"], &["18547291"]);
        check(is_bg_egn, &["7523169263", "8032056031"], &["7523169264"]);
        check(is_bg_lnch, &["7111042925"], &["7111042922"]);
        check(is_bg_eik, &["175074752"], &["175074751"]);
        check(is_jmbg, &["0101006500006"], &["0101006500007"]);
        check(is_si_tax, &["15012557"], &["15012556"]);
        check(is_hr_oib, &["33392005961"], &["33392005962"]);
        check(is_rs_pib, &["101134702"], &["101134703"]);
        check(is_md_idnp, &["2004400123457"], &["2004400123458"]);
    }

    #[test]
    fn the_east() {
        check(is_ua_tax, &["1759013776"], &["1759013770"]);
        check(is_ua_company, &["32855961"], &["32855968"]);
        check(is_kz_iin, &["850214300129"], &["850214300128"]);
        check(is_kz_bin, &["991140000015"], &["991140000016"]);
        check(is_lt_company, &["110053842"], &["110053841"]);
    }
}
