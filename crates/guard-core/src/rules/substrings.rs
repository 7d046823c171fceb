//! Lists of literal substrings.
//!
//! An Aho-Corasick automaton searches for all substrings at once, so the time does not grow with the length of the
//! list. For a short list, a SIMD search finds their beginnings first, and the automaton reads only the text around
//! these.
//!
//! ```
//! use guard_core::rules::substrings::{MatchType, Substrings};
//!
//! let words = Substrings::new(&["cat", "坏人"], MatchType::Word, false)?;
//! let found = words.find("Cat, concat; 我是坏人吗", true);
//! let found: Vec<_> = found.into_iter().map(|found| (found.substring, found.range)).collect();
//! assert_eq!(found, [(0, 0..3), (1, 19..25)]);
//! # Ok::<(), guard_core::rules::substrings::SubstringsError>(())
//! ```

use std::convert::Infallible;
use std::sync::OnceLock;

use super::literals::Literals;
pub use super::literals::{MatchType, SubstringMatch, SubstringsError};
use super::term_variants::{TermVariants, VariantMatch};
use super::view_search::{Selection, ViewMatch, search_views_and_variants};
use crate::text::canonical::compose;

/// Substrings that are searched for together.
#[derive(Debug)]
pub struct Substrings {
    literals: Literals,
    whole_words: bool,
    /// Compiled on the first search of views, which few lists need.
    variants: OnceLock<Option<Box<TermVariants>>>,
}

impl Substrings {
    /// Compiles `substrings`.
    ///
    /// Without `case_sensitive`, characters are compared by their simple case mappings, like Python's `re.IGNORECASE`:
    /// "ПРИВЕТ" equals "привет", "ς" equals "σ", "ẞ" equals "ß" (but not "ss"), and "İ", "ı" and "i" are equal.
    /// Canonically equivalent texts are equal: "é" and an "e" with a combining accent.
    ///
    /// # Errors
    ///
    /// [`SubstringsError::Empty`] for an empty substring and [`SubstringsError::TooLarge`] for billions of characters.
    pub fn new<S: AsRef<str>>(
        substrings: &[S],
        match_type: MatchType,
        case_sensitive: bool,
    ) -> Result<Self, SubstringsError> {
        Ok(Self {
            literals: Literals::new(substrings, match_type, case_sensitive)?,
            whole_words: match_type != MatchType::Str,
            variants: OnceLock::new(),
        })
    }

    /// Returns the occurrences of the substrings in `text`, ordered by the index of the substring and then by position.
    ///
    /// With `all`, these are all occurrences from left to right that do not overlap another one of the same substring.
    /// Otherwise it is the first one of each. Occurrences of different substrings may overlap.
    pub fn find(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        self.literals.find(text, all)
    }

    /// Like [`Substrings::find`], in `text` and in its views ([`super::view_search::search_views`]). It also finds
    /// substrings that are written with other separators ("_", "-", "+" or other white space in place of a space) or
    /// backwards.
    ///
    /// Without `all`, the first occurrence of a substring is the one that begins first in `text`, disguised or not.
    pub fn find_in_views(&self, text: &str, all: bool) -> Vec<ViewMatch<SubstringMatch>> {
        let wanted = if all { Selection::All } else { Selection::First };
        // A view may turn a passage around, so its last occurrence can be the first one in the text.
        let find = |text: &str| Ok::<_, Infallible>(self.find(text, true));
        let Ok(found) = search_views_and_variants(text, wanted, find, |text| Ok(self.find_variants(text)));
        found
    }

    /// Finds substrings with other separators, and backwards.
    fn find_variants(&self, text: &str) -> Vec<(SubstringMatch, &'static str)> {
        let variants = self.variants.get_or_init(|| {
            let terms = self.literals.folded_literals().enumerate();
            TermVariants::new(terms, self.whole_words, self.literals.is_case_sensitive()).map(Box::new)
        });
        let composed = compose(text);
        let found = variants.iter().flat_map(|variants| variants.find(composed.text()));
        let as_match = |found: VariantMatch| {
            let (substring, range) = (found.rule, composed.original(found.range));
            (SubstringMatch { substring, range }, found.kind)
        };
        found.map(as_match).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::folding::fold;
    use crate::rules::literals::BLOCK;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    fn find<'a>(
        substrings: &[&str],
        match_type: MatchType,
        case_sensitive: bool,
        text: &'a str,
    ) -> Vec<(usize, &'a str)> {
        let substrings = Substrings::new(substrings, match_type, case_sensitive).unwrap();
        substrings
            .find(text, true)
            .into_iter()
            .map(|m| (m.substring, &text[m.range]))
            .collect()
    }

