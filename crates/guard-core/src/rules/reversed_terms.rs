//! Writes the terms of rules backwards, as in "etimanyd".
//!
//! Views decode passages that look like a language only backwards ([`crate::text::views`]). One or two words are too
//! short for that, but the terms of a rule are known, so each is also searched for backwards.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text::views::rarity;

/// The fewest letters of a term that is searched for backwards. Every language has many pairs of shorter words that are
/// each other backwards.
const LEAST: usize = 6;
/// The fewest letters of a term that looks more like English than its reverse, by [`GAIN`] nats.
const LEAST_LIKELY: usize = 4;
const GAIN: u32 = 6;
/// Words of at least six letters that are other words backwards.
const PAIRS: &str = "\
    animal lamina denier reined desserts stressed deviler relived deliver reviled diaper repaid dialer relaid drawer reward \
    drawers rewards redraw warder gateman nametag looter retool pupils slipup recaps spacer rebut tuber sleets steels \
    sloops spools sports strops spoons snoops snaps spans straps sparts stinker reknits rotator sergeant keels sleek \
    slamina lamia recap pacer amaroid diorama naomi moan nomad damon bursts strub redder tressed dessert rennet tenner \
    snoot toons stool loots struts strop ports tools loot sloop pools spool looped depool deeps speed eviler relive \
    delivered dereviled reviler leper repel lager regal";

/// The reverse of a term, as a whole and word by word; empty if the reverse may be another word.
pub(super) fn reversed_forms(term: &str) -> Vec<String> {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| PAIRS.split_whitespace().collect());
    if WORDS.contains(term.to_lowercase().as_str()) || !has_distinct_reverse(term) {
        return Vec::new();
    }
    let whole = reverse(term);
    let by_word: Vec<String> = term.split(' ').map(reverse).collect();
    let by_word = Some(by_word.join(" ")).filter(|by_word| *by_word != whole);
    by_word.into_iter().chain([whole]).collect()
}

fn reverse(text: &str) -> String {
    text.chars().rev().collect()
}

/// Whether the reverse of a term is surely no other word: the term is long, or looks like English while its reverse
/// does not.
fn has_distinct_reverse(term: &str) -> bool {
    let letters = term.chars().filter(|c| c.is_alphabetic()).count();
    let back = reverse(term);
    // Combining marks would attach to other letters.
    if back.to_lowercase() == term.to_lowercase() || term.chars().any(unicode_normalization::char::is_combining_mark) {
        return false;
    }
    let likely = || term.is_ascii() && rarity(back.bytes()) >= rarity(term.bytes()) + GAIN;
    letters >= LEAST || letters >= LEAST_LIKELY && likely()
}
