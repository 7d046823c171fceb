//! A set of literals that are searched for at once.

use std::ops::{ControlFlow, Range};

use aho_corasick::{AhoCorasick, Input, packed};

use super::folding::{FoldedText, Folding, continues_word, is_word};
use super::view_search::RuleMatch;
use crate::stop;
use crate::text::canonical::compose;

/// Bytes of a text that are lower-cased together, and that the automaton reads from a possible start of a literal.
pub(super) const BLOCK: usize = 4096;

/// Bytes of a literal that count as its beginning: enough to be rare, few enough to be compared at once.
const BEGINNING: usize = 8;

/// Where a substring may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// Anywhere, even inside a word.
    Str,
    /// Only as whole words.
    ///
    /// As with Python's `\b`, a word character at an edge of the substring must not touch another word character (a
    /// letter, a digit or `_`) in the text. Two cases differ from llm-guard, which hardly ever matches them:
    ///
    /// - An edge that is not a word character needs no boundary: "c++" is found in "I love c++!".
    /// - Scripts written without spaces need no boundary: "坏人" is found in "我是坏人吗", and "AI" in "用AI做".
    Word,
    /// Like [`MatchType::Word`], and any run of white space matches any other: "Acme Corp" is found in "Acme  Corp",
    /// across a line break, and with a no-break or zero-width space.
    Name,
}

/// One occurrence of one substring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstringMatch {
    /// The index of the substring in the list given to [`Substrings::new`](super::substrings::Substrings::new).
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

/// An error in a list of substrings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubstringsError {
    /// An empty substring would match everywhere.
    #[error("substring {substring} is empty")]
    Empty {
        /// The index of the substring.
        substring: usize,
    },
    /// The list is too long for an automaton.
    #[error("the list of substrings is too large: {0}")]
    TooLarge(String),
}

/// Literals that are searched for together, with one Aho-Corasick automaton.
#[derive(Debug)]
pub(super) struct Literals {
    automaton: AhoCorasick,
    beginnings: Option<Beginnings>,
    /// Bytes of the longest literal.
    longest: usize,
    /// For each literal, whether its first and its last character need a word boundary.
    edges: Vec<(bool, bool)>,
    folding: Folding,
    /// The literals as they are searched for: in lower case unless the case matters.
    folded: Vec<String>,
}

impl Literals {
    /// Compiles `substrings`; see [`Substrings::new`](super::substrings::Substrings::new).
    pub fn new<S: AsRef<str>>(
        substrings: &[S],
        match_type: MatchType,
        case_sensitive: bool,
    ) -> Result<Self, SubstringsError> {
        if let Some(substring) = substrings.iter().position(|substring| substring.as_ref().is_empty()) {
            return Err(SubstringsError::Empty { substring });
        }
        let folding = Folding {
            folds: !case_sensitive,
            joins_spaces: match_type == MatchType::Name,
        };
        let composed: Vec<_> = substrings.iter().map(|substring| compose(substring.as_ref())).collect();
        let folded = composed.iter().map(|substring| {
            let mut literal = FoldedText::new(substring.text(), folding).text;
            if !case_sensitive {
                literal.make_ascii_lowercase();
            }
            literal
        });
        let folded: Vec<String> = folded.collect();
        // The automaton compares ASCII letters without case, so an ASCII text needs no folding.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(!case_sensitive)
            .build(&folded)
            .map_err(|error| SubstringsError::TooLarge(error.to_string()))?;
        let edges = composed.iter().map(|substring| edges(substring.text(), match_type));
        Ok(Self {
            automaton,
            beginnings: Beginnings::new(&folded, case_sensitive),
            longest: folded.iter().map(String::len).max().unwrap_or(0),
            edges: edges.collect(),
            folding: Folding {
                joins_spaces: folding.joins_spaces && folded.iter().any(|literal| literal.contains(' ')),
                ..folding
            },
            folded,
        })
    }

