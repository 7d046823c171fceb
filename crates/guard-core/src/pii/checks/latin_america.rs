//! Numbers of people, companies and accounts in Latin America.

use super::calendar::is_day_of_any_century;
use super::cards::{has_luhn_digit, is_luhn};
use super::digits::{
    alphanumerics, digits, has_check_digit, is_monotonous, number, pair, weighted_sum, weighted_sum_from_end,
};

/// The order of characters in Mexican check digits: digits, letters with Ñ between N and O.
fn mx_value(character: char, letters: &str) -> Option<u32> {
    letters
        .chars()
        .position(|letter| letter == character)
        .map(|index| index as u32)
}

/// A Mexican CURP: a day, the sex, the state and a check digit (RENAPO, "Instructivo normativo para la asignación de la
/// CURP").
pub fn is_mx_curp(value: &str) -> bool {
    const LETTERS: &str = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ";
    let characters: Vec<char> = value
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_uppercase)
        .collect();
    let digits: Vec<u32> = characters.iter().filter_map(|c| c.to_digit(10)).collect();
    if characters.len() != 18 || digits.len() < 7 {
        return false;
    }
    let values: Option<Vec<u32>> = characters[..17].iter().map(|&c| mx_value(c, LETTERS)).collect();
    let Some(values) = values else { return false };
    let sum: u32 = values
        .iter()
        .zip((2..=18).rev())
        .map(|(value, weight)| value * weight)
        .sum();
    is_day_of_any_century(pair(&digits, 0), pair(&digits, 2), pair(&digits, 4))
        && characters[17].to_digit(10) == Some((10 - sum % 10) % 10)
}

/// A Mexican RFC of a person (13) or a company (12): a day, and a check digit modulo 11 (SAT, Anexo 1 of the Resolución
/// Miscelánea Fiscal).
pub fn is_mx_rfc(value: &str) -> bool {
    const LETTERS: &str = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";
    let mut characters: Vec<char> = value
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '&')
        .flat_map(char::to_uppercase)
        .collect();
    if characters.len() == 12 {
        characters.insert(0, ' ');
    }
    let digits: Vec<u32> = characters
        .iter()
        .skip(4)
        .take(6)
        .filter_map(|c| c.to_digit(10))
        .collect();
    if characters.len() != 13 || digits.len() != 6 {
        return false;
    }
    let values: Option<Vec<u32>> = characters[..12].iter().map(|&c| mx_value(c, LETTERS)).collect();
    let Some(values) = values else { return false };
    let sum: u32 = values
        .iter()
        .zip((2..=13).rev())
        .map(|(value, weight)| value * weight)
        .sum();
    let check = match (11 - sum % 11) % 11 {
        10 => 'A',
        check => char::from_digit(check, 10).unwrap_or('0'),
    };
    is_day_of_any_century(pair(&digits, 0), pair(&digits, 2), pair(&digits, 4)) && characters[12] == check
}

/// A Mexican CLABE: weights 3, 7, 1, each product modulo 10 (Asociación de Bancos de México, circular 1/2001).
pub fn is_mx_clabe(value: &str) -> bool {
    let weights = [3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7];
    has_check_digit(value, &weights, |sum| (10 - sum % 10) % 10)
}

/// A Mexican NSS of the IMSS: eleven digits with Luhn's check digit (Instituto Mexicano del Seguro Social).
pub fn is_mx_nss(value: &str) -> bool {
    has_luhn_digit(value, 11)
}

/// An Argentine CUIT or CUIL: modulus 11 (AFIP, Resolución General 10/1997).
pub fn is_ar_cuit(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11
        && matches!(pair(&digits, 0), 20 | 23 | 24 | 25 | 26 | 27 | 30 | 33 | 34)
        && has_check_digit(value, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 11)
}

