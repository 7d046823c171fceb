//! Terms of rules with other separators between their words, as in "project_falcon", and terms written backwards.
//!
//! Nearly every text has line breaks, so a view with normalized separators would exist for nearly every text. Instead,
//! the original text is searched: first for the first words of all terms at once, then for the other words after each
//! of them.

use std::collections::HashMap;
use std::ops::Range;

use super::folding::{continues_word, fold, is_word};
use super::literals::{Literals, MatchType};
use super::reversed_terms;
use crate::stop;

/// A term by its words after the first one.
#[derive(Debug)]
struct Term {
    rule: usize,
    kind: &'static str,
    /// The words after the first one, folded unless the case matters.
    rest: Vec<String>,
    /// Whether its beginning and its end need a word boundary.
    edges: (bool, bool),
}

/// A term in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VariantMatch {
    pub rule: usize,
    pub range: Range<usize>,
    /// "blanks" or "reversed".
    pub kind: &'static str,
}

/// Variants of terms that are searched for together.
#[derive(Debug)]
pub(super) struct TermVariants {
    first_words: Literals,
    /// For each first word, the terms that begin with it.
    terms: Vec<Vec<Term>>,
    folds: bool,
}

impl TermVariants {
    /// Compiles the variants of `terms`, each with the number of its rule. `whole` terms match only as whole words;
    /// backwards, all terms do. Returns `None` if no term has a variant.
    pub fn new<'a>(terms: impl Iterator<Item = (usize, &'a str)>, whole: bool, case_sensitive: bool) -> Option<Self> {
        let mut all = Self {
            first_words: Literals::new(&[""; 0], MatchType::Str, case_sensitive).ok()?,
            terms: Vec::new(),
            folds: !case_sensitive,
        };
        let mut firsts = Vec::new();
        let mut places = HashMap::new();
        for (rule, term) in terms {
            // White space at an edge is part of the term.
            if term.contains(' ') && term.trim() == term {
                all.add((rule, "blanks", term), whole, &mut places, &mut firsts);
            }
            for reversed in reversed_terms::reversed_forms(term) {
                all.add((rule, "reversed", &reversed), true, &mut places, &mut firsts);
            }
        }
        all.first_words = Literals::new(&firsts, MatchType::Str, case_sensitive).ok()?;
        (!firsts.is_empty()).then_some(all)
    }

    fn add(
        &mut self,
        (rule, kind, text): (usize, &'static str, &str),
        whole: bool,
        places: &mut HashMap<String, usize>,
        firsts: &mut Vec<String>,
    ) {
        let read = |word: &str| -> String { word.chars().map(|c| if self.folds { fold(c) } else { c }).collect() };
        let mut words = text.split_whitespace().map(read);
        let Some(first) = words.next() else { return };
        let term = Term {
            rule,
            kind,
            rest: words.collect(),
            edges: (whole && text.starts_with(is_word), whole && text.ends_with(is_word)),
        };
        let place = *places.entry(first.clone()).or_insert_with(|| {
            firsts.push(first);
            firsts.len() - 1
        });
        self.terms.resize_with(firsts.len(), Vec::new);
        self.terms[place].push(term);
    }

    /// Finds the variants in `text`. Two words are separated by white space, or by one "_", "-" or "+" between letters
    /// or digits.
    pub fn find(&self, text: &str) -> Vec<VariantMatch> {
        let mut found = Vec::new();
        for first in self.first_words.find(text, true) {
            let Range { start, end } = first.range;
            let joined = text[..start].ends_with(is_word);
            let next = separator(text, end).map(|length| end + length);
            for term in &self.terms[first.substring] {
                stop::point();
                if term.edges.0 && joined {
                    continue;
                }
                let end = match (term.rest.as_slice(), next) {
                    ([], _) => Some(end),
                    ([second, others @ ..], Some(next)) => self.word(text, next, second).and_then(|end| {
                        others
                            .iter()
                            .try_fold(end, |at, word| self.word(text, at + separator(text, at)?, word))
                    }),
                    _ => None,
                };
                if let Some(end) = end.filter(|&end| !(term.edges.1 && text[end..].starts_with(continues_word))) {
                    let (rule, kind) = (term.rule, term.kind);
                    found.push(VariantMatch {
                        rule,
                        range: start..end,
                        kind,
                    });
                }
            }
        }
        found
    }

    /// The end of `word`, if it stands at `at`.
    fn word(&self, text: &str, at: usize, word: &str) -> Option<usize> {
        let mut rest = text[at..].chars();
        let is = |c: char, wanted: char| if self.folds { fold(c) == wanted } else { c == wanted };
        let same = word.chars().all(|wanted| rest.next().is_some_and(|c| is(c, wanted)));
        same.then(|| text.len() - rest.as_str().len())
    }
}

/// The length of the separator between two words at `at`.
fn separator(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blanks = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
    if blanks > 0 {
        return Some(blanks);
    }
    let is_sign = rest.starts_with(['_', '-', '+']);
    let between = || text[..at].ends_with(char::is_alphanumeric) && rest[1..].starts_with(char::is_alphanumeric);
    (is_sign && between()).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(term: &str, text: &str) -> bool {
        let phrases = TermVariants::new([(7, term)].into_iter(), true, false);
        phrases.is_some_and(|phrases| phrases.find(text).iter().any(|found| found.rule == 7))
    }

    #[test]
    fn words_have_other_separators() {
        for text in [
            "open source",
            "OPEN_Source.",
            "(open-source)",
            "open+source",
            "open \r\n\t source",
            "open\u{A0}source open\u{3000}source",
        ] {
            assert!(finds("open source", text), "{text}");
            assert!(!finds("open source code", text), "{text}");
        }
        assert!(finds("ein grüner Baum", "EIN_GRÜNER\nbaum"));
        assert!(finds("open source code", "open-source code"));
        for text in [
            "opensource",
            "open - source",
            "open--source",
            "reopen source",
            "open sources",
            "open.",
        ] {
            assert!(!finds("open source", text), "{text}");
        }
        assert!(!finds(" open source", "open_source"));
        let found = TermVariants::new([(3, "open source")].into_iter(), false, true)
            .unwrap()
            .find("reopen \n source, Open_source");
        assert_eq!(
            found,
            [VariantMatch {
                rule: 3,
                range: 2..15,
                kind: "blanks"
            }]
        );
    }

    #[test]
    fn only_what_is_no_word_backwards_is_looked_for() {
        for (term, text) in [
            ("dynamite", "Where is the etimanyd?"),
            ("project falcon", "noclaf tcejorp"),
            ("project falcon", "tcejorp\nnoclaf"),
            ("hack", "kcah it"),
            ("динамит", "тиманид"),
        ] {
            assert!(finds(term, text), "{term}");
        }
        for (term, text) in [
            ("live", "evil"),
            ("stressed", "desserts"),
            ("drawer", "reward"),
            ("golf", "flog"),
            ("neger", "regen"),
            ("zorra", "arroz"),
            ("star", "rats"),
            ("drug", "gurd"),
            ("dynamite", "xetimanyd"),
            ("level", "level"),
            ("rotator", "rotator"),
        ] {
            assert!(!finds(term, text), "{term}");
        }
    }
}
