//! Literals that a text must contain for a phrase to match.
//!
//! The patterns of phrases are large: compiling one file takes 0.1 s and many megabytes. Nearly every text lacks the
//! literals that a pattern requires, so most patterns are never compiled.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use crate::rules::keywords::Keywords;

/// The most needles of a list.
const MAX_NEEDLES: usize = 512;
/// The fewest bytes of a needle; shorter ones are in most texts.
const SHORTEST: usize = 3;
/// The most alternatives of a pattern with needles of their own.
const MAX_ALTERNATIVES: usize = 256;
/// The depth to which nested alternations are taken apart.
const DEPTH: usize = 2;
/// The most texts that are listed for a part of a pattern.
const FEW: usize = 64;
/// The most characters of a class that are listed, not counting letter case.
const FEW_CHARACTERS: usize = 4;

/// A list of needles. A match contains at least one of them.
type List = Vec<String>;
/// The lists of one alternative of a pattern, by their indices. A match contains a needle of each list.
type Alternative = Vec<usize>;

/// Selects the patterns that may match in a text.
#[derive(Debug)]
pub(super) struct Needles {
    needles: Keywords,
    /// For each needle, the lists that contain it.
    owners: Vec<Vec<usize>>,
    /// The number of lists.
    lists: usize,
    /// The pattern of each alternative, and its lists.
    alternatives: Vec<(usize, Alternative)>,
    /// The number of patterns.
    patterns: usize,
    folding: Folding,
}

impl Needles {
    /// Extracts the needles of patterns in the syntax of [`crate::rules::regex`]. A pattern that can't be parsed may
    /// match in any text.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let parsed: Vec<Option<Hir>> = patterns.into_iter().map(parse).collect();
        let mut folding = Folding::new();
        for hir in parsed.iter().flatten() {
            folding.learn(hir);
        }
        let mut lists = Lists::new(&folding);
        let mut alternatives = Vec::new();
        for (index, hir) in parsed.iter().enumerate() {
            let known = match hir {
                Some(hir) => lists.alternatives_of(hir, DEPTH),
                None => vec![Alternative::new()],
            };
            alternatives.extend(known.into_iter().map(|alternative| (index, alternative)));
        }
        let lists = lists.lists;
        let mut owners: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, list) in lists.iter().enumerate() {
            for needle in list {
                owners.entry(needle).or_default().push(number);
            }
        }
        Self {
            needles: Keywords::new(&owners.keys().collect::<Vec<_>>()),
            owners: owners.into_values().collect(),
            lists: lists.len(),
            alternatives,
            patterns: parsed.len(),
            folding,
        }
    }

    /// For each pattern, whether it may match in `text`.
    pub fn suspects(&self, text: &str) -> Vec<bool> {
        // Keywords ignore the case of ASCII letters.
        let folded = match text.is_ascii() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.folding.fold(text)),
        };
        let mut found = vec![false; self.lists];
        let Ok(()) = self.needles.find(folded.as_bytes(), |needle, _| {
            for &list in &self.owners[needle] {
                found[list] = true;
            }
            Ok::<(), Infallible>(())
        });
        let mut suspects = vec![false; self.patterns];
        for (pattern, lists) in &self.alternatives {
            suspects[*pattern] |= lists.iter().all(|&list| found[list]);
        }
        suspects
    }
}

/// Collects the lists of patterns.
struct Lists<'a> {
    folding: &'a Folding,
    lists: Vec<List>,
}

impl<'a> Lists<'a> {
    fn new(folding: &'a Folding) -> Self {
        let lists = Vec::new();
        Self { folding, lists }
    }

    fn add(&mut self, list: List) -> usize {
        self.lists.push(list);
        self.lists.len() - 1
    }

