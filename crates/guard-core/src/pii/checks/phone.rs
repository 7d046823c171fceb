//! Telephone numbers that match the numbering plans of the world.
//!
//! The plans are the metadata of Google's libphonenumber, from the `phonenumber` crate. Its parser recompiles patterns
//! when more than a hundred are in use, so the patterns are compiled here, once per region, on first use.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use phonenumber::Metadata;
use phonenumber::metadata::{DATABASE, Descriptor};
use regex::{Regex, RegexBuilder};

/// The numbering plan of one region, compiled.
#[derive(Debug)]
struct Plan {
    /// The possible lengths of a number without the calling code.
    lengths: Vec<u16>,
    /// The numbers that a person or a company may have, without the calling code and a national prefix.
    numbers: OnceLock<Option<Regex>>,
    /// The prefix of a number that is dialled within the region.
    prefix: OnceLock<Option<Regex>>,
    metadata: &'static Metadata,
}

impl Plan {
    fn new(metadata: &'static Metadata) -> Self {
        Self {
            lengths: kinds(metadata)
                .flat_map(|kind| kind.possible_length().to_vec())
                .collect(),
            numbers: OnceLock::new(),
            prefix: OnceLock::new(),
            metadata,
        }
    }

    /// Whether the plan has `number`, without calling code and national prefix.
    fn has(&self, number: &str) -> bool {
        let numbers = self.numbers.get_or_init(|| {
            let patterns: Vec<&str> = kinds(self.metadata)
                .map(|kind| kind.national_number().as_str())
                .collect();
            compile(&format!("^(?:{})$", patterns.join("|")))
        });
        numbers.as_ref().is_some_and(|numbers| numbers.is_match(number))
    }

    /// Whether the plan has `number` as it is dialled within the region.
    fn has_national(&self, number: &str) -> bool {
        let prefix = self.prefix.get_or_init(|| {
            let prefix = self
                .metadata
                .national_prefix_for_parsing()
                .map(|prefix| prefix.as_str());
            compile(&format!("^(?:{})", prefix.or(self.metadata.national_prefix())?))
        });
        let stripped = prefix
            .as_ref()
            .and_then(|prefix| prefix.find(number))
            .map(|found| &number[found.end()..]);
        stripped.is_some_and(|rest| self.has(rest)) || self.has(number)
    }
}

