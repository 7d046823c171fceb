//! Corrects the names of people that a model found: drops words that are none, and completes names that it cut.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use super::finding::{Evidence, Finding};
use crate::stop;

/// The type of names of people.
const PERSON: &str = "PERSON";
/// The start of the names of models in findings.
const MODEL: &str = "model.";
/// The most bytes before and after a name that are read.
const REACH: usize = 64;
/// The most bytes of a row of a table.
const LINE: usize = 400;
/// The most words between an eponym and its term: "Conway's famous game".
const TERM: usize = 2;
/// The score and the name of the source of a name after the closing of a letter.
const CLOSING: (f64, &str) = (0.75, "name-behind-a-closing");
/// The most words and bytes of a name in a line of its own.
const NAME: (usize, usize) = (4, 60);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    eponyms: HashSet<String>,
    terms: HashSet<String>,
    sure_terms: HashSet<String>,
    unspaced_terms: Vec<String>,
    no_names: HashSet<String>,
    other_columns: HashSet<String>,
    closings: HashSet<String>,
    groups: HashSet<String>,
    titles: HashSet<String>,
    surname_ends: Vec<String>,
    common: HashMap<String, HashSet<String>>,
}

static DATA: LazyLock<Option<Data>> = LazyLock::new(|| toml::from_str(include_str!("words.toml")).ok());

/// Corrects a finding in `text`; `None` for a word that is no name. Only names that a model found are corrected.
pub(super) fn correct(text: &str, mut finding: Finding) -> Option<Finding> {
    let Some(data) = DATA.as_ref().filter(|_| is_of_model(&finding)) else {
        return Some(finding);
    };
    let Some(value) = text.get(finding.range.clone()) else {
        return Some(finding);
    };
    let lower = value.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    if data.no_names.contains(&bare(&lower))
        || data.no_names.contains(&lower)
        || data.is_term(text, &finding.range)
        || data.is_in_other_column(text, &finding.range)
    {
        return None;
    }
    finding.range = data.whole_name(text, finding.range);
    Some(finding)
}

fn is_of_model(finding: &Finding) -> bool {
    &*finding.entity == PERSON && finding.recognizer.starts_with(MODEL)
}

/// The names in lines of their own after the closings of letters in `text`: "Best regards,", and the name.
pub(super) fn behind_closings(text: &str) -> Vec<Finding> {
    let Some(data) = DATA.as_ref() else {
        return Vec::new();
    };
    let (score, recognizer) = CLOSING;
    let mut found = Vec::new();
    let mut start = 0;
    let mut is_behind_closing = false;
    for line in text.split_inclusive('\n') {
        stop::point();
        let trimmed = line.trim();
        let is_short = trimmed.len() <= NAME.1;
        if is_behind_closing && is_short && is_name_line(trimmed) && !data.is_no_person(trimmed) {
            let from = start + line.len() - line.trim_start().len();
            found.push(Finding {
                range: from..from + trimmed.len(),
                entity: PERSON.into(),
                score,
                recognizer: recognizer.into(),
                evidence: Evidence::default(),
            });
        }
        let closing = trimmed.trim_end_matches([',', '!', '.', '，', ' ']);
        let has_sign = trimmed.len() > closing.len();
        is_behind_closing = if trimmed.is_empty() {
            is_behind_closing
        } else {
            is_short && has_sign && data.closings.contains(&closing.to_lowercase())
        };
        start += line.len();
    }
    found
}

/// Whether a line has the form of a name: one to four words with capitals.
fn is_name_line(line: &str) -> bool {
    let mut words = line.split(' ');
    let has_capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase)
            && letters.all(|letter| letter.is_alphabetic() || matches!(letter, '.' | '\'' | '’' | '-'))
    };
    words.clone().count() <= NAME.0 && line.chars().count() > 1 && words.all(has_capital)
}

impl Data {
    /// Whether a line below a closing names no person: a label, another closing, or a group such as "The Support Team".
    fn is_no_person(&self, line: &str) -> bool {
        let lower = line.to_lowercase();
        self.no_names.contains(&lower) || lower.split(' ').any(|word| self.groups.contains(word))
    }

