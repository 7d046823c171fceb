//! Lists of literal substrings.
//!
//! All substrings are searched for at once with an Aho-Corasick automaton, so the time does not grow with the length of
//! the list. Where the list is short, their beginnings are looked for first, many bytes at a time, and the automaton reads
//! only what stands around one.
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
use std::ops::{ControlFlow, Range};

use aho_corasick::{AhoCorasick, Input, packed};

use super::across::{RuleMatch, Sighting, Wanted, across_views};

/// Where a substring counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// Anywhere, even inside a word.
    Str,
    /// Only as whole words.
    ///
    /// As with `\b` of Python, a word character at an edge of the substring must not have a word character (a letter,
    /// a digit or `_`) next to it in the text. Two things differ from llm-guard, where such substrings all but never
    /// match: an edge that is no word character needs no boundary, so "c++" is found in "I love c++!", and neither does
    /// an edge in a script written without spaces, nor next to one, so "坏人" is found in "我是坏人吗" and "AI" in "用AI做".
    Word,
}

/// One occurrence of one substring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstringMatch {
    /// The index of the substring in the list given to [`Substrings::new`].
    pub substring: usize,
    /// The UTF-8 byte range of the occurrence in the text, on character boundaries.
    pub range: Range<usize>,
}

impl RuleMatch for SubstringMatch {
    fn rule(&self) -> usize {
        self.substring
    }

    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Why a list of substrings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubstringsError {
    /// A substring is empty and would be found everywhere.
    #[error("substring {substring} is empty")]
    Empty {
        /// The index of the substring.
        substring: usize,
    },
    /// The list is too long for an automaton.
    #[error("the list of substrings is too large: {0}")]
    TooLarge(String),
}

/// Substrings ready to be searched for.
#[derive(Debug)]
pub struct Substrings {
    automaton: AhoCorasick,
    beginnings: Option<Beginnings>,
    /// Bytes of the longest substring.
    longest: usize,
    /// For each substring, whether its first and its last character need a word boundary.
    edges: Vec<(bool, bool)>,
    case_sensitive: bool,
}

impl Substrings {
    /// Prepares `substrings`.
    ///
    /// Without `case_sensitive`, characters are compared by their simple case mappings as with `re.IGNORECASE` of
    /// Python: "ПРИВЕТ" is "привет", "ς" is "σ", "ẞ" is "ß" (but not "ss"), and "İ", "ı" and "i" are one.
    ///
    /// # Errors
    ///
    /// [`SubstringsError::Empty`] for an empty substring and [`SubstringsError::TooLarge`] for billions of characters.
    pub fn new<S: AsRef<str>>(
        substrings: &[S],
        match_type: MatchType,
        case_sensitive: bool,
    ) -> Result<Self, SubstringsError> {
        if let Some(substring) = substrings.iter().position(|substring| substring.as_ref().is_empty()) {
            return Err(SubstringsError::Empty { substring });
        }
        let edges = substrings.iter().map(|substring| match match_type {
            MatchType::Str => (false, false),
            MatchType::Word => {
                let mut characters = substring.as_ref().chars();
                let first = characters.next();
                (
                    first.is_some_and(is_word),
                    characters.next_back().or(first).is_some_and(is_word),
                )
            }
        });
        let edges = edges.collect();
        let literals = substrings.iter().map(|substring| match case_sensitive {
            true => substring.as_ref().to_owned(),
            false => substring.as_ref().chars().map(fold).collect::<String>(),
        });
        let literals: Vec<String> = literals.collect();
        // The literals are folded, so what remains different in an ASCII text is the case of ASCII letters: such a text
        // needs no folding of its own.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(!case_sensitive)
            .build(&literals)
            .map_err(|error| SubstringsError::TooLarge(error.to_string()))?;
        Ok(Self {
            automaton,
            beginnings: Beginnings::new(&literals, case_sensitive),
            longest: literals.iter().map(String::len).max().unwrap_or(0),
            edges,
            case_sensitive,
        })
    }

