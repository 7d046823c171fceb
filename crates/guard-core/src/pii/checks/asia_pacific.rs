//! Numbers of people and companies in Asia and Oceania, except China.

use super::calendar::is_day;
use super::digits::{alphanumerics, digits, is_monotonous, number, weighted_sum};
use super::verhoeff;

/// An Indian Aadhaar number: twelve digits, the first 2 to 9, with Verhoeff's checksum (UIDAI, "Aadhaar Authentication
/// API Specification"); none reads the same from both ends.
pub fn is_in_aadhaar(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 12 && digits[0] > 1 && verhoeff::is_valid(&digits) && !digits.iter().eq(digits.iter().rev())
}

/// An Australian tax file number: modulus 11 (Australian Taxation Office, "TFN declaration specification", algorithm).
pub fn is_au_tfn(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 9
        && weighted_sum(&digits, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
        && !is_monotonous(&digits)
}

/// An Australian business number: modulus 89 (Australian Business Register, "Format of the ABN").
pub fn is_au_abn(value: &str) -> bool {
    let digits = digits(value);
    let sum = weighted_sum(&digits, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    // The first digit is reduced by one, and has the weight 10.
    digits.len() == 11 && digits[0] > 0 && (sum - 10).is_multiple_of(89)
}

/// An Australian company number: modulus 10 (Australian Securities and Investments Commission, "Australian Company
/// Number digit check").
pub fn is_au_acn(value: &str) -> bool {
    let digits = digits(value);
    let check = |digits: &[u32]| (10 - weighted_sum(&digits[..8], &[8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10;
    digits.len() == 9 && check(&digits) == digits[8] && !is_monotonous(&digits)
}

/// An Australian Medicare number: ten digits, perhaps with the number of a person on the card (Services Australia;
/// METeOR 270101).
pub fn is_au_medicare(value: &str) -> bool {
    let digits = digits(value);
    (10..=11).contains(&digits.len())
        && (2..=6).contains(&digits[0])
        && weighted_sum(&digits[..8], &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == digits[8]
}

/// A Singaporean NRIC or FIN: a letter for the kind and the century, seven digits, and a check letter. The Immigration
/// and Checkpoints Authority does not publish the algorithm; this is the one of N. Liau, "Checksum of Singapore NRIC"
/// (2004), and for the series M the one in use since 2022.
pub fn is_sg_nric(value: &str) -> bool {
    let characters = alphanumerics(value);
    let digits = digits(value);
    let (Some(&series), Some(&last), 7) = (characters.first(), characters.last(), digits.len()) else {
        return false;
    };
    let (offset, letters) = match series {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"XWUTRQPNJLK"),
        _ => return false,
    };
    let sum = weighted_sum(&digits, &[2, 7, 6, 5, 4, 3, 2]) + offset;
    letters[(sum % 11) as usize] == last
}

/// A South Korean resident registration number: date of birth, sex and century, and a check digit (Resident
/// Registration Act, enforcement rules, article 2), which is higher by two for foreigners. Since October 2020, new
/// numbers have random digits instead.
pub fn is_kr_rrn(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 13 {
        return false;
    }
    let century = match digits[6] {
        1 | 2 | 5 | 6 => 1900,
        3 | 4 | 7 | 8 => 2000,
        _ => 1800,
    };
    let pair = |at: usize| digits[at] * 10 + digits[at + 1];
    let (year, month) = (century + pair(0), pair(2));
    let sum = weighted_sum(&digits[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    let is_random = (year, month) >= (2020, 10);
    let is_checked = |from: u32| (from - sum % 11) % 10 == digits[12];
    // Numbers of foreigners have either.
    let is_foreign = matches!(digits[6], 5..=8);
    is_day(year, month, pair(4)) && (is_random || is_checked(11) || is_foreign && is_checked(13))
}

/// A Thai identification number: thirteen digits, modulus 11 (Department of Provincial Administration, Ministry of
/// Interior).
pub fn is_th_tnin(value: &str) -> bool {
    let digits = digits(value);
    let check =
        |digits: &[u32]| (11 - weighted_sum(&digits[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10;
    digits.len() == 13 && (1..=8).contains(&digits[0]) && number(&digits[1..12]) > 0 && check(&digits) == digits[12]
}

#[cfg(test)]
mod tests {
    use super::super::accepts as check;
    use super::*;

    #[test]
    fn india() {
        check(
            is_in_aadhaar,
            &["2345 6789 0124", "397788000234"],
            &["2345 6789 0125", "1234 5678 9012"],
        );
    }

    #[test]
    fn australia() {
        check(is_au_tfn, &["123 456 782", "876543210"], &["123 456 783", "000000000"]);
        check(
            is_au_abn,
            &["51 824 753 556", "53004085616"],
            &["51 824 753 557", "00000000000"],
        );
        check(is_au_acn, &["004 085 616", "000000019"], &["004 085 617", "000000000"]);
        check(is_au_medicare, &["2123 45670 1"], &["2123 45680 1", "7123 45670 1"]);
    }

    #[test]
    fn singapore_korea_and_thailand() {
        check(
            is_sg_nric,
            &["S1234567D", "F1234567N", "T1234567J", "G1234567X", "M1234567K"],
            &["S1234567A", "A1234567D"],
        );
        check(
            is_kr_rrn,
            &["900101-1234568", "210101-3000000"],
            &["900101-1234567", "901301-1234568"],
        );
        check(
            is_th_tnin,
            &["1-1017-00203-45-0", "1234567890121"],
            &["1234567890120", "0000000000000"],
        );
    }
}