    /// Whether a name is a part of a term: "Bayes' theorem", "maladie de Parkinson", "Alzheimer-Krankheit".
    fn is_term(&self, text: &str, range: &Range<usize>) -> bool {
        let value = &text[range.clone()];
        let behind = &text[range.end..text.floor_char_boundary(text.len().min(range.end + REACH))];
        let before = &text[text.ceil_char_boundary(range.start.saturating_sub(REACH))..range.start];
        // The model may find the whole term, such as "Dijkstra's algorithm".
        let (name, rest) = value.split_once(' ').unwrap_or((value, ""));
        let name = bare(name);
        let terms = match self.common.get(&name) {
            Some(terms) => terms,
            None if self.eponyms.contains(&name) || self.is_inflected(&name) || self.eponyms.contains(&bare(value)) => {
                &self.terms
            }
            None => &self.sure_terms,
        };
        let is_whole = !value.contains(' ')
            || self.eponyms.contains(&bare(value))
            || first_words(rest, 1).any(|word| terms.contains(&word));
        let title = last_words(before, 1).next().unwrap_or_default();
        if self.titles.contains(&title) {
            return false;
        }
        // In "maladie de Parkinson", small words stand between; in "the law. Ohm", a sentence ends.
        let clause = before
            .rsplit(['.', '!', '?', '\n', ',', ';', ':'])
            .next()
            .unwrap_or_default();
        let mut near = first_words(behind, TERM + 1)
            .chain(first_words(rest, TERM))
            .chain(last_words(clause, 1))
            .chain(small_words_before(clause));
        let is_unspaced = || {
            let near = behind.trim_start_matches(['の', '的', '의', ' ']);
            self.unspaced_terms.iter().any(|term| near.starts_with(term.as_str()))
        };
        let is_directly_behind = || {
            first_words(behind, 1)
                .next()
                .is_some_and(|word| self.sure_terms.contains(&word))
        };
        let is_eponym = !std::ptr::eq(terms, &self.sure_terms);
        is_whole
            && value.chars().count() > 1
            && (is_eponym && (near.any(|word| terms.contains(&word)) || is_unspaced()) || is_directly_behind())
    }

    /// Whether a name is a cell of a table whose head says that its column holds no people: a town, a brand.
    fn is_in_other_column(&self, text: &str, range: &Range<usize>) -> bool {
        let head = text[..text.floor_char_boundary(text.len().min(LINE + 1))]
            .lines()
            .next()
            .unwrap_or_default();
        let Some(sign) = [',', ';', '\t', '|'].into_iter().find(|&sign| head.contains(sign)) else {
            return false;
        };
        if range.start <= head.len() || head.len() > LINE {
            return false;
        }
        let near = &text[text.ceil_char_boundary(range.start.saturating_sub(LINE))..range.start];
        let Some(line) = near.rfind('\n').map(|end| &near[end + 1..]) else {
            return false;
        };
        let behind = text[range.end..].trim_start_matches([' ', '\r']);
        let ends = behind.is_empty() || behind.starts_with([sign, '\n']);
        let begins = line.is_empty() || line.trim_end_matches(' ').ends_with(sign);
        // In quotes, a sign separates no cells.
        if !ends || !begins || line.contains('"') || head.contains('"') {
            return false;
        }
        let cell = head.split(sign).nth(line.matches(sign).count()).unwrap_or_default();
        self.other_columns.contains(&cell.trim().to_lowercase())
    }

    /// Whether a Russian, Polish or Czech word is a case of an eponym: "Пифагора", "Ohma".
    fn is_inflected(&self, lower: &str) -> bool {
        const ENDS: [&str; 12] = ["а", "у", "ом", "е", "я", "ю", "ем", "a", "ova", "em", "owi", "u"];
        let mut stems = ENDS.iter().filter_map(|end| lower.strip_suffix(end));
        stems.any(|stem| {
            stem.chars().count() > 1 && (self.eponyms.contains(stem) || self.eponyms.contains(&format!("{stem}ь")))
        })
    }