    #[test]
    fn substrings_are_literal_and_ordered() {
        let found = find(&["b.", "a", "A"], MatchType::Str, true, "a b. bb Ab.");
        assert_eq!(found, [(0, "b."), (0, "b."), (1, "a"), (2, "A")]);
        assert_eq!(find(&["aa"], MatchType::Str, true, "aaaaa").len(), 2);
        assert_eq!(find(&["abc", "bcd", "b"], MatchType::Str, true, "abcd").len(), 3);
        assert_eq!(find(&[], MatchType::Str, true, "abcd"), []);
    }

    #[test]
    fn equivalent_spellings_are_equal() {
        for (substring, text) in [
            ("Néstora", "un Ne\u{301}stora X"),
            ("Ne\u{301}stora", "un Néstora X"),
            ("Ne\u{301}stora", "un Ne\u{301}stora X"),
            ("한국", "\u{1112}\u{1161}\u{11AB}국"),
            ("Йод", "И\u{306}од"),
            ("ガラス", "カ\u{3099}ラス"),
            ("Việt", "Vie\u{323}\u{302}t"),
        ] {
            for match_type in [MatchType::Str, MatchType::Word, MatchType::Name] {
                for case_sensitive in [true, false] {
                    let found = find(&[substring], match_type, case_sensitive, text);
                    let spelled: String = found[0].1.nfc().collect();
                    assert_eq!(spelled, substring.nfc().collect::<String>(), "{text}");
                }
            }
        }
        // The accent belongs to the letter before it.
        assert_eq!(find(&["cafe"], MatchType::Str, false, "cafe\u{301}"), []);
        assert_eq!(
            find(&["NÉSTORA"], MatchType::Word, false, "ne\u{301}stora"),
            [(0, "ne\u{301}stora")]
        );
        let falcon = Substrings::new(&["projet épervier"], MatchType::Word, false).unwrap();
        let found = falcon.find_in_views("le projet_e\u{301}pervier va", true);
        assert_eq!(
            found.iter().map(|found| found.range.clone()).collect::<Vec<_>>(),
            [3..20]
        );
    }

    #[test]
    fn the_first_occurrence_of_each_is_enough_without_all() {
        let substrings = Substrings::new(&["a", "b", "z"], MatchType::Str, false).unwrap();
        let found: Vec<_> = substrings
            .find("b A a B", false)
            .into_iter()
            .map(|m| (m.substring, m.range))
            .collect();
        assert_eq!(found, [(0, 2..3), (1, 0..1)]);
    }

    #[test]
    fn case_is_ignored_in_all_scripts() {
        let no_case = |substring, text| find(&[substring], MatchType::Str, false, text);
        assert_eq!(no_case("ПРИВЕТ", "скажи Привет"), [(0, "Привет")]);
        assert_eq!(no_case("ΣΊΣΥΦΟΣ", "σίσυφος"), [(0, "σίσυφος")]);
        assert_eq!(no_case("straße", "STRAẞE!"), [(0, "STRAẞE")]);
        assert_eq!(no_case("kill", "\u{212A}ıLL"), [(0, "\u{212A}ıLL")]);
        assert_eq!(no_case("istanbul", "İİİ İstanbul é"), [(0, "İstanbul")]);
        assert_eq!(no_case("\u{212A}elvin", "Kelvin"), [(0, "Kelvin")]);
        assert_eq!(find(&["ПРИВЕТ"], MatchType::Str, true, "привет"), []);
    }

    #[test]
    fn words_need_boundaries() {
        let words = |substring, text| find(&[substring], MatchType::Word, false, text).len();
        assert_eq!(words("cat", "Cat, concat category cat_s cat2 (cat) кcat"), 2);
        assert_eq!(words("кот", "Кот. Который скот кот"), 2);
        assert_eq!(words("c++", "I love C++!"), 1);
        assert_eq!(words("c++", "abc++"), 0);
        assert_eq!(words(".net", "asp.net"), 1);
        assert_eq!(words("坏人", "我是坏人吗"), 1);
        assert_eq!(words("AI", "用AI做 FAIL"), 1);
        assert_eq!(words("aa", "aaa aa"), 1);
        // Both spellings of "é" are letters.
        assert_eq!(words("é", "é e\u{301}é"), 1);
    }

    #[test]
    fn names_have_any_white_space() {
        for text in [
            "Acme Corp",
            "acme  corp",
            "Acme\nCorp",
            "Acme\r\n\tCorp",
            "Acme\u{A0}Corp",
            "Acme\u{202F}\u{3000}Corp",
            "Acme\u{200B}Corp",
            "Acme \u{2060}Corp",
            "ACME\u{AD} \u{200D} CORP",
        ] {
            for (before, after) in [("", ""), ("é  (", ")'s"), ("\u{200B}", "\u{A0}!")] {
                let text = format!("{before}{text}{after}");
                let found = find(&["Acme Corp"], MatchType::Name, false, &text);
                assert_eq!(found, [(0, &text[before.len()..text.len() - after.len()])], "{text:?}");
            }
        }
        for text in [
            "AcmeCorp",
            "Acme\u{200D}Corp",
            "Acme, Corp",
            "Acme Corporation",
            "acme -corp",
        ] {
            assert_eq!(find(&["Acme Corp"], MatchType::Name, false, text), [], "{text:?}");
        }
        assert_eq!(
            find(&["Acme\n Corp"], MatchType::Name, true, "Acme Corp, acme corp").len(),
            1
        );
        assert_eq!(find(&["Acme Corp"], MatchType::Word, false, "Acme  Corp"), []);
    }

