//! Rot13 and reversed writing.

use std::ops::Range;

use super::letters::{number, rarities};
use super::view::{Step, Steps, View, Writer};

/// Nats that a passage must look more like a language when it is turned than as it stands.
const MARGIN: u64 = 12;
/// Nats a letter, and nats besides, that a passage may cost when it is turned. English prose takes some 2.4 a letter; what
/// looks more like English when it is turned, but not like English, is another language or code.
const COMMON: f64 = 2.6;
const RARE_WORD: f64 = 6.0;
/// The ways to turn a word: rot13, backwards, both.
const WAYS: usize = 3;

/// The text with passages in rot13, written backwards, or both, turned to what they say.
///
/// Any text can be read so, and "green" is "terra" in rot13; a passage is turned where its words look less like English
/// than what they become, by how common their pairs of letters are. So this is for the Latin alphabet, and no word of
/// ordinary prose is touched. The cheapest way to read the words one after the other, where taking up a way costs
/// [`MARGIN`], is found by dynamic programming (Viterbi, 1967).
pub(super) fn turn(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    for (range, way) in passages(text) {
        let piece = &text[range.clone()];
        let rot13 = |c: char| match c {
            'a'..='z' => char::from((c as u8 - b'a' + 13) % 26 + b'a'),
            'A'..='Z' => char::from((c as u8 - b'A' + 13) % 26 + b'A'),
            _ => c,
        };
        match way {
            1 => writer.exchange(range, &piece.chars().map(rot13).collect::<String>(), Step::Rot13),
            2 => writer.mirror(range, &piece.chars().rev().collect::<String>(), Step::Reversed),
            _ => {
                let steps = Steps::from(Step::Reversed).then(Step::Rot13.into());
                writer.mirror(range, &piece.chars().rev().map(rot13).collect::<String>(), steps);
            }
        }
    }
    writer.finish()
}

/// A run of ASCII letters.
struct Word {
    start: usize,
    end: usize,
    /// What it costs to read it in each way.
    costs: [u32; WAYS + 1],
    /// The way before it that is best for each way of reading it, two bits each.
    from: u8,
}

/// The passages to be turned, from the first to the last letter, with the way to read them.
fn passages(text: &str) -> Vec<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut passages = Vec::new();
    // Words from the first one that is cheaper in some way than as it stands, while reading them as they stand is not the
    // best by more than the margin: before and after these, no way of reading can bring anything.
    let mut open: Vec<Word> = Vec::new();
    let mut best = [0; WAYS + 1];
    let mut at = 0;
    while let Some(gap) = bytes[at..].iter().position(|&byte| number(byte) != 0) {
        let start = at + gap;
        let (letters, costs) = rarities(&bytes[start..]);
        let end = start + letters;
        at = end;
        if open.is_empty() {
            if costs[1..].iter().all(|&cost| cost > costs[0]) {
                continue;
            }
            best = [0, MARGIN, MARGIN, MARGIN];
        }
        let mut next = [0; WAYS + 1];
        let mut from = 0;
        let cheapest = (0..=WAYS).min_by_key(|&way| best[way]).unwrap_or(0);
        for (way, cost) in costs.iter().enumerate() {
            let taking_up = best[cheapest] + if way == 0 { 0 } else { MARGIN };
            let (before, sum) = if best[way] <= taking_up {
                (way, best[way])
            } else {
                (cheapest, taking_up)
            };
            next[way] = sum + u64::from(*cost);
            from |= (before as u8) << (2 * way);
        }
        best = next;
        open.push(Word {
            start,
            end,
            costs,
            from,
        });
        if best[1..].iter().all(|&sum| sum > best[0] + MARGIN) {
            turned(bytes, &open, 0, &mut passages);
            open.clear();
        }
    }
    let way = (0..=WAYS).min_by_key(|&way| best[way]).unwrap_or(0);
    turned(bytes, &open, way, &mut passages);
    passages
}

/// Adds the passages of `words` that are to be turned, where the last word is read in the way `last`.
fn turned(bytes: &[u8], words: &[Word], last: usize, turned: &mut Vec<(Range<usize>, usize)>) {
    let ends_line = |index: usize| bytes[words[index].end..words[index + 1].start].contains(&b'\n');
    // The words of each passage, the last passage first. A passage is within a line.
    let mut passages: Vec<(Range<usize>, usize)> = Vec::new();
    let mut way = last;
    let mut after = 0;
    for (index, word) in words.iter().enumerate().rev() {
        match passages.last_mut() {
            Some((passage, _)) if way > 0 && way == after && !ends_line(index) => passage.start = index,
            _ if way > 0 => passages.push((index..index + 1, way)),
            _ => {}
        }
        after = way;
        way = usize::from(word.from >> (2 * way) & 3);
    }
    turned.extend(passages.into_iter().rev().filter_map(|(passage, way)| {
        let passage = &words[passage];
        let letters: usize = passage.iter().map(|word| word.end - word.start + 1).sum();
        let cost: u64 = passage.iter().map(|word| u64::from(word.costs[way])).sum();
        let range = passage.first()?.start..passage.last()?.end;
        (cost as f64 <= COMMON * letters as f64 + RARE_WORD).then_some((range, way))
    }));
}