/// An Argentine CBU: bank and branch, then the account, each with a check digit (BCRA, comunicación A 2622).
pub fn is_ar_cbu(value: &str) -> bool {
    let digits = digits(value);
    let check = |body: &[u32]| {
        let sum = weighted_sum_from_end(body, [3, 1, 7, 9].into_iter().cycle());
        (10 - sum % 10) % 10
    };
    digits.len() == 22
        && !is_monotonous(&digits)
        && check(&digits[..7]) == digits[7]
        && check(&digits[8..21]) == digits[21]
}

/// A Chilean RUT or RUN: modulus 11, whose 10 is K (Servicio de Impuestos Internos).
pub fn is_cl_rut(value: &str) -> bool {
    let characters = alphanumerics(value);
    let Some((&last, body)) = characters.split_last() else {
        return false;
    };
    let digits: Vec<u32> = body
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .map(|&byte| u32::from(byte - b'0'))
        .collect();
    let sum = weighted_sum_from_end(&digits, (2..=7).cycle());
    (7..=8).contains(&body.len())
        && digits.len() == body.len()
        && !is_monotonous(&digits)
        && b"0123456789K"[((11 - sum % 11) % 11) as usize] == last
}

/// A Colombian NIT: primes as weights modulo 11 (DIAN, Orden administrativa 4/1989).
pub fn is_co_nit(value: &str) -> bool {
    let digits = digits(value);
    let Some((last, body)) = digits.split_last() else {
        return false;
    };
    let sum = weighted_sum_from_end(body, [3, 7, 13, 17, 19, 23, 29, 37, 41, 43, 47, 53, 59, 67, 71]);
    let check = match sum % 11 {
        rest @ (0 | 1) => rest,
        rest => 11 - rest,
    };
    (8..=10).contains(&body.len()) && !is_monotonous(&digits) && check == *last
}

/// A Peruvian RUC: modulus 11 (SUNAT, Decreto Ley 25734).
pub fn is_pe_ruc(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11
        && matches!(pair(&digits, 0), 10 | 15 | 16 | 17 | 20)
        && has_check_digit(value, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 10)
}

/// An Ecuadorian cédula, or a RUC of a person: a province, and Luhn's check digit over ten digits (Registro Civil).
pub fn is_ec_cedula(value: &str) -> bool {
    let digits = digits(value);
    matches!(digits.len(), 10 | 13)
        && matches!(pair(&digits, 0), 1..=24 | 30)
        && digits[2] < 6
        && is_luhn(&digits[..10])
        && (digits.len() == 10 || number(&digits[10..]) > 0)
}

/// An Uruguayan cédula: weights 2, 9, 8, 7, 6, 3, 4 modulo 10 (Dirección Nacional de Identificación Civil).
pub fn is_uy_ci(value: &str) -> bool {
    let mut digits = digits(value);
    if digits.len() == 7 {
        digits.insert(0, 0);
    }
    digits.len() == 8
        && !is_monotonous(&digits)
        && (10 - weighted_sum(&digits, &[2, 9, 8, 7, 6, 3, 4]) % 10) % 10 == digits[7]
}

/// A Venezuelan RIF: the letter counts four times, modulus 11 (SENIAT, providencia 0073).
pub fn is_ve_rif(value: &str) -> bool {
    let digits = digits(value);
    let letter = alphanumerics(value).first().and_then(|letter| match letter {
        b'V' => Some(1),
        b'E' => Some(2),
        b'J' | b'C' => Some(3),
        b'P' => Some(4),
        b'G' => Some(5),
        _ => None,
    });
    let sum = |letter: u32| letter * 4 + weighted_sum(&digits, &[3, 2, 7, 6, 5, 4, 3, 2]);
    digits.len() == 9 && letter.is_some_and(|letter| (11 - sum(letter) % 11) % 11 % 10 == digits[8])
}

/// A Paraguayan RUC: modulus 11 with ascending weights (SET, resolución general 1/2007).
pub fn is_py_ruc(value: &str) -> bool {
    let digits = digits(value);
    let Some((last, body)) = digits.split_last() else {
        return false;
    };
    let sum = weighted_sum_from_end(body, 2..);
    let check = if sum % 11 > 1 { 11 - sum % 11 } else { 0 };
    (6..=8).contains(&body.len()) && !is_monotonous(&digits) && check == *last
}