    /// Completes a name: initials after a Russian surname, and a surname in capitals before a name in capitals.
    fn whole_name(&self, text: &str, range: Range<usize>) -> Range<usize> {
        let value = &text[range.clone()];
        let is_russian = value
            .chars()
            .all(|letter| matches!(letter, 'А'..='я' | 'Ё' | 'ё' | ' ' | '-' | '.'));
        if !is_russian {
            return range;
        }
        let behind = &text[range.end..text.floor_char_boundary(text.len().min(range.end + REACH))];
        let end = range.end + if value.contains(' ') { 0 } else { initials(behind) };
        let mut start = range.start;
        if value.chars().all(|letter| !letter.is_lowercase()) && value.chars().count() > 3 {
            let before = text[..range.start].strip_suffix(' ').unwrap_or_default();
            let word = before
                .rsplit([' ', '\n', ',', ':', '\t', '"'])
                .next()
                .unwrap_or_default();
            let is_surname = word.chars().count() > 3
                && word.chars().all(|letter| letter.is_uppercase() || letter == '-')
                && self.surname_ends.iter().any(|end| word.ends_with(end.as_str()));
            if is_surname {
                start = range.start - 1 - word.len();
            }
        }
        start..end
    }
}

/// A name in lower case without the sign of the genitive.
fn bare(name: &str) -> String {
    let lower = name.to_lowercase();
    let bare = lower.trim_end_matches(['\'', '’', '-']);
    bare.strip_suffix("'s")
        .or_else(|| bare.strip_suffix("’s"))
        .unwrap_or(bare)
        .to_owned()
}

/// The length of the initials at the start of `text`: " ПИ", " П.И.", " П. И.".
fn initials(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(' ') else { return 0 };
    let letters: Vec<(usize, char)> = rest.char_indices().take(6).collect();
    let is_capital = |index: usize| {
        letters
            .get(index)
            .is_some_and(|(_, letter)| matches!(letter, 'А'..='Я' | 'Ё'))
    };
    let is = |index: usize, sign: char| letters.get(index).is_some_and(|(_, letter)| *letter == sign);
    let is_free = |index: usize| letters.get(index).is_none_or(|(_, letter)| !letter.is_alphanumeric());
    let count = if is_capital(0) && is_capital(1) && is_free(2) {
        2
    } else if is_capital(0) && is(1, '.') && is_capital(2) && is(3, '.') {
        4
    } else if is_capital(0) && is(1, '.') && is(2, ' ') && is_capital(3) && is(4, '.') {
        5
    } else {
        return 0;
    };
    1 + rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at)
}

/// The first words of `text` up to the end of its clause, in lower case, behind the sign of the genitive.
fn first_words(text: &str, count: usize) -> impl Iterator<Item = String> {
    let text = text
        .strip_prefix("'s")
        .or_else(|| text.strip_prefix("’s"))
        .unwrap_or(text);
    let clause = text
        .trim_start_matches(['\'', '’', '-', '‑', '–'])
        .split(['.', '!', '?', '\n', ',', ';', ':', '('])
        .next();
    words(clause.unwrap_or_default().split(is_between_words), count)
}

/// The last words of `text`, in lower case, the last one first.
fn last_words(text: &str, count: usize) -> impl Iterator<Item = String> {
    words(text.rsplit(is_between_words), count)
}

fn is_between_words(character: char) -> bool {
    !character.is_alphabetic()
}

/// The first words of the parts of a text, in lower case.
fn words<'a>(parts: impl Iterator<Item = &'a str>, count: usize) -> impl Iterator<Item = String> {
    parts.filter(|part| !part.is_empty()).take(count).map(str::to_lowercase)
}

/// The word before the small words at the end of `text`: "maladie" in "la maladie de ".
fn small_words_before(text: &str) -> impl Iterator<Item = String> {
    const SMALL: [&str; 20] = [
        "de", "d", "di", "da", "do", "du", "des", "del", "della", "von", "van", "af", "av", "of", "the", "la", "le",
        "el", "του", "των",
    ];
    let mut words = last_words(text, 4).skip_while(|word| SMALL.contains(&word.as_str()));
    words.next().into_iter()
}

#[cfg(test)]
mod tests;