    /// Returns where the substrings occur in `text`, ordered by the index of the substring and then by position.
    ///
    /// With `all`, these are all occurrences from left to right that do not overlap another one of the same substring;
    /// otherwise the first one of each. Occurrences of different substrings may overlap.
    pub fn find(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        if self.case_sensitive || text.is_ascii() {
            self.search(text, all)
        } else {
            let folded = Folded::new(text);
            let mut found = self.search(&folded.text, all);
            for occurrence in &mut found {
                occurrence.range = folded.origin(occurrence.range.start)..folded.origin(occurrence.range.end);
            }
            found
        }
    }

    /// The same in `text` and in its views, as [`across_views`] has them. Without `all`, the first occurrence of a substring is
    /// the one in the first view that contains it.
    pub fn find_across_views(&self, text: &str, all: bool) -> Vec<Sighting<SubstringMatch>> {
        let wanted = if all { Wanted::All } else { Wanted::First };
        let Ok(found) = across_views(text, wanted, |text| Ok::<_, Infallible>(self.find(text, all)));
        found
    }

    fn search(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        let Some(beginnings) = &self.beginnings else {
            let mut search = Search::new(self, text, all);
            let _ = search.read(0..text.len(), text.len());
            return search.finish();
        };
        // Most texts contain none of the substrings, and need no search.
        let Some(mut at) = beginnings.next(text, 0) else {
            return Vec::new();
        };
        let mut search = Search::new(self, text, all);
        loop {
            // A substring that begins in this part is read to its end, which may lie in the next one.
            let part = at..(at + self.longest.max(BLOCK)).min(text.len());
            let end = (part.end + self.longest - 1).min(text.len());
            let next = part.end;
            if search.read(part, end).is_break() {
                break;
            }
            match beginnings.next(text, next) {
                Some(next) => at = next,
                None => break,
            }
        }
        search.finish()
    }

    fn is_bounded(&self, text: &str, substring: usize, range: &Range<usize>) -> bool {
        let (first, last) = self.edges[substring];
        let before = || text[..range.start].chars().next_back().is_some_and(is_word);
        let goes_on = |next: char| is_word(next) && !is_particle(next);
        let after = || text[range.end..].chars().next().is_some_and(goes_on);
        !(first && before() || last && after())
    }
}

/// A search of one text, part by part.
struct Search<'a> {
    substrings: &'a Substrings,
    text: &'a str,
    all: bool,
    found: Vec<SubstringMatch>,
    /// Where the last occurrence of each substring ended.
    ends: Vec<Option<usize>>,
    missing: usize,
}

impl<'a> Search<'a> {
    fn new(substrings: &'a Substrings, text: &'a str, all: bool) -> Self {
        Self {
            substrings,
            text,
            all,
            found: Vec::new(),
            ends: vec![None; substrings.edges.len()],
            missing: substrings.edges.len(),
        }
    }

