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
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Input, packed};

use super::across::{RuleMatch, Sighting, Wanted, across_readings};
use super::otherwise::{Found, Otherwise};
use crate::stop;

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
    /// As [`MatchType::Word`], with any run of white space for white space: "Acme Corp" is found in "Acme  Corp", across a line
    /// break, and with a no-break or zero-width space.
    Name,
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
    reading: Reading,
    whole_words: bool,
    /// The substrings in lower case, where their case does not matter.
    literals: Vec<String>,
    /// Made where views are searched, which few sets are.
    otherwise: OnceLock<Option<Box<Otherwise>>>,
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
            MatchType::Word | MatchType::Name => {
                let mut characters = substring.as_ref().chars();
                let first = characters.next();
                (
                    first.is_some_and(is_word),
                    characters.next_back().or(first).is_some_and(is_word),
                )
            }
        });
        let edges = edges.collect();
        let literals = substrings.iter().map(|substring| {
            let reading = Reading {
                folds: !case_sensitive,
                joins_spaces: match_type == MatchType::Name,
            };
            let mut literal = Read::new(substring.as_ref(), reading).text;
            if !case_sensitive {
                literal.make_ascii_lowercase();
            }
            literal
        });
        let literals: Vec<String> = literals.collect();
        let joins_spaces = match_type == MatchType::Name && literals.iter().any(|literal| literal.contains(' '));
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
            literals,
            whole_words: match_type != MatchType::Str,
            otherwise: OnceLock::new(),
            edges,
            reading: Reading {
                folds: !case_sensitive,
                joins_spaces,
            },
        })
    }

    /// Returns where the substrings occur in `text`, ordered by the index of the substring and then by position.
    ///
    /// With `all`, these are all occurrences from left to right that do not overlap another one of the same substring;
    /// otherwise the first one of each. Occurrences of different substrings may overlap.
    pub fn find(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        if self.reading.is_as_written(text) {
            return self.search(text, all);
        }
        let read = Read::new(text, self.reading);
        let mut found = self.search(&read.text, all);
        for occurrence in &mut found {
            stop::point();
            occurrence.range = read.origin(occurrence.range.start)..read.origin(occurrence.range.end);
        }
        found
    }

    /// The same in `text` and in its views, as [`super::across::across_views`] has them, and with other white space, "_", "-" or "+" in the
    /// place of a space of a substring, and backwards, where a substring has six letters or looks like no word backwards. Without `all`, the first occurrence of a substring is
    /// the one that begins first in `text`, whether it is disguised there or not.
    pub fn find_across_views(&self, text: &str, all: bool) -> Vec<Sighting<SubstringMatch>> {
        let wanted = if all { Wanted::All } else { Wanted::First };
        // What stands last in a view may stand first in the text, where the view turns a passage around.
        let find = |text: &str| Ok::<_, Infallible>(self.find(text, true));
        let Ok(found) = across_readings(text, wanted, find, |text| Ok(self.find_otherwise(text)));
        found
    }

    /// What is found where the words of a substring are separated otherwise, and backwards.
    fn find_otherwise(&self, text: &str) -> Vec<(SubstringMatch, &'static str)> {
        let otherwise = self.otherwise.get_or_init(|| {
            let terms = self.literals.iter().map(String::as_str).enumerate();
            Otherwise::new(terms, self.whole_words, !self.reading.folds).map(Box::new)
        });
        let found = otherwise.iter().flat_map(|otherwise| otherwise.find(text));
        let as_match = |found: Found| {
            let (substring, range) = (found.rule, found.range);
            (SubstringMatch { substring, range }, found.way)
        };
        found.map(as_match).collect()
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
            stop::point();
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
            stop::point();
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

/// Whether a character behind a word makes it another word.
pub(super) fn goes_on(next: char) -> bool {
    is_word(next) && !is_particle(next)
}

/// Whether a character continues a word next to it.
pub(super) fn is_word(character: char) -> bool {
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
pub(super) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut upper = character.to_uppercase();
    // A character whose upper case is several ("ß") has no simple mapping.
    let upper = upper.next().filter(|_| upper.len() == 0).unwrap_or(character);
    // The full lower case of "İ" is "i" and a dot above; its simple one is the first of them, and no other has several.
    upper.to_lowercase().next().unwrap_or(upper)
}

/// How a text is read before substrings are looked for.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Whether characters that differ in case are one.
    folds: bool,
    /// Whether a run of white space is one space.
    joins_spaces: bool,
}

impl Reading {
    /// Whether the automaton can read the text as it is written: it takes ASCII letters of both cases for the same.
    fn is_as_written(self, text: &str) -> bool {
        (!self.folds || text.is_ascii()) && !(self.joins_spaces && has_other_spaces(text))
    }
}

/// Whether a text has white space other than single spaces.
fn has_other_spaces(text: &str) -> bool {
    let other = |byte: &u8| matches!(byte, b'\t'..=b'\r') || !byte.is_ascii();
    text.bytes().any(|byte| other(&byte)) || text.contains("  ")
}

/// Whether a character has no width, and stands beside white space as if it were some.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}'
    )
}

/// Whether a character is white space in a name, U+200B, where a line may be broken, and U+FEFF, the old no-break space without a
/// width, among it (Unicode Standard, section 23.2).
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200B}' | '\u{FEFF}')
}

/// The bytes at the start of `rest` that are read as one space, or 0.
fn spaces(rest: &str) -> usize {
    let blank = |character: char| is_space(character) || is_invisible(character);
    let length = rest.find(|character| !blank(character)).unwrap_or(rest.len());
    if rest[..length].contains(is_space) { length } else { 0 }
}

/// A text as it is read, which knows where its parts come from.
struct Read {
    text: String,
    /// Pairs of offsets `(read, original)` behind each part whose length changed. Between two such pairs, the distance from one
    /// offset to the other is constant.
    shifts: Vec<(usize, usize)>,
}

impl Read {
    fn new(original: &str, reading: Reading) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut shifts = vec![(0, 0)];
        let mut start = 0;
        let is_plain = |byte: &u8| byte.is_ascii() && !(reading.joins_spaces && byte.is_ascii_whitespace());
        while let Some(character) = original[start..].chars().next() {
            // The automaton takes ASCII letters of both cases for the same.
            let rest = &original.as_bytes()[start..];
            let blocks = rest.chunks(16).take_while(|block| block.iter().all(&is_plain));
            let plain: usize = blocks.map(<[u8]>::len).sum();
            let plain = plain + rest[plain..].iter().take_while(|byte| is_plain(byte)).count();
            if plain > 0 {
                text.push_str(&original[start..start + plain]);
                start += plain;
                continue;
            }
            let run = if reading.joins_spaces {
                spaces(&original[start..])
            } else {
                0
            };
            let (read, length) = match run {
                0 if reading.folds => (fold(character), character.len_utf8()),
                0 => (character, character.len_utf8()),
                _ => (' ', run),
            };
            text.push(read);
            start += length;
            if read.len_utf8() != length {
                shifts.push((text.len(), start));
            }
        }
        Self { text, shifts }
    }

    /// The byte offset in the original text of a character boundary in the text as it is read.
    fn origin(&self, at: usize) -> usize {
        let next = self.shifts.partition_point(|&(read, _)| read <= at);
        let (read, original) = self.shifts[next.saturating_sub(1)];
        original + (at - read)
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
                for sighting in substrings.find_across_views(&text, all) {
                    let first = &mut starts[sighting.found.substring];
                    *first = sighting.range.start.min(*first);
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
