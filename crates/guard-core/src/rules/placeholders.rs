//! Placeholders in a text, and what they stand for.
//!
//! All replacements are made in one pass over the text, so that a restored value is never taken for a placeholder, and where
//! placeholders overlap the longer one wins: `[REDACTED_PERSON_10]` is not `[REDACTED_PERSON_1` and `0]`.
//!
//! ```
//! use guard_core::rules::placeholders::{Matching, find, replace};
//!
//! let (placeholders, originals) = (["[REDACTED_PERSON_1]"], ["Ann"]);
//! let text = "Dear [redacted_person_1],";
//! let found = find(text, &placeholders, Matching::CaseInsensitive)?.found;
//! assert_eq!(replace(text, &found, &originals), "Dear Ann,");
//! # Ok::<(), guard_core::rules::substrings::SubstringsError>(())
//! ```

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::substrings::{self, SubstringMatch, Substrings, SubstringsError};
use crate::stop;

/// The most edits (insertions, deletions, substitutions of a character) between a placeholder and its occurrence, as in
/// llm-guard 0.3.16.
const MAX_EDITS: usize = 3;
/// Characters of a placeholder for each edit: "Anna" may differ in one, and only "Keanu Reeves" in three.
const CHARACTERS_PER_EDIT: usize = 4;
/// Placeholders that are looked for one after the other, since to make an automaton of them would take longer.
const FEW: usize = 16;
/// Cells of the distance tables of one text, about two seconds of work.
const WORK: usize = 400_000_000;

/// How placeholders are recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matching {
    /// As they are written.
    Exact,
    /// In any case.
    CaseInsensitive,
    /// With a few characters wrong. Exact occurrences come first, then those with the fewest edits. The digits have to be
    /// right: `[REDACTED_PERSON_2]` is another person, not a misspelt `[REDACTED_PERSON_1]`. A text that could be one
    /// placeholder as well as another stays as it is.
    Fuzzy,
}

/// An occurrence of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the placeholder.
    pub placeholder: usize,
    /// UTF-8 byte range, on character boundaries.
    pub range: Range<usize>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// In the order of the text; they do not overlap.
    pub found: Vec<Occurrence>,
    /// How far the text was searched, in bytes: all of it, unless a fuzzy search met a text made to be slow.
    pub searched: usize,
}

/// Finds placeholders; an empty placeholder is never found.
///
/// # Errors
///
/// [`SubstringsError::TooLarge`] for billions of characters of placeholders.
pub fn find<S: AsRef<str>>(text: &str, placeholders: &[S], matching: Matching) -> Result<Occurrences, SubstringsError> {
    let indices: Vec<usize> = (0..placeholders.len())
        .filter(|&index| !placeholders[index].as_ref().is_empty())
        .collect();
    let literals: Vec<&str> = indices.iter().map(|&index| placeholders[index].as_ref()).collect();
    if literals.is_empty() {
        return Ok(Occurrences {
            found: Vec::new(),
            searched: text.len(),
        });
    }
    let sensitive = matching != Matching::CaseInsensitive;
    let mut all = match sensitive && literals.len() <= FEW {
        true => one_by_one(text, &literals),
        false => Substrings::new(&literals, substrings::MatchType::Str, sensitive)?.find(text, true),
    };
    // Of placeholders that differ in case only, the one that is written like the text comes first.
    all.sort_by_key(|found| {
        (
            found.range.start,
            usize::MAX - found.range.end,
            text[found.range.clone()] != *literals[found.substring],
        )
    });
    let mut end = 0;
    let mut found: Vec<Occurrence> = Vec::new();
    for occurrence in all {
        stop::point();
        if occurrence.range.start >= end {
            end = occurrence.range.end;
            found.push(Occurrence {
                placeholder: occurrence.substring,
                range: occurrence.range,
            });
        }
    }
    let mut searched = text.len();
    if matching == Matching::Fuzzy {
        let (near, read) = find_near(text, &literals, &found)?;
        searched = read;
        found.extend(near);
        found.sort_unstable_by_key(|occurrence| occurrence.range.start);
    }
    for occurrence in &mut found {
        occurrence.placeholder = indices[occurrence.placeholder];
    }
    Ok(Occurrences { found, searched })
}

