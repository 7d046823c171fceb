//! Decodes rot13 and reversed writing.

use std::ops::Range;

use super::letters::{ROT13, number, rarities, shifted};
use super::view::{Step, Steps, View, Writer};

/// How much more like a language a passage must look when it is decoded, in nats.
const MARGIN: u64 = 12;
/// The most nats per letter of a decoded passage, after subtracting [`MARGIN`]. English prose has about 2.4. A passage
/// that gains by decoding but still exceeds this is another language or code.
const COMMON: f64 = 2.6;
const RARE_WORD: f64 = 6.0;
/// The ways to decode a word: rot13, backwards, both.
const WAYS: usize = 3;

/// Decodes passages in rot13, written backwards, or both.
///
/// Any text can be decoded in these ways, and "green" is "terra" in rot13. A passage is decoded if the result looks
/// more like English than the passage, by the frequency of letter pairs. So this works for the Latin alphabet only, and
/// leaves ordinary prose alone. Dynamic programming (Viterbi, 1967) finds the cheapest way for each word, where a
/// change of way costs [`MARGIN`].
pub(super) fn turn(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    for (range, way) in passages(text) {
        let piece = &text[range.clone()];
        let rot13 = |c: char| shifted(c, ROT13);
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
    /// The cost of the word in each way, in nats; the first is the unchanged word.
    costs: [u32; WAYS + 1],
    /// For each way, the best way for the word before, two bits each.
    from: u8,
}

/// The passages to decode, each from its first letter to its last, with the way.
fn passages(text: &str) -> Vec<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut passages = Vec::new();
    // The words of a possible passage. It starts at the first word that is cheaper when decoded, and ends where the
    // unchanged words are cheapest by more than the margin, because no later word can change that.
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
            add_passages(bytes, &open, 0, &mut passages);
            open.clear();
        }
    }
    let way = (0..=WAYS).min_by_key(|&way| best[way]).unwrap_or(0);
    add_passages(bytes, &open, way, &mut passages);
    passages
}

/// Adds the passages of `words` to decode, if the last word is read in the way `last`.
fn add_passages(bytes: &[u8], words: &[Word], last: usize, turned: &mut Vec<(Range<usize>, usize)>) {
    let ends_line = |index: usize| bytes[words[index].end..words[index + 1].start].contains(&b'\n');
    // The words of each passage, the last passage first. No passage spans lines.
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
