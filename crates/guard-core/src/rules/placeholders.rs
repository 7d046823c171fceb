//! Finds placeholders in a text, and replaces them with the original values.
//!
//! One pass over the text makes all replacements, so a restored value is never mistaken for a placeholder. Of
//! overlapping placeholders, the longer one wins: `[REDACTED_PERSON_10]` is not `[REDACTED_PERSON_1` and `0]`.
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
use std::ops::{ControlFlow, Range};

use aho_corasick::AhoCorasick;

use super::substrings::{self, SubstringMatch, Substrings, SubstringsError};
use crate::stop;

/// The most edits (insertions, deletions, substitutions of a character) between a placeholder and its occurrence, as in
/// llm-guard 0.3.16.
const MAX_EDITS: usize = 3;
/// Characters of a placeholder for each edit: "Anna" may differ in one, and only "Keanu Reeves" in three.
const CHARACTERS_PER_EDIT: usize = 4;
/// Up to this many placeholders are searched for one by one, which is faster than building an automaton.
const FEW: usize = 16;
/// Cells of the distance tables of one text, about two seconds of work.
const WORK: usize = 400_000_000;

/// How exactly a placeholder must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Exactly as written.
    Exact,
    /// In any case.
    CaseInsensitive,
    /// With a few wrong characters. Exact occurrences come first, then those with the fewest edits. The digits must be
    /// right: `[REDACTED_PERSON_2]` is another person, not a misspelt `[REDACTED_PERSON_1]`. A text that is equally
    /// close to two placeholders stays unchanged.
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

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// The occurrences in the order of the text, without overlaps.
    pub found: Vec<Occurrence>,
    /// How far the text was searched, in bytes. Less than the whole text only if a fuzzy search hit a text that is made
    /// to be slow.
    pub searched: usize,
}

/// Finds placeholders. An empty placeholder has no occurrences.
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
    // Of placeholders that differ only in case, the one with the case of the text comes first.
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

/// Like [`Substrings::find`], without building an automaton.
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

/// Replaces occurrences with the original values of their placeholders.
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

/// A placeholder that may have errors.
struct Pattern {
    characters: Vec<char>,
    edits: usize,
    numbers: Vec<String>,
}

/// A placeholder that has a certain piece.
struct Seed {
    placeholder: usize,
    /// The position of the piece in the placeholder, in characters.
    offset: usize,
}

/// A possible occurrence, in characters.
struct Near {
    edits: usize,
    placeholder: usize,
    range: Range<usize>,
}

/// Finds occurrences with errors between those that are exact. Returns them and how far the text was searched, in
/// bytes.
///
/// A placeholder is cut into one piece more than it may have errors, so that one piece occurs without an error; a
/// placeholder with digits has its first number there. Only around these pieces is the distance computed (Sellers 1980,
/// "The theory and computation of evolutionary distances: pattern recognition", Journal of Algorithms 1(4)).
fn find_near(text: &str, literals: &[&str], exact: &[Occurrence]) -> Result<(Vec<Occurrence>, usize), SubstringsError> {
    let patterns: Vec<Pattern> = literals.iter().map(|literal| pattern(literal)).collect();
    let seeds = Seeds::new(&patterns)?;
    let mut search = NearSearch::new(text, &patterns, exact);
    for hit in seeds.automaton.find_overlapping_iter(text) {
        let pattern = hit.pattern().as_usize();
        let is_number = seeds.pieces[pattern].starts_with(|c: char| c.is_ascii_digit());
        let is_done = search.look(hit.range(), is_number, &seeds.of_piece[pattern]);
        if is_done.is_break() {
            break;
        }
    }
    let NearSearch {
        starts, near, searched, ..
    } = search;
    let chosen = choose(near)
        .into_iter()
        .map(|Near { placeholder, range, .. }| Occurrence {
            placeholder,
            range: starts[range.start]..starts[range.end],
        });
    Ok((chosen.collect(), searched))
}

/// The pieces of all placeholders. Every occurrence of a placeholder contains one of its pieces.
struct Seeds {
    automaton: AhoCorasick,
    pieces: Vec<String>,
    /// For each piece, the placeholders that have it.
    of_piece: Vec<Vec<Seed>>,
}

impl Seeds {
    fn new(patterns: &[Pattern]) -> Result<Self, SubstringsError> {
        let mut seeds: HashMap<String, Vec<Seed>> = HashMap::new();
        for (placeholder, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| pattern.edits > 0) {
            for (offset, piece) in pieces(pattern) {
                seeds.entry(piece).or_default().push(Seed { placeholder, offset });
            }
        }
        let (pieces, of_piece): (Vec<String>, Vec<Vec<Seed>>) = seeds.into_iter().unzip();
        Ok(Self {
            automaton: AhoCorasick::new(&pieces).map_err(|error| SubstringsError::TooLarge(error.to_string()))?,
            pieces,
            of_piece,
        })
    }
}