    /// The alternatives of a pattern. Alternations deeper than `depth` are not taken apart.
    fn alternatives_of(&mut self, hir: &Hir, depth: usize) -> Vec<Alternative> {
        match hir.kind() {
            HirKind::Capture(capture) => return self.alternatives_of(&capture.sub, depth),
            HirKind::Alternation(parts) if depth > 0 && parts.len() <= MAX_ALTERNATIVES => {
                let all = parts.iter().flat_map(|part| self.alternatives_of(part, depth - 1));
                let all: Vec<Alternative> = all.collect();
                if all.len() <= MAX_ALTERNATIVES {
                    return all;
                }
            }
            HirKind::Concat(parts) if depth > 0 => {
                let required = concat_lists(parts, self.folding).into_iter().filter_map(checked);
                let required: Vec<List> = required.collect();
                let required: Alternative = required.into_iter().map(|list| self.add(list)).collect();
                // Each alternative of the longest alternation may require more. The texts of one that is known as a whole
                // are in one list already.
                let is_partly_known =
                    |part: &&Hir| alternation_length(part) > 0 && needs(part, self.folding).exact.is_none();
                let alternations = parts.iter().filter(is_partly_known);
                let own = match alternations.max_by_key(|part| alternation_length(part)) {
                    Some(longest) => self.alternatives_of(longest, depth),
                    None => vec![Alternative::new()],
                };
                return own.into_iter().map(|own| [own, required.clone()].concat()).collect();
            }
            _ => {}
        }
        let best = needs(hir, self.folding).best();
        vec![best.map(|list| self.add(list)).into_iter().collect()]
    }
}

fn alternation_length(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Capture(capture) => alternation_length(&capture.sub),
        HirKind::Alternation(parts) => parts.len(),
        _ => 0,
    }
}

/// A list of needles, if they are few and long enough.
fn checked(mut needles: List) -> Option<List> {
    needles.sort_unstable();
    needles.dedup();
    (needles.len() <= MAX_NEEDLES && !needles.is_empty() && shortest(&needles) >= SHORTEST).then_some(needles)
}

/// Parses a pattern without its look-around. The rest matches wherever the pattern does.
fn parse(pattern: &str) -> Option<Hir> {
    let mut without = String::with_capacity(pattern.len());
    // Case is ignored anyway. Parsing takes several times as long if each letter becomes a class of its cases.
    let mut rest = pattern.strip_prefix("(?i)").unwrap_or(pattern);
    while let Some(character) = rest.chars().next() {
        let look = ["(?=", "(?!", "(?<=", "(?<!"]
            .iter()
            .find(|look| rest.starts_with(**look));
        if look.is_some() {
            // A quantifier may follow, so a group has to stay.
            without.push_str("(?:)");
            rest = &rest[end_of_group(rest)?..];
            continue;
        }
        let length = match character {
            '\\' => 1 + rest[1..].chars().next()?.len_utf8(),
            '[' => end_of_class(rest)?,
            other => other.len_utf8(),
        };
        // Parsing large classes takes long, and their characters are not listed anyway.
        match &rest[..length] {
            part if is_large(part) => without.push('.'),
            part => without.push_str(part),
        }
        rest = &rest[length..];
    }
    regex_syntax::Parser::new().parse(&without).ok()
}

/// Whether an escape or a class has more characters than are listed.
fn is_large(part: &str) -> bool {
    let escapes = ["\\w", "\\W", "\\s", "\\S", "\\d", "\\D"];
    match part.starts_with('[') {
        true => part.starts_with("[^") || part.contains("a-z") || escapes.iter().any(|escape| part.contains(escape)),
        false => escapes.contains(&part),
    }
}

/// The end of the group at the start of `pattern`.
fn end_of_group(pattern: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let rest = &pattern[at..];
        match rest.chars().next()? {
            '\\' => at += 1 + rest[1..].chars().next()?.len_utf8(),
            '[' => at += end_of_class(rest)?,
            '(' => {
                depth += 1;
                at += 1;
            }
            ')' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            other => at += other.len_utf8(),
        }
    }
}

/// The end of the character class at the start of `pattern`. Nested classes are not supported.
fn end_of_class(pattern: &str) -> Option<usize> {
    let mut at = if pattern.starts_with("[^") { 2 } else { 1 };
    let first = at;
    loop {
        let rest = &pattern[at..];
        match rest.chars().next()? {
            '\\' => at += 1 + rest[1..].chars().next()?.len_utf8(),
            '[' => return None,
            ']' if at > first => return Some(at + 1),
            other => at += other.len_utf8(),
        }
    }
}

/// Maps characters that differ only in case to one of them.
#[derive(Debug)]
struct Folding(HashMap<char, char>);

impl Folding {
    fn new() -> Self {
        // The only other cases of ASCII letters.
        Self(HashMap::from([('\u{17F}', 's'), ('\u{212A}', 'k')]))
    }

