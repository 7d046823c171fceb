//! Compares names of programs and tools, and finds those that readers confuse.
//!
//! ```
//! use guard_core::text::names::{is_disguised, skeleton};
//!
//! assert_eq!(skeleton("read_file"), skeleton("ReadFi1e"));
//! assert_eq!(skeleton("read_file"), skeleton("re\u{430}d-file"));
//! assert_ne!(skeleton("get_issue"), skeleton("get_issues"));
//! assert!(is_disguised("re\u{430}d_file") && !is_disguised("\u{43D}\u{430}\u{439}\u{442}\u{438}_file"));
//! ```

use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};

use crate::text::views::latin_double;

/// The form of a name without the differences that readers overlook: letter case, signs between words, and look-alike
/// characters. Names with the same skeleton are confusable.
///
/// Characters map as in UTS #39, section 4, after lower-casing, since names that differ only in case are confusable
/// too. Signs between two digits stay, so that `v1_10` differs from `v11_0`.
pub fn skeleton(name: &str) -> String {
    let lower: Vec<char> = name.nfkc().flat_map(char::to_lowercase).collect();
    let is_between_digits =
        |at: usize| at > 0 && lower[at - 1].is_numeric() && lower.get(at + 1).is_some_and(|next| next.is_numeric());
    let counts = |&(at, c): &(usize, &char)| c.is_alphanumeric() || is_between_digits(at);
    let words: String = lower.iter().enumerate().filter(counts).map(|(_, c)| c).collect();
    // A prototype may be a capital letter, such as "O" for zero.
    unicode_security::skeleton(&words)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a word of a name mixes Latin letters with look-alikes of another script, such as a Cyrillic "а" in `pay`. No
/// language does that, and browsers don't show such names in letters either (UTS #39, section 5.2, restriction levels).
pub fn is_disguised(name: &str) -> bool {
    let is_latin = |c: char| c.is_alphabetic() && c.script() == Script::Latin;
    let is_other = |c: &char| !c.is_ascii() && c.is_alphabetic() && c.script() != Script::Latin;
    name.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_ascii())
        .any(|word| {
            let mut others = word.chars().filter(is_other).peekable();
            word.chars().any(is_latin) && others.peek().is_some() && others.all(|c| latin_double(c).is_some())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (name, other) in [
            ("send_email", "sendEmail"),
            ("send_email", "send-email"),
            ("send_email", "ѕend_email"),
            ("send_email", "send_ernail"),
            ("login", "l0gin"),
            ("list_all", "1ist_a11"),
            ("fetch", "ｆetch"),
        ] {
            assert_eq!(skeleton(name), skeleton(other), "{name} {other}");
        }
    }

    #[test]
    fn other_names_have_other_skeletons() {
        for (name, other) in [
            ("get_issue", "get_issues"),
            ("read_file", "read_files"),
            ("read_file", "write_file"),
            ("v1_10", "v11_0"),
            ("search", "research"),
            ("查询", "查找"),
            ("найти", "найди"),
            ("sum", "sub"),
        ] {
            assert_ne!(skeleton(name), skeleton(other), "{name} {other}");
        }
    }

    #[test]
    fn words_of_two_scripts_are_disguised() {
        for name in ["pаypal", "get_usеr", "ѕearch", "Αdmin_x"] {
            assert!(is_disguised(name), "{name}");
        }
        for name in [
            "",
            "get_user",
            "поиск",
            "поиск_file",
            "fileを開く",
            "µService",
            "naïve_búsqueda",
            "查询user",
            "数据2",
        ] {
            assert!(!is_disguised(name), "{name}");
        }
    }
}