/// The same as [`Substrings::find`] finds, without the automaton that it makes before.
fn one_by_one(text: &str, literals: &[&str]) -> Vec<SubstringMatch> {
    let found = literals.iter().enumerate().flat_map(|(substring, literal)| {
        stop::point();
        text.match_indices(literal).map(move |(start, found)| SubstringMatch {
            substring,
            range: start..start + found.len(),
        })
    });
    found.collect()
}

/// Replaces occurrences by what their placeholders stand for.
pub fn replace<S: AsRef<str>>(text: &str, found: &[Occurrence], originals: &[S]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for Occurrence { placeholder, range } in found {
        replaced.push_str(&text[end..range.start]);
        replaced.push_str(originals[*placeholder].as_ref());
        end = range.end;
    }
    replaced + &text[end..]
}

/// A placeholder to be found with errors.
struct Pattern {
    characters: Vec<char>,
    edits: usize,
    numbers: Vec<String>,
}

/// Where a placeholder may be, because a part of it is there.
struct Seed {
    placeholder: usize,
    /// Where the part begins in the placeholder, in characters.
    offset: usize,
}

/// A possible occurrence, in characters.
struct Near {
    edits: usize,
    placeholder: usize,
    range: Range<usize>,
}

/// Finds occurrences with errors between those that are exact.
///
/// Of a placeholder cut into one piece more than there may be errors, one piece is there without an error; one with digits has
/// its first number there. Only around those is the distance computed (Sellers 1980, "The theory and computation of
/// evolutionary distances: pattern recognition", Journal of Algorithms 1(4)).
fn find_near(text: &str, literals: &[&str], exact: &[Occurrence]) -> Result<(Vec<Occurrence>, usize), SubstringsError> {
    let patterns: Vec<Pattern> = literals.iter().map(|literal| pattern(literal)).collect();
    let mut seeds: HashMap<String, Vec<Seed>> = HashMap::new();
    for (placeholder, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| pattern.edits > 0) {
        for (offset, piece) in pieces(pattern) {
            seeds.entry(piece).or_default().push(Seed { placeholder, offset });
        }
    }
    let (parts, seeds): (Vec<String>, Vec<Vec<Seed>>) = seeds.into_iter().unzip();
    let automaton = AhoCorasick::new(&parts).map_err(|error| SubstringsError::TooLarge(error.to_string()))?;

    let starts: Vec<usize> = text
        .char_indices()
        .map(|(start, _)| start)
        .chain([text.len()])
        .collect();
    let characters: Vec<char> = text.chars().collect();
    let at = |byte: usize| starts.partition_point(|&start| start < byte);
    let taken: Vec<Range<usize>> = exact
        .iter()
        .map(|found| at(found.range.start)..at(found.range.end))
        .collect();

    let mut near = Vec::new();
    let mut work = WORK;
    let mut searched = text.len();
    // Where the last window of each placeholder began. Its pieces lie side by side, so one look finds all of them.
    let mut looked: Vec<Option<usize>> = vec![None; patterns.len()];
    'hits: for hit in automaton.find_overlapping_iter(text) {
        let start_of_hit = at(hit.start());
        let next = taken.partition_point(|range| range.end <= start_of_hit);
        if taken.get(next).is_some_and(|range| range.start <= start_of_hit) {
            continue;
        }
        let gap = next.checked_sub(1).map_or(0, |before| taken[before].end)
            ..taken.get(next).map_or(characters.len(), |range| range.start);
        let number = parts[hit.pattern()].starts_with(|c: char| c.is_ascii_digit());
        let end = at(hit.end());
        let is_digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
        if number && (is_digit(characters.get(end)) || start_of_hit > 0 && is_digit(characters.get(start_of_hit - 1))) {
            continue;
        }
        for &Seed { placeholder, offset } in &seeds[hit.pattern()] {
            stop::point();
            let pattern = &patterns[placeholder];
            let start = start_of_hit.saturating_sub(offset + pattern.edits).max(gap.start);
            if looked[placeholder].is_some_and(|last| last >= start && last <= start_of_hit) && !number {
                continue;
            }
            looked[placeholder] = Some(start);
            // Two windows may be looked at as one, which leaves room for the edits of both.
            let window = start..(start_of_hit + pattern.characters.len() - offset + 2 * pattern.edits).min(gap.end);
            let cells = window.len() * (pattern.characters.len() + 1);
            let Some(rest) = work.checked_sub(cells) else {
                searched = starts[start];
                break 'hits;
            };
            work = rest;
            let part = &characters[window.clone()];
            if !has_characters(pattern, part) {
                continue;
            }
            if let Some((edits, range)) = nearest(pattern, part) {
                let range = range.start + window.start..range.end + window.start;
                near.push(Near {
                    edits,
                    placeholder,
                    range,
                });
            }
        }
    }
    let chosen = choose(near)
        .into_iter()
        .map(|Near { placeholder, range, .. }| Occurrence {
            placeholder,
            range: starts[range.start]..starts[range.end],
        });
    Ok((chosen.collect(), searched))
}