    /// Learns the cases of the non-ASCII letters of a pattern.
    fn learn(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                text.chars().for_each(|character| self.learn_character(character));
            }
            HirKind::Class(Class::Unicode(class)) => {
                let all = class.iter().flat_map(|range| range.start()..=range.end());
                all.take(FEW_CHARACTERS * 4)
                    .for_each(|character| self.learn_character(character));
            }
            HirKind::Repetition(repetition) => self.learn(&repetition.sub),
            HirKind::Capture(capture) => self.learn(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().for_each(|part| self.learn(part)),
            HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => {}
        }
    }

    fn learn_character(&mut self, character: char) {
        if character.is_ascii() || self.0.contains_key(&character) {
            return;
        }
        let mut cases = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
        if cases.try_case_fold_simple().is_err() {
            return;
        }
        let first = cases.iter().next().map_or(character, |range| range.start());
        let first = first.to_ascii_lowercase();
        let all = cases.iter().flat_map(|range| range.start()..=range.end());
        self.0.extend(all.filter(|c| !c.is_ascii()).map(|c| (c, first)));
    }

    fn fold_character(&self, character: char) -> char {
        match character.is_ascii() {
            true => character.to_ascii_lowercase(),
            false => self.0.get(&character).copied().unwrap_or(character),
        }
    }

    fn fold(&self, text: &str) -> String {
        match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => text.chars().map(|character| self.fold_character(character)).collect(),
        }
    }
}

/// The texts that a part of a pattern matches, as far as they are known.
struct Needs {
    /// All texts, folded.
    exact: Option<Vec<String>>,
    /// Every match contains one of these literals.
    within: Option<Vec<String>>,
}

impl Needs {
    const NOTHING: Self = Self {
        exact: None,
        within: None,
    };

    fn exactly(exact: Vec<String>) -> Self {
        Self {
            exact: Some(exact),
            within: None,
        }
    }

    /// The needles of this part, if they are few and long enough.
    fn best(self) -> Option<Vec<String>> {
        better(self.exact, self.within).and_then(checked)
    }
}

fn shortest(needles: &[String]) -> usize {
    needles.iter().map(String::len).min().unwrap_or_default()
}

/// Returns the list whose shortest text is longer.
fn better(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let is_better = (shortest(&other), one.len()) > (shortest(&one), other.len());
            Some(if is_better { other } else { one })
        }
        (one, other) => one.or(other),
    }
}

fn needs(hir: &Hir, folding: &Folding) -> Needs {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Needs::exactly(vec![String::new()]),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => Needs::exactly(vec![folding.fold(text)]),
            Err(_) => Needs::NOTHING,
        },
        HirKind::Class(Class::Unicode(class)) => class_needs(class, folding),
        HirKind::Class(Class::Bytes(_)) => Needs::NOTHING,
        HirKind::Capture(capture) => needs(&capture.sub, folding),
        HirKind::Repetition(repetition) => repetition_needs(repetition, folding),
        HirKind::Concat(parts) => concat_needs(parts, folding),
        HirKind::Alternation(parts) => alternation_needs(parts, folding),
    }
}

fn class_needs(class: &ClassUnicode, folding: &Folding) -> Needs {
    let all = class.iter().flat_map(|range| range.start()..=range.end());
    let mut folded: Vec<String> = all
        .take(FEW_CHARACTERS * 4)
        .map(|character| folding.fold_character(character).to_string())
        .collect();
    folded.sort_unstable();
    folded.dedup();
    match folded.len() {
        1..=FEW_CHARACTERS => Needs::exactly(folded),
        _ => Needs::NOTHING,
    }
}

fn repetition_needs(repetition: &Repetition, folding: &Folding) -> Needs {
    let sub = needs(&repetition.sub, folding);
    match (repetition.min, repetition.max) {
        (1, Some(1)) => sub,
        (0, Some(1)) => match sub.exact {
            Some(mut exact) if exact.len() < FEW => {
                exact.push(String::new());
                Needs::exactly(exact)
            }
            _ => Needs::NOTHING,
        },
        (0, _) => Needs::NOTHING,
        _ => Needs {
            exact: None,
            within: better(sub.exact, sub.within),
        },
    }
}

