//! Days of the Gregorian calendar.

/// The years of personal data worth protecting, and of expiry dates.
const YEARS: std::ops::RangeInclusive<u32> = 1850..=2100;

/// Whether the day exists.
pub(super) fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Whether the day exists in a year of which only the last two digits are known.
pub(super) fn is_day_of_any_century(year: u32, month: u32, day: u32) -> bool {
    is_day(1900 + year % 100, month, day) || is_day(2000 + year % 100, month, day)
}

/// The runs of digits in a value.
fn numbers(value: &str) -> Vec<&str> {
    let parts = value.split(|character: char| !character.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).collect()
}

/// A numeric date in any order in use: year first, or last with day and month either way round (ISO 8601, CLDR). A text
/// with the name of a month, or without exactly three numbers, is left to its pattern.
pub fn is_date(value: &str) -> bool {
    let parts = numbers(value);
    let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    if value
        .chars()
        .any(|c| c.is_alphabetic() && !matches!(c, '年' | '月' | '日' | '号' | '號'))
    {
        return true;
    }
    let &[first, second, third] = numbers.as_slice() else {
        return false;
    };
    // In Chinese, the year is always first.
    if value.contains('年') && parts[0].len() < 4 {
        return is_day_of_any_century(first, second, third);
    }
    if parts[0].len() == 4 {
        return YEARS.contains(&first) && is_day(first, second, third);
    }
    let day = |year: u32, month, day| match parts[2].len() {
        4 => YEARS.contains(&year) && is_day(year, month, day),
        _ => is_day_of_any_century(year, month, day),
    };
    day(third, second, first) || day(third, first, second)
}

/// Whether a value after a word such as "born" can be a date: with a name of a month or an era, or numbers of a day, a
/// month and a year. Years of the Buddhist (2443 to 2643) and of the Solar Hijri calendar (1280 to 1479) count too.
pub fn is_birth_date(value: &str) -> bool {
    let number = |part: &str| part.parse::<u32>().unwrap_or(u32::MAX);
    let is_year = |part: &str| match part.len() {
        4 => matches!(number(part), 1850..=2100 | 2443..=2643 | 1280..=1479),
        2 => true,
        _ => false,
    };
    let is_month = |part: &str| (1..=12).contains(&number(part));
    let is_day_of_month = |part: &str| (1..=31).contains(&number(part));
    match numbers(value).as_slice() {
        [compact] if compact.len() == 8 => !is_undated(compact),
        [first, second, third] => {
            let is_date = |year: &str, month: &str, day: &str| is_year(year) && is_month(month) && is_day_of_month(day);
            let is_year_first = first.len() == 4 || value.contains(['年', '년']);
            match is_year_first {
                true => is_date(first, second, third),
                false => is_date(third, second, first) || is_date(third, first, second),
            }
        }
        [day, year] | [year, day] if value.chars().any(char::is_alphabetic) && year.len() == 4 => {
            is_year(year) && is_day_of_month(day)
        }
        _ => false,
    }
}

/// Whether a value is not a day as one number, such as 20240131 (ISO 8601, basic format).
pub fn is_undated(value: &str) -> bool {
    let is_number = value.len() == 8 && value.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = if is_number { value.parse().unwrap_or(0) } else { 0 };
    let year = number / 10_000;
    !((1900..=2100).contains(&year) && is_day(year, number / 100 % 100, number % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_days() {
        for none in ["20240131", "19991231"] {
            assert!(!is_undated(none), "{none}");
        }
        for number in ["20241331", "20240230", "17000101", "202401310", "A20240131", "90210034"] {
            assert!(is_undated(number), "{number}");
        }
    }

    #[test]
    fn days_of_birth() {
        for date in [
            "1988年5月12日",
            "昭和63年5月12日",
            "1988. 5. 12",
            "12.05.88",
            "12 maja 1988",
            "1988. május 12",
            "May 12, 1988",
            "12/05/2531",
            "1367/02/22",
            "19880512",
        ] {
            assert!(is_birth_date(date), "{date}");
        }
        for none in ["1988-13-32", "12 apples", "19881332", "1.2.3000", "5"] {
            assert!(!is_birth_date(none), "{none}");
        }
    }

    #[test]
    fn days() {
        for date in [
            "2024-02-29",
            "31.12.1999",
            "12/31/1999",
            "1/2/99",
            "1990年5月3日",
            "90年3月7日",
            "3 May 1990",
        ] {
            assert!(is_date(date), "{date}");
        }
        for none in [
            "2023-02-29",
            "31.13.1999",
            "32/01/2000",
            "31.12.3024",
            "3年31月90日",
            "1.2",
            "0000-01-01",
        ] {
            assert!(!is_date(none), "{none}");
        }
    }
}
