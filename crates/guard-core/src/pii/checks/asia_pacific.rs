//! Numbers of people and companies in Asia and Oceania, except China.

use super::calendar::{is_day, is_day_of_any_century};
use super::digits::{alphanumerics, base36, digits, has_check_digit, is_monotonous, pair, sum_of_digits, weighted_sum};
use super::verhoeff;

/// An Indian Aadhaar number: twelve digits, the first 2 to 9, with Verhoeff's checksum (UIDAI, "Aadhaar Authentication
/// API Specification"); none reads the same from both ends.
pub fn is_in_aadhaar(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 12 && digits[0] > 1 && verhoeff::is_valid(&digits) && !digits.iter().eq(digits.iter().rev())
}

/// An Australian tax file number: modulus 11 (Australian Taxation Office, "TFN declaration specification", algorithm).
pub fn is_au_tfn(value: &str) -> bool {
    // The last digit has the weight 10, which is -1 modulo 11.
    has_check_digit(value, &[1, 4, 3, 7, 5, 8, 6, 9], |sum| sum % 11)
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
    has_check_digit(value, &[8, 7, 6, 5, 4, 3, 2, 1], |sum| (10 - sum % 10) % 10)
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
    let (year, month) = (century + pair(&digits, 0), pair(&digits, 2));
    let sum = weighted_sum(&digits[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    let is_random = (year, month) >= (2020, 10);
    let is_checked = |from: u32| (from - sum % 11) % 10 == digits[12];
    // Numbers of foreigners have either.
    let is_foreign = matches!(digits[6], 5..=8);
    is_day(year, month, pair(&digits, 4)) && (is_random || is_checked(11) || is_foreign && is_checked(13))
}

/// A Thai identification number: thirteen digits, modulus 11 (Department of Provincial Administration, Ministry of
/// Interior).
pub fn is_th_tnin(value: &str) -> bool {
    let digits = digits(value);
    matches!(digits.first(), Some(1..=8))
        && digits.iter().skip(1).take(11).any(|&digit| digit > 0)
        && has_check_digit(value, &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2], |sum| {
            (11 - sum % 11) % 10
        })
}

/// A Japanese Individual Number ("My Number"): modulus 11 (総務省令第85号, 平成26年).
pub fn is_jp_my_number(value: &str) -> bool {
    let check = |sum: u32| match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    has_check_digit(value, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2], check)
}