/// The kinds of numbers that a person or a company may have.
fn kinds(metadata: &'static Metadata) -> impl Iterator<Item = &'static Descriptor> {
    let kinds = metadata.descriptors();
    let kinds = [
        kinds.fixed_line(),
        kinds.mobile(),
        kinds.toll_free(),
        kinds.premium_rate(),
        kinds.shared_cost(),
        kinds.personal_number(),
        kinds.voip(),
        kinds.pager(),
        kinds.uan(),
    ];
    kinds.into_iter().flatten()
}

fn compile(pattern: &str) -> Option<Regex> {
    // The metadata means ASCII digits by `\d`.
    let pattern = pattern.replace(r"\d", "[0-9]");
    RegexBuilder::new(&pattern).ignore_whitespace(true).build().ok()
}

/// All plans by their calling code, and by their region.
struct Plans {
    by_code: HashMap<u16, Vec<usize>>,
    by_region: HashMap<&'static str, usize>,
    plans: Vec<Plan>,
}

static PLANS: LazyLock<Plans> = LazyLock::new(|| {
    let mut plans = Plans {
        by_code: HashMap::new(),
        by_region: HashMap::new(),
        plans: Vec::new(),
    };
    for metadata in DATABASE.iter() {
        let index = plans.plans.len();
        plans.by_code.entry(metadata.country_code()).or_default().push(index);
        plans.by_region.insert(metadata.id(), index);
        plans.plans.push(Plan::new(metadata));
    }
    plans
});

/// The most digits of an international number with its calling code (ITU-T E.164, section 6.2.1) and of an extension.
const MOST_DIGITS: usize = 15;

/// The digits of `value` up to an extension.
fn main_digits(value: &str) -> String {
    let main = value
        .find(['x', 'X', 'e', 'E', '#', ';', 'д', ','])
        .map_or(value, |at| &value[..at]);
    let mut digits = String::with_capacity(main.len());
    digits.extend(main.chars().filter(char::is_ascii_digit));
    digits
}

/// Whether the number has both parentheses or none.
fn is_balanced(value: &str) -> bool {
    value.matches('(').count() == value.matches(')').count()
}

/// Whether the value is a span of years, such as 1999-2000.
fn is_years(value: &str) -> bool {
    let is_year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    value
        .split_once('-')
        .is_some_and(|(from, to)| is_year(from.trim()) && is_year(to.trim()))
}

/// The plans that a number after `+` may belong to, with the rest of the number.
fn international(value: &str) -> Option<(&'static [usize], String)> {
    if !is_balanced(value) {
        return None;
    }
    // A national prefix in parentheses is not dialled from abroad: +44 (0)20 7946 0958.
    let digits = main_digits(&value.replacen("(0)", "", 1));
    if digits.len() > MOST_DIGITS {
        return None;
    }
    // No calling code is a prefix of another, and none contains a sign: "+9.8 108.4" are two numbers.
    let first = value.trim_start_matches(|character: char| !character.is_ascii_digit());
    let together = first
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(first.len());
    let codes = (1..=3.min(together)).filter_map(|length| Some((digits.get(..length)?, digits.get(length..)?)));
    codes
        .filter_map(|(code, rest)| Some((PLANS.by_code.get(&code.parse().ok()?)?.as_slice(), rest.to_owned())))
        .next()
}

/// Like [`is_valid_international`], for a number after 00, or 011 in North America, in place of the plus sign.
pub fn is_valid_behind_exit(value: &str) -> bool {
    let rest = value.strip_prefix("011").or_else(|| value.strip_prefix("00"));
    rest.is_some_and(|rest| is_valid_international(&format!("+{}", rest.trim_start_matches([' ', '\u{a0}', '.', '-']))))
}

/// Whether a number with `+` and a calling code matches the plan of its region.
pub fn is_valid_international(value: &str) -> bool {
    international(value).is_some_and(|(plans, rest)| plans.iter().any(|&index| PLANS.plans[index].has(&rest)))
}

/// Whether a number with `+` and a calling code has a length in use in its region. Plans grow faster than software is
/// updated.
pub fn is_possible_international(value: &str) -> bool {
    international(value).is_some_and(|(plans, rest)| {
        plans
            .iter()
            .any(|&index| PLANS.plans[index].lengths.contains(&(rest.len() as u16)))
    })
}

/// The regions whose national numbers are found.
#[derive(Debug, Clone, Default)]
pub struct Phones {
    plans: Vec<usize>,
}

impl Phones {
    /// Selects regions by ISO 3166-1 alpha-2 codes.
    ///
    /// # Errors
    ///
    /// The index of the first unknown code.
    pub fn new<S: AsRef<str>>(regions: &[S]) -> Result<Self, usize> {
        let plan = |(index, region): (usize, &S)| {
            let region = region.as_ref().to_ascii_uppercase();
            PLANS.by_region.get(region.as_str()).copied().ok_or(index)
        };
        let plans: Result<_, _> = regions.iter().enumerate().map(plan).collect();
        Ok(Self { plans: plans? })
    }

    /// Whether a number without `+` matches the plan of a selected region.
    pub(super) fn is_valid_national(&self, value: &str) -> bool {
        if self.plans.is_empty() || !is_balanced(value) {
            return false;
        }
        let digits = main_digits(value);
        !is_years(value)
            && (7..=MOST_DIGITS).contains(&digits.len())
            && self.plans.iter().any(|&index| PLANS.plans[index].has_national(&digits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn international_numbers() {
        for number in [
            "+1 650 253 0000",
            "+44 (0)20 7946 0958",
            "+7 (495) 637-58-05",
            "+86 134 0347 5490",
            "+49 170 3105890",
            "+39 02 1234 5678",
            "+1 202-456-1111 ext. 12345678",
        ] {
            assert!(is_valid_international(number), "{number}");
            assert!(is_possible_international(number), "{number}");
        }
        assert!(!is_valid_international("+1 000 253 0000"));
        assert!(is_possible_international("+1 000 253 0000"));
        assert!(!is_possible_international("+9.8 108.4"));
        for none in [
            "+999 123456",
            "+1 650 253",
            "+",
            "+12345678901234567890",
            "+1 650 253 0000)",
        ] {
            assert!(!is_possible_international(none), "{none}");
        }
    }

    #[test]
    fn national_numbers() {
        let phones = Phones::new(&["us", "RU", "DE", "CN", "ES"]).unwrap();
        for number in [
            "(650) 253-0000",
            "8 (495) 637-58-05",
            "030/9045575",
            "13403475490",
            "021-89955944",
            "659627907",
            "650-253-0000 x12",
        ] {
            assert!(phones.is_valid_national(number), "{number}");
        }
        let phones = Phones::new(&["US"]).unwrap();
        assert!(!phones.is_valid_national("030/9045575"));
        assert!(!Phones::default().is_valid_national("(650) 253-0000"));
        assert_eq!(Phones::new(&["US", "XX"]).unwrap_err(), 1);
    }
}