fn concat_needs(parts: &[Hir], folding: &Folding) -> Needs {
    let mut lists = concat_lists(parts, folding);
    match lists.len() {
        1 => Needs {
            exact: lists.pop(),
            within: None,
        },
        _ => Needs {
            exact: None,
            within: lists.into_iter().fold(None, |best, list| better(best, Some(list))),
        },
    }
}

/// The lists that a sequence of parts requires. There is only one if all texts that it matches are known.
fn concat_lists(parts: &[Hir], folding: &Folding) -> Vec<List> {
    let mut lists = Vec::new();
    // All texts that the last parts match, as long as they are known.
    let mut exact = vec![String::new()];
    for part in parts {
        let part = needs(part, folding);
        match part.exact {
            Some(next) if next.len() * exact.len() <= FEW => {
                let joined = exact
                    .iter()
                    .flat_map(|text| next.iter().map(move |next| format!("{text}{next}")));
                exact = joined.collect();
            }
            next => {
                lists.push(std::mem::take(&mut exact));
                lists.extend(part.within);
                exact = next.unwrap_or_else(|| vec![String::new()]);
            }
        }
    }
    lists.push(exact);
    lists
}

fn alternation_needs(parts: &[Hir], folding: &Folding) -> Needs {
    let mut exact = Some(Vec::new());
    let mut within = Some(Vec::new());
    for part in parts {
        let part = needs(part, folding);
        exact = exact
            .zip(part.exact.clone())
            .map(|(known, more)| [known, more].concat());
        let more = better(part.exact, part.within);
        within = within.zip(more).map(|(known, more)| [known, more].concat());
    }
    Needs {
        exact: exact.filter(|exact| exact.len() <= MAX_NEEDLES),
        within: within.filter(|within| within.len() <= MAX_NEEDLES),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suspects(pattern: &str, text: &str) -> bool {
        Needles::new([pattern]).suspects(text)[0]
    }

    #[test]
    fn a_text_without_the_words_of_a_pattern_is_left_out() {
        for (pattern, text) in [
            (
                r"(?i)\b(?:do not|don't)\W{1,3}(?:tell|mention) (?!it)(?:\w+ ){0,3}user\b",
                "Do worry about this.",
            ),
            (r"(?i)не могу (?:вам )?помочь", "Я могу помочь"),
            (r"(?i)(?:can|could)(?:not|n['’]t) \w+", "Cans of beans"),
            (r"[x\](?=]{2}secret(?<!a[(]secret)", "secre"),
        ] {
            assert!(!suspects(pattern, text), "{pattern}: {text}");
        }
    }

    #[test]
    fn letters_are_found_in_all_of_their_cases() {
        for (pattern, text) in [
            ("(?i)task list", "TA\u{17F}\u{212A} LIST"),
            ("(?i)не могу", "НЕ МОГУ"),
            ("(?i)σίσυφος", "ΣΊΣΥΦΟΣ"),
            ("(?i)Straße", "STRAẞE"),
            ("お手伝い", "申し訳ありませんが、お手伝いできません"),
        ] {
            assert!(suspects(pattern, text), "{pattern}: {text}");
        }
    }

    #[test]
    fn a_pattern_that_needs_nothing_may_match_anywhere() {
        for pattern in [r"\w+", "ab", "(?:secret)?", "[[a-c]--b]x", "a|secret", r"(\w)\1secret"] {
            assert!(suspects(pattern, "-"), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_missed(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "secret", "Kiss", "straße", "ночь", "(?:one|two three)", "(?:a|b)?", "[xyz]", "[^q]", r"\b", r"\w", "(?!one)", "(?<=t)", "(?-i:Up)",
                    "{0,2}", "+", "|", " ", "?", "(?:day|)",
                ]),
                1..8,
            ),
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "secret", "SECRET", "\u{212A}i\u{17F}s", "kisſ", "STRAẞE", "Straße", "НОЧЬ", "ночь", "one", "Two Three", "a", "B", "x", "z", " ", "é", "Up", "UP", "day",
                ]),
                0..8,
            ),
        ) {
            let pattern = format!("(?i){}", pieces.concat());
            let text = words.concat();
            if let Ok(regex) = fancy_regex::Regex::new(&pattern) {
                prop_assert!(suspects(&pattern, &text) || !regex.is_match(&text).unwrap(), "{pattern} {text}");
            }
        }
    }
}