    /// Adds the occurrences that begin in `part` and end before `end`; breaks off when there is nothing left to find.
    fn read(&mut self, part: Range<usize>, end: usize) -> ControlFlow<()> {
        let input = Input::new(self.text).span(part.start..end);
        for candidate in self.substrings.automaton.find_overlapping_iter(input) {
            let substring = candidate.pattern().as_usize();
            let range = candidate.range();
            let last = &mut self.ends[substring];
            let usable = range.start < part.end && last.is_none_or(|end| self.all && end <= range.start);
            if !usable || !self.substrings.is_bounded(self.text, substring, &range) {
                continue;
            }
            self.missing -= usize::from(last.is_none());
            *last = Some(range.end);
            self.found.push(SubstringMatch { substring, range });
            if self.missing == 0 && !self.all {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(mut self) -> Vec<SubstringMatch> {
        self.found
            .sort_unstable_by_key(|occurrence| (occurrence.substring, occurrence.range.start));
        self.found
    }
}

/// Bytes of a text that are brought into lower case at a time, and read by the automaton where a substring may begin.
const BLOCK: usize = 4096;
/// Bytes of a substring that count as its beginning: enough to be rare, and few enough to be compared at once.
const BEGINNING: usize = 8;

/// The first bytes of all substrings, looked for by comparing many bytes at once (Teddy, of Hyperscan).
#[derive(Debug)]
struct Beginnings {
    searcher: packed::Searcher,
    longest: usize,
    case_sensitive: bool,
}

impl Beginnings {
    /// `None` for a list that is too long for it, and on a processor without the instructions that it needs.
    fn new(literals: &[String], case_sensitive: bool) -> Option<Self> {
        let beginnings = literals
            .iter()
            .map(|literal| &literal.as_bytes()[..literal.len().min(BEGINNING)]);
        Some(Self {
            longest: beginnings.clone().map(<[u8]>::len).max()?,
            searcher: packed::Searcher::new(beginnings)?,
            case_sensitive,
        })
    }

    /// The first position from `at` on where a substring may begin.
    fn next(&self, text: &str, mut at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        if self.case_sensitive {
            let found = self.searcher.find_in(bytes, (at..bytes.len()).into())?;
            return Some(found.start());
        }
        let mut lower = [0; BLOCK + BEGINNING];
        while at < bytes.len() {
            let block = &bytes[at..(at + BLOCK + self.longest - 1).min(bytes.len())];
            let lower = &mut lower[..block.len()];
            lower.copy_from_slice(block);
            lower.make_ascii_lowercase();
            if let Some(found) = self.searcher.find(&*lower) {
                return Some(at + found.start());
            }
            at += BLOCK;
        }
        None
    }
}

/// Whether a character behind a word may belong to another word: Korean particles follow any word without a space.
fn is_particle(character: char) -> bool {
    matches!(character, '\u{AC00}'..='\u{D7A3}')
}

/// Whether a character continues a word next to it.
fn is_word(character: char) -> bool {
    let unspaced = matches!(
        character,
        // Thai and Lao, Myanmar, Khmer, kana and Bopomofo, Han with its extensions, half-width kana: the scripts of line
        // breaking classes SA and ID (UAX #14) that have no spaces between words.
        '\u{E00}'..='\u{EFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{17FF}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{312F}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FF9F}'
            | '\u{20000}'..='\u{3FFFF}'
    );
    character == '_' || character.is_alphanumeric() && !unspaced
}

/// The representative of all characters that differ in case only, by the simple mappings of UnicodeData.txt.
fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut upper = character.to_uppercase();
    // A character whose upper case is several ("ß") has no simple mapping.
    let upper = upper.next().filter(|_| upper.len() == 0).unwrap_or(character);
    // The full lower case of "İ" is "i" and a dot above; its simple one is the first of them, and no other has several.
    upper.to_lowercase().next().unwrap_or(upper)
}

/// A folded text that knows where its parts come from.
struct Folded {
    text: String,
    /// Pairs of offsets `(folded, original)` behind each character whose length changed. Between two such pairs, the distance
    /// from one offset to the other is constant.
    shifts: Vec<(usize, usize)>,
}

impl Folded {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut shifts = vec![(0, 0)];
        let mut start = 0;
        while let Some(character) = original[start..].chars().next() {
            if character.is_ascii() {
                // The automaton takes ASCII letters of both cases for the same.
                let rest = &original.as_bytes()[start..];
                let blocks = rest.chunks(16).take_while(|block| block.is_ascii());
                let ascii: usize = blocks.map(<[u8]>::len).sum();
                let ascii = ascii + rest[ascii..].iter().take_while(|byte| byte.is_ascii()).count();
                let end = start + ascii;
                text.push_str(&original[start..end]);
                start = end;
                continue;
            }
            let folded = fold(character);
            text.push(folded);
            start += character.len_utf8();
            if folded.len_utf8() != character.len_utf8() {
                shifts.push((text.len(), start));
            }
        }
        Self { text, shifts }
    }

    /// The byte offset in the original text of a character boundary in the folded one.
    fn origin(&self, at: usize) -> usize {
        let next = self.shifts.partition_point(|&(folded, _)| folded <= at);
        let (folded, original) = self.shifts[next.saturating_sub(1)];
        original + (at - folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(words("é", "é e\u{301}é"), 2);
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
        fn ranges_are_valid_in_any_text(text in ".*", literal in ".{1,2}") {
            for match_type in [MatchType::Str, MatchType::Word] {
                for m in Substrings::new(&[&literal], match_type, false).unwrap().find(&text, true) {
                    prop_assert!(text.get(m.range).is_some_and(|found| !found.is_empty()));
                }
            }
        }
    }
}
