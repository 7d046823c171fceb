//! Terms that are written backwards, as in "etimanyd".
//!
//! Views turn passages that look like a language only backwards ([`crate::text::views`]). A single word or a phrase of two words is too
//! short to tell, but a rule knows what it looks for, and so each of its terms is looked for backwards too.

use std::collections::HashSet;
use std::ops::Range;

use super::substrings::{MatchType, Substrings};
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

/// Terms of rules, ready to be searched for backwards.
#[derive(Debug)]
pub(super) struct Backwards {
    set: Substrings,
    /// The rule of each term.
    rules: Vec<usize>,
}

impl Backwards {
    /// Prepares the terms, each with the number of its rule; `None` where none of them can be told from other words backwards.
    pub fn new<'a>(terms: impl Iterator<Item = (usize, &'a str)>, case_sensitive: bool) -> Option<Self> {
        let pairs: HashSet<&str> = PAIRS.split_whitespace().collect();
        let mut rules = Vec::new();
        let mut written = Vec::new();
        for (rule, term) in terms {
            if pairs.contains(term.to_lowercase().as_str()) || !is_told(term) {
                continue;
            }
            let by_word: Vec<String> = term.split(' ').map(turned).collect();
            let by_word = by_word.join(" ");
            let whole = turned(term);
            if by_word != whole {
                rules.push(rule);
                written.push(by_word);
            }
            rules.push(rule);
            written.push(whole);
        }
        let set = Substrings::new(&written, MatchType::Name, case_sensitive).ok()?;
        (!rules.is_empty()).then_some(Self { set, rules })
    }

    /// Where the terms stand backwards in `text`, with the number of the rule of each.
    pub fn find(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let found = self.set.find(text, true).into_iter();
        found.map(|found| (self.rules[found.substring], found.range)).collect()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_word_backwards_is_looked_for() {
        let finds = |term: &str, text: &str| {
            let backwards = Backwards::new([(7, term)].into_iter(), false);
            backwards.is_some_and(|backwards| backwards.find(text).iter().any(|(rule, _)| *rule == 7))
        };
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