/// A Dominican cédula: eleven digits with Luhn's check digit (Junta Central Electoral).
pub fn is_do_cedula(value: &str) -> bool {
    has_luhn_digit(value, 11)
}

/// A Dominican RNC: modulus 11 (Dirección General de Impuestos Internos).
pub fn is_do_rnc(value: &str) -> bool {
    let check = |sum: u32| (10 - sum % 11) % 9 + 1;
    has_check_digit(value, &[7, 9, 8, 6, 5, 4, 3, 2], check)
}

/// A Guatemalan CUI: modulus 11, then a department and a municipality (RENAP).
pub fn is_gt_cui(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13
        && !is_monotonous(&digits)
        && (1..=22).contains(&pair(&digits, 9))
        && weighted_sum(&digits, &[2, 3, 4, 5, 6, 7, 8, 9]) % 11 == digits[8]
}

/// A Guatemalan NIT: modulus 11, whose 10 is K (Superintendencia de Administración Tributaria).
pub fn is_gt_nit(value: &str) -> bool {
    let characters = alphanumerics(value);
    let Some((&last, body)) = characters.split_last() else {
        return false;
    };
    let sum: u32 = body
        .iter()
        .rev()
        .zip(2..)
        .map(|(&byte, weight)| u32::from(byte - b'0') * weight)
        .sum();
    (5..=11).contains(&body.len())
        && body.iter().all(u8::is_ascii_digit)
        && b"0123456789K"[((11 - sum % 11) % 11) as usize] == last
}

/// A Salvadoran DUI: weights 9 to 2 modulo 10 (Registro Nacional de las Personas Naturales).
pub fn is_sv_dui(value: &str) -> bool {
    has_check_digit(value, &[9, 8, 7, 6, 5, 4, 3, 2], |sum| (10 - sum % 10) % 10)
}

/// A Cuban carné de identidad begins with a day (Ministerio del Interior).
pub fn is_cu_id(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 11 && is_day_of_any_century(pair(&digits, 0), pair(&digits, 2), pair(&digits, 4))
}

/// The check digit of the Receita Federal: 11 minus the remainder modulo 11, or 0 if that has two digits.
fn br_check(values: &[u32], weights: &[u32]) -> u32 {
    match weighted_sum(values, weights) % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    }
}

/// A Brazilian CPF: two check digits (Receita Federal, Instrução Normativa RFB 2.172/2024).
pub fn is_br_cpf(value: &str) -> bool {
    const WEIGHTS: [u32; 10] = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
    let digits = digits(value);
    digits.len() == 11
        && !is_monotonous(&digits)
        && br_check(&digits[..9], &WEIGHTS[1..]) == digits[9]
        && br_check(&digits[..10], &WEIGHTS) == digits[10]
}