fn pattern(literal: &str) -> Pattern {
    let characters: Vec<char> = literal.chars().collect();
    Pattern {
        edits: MAX_EDITS.min(characters.len() / CHARACTERS_PER_EDIT),
        numbers: numbers(&characters),
        characters,
    }
}

/// The runs of digits.
fn numbers(characters: &[char]) -> Vec<String> {
    characters
        .split(|c| !c.is_ascii_digit())
        .filter(|run| !run.is_empty())
        .map(|run| run.iter().collect())
        .collect()
}

/// The parts of a placeholder, with their offsets, of which at least one stands in the text without an error.
fn pieces(
    Pattern {
        characters,
        edits,
        numbers,
    }: &Pattern,
) -> Vec<(usize, String)> {
    if let (Some(first), Some(offset)) = (numbers.first(), characters.iter().position(char::is_ascii_digit)) {
        return vec![(offset, first.clone())];
    }
    let count = edits + 1;
    (0..count)
        .map(|piece| (piece * characters.len() / count, (piece + 1) * characters.len() / count))
        .map(|(start, end)| (start, characters[start..end].iter().collect()))
        .collect()
}

/// Whether `text` has so many of the pattern's characters, in any order, that a part of it may differ in so few edits: each edit
/// replaces or takes away one character of the pattern at most. This takes a fraction of the time of [`nearest`].
fn has_characters(pattern: &Pattern, text: &[char]) -> bool {
    let mut counts = [0_i32; 128];
    let count = |character: char| (character as usize) % 128;
    for &character in text {
        counts[count(character)] += 1;
    }
    let mut missing = 0;
    for &character in &pattern.characters {
        let left = &mut counts[count(character)];
        *left -= 1;
        missing += usize::from(*left < 0);
    }
    missing <= pattern.edits
}

/// The part of `text` that differs least from the pattern; where several do, the longest one, then the first.
///
/// Characters that only replace those at the edges of the pattern are left out: of `(REDACTED_PERSON_1)`, the parentheses that
/// stand for its brackets.
fn nearest(pattern: &Pattern, text: &[char]) -> Option<(usize, Range<usize>)> {
    let length = pattern.characters.len();
    // For each beginning of the pattern: the edits to a part of the text that ends here, and where that part starts.
    let mut column: Vec<(usize, usize)> = (0..=length).map(|edits| (edits, 0)).collect();
    let mut best: Option<(usize, Range<usize>)> = None;
    for (at, &character) in text.iter().enumerate() {
        let mut diagonal = column[0];
        column[0] = (0, at + 1);
        for row in 1..=length {
            let same = pattern.characters[row - 1] == character;
            let options = [
                (diagonal.0 + usize::from(!same), diagonal.1),
                (column[row].0 + 1, column[row].1),
                (column[row - 1].0 + 1, column[row - 1].1),
            ];
            diagonal = column[row];
            // Of options with equally many edits, the part that starts first.
            column[row] = options.into_iter().min().unwrap_or(diagonal);
        }
        let (edits, start) = column[length];
        if edits > pattern.edits {
            continue;
        }
        let range = trimmed(pattern, text, start..at + 1);
        let Range { start, end } = range;
        let is_digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
        let cut = end > 0 && is_digit(end) && is_digit(end - 1) || start > 0 && is_digit(start - 1) && is_digit(start);
        let better =
            |(known, range): &(usize, Range<usize>)| (edits, range.len()) < (*known, end.saturating_sub(start));
        if start < end && !cut && best.as_ref().is_none_or(better) && numbers(&text[start..end]) == pattern.numbers {
            best = Some((edits, start..end));
        }
    }
    best
}

