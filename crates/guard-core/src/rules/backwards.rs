//! Terms that are written backwards, as in "etimanyd".
//!
//! Views turn passages that look like a language only backwards ([`crate::text::views`]). A single word or a phrase of two words is too
//! short to tell, but a rule knows what it looks for, and so each of its terms is looked for backwards too.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text::views::rarity;

/// The fewest letters of a term that is looked for backwards. Many pairs of shorter words are each other backwards, in every language.
const LEAST: usize = 6;
/// The fewest letters where the term must look more like English than what it becomes, by [`GAIN`] nats.
const LEAST_LIKELY: usize = 4;
const GAIN: u32 = 6;
/// Words of six letters and more that are other words backwards.
const PAIRS: &str = "\
    animal lamina denier reined desserts stressed deviler relived deliver reviled diaper repaid dialer relaid drawer reward \
    drawers rewards redraw warder gateman nametag looter retool pupils slipup recaps spacer rebut tuber sleets steels \
    sloops spools sports strops spoons snoops snaps spans straps sparts stinker reknits rotator sergeant keels sleek \
    slamina lamia recap pacer amaroid diorama naomi moan nomad damon bursts strub redder tressed dessert rennet tenner \
    snoot toons stool loots struts strop ports tools loot sloop pools spool looped depool deeps speed eviler relive \
    delivered dereviled reviler leper repel lager regal";

/// What a term is backwards, as a whole and word by word; nothing where it cannot be told from other words then.
pub(super) fn written(term: &str) -> Vec<String> {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| PAIRS.split_whitespace().collect());
    if WORDS.contains(term.to_lowercase().as_str()) || !is_told(term) {
        return Vec::new();
    }
    let whole = turned(term);
    let by_word: Vec<String> = term.split(' ').map(turned).collect();
    let by_word = Some(by_word.join(" ")).filter(|by_word| *by_word != whole);
    by_word.into_iter().chain([whole]).collect()
}

fn turned(text: &str) -> String {
    text.chars().rev().collect()
}

/// Whether a term can be told from what it becomes backwards: it is long, or looks like a word of English and becomes none.
fn is_told(term: &str) -> bool {
    let letters = term.chars().filter(|c| c.is_alphabetic()).count();
    let back = turned(term);
    // Marks would join with other letters.
    if back.to_lowercase() == term.to_lowercase() || term.chars().any(unicode_normalization::char::is_combining_mark) {
        return false;
    }
    let likely = || term.is_ascii() && rarity(back.bytes()) >= rarity(term.bytes()) + GAIN;
    letters >= LEAST || letters >= LEAST_LIKELY && likely()
}
