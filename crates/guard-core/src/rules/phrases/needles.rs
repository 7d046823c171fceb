//! What a text must have for a phrase to be in it.
//!
//! The patterns of phrases are large: to compile those of one file takes a tenth of a second and many megabytes. Nearly all texts
//! have none of the words that a pattern cannot do without, and are not searched with it, so that most patterns are never compiled.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use crate::rules::keywords::Keywords;

/// Texts of which a pattern needs one, at most; and the shortest in bytes that is worth a look.
const MOST: usize = 512;
const SHORTEST: usize = 3;
/// Texts that a part of a pattern may match for all of them to be known.
const FEW: usize = 64;
/// Characters of a class that is more than one letter in its cases.
const FEW_CHARACTERS: usize = 4;

/// Says of a text which of many patterns may match in it.
#[derive(Debug)]
pub(super) struct Needles {
    needles: Keywords,
    /// For each needle the pattern that needs it or another one.
    owners: Vec<usize>,
    /// For each pattern, whether nothing is known that it needs.
    unknown: Vec<bool>,
    folding: Folding,
}

impl Needles {
    /// Needles of patterns in the syntax of [`crate::rules::regex`]. A pattern that cannot be read may match in any text.
    pub fn new(patterns: &[String]) -> Self {
        let parsed: Vec<Option<Hir>> = patterns.iter().map(|pattern| parse(pattern)).collect();
        let mut folding = Folding::default();
        for hir in parsed.iter().flatten() {
            folding.learn(hir);
        }
        let mut needles = Vec::new();
        let mut owners = Vec::new();
        let mut unknown = Vec::new();
        for (index, hir) in parsed.iter().enumerate() {
            let needed = hir.as_ref().and_then(|hir| needs(hir, &folding).best());
            unknown.push(needed.is_none());
            for needle in needed.unwrap_or_default() {
                needles.push(needle);
                owners.push(index);
            }
        }
        Self {
            needles: Keywords::new(&needles),
            owners,
            unknown,
            folding,
        }
    }

    /// For each pattern whether it may match in `text`.
    pub fn suspects(&self, text: &str) -> Vec<bool> {
        let mut suspects = self.unknown.clone();
        // Keywords are found in any case of the letters of ASCII.
        let folded = match text.is_ascii() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.folding.fold(text)),
        };
        let Ok(()) = self.needles.find(folded.as_bytes(), |needle, _| {
            suspects[self.owners[needle]] = true;
            Ok::<(), Infallible>(())
        });
        suspects
    }
}

/// Reads a pattern without its look-around: what is left matches wherever the pattern does.
fn parse(pattern: &str) -> Option<Hir> {
    let mut without = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let look = ["(?=", "(?!", "(?<=", "(?<!"]
            .iter()
            .find(|look| rest.starts_with(**look));
        if look.is_some() {
            // An empty group, since a quantifier may follow.
            without.push_str("(?:)");
            rest = &rest[end_of_group(rest)?..];
            continue;
        }
        let length = match character {
            '\\' => 1 + rest[1..].chars().next()?.len_utf8(),
            '[' => end_of_class(rest)?,
            other => other.len_utf8(),
        };
        without.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    regex_syntax::Parser::new().parse(&without).ok()
}

/// Where the group ends that `pattern` begins with.
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

/// Where the class of characters ends that `pattern` begins with. Classes in classes are not read.
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

/// One spelling for characters that differ in their case only.
#[derive(Debug, Default)]
struct Folding(HashMap<char, char>);

impl Folding {
    /// Learns the cases of the letters of a pattern, as far as they are not those of ASCII.
    fn learn(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                if let Some(letter) = letter(class) {
                    let all = class.iter().flat_map(|range| range.start()..=range.end());
                    self.0.extend(all.filter(|c| !c.is_ascii()).map(|c| (c, letter)));
                }
            }
            HirKind::Repetition(repetition) => self.learn(&repetition.sub),
            HirKind::Capture(capture) => self.learn(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().for_each(|part| self.learn(part)),
            HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
        }
    }

    fn one(&self, character: char) -> char {
        match character.is_ascii() {
            true => character.to_ascii_lowercase(),
            false => self.0.get(&character).copied().unwrap_or(character),
        }
    }

    fn fold(&self, text: &str) -> String {
        match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => text.chars().map(|character| self.one(character)).collect(),
        }
    }
}

/// The letter that a class has all cases of, and nothing else; in lower case if it is one of ASCII.
fn letter(class: &ClassUnicode) -> Option<char> {
    let first = class.iter().next()?.start();
    let mut cases = ClassUnicode::new([ClassUnicodeRange::new(first, first)]);
    cases.try_case_fold_simple().ok()?;
    (cases == *class).then(|| first.to_ascii_lowercase())
}

/// What is known of the texts that a part of a pattern matches.
struct Needs {
    /// All of them, folded.
    exact: Option<Vec<String>>,
    /// Texts of which each of them contains one.
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

    /// The needles of this part, if they are worth a look.
    fn best(self) -> Option<Vec<String>> {
        better(self.exact, self.within)
            .filter(|needles| needles.len() <= MOST && !needles.is_empty() && shortest(needles) >= SHORTEST)
    }
}

fn shortest(needles: &[String]) -> usize {
    needles.iter().map(String::len).min().unwrap_or_default()
}

/// The list whose shortest text is longer.
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
        HirKind::Class(Class::Unicode(class)) => {
            let all = class.iter().flat_map(|range| range.start()..=range.end());
            let mut folded: Vec<String> = all
                .take(FEW_CHARACTERS * 4)
                .map(|character| folding.one(character).to_string())
                .collect();
            folded.sort_unstable();
            folded.dedup();
            match folded.len() {
                1..=FEW_CHARACTERS => Needs::exactly(folded),
                _ => Needs::NOTHING,
            }
        }
        HirKind::Class(Class::Bytes(_)) => Needs::NOTHING,
        HirKind::Capture(capture) => needs(&capture.sub, folding),
        HirKind::Repetition(repetition) => {
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
        HirKind::Concat(parts) => {
            let mut within = None;
            // All texts of the last parts, as far as they are known.
            let mut exact = vec![String::new()];
            let mut is_whole = true;
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
                        is_whole = false;
                        within = better(within, Some(std::mem::take(&mut exact)));
                        within = better(within, part.within);
                        exact = next.unwrap_or_else(|| vec![String::new()]);
                    }
                }
            }
            match is_whole {
                true => Needs::exactly(exact),
                false => Needs {
                    exact: None,
                    within: better(within, Some(exact)),
                },
            }
        }
        HirKind::Alternation(parts) => {
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
                exact: exact.filter(|exact| exact.len() <= MOST),
                within: within.filter(|within| within.len() <= MOST),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suspects(pattern: &str, text: &str) -> bool {
        Needles::new(&[pattern.to_owned()]).suspects(text)[0]
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