/// A search of one text for occurrences with errors. Positions are in characters unless noted.
struct NearSearch<'a> {
    patterns: &'a [Pattern],
    /// The byte offset of each character, and the length of the text.
    starts: Vec<usize>,
    characters: Vec<char>,
    /// The ranges of exact occurrences, in order.
    taken: Vec<Range<usize>>,
    near: Vec<Near>,
    /// How many cells of distance tables may still be computed.
    work: usize,
    /// How far the text was searched, in bytes.
    searched: usize,
    /// The start of the last window of each placeholder. Its pieces are side by side, so one look finds all of them.
    windows: Vec<Option<usize>>,
}

impl<'a> NearSearch<'a> {
    fn new(text: &str, patterns: &'a [Pattern], exact: &[Occurrence]) -> Self {
        let mut search = Self {
            patterns,
            starts: text
                .char_indices()
                .map(|(start, _)| start)
                .chain([text.len()])
                .collect(),
            characters: text.chars().collect(),
            taken: Vec::new(),
            near: Vec::new(),
            work: WORK,
            searched: text.len(),
            windows: vec![None; patterns.len()],
        };
        let ranges = exact
            .iter()
            .map(|found| search.character_at(found.range.start)..search.character_at(found.range.end));
        search.taken = ranges.collect();
        search
    }

    /// The character at a byte offset.
    fn character_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start < byte)
    }

    /// Looks for placeholders around a piece that occurs at the bytes `hit`. Breaks if the work is used up.
    fn look(&mut self, hit: Range<usize>, is_number: bool, seeds: &[Seed]) -> ControlFlow<()> {
        let start = self.character_at(hit.start);
        let next = self.taken.partition_point(|range| range.end <= start);
        if self.taken.get(next).is_some_and(|range| range.start <= start) {
            return ControlFlow::Continue(());
        }
        let gap = next.checked_sub(1).map_or(0, |before| self.taken[before].end)
            ..self.taken.get(next).map_or(self.characters.len(), |range| range.start);
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| self.characters.get(at))
                .is_some_and(char::is_ascii_digit)
        };
        let end = self.character_at(hit.end);
        if is_number && (is_digit(Some(end)) || is_digit(start.checked_sub(1))) {
            return ControlFlow::Continue(());
        }
        for seed in seeds {
            stop::point();
            self.look_for(seed, start, &gap, is_number)?;
        }
        ControlFlow::Continue(())
    }

    /// Looks for one placeholder around its piece at `hit`, within `gap`.
    fn look_for(&mut self, seed: &Seed, hit: usize, gap: &Range<usize>, is_number: bool) -> ControlFlow<()> {
        let &Seed { placeholder, offset } = seed;
        let pattern = &self.patterns[placeholder];
        let start = hit.saturating_sub(offset + pattern.edits).max(gap.start);
        if self.windows[placeholder].is_some_and(|last| last >= start && last <= hit) && !is_number {
            return ControlFlow::Continue(());
        }
        self.windows[placeholder] = Some(start);
        // One window may stand for two, so it leaves room for the edits of both.
        let window = start..(hit + pattern.characters.len() - offset + 2 * pattern.edits).min(gap.end);
        let cells = window.len() * (pattern.characters.len() + 1);
        let Some(rest) = self.work.checked_sub(cells) else {
            self.searched = self.starts[start];
            return ControlFlow::Break(());
        };
        self.work = rest;
        let part = &self.characters[window.clone()];
        if has_characters(pattern, part)
            && let Some((edits, range)) = nearest(pattern, part)
        {
            self.near.push(Near {
                edits,
                placeholder,
                range: range.start + window.start..range.end + window.start,
            });
        }
        ControlFlow::Continue(())
    }
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

/// The pieces of a placeholder with their offsets. At least one piece occurs in the text without an error.
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

/// Whether `text` has enough of the pattern's characters, in any order, to match within the allowed edits: each edit
/// replaces or removes at most one character of the pattern. This takes a fraction of the time of [`nearest`].
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

/// The part of `text` that differs least from the pattern. Of several, it is the longest one, then the first.
///
/// Characters that only replace the edges of the pattern are left out, such as the parentheses of `(REDACTED_PERSON_1)`
/// in place of brackets.
fn nearest(pattern: &Pattern, text: &[char]) -> Option<(usize, Range<usize>)> {
    let length = pattern.characters.len();
    // For each prefix of the pattern: the edits to the best part of the text that ends here, and the start of that
    // part.
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
            // Of options with equally many edits, the part that starts first wins.
            column[row] = options.into_iter().min().unwrap_or(diagonal);
        }
        let (edits, start) = column[length];
        if edits > pattern.edits {
            continue;
        }
        let range = trim_edges(pattern, text, start..at + 1);
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

/// Removes the characters at the edges that only replace characters of the pattern. Such a character differs from all
/// characters of the pattern near that edge, and is not a misspelt letter of a word.
fn trim_edges(pattern: &Pattern, text: &[char], range: Range<usize>) -> Range<usize> {
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

/// Chooses the occurrences with the fewest edits. Overlapping ones with equally many edits are ambiguous: none is
/// chosen unless they are of the same placeholder.
fn choose(mut near: Vec<Near>) -> Vec<Near> {
    near.sort_unstable_by_key(|found| (found.edits, found.range.start, found.range.end, found.placeholder));
    near.dedup_by(|a, b| a.placeholder == b.placeholder && a.range == b.range);
    // The starts of chosen occurrences and of ambiguous ranges, by their ends.
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