    #[test]
    fn empty_substrings_are_refused() {
        let error = Substrings::new(&["a", ""], MatchType::Str, false).unwrap_err();
        assert_eq!(error, SubstringsError::Empty { substring: 1 });
    }

    #[test]
    fn folding_is_stable_and_changes_no_count() {
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            assert_eq!(fold(folded), folded, "{character:?}");
            assert!(character == 'İ' || character.to_lowercase().len() == 1);
        }
    }

    #[test]
    fn thousands_of_substrings_are_searched_at_once() {
        let list: Vec<String> = (0..5_000).map(|n| format!("слово{n}x")).collect();
        let substrings = Substrings::new(&list, MatchType::Word, false).unwrap();
        let text = "обычный текст, Слово77X и другие. ".repeat(1_000);
        let found = substrings.find(&text, true);
        assert_eq!(found.len(), 1_000);
        assert!(
            found
                .iter()
                .all(|m| m.substring == 77 && text[m.range.clone()].starts_with('С'))
        );
    }

    #[test]
    fn occurrences_across_parts_of_a_long_text_are_found() {
        let long = "ab".repeat(BLOCK);
        let substrings = Substrings::new(&["needle", &long, "bab"], MatchType::Str, false).unwrap();
        for before in [0, BLOCK - 3, BLOCK, 3 * BLOCK - 1] {
            let text = format!(
                "{}Needle{}{}",
                ".".repeat(before),
                "-".repeat(2 * BLOCK),
                long.repeat(2)
            );
            let found = substrings.find(&text, true);
            let count = |substring| found.iter().filter(|m| m.substring == substring).count();
            assert_eq!((count(0), count(1), count(2)), (1, 2, text.matches("bab").count()));
            assert_eq!(found[0].range, before..before + 6);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_search(
            text in "[aAbİıKkßẞ好 _]{0,30}",
            list in prop::collection::vec("[aAbiKßẞ好]{1,3}", 1..5),
        ) {
            let found = Substrings::new(&list, MatchType::Str, true).unwrap().find(&text, true);
            let mut expected = Vec::new();
            for (substring, literal) in list.iter().enumerate() {
                let ranges = text.match_indices(literal.as_str()).map(|(start, _)| start..start + literal.len());
                expected.extend(ranges.map(|range| SubstringMatch { substring, range }));
            }
            prop_assert_eq!(found, expected);
            let fold_all = |text: &str| text.chars().map(fold).collect::<String>();
            for m in Substrings::new(&list, MatchType::Str, false).unwrap().find(&text, true) {
                prop_assert_eq!(fold_all(&text[m.range]), fold_all(&list[m.substring]));
            }
        }

        #[test]
        fn names_are_found_where_they_are(
            gap in "[ \\t\\n\u{A0}\u{2003}\u{3000}]{1,4}",
            before in "(?:[é \\n.]{0,9}[ \\n.])?",
            after in "(?:[ \\n.][aé \\n.]{0,9})?",
        ) {
            let name = format!("Ünited{gap}Bank");
            let text = format!("{before}{name}{after}");
            prop_assert_eq!(find(&["united bank", "ünited bank"], MatchType::Name, false, &text), [(1, &*name)]);
        }

        #[test]
        fn the_first_occurrence_is_the_first_in_the_text(
            parts in prop::collection::vec(prop::sample::select(vec!["bomb", "b0mb", "bo\u{200B}mb", "Ym9tYiBib21iIGJvbWI=", "plan"]), 1..7),
        ) {
            let substrings = Substrings::new(&["bomb", "plan"], MatchType::Str, false).unwrap();
            let text = parts.join(", ");
            let starts = |all| {
                let mut starts = [usize::MAX; 2];
                for view_match in substrings.find_in_views(&text, all) {
                    let first = &mut starts[view_match.found.substring];
                    *first = view_match.range.start.min(*first);
                }
                starts
            };
            let firsts = starts(false);
            prop_assert_eq!(firsts, starts(true));
            let written = text.find(['b', 'Y']).unwrap_or(usize::MAX);
            prop_assert_eq!(firsts[0], written);
        }

        #[test]
        fn ranges_are_valid_in_any_text(text in ".*", literal in ".{1,2}") {
            for match_type in [MatchType::Str, MatchType::Word, MatchType::Name] {
                for m in Substrings::new(&[&literal], match_type, false).unwrap().find(&text, true) {
                    prop_assert!(text.get(m.range).is_some_and(|found| !found.is_empty()));
                }
            }
        }
    }
}
