//! Numbers of people in Turkey, the Middle East and North Africa, and tax numbers of Turkey.

use super::calendar::is_day;
use super::cards::is_luhn;
use super::digits::{digits, has_check_digit, is_monotonous, number, pair};

/// An Israeli identity number: nine digits with Luhn's check digit; shorter ones have zeros before them (רשות האוכלוסין
/// וההגירה).
pub fn is_il_id(value: &str) -> bool {
    let digits = digits(value);
    (8..=9).contains(&digits.len()) && is_luhn(&digits) && !is_monotonous(&digits)
}

/// A Saudi national identity (1) or iqama (2) number: ten digits with Luhn's check digit (مركز المعلومات الوطني).
pub fn is_sa_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 10 && matches!(digits[0], 1 | 2) && is_luhn(&digits)
}

/// An Emirates ID: 784, a year, seven digits and Luhn's check digit (Federal Authority for Identity and Citizenship).
pub fn is_ae_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 15
        && number(&digits[..3]) == 784
        && (1900..=2100).contains(&number(&digits[3..7]))
        && is_luhn(&digits)
}

/// An Egyptian national number: a century, a day and a governorate (الأحوال المدنية; law 143/1994).
pub fn is_eg_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 14
        && matches!(digits[0], 2 | 3)
        && is_day(
            1700 + digits[0] * 100 + pair(&digits, 1),
            pair(&digits, 3),
            pair(&digits, 5),
        )
        && matches!(pair(&digits, 7), 1..=4 | 11..=19 | 21..=29 | 31..=35 | 88)
}

/// A Kuwaiti civil number: a century, a day, and modulus 11 (الهيئة العامة للمعلومات المدنية).
pub fn is_kw_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 12
        && matches!(digits[0], 1..=3)
        && is_day(
            1700 + digits[0] * 100 + pair(&digits, 1),
            pair(&digits, 3),
            pair(&digits, 5),
        )
        && has_check_digit(value, &[2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2], |sum| 11 - sum % 11)
}

/// An Iranian national code: modulus 11 (سازمان ثبت احوال).
pub fn is_ir_code(value: &str) -> bool {
    let check = |sum: u32| match sum % 11 {
        rest @ (0 | 1) => rest,
        rest => 11 - rest,
    };
    has_check_digit(value, &[10, 9, 8, 7, 6, 5, 4, 3, 2], check)
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

/// A Turkish tax number: sums with powers of two modulo 9 (Gelir İdaresi Başkanlığı).
pub fn is_tr_vkn(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 10 || is_monotonous(&digits) {
        return false;
    }
    let part = |index: usize| {
        let shifted = (digits[index] + 9 - index as u32) % 10;
        match shifted {
            0 => 0,
            _ => match shifted * (1 << (9 - index)) % 9 {
                0 => 9,
                rest => rest,
            },
        }
    };
    (10 - (0..9).map(part).sum::<u32>() % 10) % 10 == digits[9]
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn numbers_of_people() {
        check(is_il_id, &["3933742-3", "123456782"], &["123456783"]);
        check(is_sa_id, &["1010101010"], &["1010101014", "3010101018"]);
        check(is_ae_id, &["784-1980-1234567-8"], &["784-1980-1234567-9"]);
        check(is_eg_id, &["29007012104567"], &["29013012104567"]);
        check(is_kw_id, &["286101002343"], &["286131002349"]);
        check(is_ir_code, &["0499370899", "0790419904"], &["0499370898"]);
        check(
            is_tr_tckn,
            &["10000000146", "19191919190"],
            &["10000000145", "00000000000"],
        );
        check(is_tr_vkn, &["4540536920"], &["4540536921"]);
    }
}