/// A Brazilian CNPJ: twelve digits or, from July 2026, letters, each as its ASCII code less 48, and two check digits
/// (Receita Federal, Instrução Normativa RFB 2.229/2024).
pub fn is_br_cnpj(value: &str) -> bool {
    const WEIGHTS: [u32; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    let values: Vec<u32> = alphanumerics(value)
        .iter()
        .map(|&byte| u32::from(byte - b'0'))
        .collect();
    values.len() == 14
        && !is_monotonous(&values[..12])
        && br_check(&values[..12], &WEIGHTS[1..]) == values[12]
        && br_check(&values[..13], &WEIGHTS) == values[13]
}

/// A Brazilian PIS, PASEP or NIT: modulus 11 (Caixa Econômica Federal).
pub fn is_br_pis(value: &str) -> bool {
    has_check_digit(value, &[3, 2, 9, 8, 7, 6, 5, 4, 3, 2], |sum| (11 - sum % 11) % 11 % 10)
}

/// A Brazilian CNS: fifteen digits divisible by eleven with the weights 15 to 1 (DATASUS, Cartão Nacional de Saúde).
pub fn is_br_cns(value: &str) -> bool {
    let weights = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
    matches!(digits(value).first(), Some(1 | 2 | 7 | 8 | 9))
        && has_check_digit(value, &weights, |sum| (11 - sum % 11) % 11)
}

/// A Brazilian CNH: nine digits with descending and ascending weights (SENATRAN, portaria 268/2022).
pub fn is_br_cnh(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 11 || is_monotonous(&digits) {
        return false;
    }
    let first = weighted_sum(&digits, &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11;
    let less = if first >= 10 { 2 } else { 0 };
    let first = if first >= 10 { 0 } else { first };
    let second = (weighted_sum(&digits, &[1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11) as i64;
    let second = if second >= 10 { 0 } else { second - less };
    let second = if second < 0 { second + 11 } else { second };
    first == digits[9] && second as u32 == digits[10]
}

/// A Brazilian título de eleitor: a state in the digits 9 and 10, and two check digits (Resolução TSE 21.538/2003).
pub fn is_br_voter(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 12 || !(1..=28).contains(&pair(&digits, 8)) {
        return false;
    }
    let is_first_state = pair(&digits, 8) <= 2;
    let check = |sum: u32| match sum % 11 {
        0 if is_first_state => 1,
        rest => rest % 10,
    };
    let first = check(weighted_sum(&digits, &[2, 3, 4, 5, 6, 7, 8, 9]));
    let second = check(weighted_sum(&digits[8..], &[7, 8, 9]));
    first == digits[10] && second == digits[11]
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn mexico() {
        check(is_mx_curp, &["BOXW310820HNERXN09"], &["BOXW310820HNERXN08"]);
        check(is_mx_rfc, &["GODE561231GR8", "MAB9307148T4"], &["GODE561231GR9"]);
        check(is_mx_clabe, &["032180000118359719"], &["032180000118359718"]);
        check(is_mx_nss, &["25026500014"], &["25026500015"]);
    }

    #[test]
    fn the_south() {
        check(is_ar_cuit, &["20-05536168-2"], &["20-05536168-3"]);
        check(is_ar_cbu, &["2850590940090418135201"], &["2850590940090418135202"]);
        check(is_cl_rut, &["76086428-5", "12531909-2", "6.265.837-1"], &["76086428-6"]);
        check(is_uy_ci, &["1.234.567-2"], &["1.234.567-3"]);
        check(is_py_ruc, &["80028061-0", "3640519-1"], &["80028061-1"]);
    }

    #[test]
    fn the_andes() {
        check(is_co_nit, &["213.123.432-1"], &["213.123.432-2"]);
        check(is_pe_ruc, &["20512333797"], &["20512333798"]);
        check(is_ec_cedula, &["171430710-3", "1714307103001"], &["1714307104"]);
        check(is_ve_rif, &["V-11470283-4"], &["V-11470283-3"]);
    }

    #[test]
    fn the_caribbean_and_central_america() {
        check(is_do_cedula, &["001-1391820-5"], &["001-1391820-4"]);
        check(is_do_rnc, &["131246796"], &["131246797"]);
        check(is_gt_nit, &["39525503", "576937-K"], &["39525504"]);
        check(is_sv_dui, &["00016297-5"], &["00016297-4"]);
        check(is_cu_id, &["91021027775"], &["91321027775"]);
    }

    #[test]
    fn brazil() {
        check(is_br_cpf, &["529.982.247-25"], &["529.982.247-24", "111.111.111-11"]);
        // The second is the example of the Receita Federal.
        check(
            is_br_cnpj,
            &["11.222.333/0001-81", "12.ABC.345/01DE-35"],
            &["12.ABC.345/01DE-36"],
        );
        check(is_br_pis, &["120.68031.90-8"], &["120.68031.90-6"]);
        check(is_br_cns, &["898 0000 0004 3208"], &["898 0000 0004 3209"]);
        check(is_br_cnh, &["62472927637"], &["62472927638"]);
        check(is_br_voter, &["1023 8501 0671"], &["1023 8501 0672"]);
    }
}