/// A part of the text without those characters at its edges that only replace characters of the pattern. Such a character is
/// unlike all of the pattern near that edge, and is no misspelt letter of a word.
fn trimmed(pattern: &Pattern, text: &[char], range: Range<usize>) -> Range<usize> {
    let Pattern { characters, edits, .. } = pattern;
    let foreign = |edge: &[char], outermost: Option<&char>, character: &char| {
        let is_letter = outermost.is_some_and(|edge| edge.is_alphanumeric()) && character.is_alphanumeric();
        !(is_letter || edge.contains(character))
    };
    let (head, tail) = (&characters[..=*edits], &characters[characters.len() - edits - 1..]);
    let part = &text[range.clone()];
    let leading = part
        .iter()
        .take(*edits)
        .take_while(|c| foreign(head, head.first(), c))
        .count();
    let rest = part[leading..].iter().rev().take(*edits);
    let trailing = rest.take_while(|c| foreign(tail, tail.last(), c)).count();
    range.start + leading..range.end - trailing
}

/// The occurrences with the fewest edits. Of several that overlap and have equally many edits none is chosen, unless they are of
/// the same placeholder.
fn choose(mut near: Vec<Near>) -> Vec<Near> {
    near.sort_unstable_by_key(|found| (found.edits, found.range.start, found.range.end, found.placeholder));
    near.dedup_by(|a, b| a.placeholder == b.placeholder && a.range == b.range);
    // What is decided, by where it ends: occurrences that were chosen and ranges that are ambiguous.
    let mut decided: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
    let mut chosen = Vec::new();
    for group in near.chunk_by(|a, b| a.edits == b.edits) {
        stop::point();
        let free: Vec<&Near> = group
            .iter()
            .filter(|found| {
                let next = decided.range(found.range.start + 1..).next();
                next.is_none_or(|(_, &start)| start >= found.range.end)
            })
            .collect();
        let mut index = 0;
        while index < free.len() {
            let mut end = free[index].range.end;
            let mut last = index + 1;
            while last < free.len() && free[last].range.start < end {
                end = end.max(free[last].range.end);
                last += 1;
            }
            let cluster = &free[index..last];
            if cluster.iter().all(|found| found.placeholder == cluster[0].placeholder) {
                let Near {
                    edits,
                    placeholder,
                    ref range,
                } = *cluster[0];
                chosen.push(Near {
                    edits,
                    placeholder,
                    range: range.clone(),
                });
            }
            decided.insert(end, cluster[0].range.start);
            index = last;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn restored(text: &str, pairs: &[(&str, &str)], matching: Matching) -> String {
        let (placeholders, originals): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let Occurrences { found, searched } = find(text, &placeholders, matching).unwrap();
        assert_eq!(searched, text.len());
        replace(text, &found, &originals)
    }

    const PEOPLE: &[(&str, &str)] = &[
        ("[REDACTED_PERSON_1]", "Ann [REDACTED_PERSON_10]"),
        ("[REDACTED_PERSON_10]", "Björn"),
        ("Keanu Reeves", "Jürgen"),
        ("", "nothing"),
    ];

    #[test]
    fn replaces_in_one_pass() {
        let text = "[REDACTED_PERSON_10], [REDACTED_PERSON_1] é keanu reeves";
        let exact = "Björn, Ann [REDACTED_PERSON_10] é keanu reeves";
        assert_eq!(restored(text, PEOPLE, Matching::Exact), exact);
        assert_eq!(restored("a b", &[("a", "b"), ("b", "a")], Matching::Exact), "b a");
        assert_eq!(
            restored("abc", &[("ab", "1"), ("abc", "2"), ("bc", "3")], Matching::Exact),
            "2"
        );
    }

    #[test]
    fn takes_any_case_where_asked_to() {
        let text = "[redacted_Person_1] KEANU REEVES";
        assert_eq!(
            restored(text, PEOPLE, Matching::CaseInsensitive),
            "Ann [REDACTED_PERSON_10] Jürgen"
        );
        assert_eq!(
            restored("[a] [A]", &[("[A]", "1"), ("[a]", "2")], Matching::CaseInsensitive),
            "2 1"
        );
    }

    #[test]
    fn takes_errors_where_asked_to() {
        let fuzzy = |text| restored(text, PEOPLE, Matching::Fuzzy);
        assert_eq!(fuzzy("Hi Kaenu Reves!"), "Hi Jürgen!");
        assert_eq!(fuzzy("[REDACTED PERSON 10, that is"), "Björn, that is");
        assert_eq!(fuzzy("(REDACTED_PERSON_1) é"), "(Ann [REDACTED_PERSON_10]) é");
        assert_eq!(
            fuzzy("[REDACTED_PERSON_2] [REDACTED_PERSON_11]"),
            "[REDACTED_PERSON_2] [REDACTED_PERSON_11]"
        );
        assert_eq!(fuzzy("nothing like it"), "nothing like it");
        assert_eq!(fuzzy("用REDACTED_PERSON_10做"), "用Björn做");
        let twins = &[("Maria Lang", "1"), ("Marie Lang", "2")];
        assert_eq!(
            restored("Marix Lang, Marie Lang, Maria Lan", twins, Matching::Fuzzy),
            "Marix Lang, 2, 1"
        );
    }

    #[test]
    fn a_thousand_placeholders_in_a_long_text() {
        let placeholders: Vec<String> = (0..1000).map(|n| format!("[REDACTED_PERSON_{n}]")).collect();
        let originals: Vec<String> = (0..1000).map(|n| format!("<{n}>")).collect();
        let text = (0..40_000)
            .map(|n| format!("[REDACTED_PERSON {}] ", n % 1000))
            .collect::<String>();
        let Occurrences { found, .. } = find(&text, &placeholders, Matching::Fuzzy).unwrap();
        let expected = (0..40_000).map(|n| format!("<{}> ", n % 1000)).collect::<String>();
        assert_eq!(replace(&text, &found, &originals), expected);
        let hostile = "[REDACTED_PERSON_ 1 ".repeat(50_000);
        for matching in [Matching::Exact, Matching::CaseInsensitive, Matching::Fuzzy] {
            assert!(find(&hostile, &placeholders, matching).unwrap().searched > 0);
        }
    }

    proptest! {
        #[test]
        fn a_few_are_found_as_many_are(text in "[ab]{0,24}|[abé]{0,24}", literals in prop::collection::vec("[ab]{1,4}|[abé]{1,3}", 1..5)) {
            let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
            let automaton = Substrings::new(&literals, substrings::MatchType::Str, true).unwrap();
            prop_assert_eq!(one_by_one(&text, &literals), automaton.find(&text, true));
        }

        #[test]
        fn occurrences_are_in_order_in_any_text(
            text in "([ab1é😀]|abab|[ABİ]){0,40}",
            placeholders in prop::collection::vec("[abAé1]{0,9}", 0..5),
        ) {
            for matching in [Matching::Exact, Matching::CaseInsensitive, Matching::Fuzzy] {
                let Occurrences { found, searched } = find(&text, &placeholders, matching).unwrap();
                prop_assert_eq!(searched, text.len());
                prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
                for Occurrence { placeholder, range } in &found {
                    let piece = text.get(range.clone());
                    prop_assert!(piece.is_some_and(|piece| !piece.is_empty()));
                    if matching == Matching::Exact {
                        prop_assert_eq!(piece, Some(placeholders[*placeholder].as_str()));
                    }
                }
                prop_assert_eq!(replace(&text, &found, &vec!["x"; placeholders.len()]).is_empty(), text.is_empty());
            }
        }
    }
}