/// A Japanese corporate number: the first digit checks the others modulo 9 (国税庁, 法人番号の検査用数字).
pub fn is_jp_corporate(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13
        && !is_monotonous(&digits)
        && 9 - weighted_sum(&digits[1..], &[2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) % 9 == digits[0]
}

/// A Taiwanese identity card or residence certificate: a letter of a county that counts as two digits, and modulus 10
/// (內政部, 國民身分證統一編號).
pub fn is_tw_id(value: &str) -> bool {
    let characters = alphanumerics(value);
    let counties = b"ABCDEFGHJKLMNPQRSTUVXYWZIO";
    let county = characters
        .first()
        .and_then(|first| counties.iter().position(|letter| letter == first));
    let digits = digits(value);
    let (Some(county), 10, 9) = (county, characters.len(), digits.len()) else {
        return false;
    };
    let county = county as u32 + 10;
    let sum = county / 10 + county % 10 * 9 + weighted_sum(&digits, &[8, 7, 6, 5, 4, 3, 2, 1, 1]);
    matches!(digits[0], 1 | 2 | 8 | 9) && sum.is_multiple_of(10)
}

/// A Taiwanese unified business number: the sum of the digits of products is divisible by 5 (財政部, 營利事業統一編號).
pub fn is_tw_company(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 8 || is_monotonous(&digits) {
        return false;
    }
    let sum = sum_of_digits(&digits, &[1, 2, 1, 2, 1, 2, 4, 1]);
    sum.is_multiple_of(5) || digits[6] == 7 && (sum + 1).is_multiple_of(5)
}

/// A Hong Kong identity card: one or two letters, six digits, and a check digit modulo 11, whose 10 is A (Immigration
/// Department; Registration of Persons Regulations).
pub fn is_hk_id(value: &str) -> bool {
    let characters = alphanumerics(value);
    if !(8..=9).contains(&characters.len()) {
        return false;
    }
    let mut values: Vec<u32> = characters.iter().map(|&byte| base36(byte)).collect();
    // An absent first letter counts as a space, which is 36.
    if values.len() == 8 {
        values.insert(0, 36);
    }
    weighted_sum(&values, &[9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

/// A Malaysian MyKad number: a day, a place of birth and a serial number (National Registration Regulations 1990).
pub fn is_my_kad(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 12
        && is_day_of_any_century(pair(&digits, 0), pair(&digits, 2), pair(&digits, 4))
        && !matches!(pair(&digits, 6), 0 | 17..=20 | 69..=70 | 73 | 80..=81 | 94..=97)
}

/// An Indonesian NIK: a district, a day to which 40 is added for women, and a serial number (UU 24/2013).
pub fn is_id_nik(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 16
        && (11..=96).contains(&pair(&digits, 0))
        && is_day_of_any_century(pair(&digits, 10), pair(&digits, 8), pair(&digits, 6) % 40)
}

/// A Vietnamese tax number: primes as weights modulo 11 (Tổng cục Thuế, Thông tư 105/2020/TT-BTC).
pub fn is_vn_tax(value: &str) -> bool {
    let digits = digits(value);
    matches!(digits.len(), 10 | 13)
        && !is_monotonous(&digits)
        && 10 - weighted_sum(&digits, &[31, 29, 23, 19, 17, 13, 7, 5, 3]) % 11 == digits[9]
}

/// A South Korean business registration number: weights 1, 3, 7 and the tens of the last product (국세청).
pub fn is_kr_business(value: &str) -> bool {
    let digits = digits(value);
    if digits.len() != 10 || is_monotonous(&digits) {
        return false;
    }
    let sum = weighted_sum(&digits, &[1, 3, 7, 1, 3, 7, 1, 3, 5]) + digits[8] * 5 / 10;
    (10 - sum % 10) % 10 == digits[9]
}

/// An Indian GSTIN: a state, a PAN, and a check character over base 36 (GST Network, "GSTIN checksum").
pub fn is_in_gstin(value: &str) -> bool {
    let characters = alphanumerics(value);
    if characters.len() != 15 || !characters[..2].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let values: Vec<u32> = characters.iter().map(|&byte| base36(byte)).collect();
    let sum: u32 = values[..14]
        .iter()
        .enumerate()
        .map(|(index, &value)| {
            let product = value * (1 + index as u32 % 2);
            product / 36 + product % 36
        })
        .sum();
    (1..=38).contains(&(values[0] * 10 + values[1])) && (36 - sum % 36) % 36 == values[14]
}

/// The number of an Indian vehicle or driving licence begins with a state (Motor Vehicles Act, 1988, section 41).
pub fn is_in_vehicle(value: &str) -> bool {
    const STATES: &str = "AN AP AR AS BH BR CG CH DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TN TR TS TG UK UP UT WB";
    let state = value.get(..2).unwrap_or_default().to_ascii_uppercase();
    STATES.split(' ').any(|known| known == state)
}

/// A Sri Lankan NIC has the day of the year, to which 500 is added for women (Department for Registration of Persons).
pub fn is_lk_nic(value: &str) -> bool {
    let digits = digits(value);
    let day = match digits.len() {
        9 => &digits[2..5],
        12 => &digits[4..7],
        _ => return false,
    };
    let day = day[0] * 100 + day[1] * 10 + day[2];
    (1..=366).contains(&day) || (501..=866).contains(&day)
}

/// A New Zealand IRD number: modulus 11, with second weights if the first give 10 (Inland Revenue, "Resident withholding
/// tax and non-resident withholding tax specification").
pub fn is_nz_ird(value: &str) -> bool {
    let mut digits = digits(value);
    if digits.len() == 8 {
        digits.insert(0, 0);
    }
    if digits.len() != 9 || is_monotonous(&digits) {
        return false;
    }
    let check = |weights: &[u32]| (11 - weighted_sum(&digits, weights) % 11) % 11;
    let first = check(&[3, 2, 7, 6, 5, 4, 3, 2]);
    (if first < 10 {
        first
    } else {
        check(&[7, 4, 3, 2, 5, 2, 7, 6])
    }) == digits[8]
}

/// A Pakistani CNIC begins with a province from 1 to 8 (NADRA).
pub fn is_pk_cnic(value: &str) -> bool {
    let digits = digits(value);
    digits.len() == 13 && (1..=8).contains(&digits[0]) && !is_monotonous(&digits)
}

/// A Singaporean UEN of a business or a company: a letter modulo 11 (ACRA).
pub fn is_sg_uen(value: &str) -> bool {
    let characters = alphanumerics(value);
    let Some((&last, body)) = characters.split_last() else {
        return false;
    };
    let digits: Vec<u32> = body.iter().map(|&byte| base36(byte)).collect();
    match body.len() {
        8 => b"XMKECAWLJDB"[(weighted_sum(&digits, &[10, 4, 9, 3, 8, 2, 7, 1]) % 11) as usize] == last,
        9 if body[0].is_ascii_digit() => {
            b"ZKCMDNERGWH"[(weighted_sum(&digits, &[10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11) as usize] == last
        }
        _ => false,
    }
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

    #[test]
    fn east() {
        check(is_jp_my_number, &["1234 5678 9018"], &["1234 5678 9019"]);
        check(is_jp_corporate, &["5835678256246"], &["6835678256246"]);
        check(is_tw_id, &["A123456789", "F131104093"], &["A123456788"]);
        check(is_tw_company, &["00501503", "10458575"], &["00501502"]);
        check(is_hk_id, &["G123456(A)", "AB987654(3)"], &["G123456(9)"]);
        check(is_kr_business, &["116-82-00276"], &["116-82-00277"]);
    }

    #[test]
    fn south_and_south_east() {
        check(is_my_kad, &["770305-02-1234"], &["771305-02-1234", "770305-17-1234"]);
        check(is_id_nik, &["3171011708450001"], &["3171013308450001"]);
        check(is_vn_tax, &["0100233488", "0314409058-002"], &["0100233480"]);
        check(is_in_gstin, &["27AAPFU0939F1ZV"], &["27AAPFU0939F1ZO"]);
        check(is_in_vehicle, &["MH12DE4285"], &["XX12DE4285"]);
        check(is_lk_nic, &["850454285V", "198504504285"], &["859994285V"]);
        check(is_pk_cnic, &["42201-0397640-8"], &["92201-0397640-8"]);
        check(is_sg_uen, &["00192200M", "197401143C"], &["00192200X"]);
        check(is_nz_ird, &["49-091-850", "136410132"], &["49-091-851"]);
    }
}