    /// The literals as they are searched for: in lower case unless the case matters.
    pub fn folded_literals(&self) -> impl Iterator<Item = &str> {
        self.folded.iter().map(String::as_str)
    }

    /// Whether the letter case matters.
    pub fn is_case_sensitive(&self) -> bool {
        !self.folding.folds
    }

    /// Finds the literals in `text`; see [`Substrings::find`](super::substrings::Substrings::find).
    pub fn find(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        let composed = compose(text);
        let mut found = self.find_composed(composed.text(), all);
        if composed.is_changed() {
            for occurrence in &mut found {
                stop::point();
                occurrence.range = composed.original(occurrence.range.clone());
            }
        }
        found
    }

    /// Finds the literals in a composed text.
    fn find_composed(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        if !self.folding.changes(text) {
            return self.search(text, all);
        }
        let folded = FoldedText::new(text, self.folding);
        let mut found = self.search(&folded.text, all);
        for occurrence in &mut found {
            stop::point();
            occurrence.range = folded.original(occurrence.range.start)..folded.original(occurrence.range.end);
        }
        found
    }

    fn search(&self, text: &str, all: bool) -> Vec<SubstringMatch> {
        let Some(beginnings) = &self.beginnings else {
            let mut search = Search::new(self, text, all);
            let _ = search.read(0..text.len(), text.len());
            return search.finish();
        };
        // Most texts contain none of the literals, and need no search.
        let Some(mut at) = beginnings.next(text, 0) else {
            return Vec::new();
        };
        let mut search = Search::new(self, text, all);
        loop {
            stop::point();
            // A literal that begins in this part is read to its end, which may lie in the next part.
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

    fn is_bounded(&self, text: &str, literal: usize, range: &Range<usize>) -> bool {
        let (first, last) = self.edges[literal];
        let before = || text[..range.start].chars().next_back().is_some_and(is_word);
        let after = || text[range.end..].chars().next().is_some_and(continues_word);
        !(first && before() || last && after())
    }
}

/// Whether the first and the last character of a literal need a word boundary.
fn edges(literal: &str, match_type: MatchType) -> (bool, bool) {
    match match_type {
        MatchType::Str => (false, false),
        MatchType::Word | MatchType::Name => (literal.starts_with(is_word), literal.ends_with(is_word)),
    }
}

/// A search of one text, part by part.
struct Search<'a> {
    literals: &'a Literals,
    text: &'a str,
    all: bool,
    found: Vec<SubstringMatch>,
    /// The end of the last occurrence of each literal.
    ends: Vec<Option<usize>>,
    missing: usize,
}

impl<'a> Search<'a> {
    fn new(literals: &'a Literals, text: &'a str, all: bool) -> Self {
        Self {
            literals,
            text,
            all,
            found: Vec::new(),
            ends: vec![None; literals.edges.len()],
            missing: literals.edges.len(),
        }
    }

    /// Adds the occurrences that begin in `part` and end before `end`. Breaks when nothing is left to find.
    fn read(&mut self, part: Range<usize>, end: usize) -> ControlFlow<()> {
        let input = Input::new(self.text).span(part.start..end);
        for candidate in self.literals.automaton.find_overlapping_iter(input) {
            stop::point();
            let substring = candidate.pattern().as_usize();
            let range = candidate.range();
            let last = &mut self.ends[substring];
            let usable = range.start < part.end && last.is_none_or(|end| self.all && end <= range.start);
            if !usable || !self.literals.is_bounded(self.text, substring, &range) {
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

/// The first bytes of all literals, found by comparing many bytes at once (the Teddy algorithm of Hyperscan).
#[derive(Debug)]
struct Beginnings {
    searcher: packed::Searcher,
    longest: usize,
    case_sensitive: bool,
}

impl Beginnings {
    /// Returns `None` if the list is too long, or if the processor lacks the SIMD instructions.
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

    /// The first position from `at` on where a literal may begin.
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
