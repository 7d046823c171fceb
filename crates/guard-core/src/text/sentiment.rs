//! Measures how positive or negative a text is, with VADER.
//!
//! The rules and constants follow Hutto and Gilbert 2014, "VADER: A Parsimonious Rule-based Model for Sentiment
//! Analysis of Social Media Text" (ICWSM-14), as in NLTK's `SentimentIntensityAnalyzer`. The lexicon is the authors',
//! from the crate `vader_sentiment`.
//!
//! One thing differs from NLTK, which uses the surroundings of a word's first occurrence for all of its occurrences,
//! and so misreads the second "good" in "good ... not good". Here the surroundings of each occurrence count, as in the
//! authors' own program.
//!
//! ```
//! use guard_core::text::sentiment::compound;
//!
//! assert!(compound("What a lovely day!") > 0.5);
//! assert!(compound("This is horrible.") < -0.5);
//! assert_eq!(compound("The train leaves at nine."), 0.0);
//! ```

use crate::stop;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Added by a booster to the valence of the word after it.
const BOOST: f64 = 0.293;
/// Added by capitals, unless all words are in capitals.
const CAPITALS: f64 = 0.733;
/// The factor of a negation.
const NEGATION: f64 = -0.74;
/// Normalizes the sum of valences to -1..1: sum / sqrt(sum² + ALPHA).
const ALPHA: f64 = 15.0;

#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "aint", "arent", "cannot", "cant", "couldnt", "darent", "didnt", "doesnt", "dont", "hadnt", "hasnt", "havent", "isnt",
    "mightnt", "mustnt", "neither", "neednt", "never", "none", "nope", "nor", "not", "nothing", "nowhere", "oughtnt",
    "shant", "shouldnt", "uhuh", "uh-uh", "wasnt", "werent", "without", "wont", "wouldnt", "rarely", "seldom", "despite",
];

#[rustfmt::skip]
const BOOSTERS: &[&str] = &[
    "absolutely", "amazingly", "awfully", "completely", "considerably", "decidedly", "deeply", "effing", "enormously",
    "entirely", "especially", "exceptionally", "extremely", "fabulously", "flipping", "flippin", "fricking", "frickin",
    "frigging", "friggin", "fully", "fucking", "greatly", "hella", "highly", "hugely", "incredibly", "intensely", "majorly",
    "more", "most", "particularly", "purely", "quite", "really", "remarkably", "so", "substantially", "thoroughly",
    "totally", "tremendously", "uber", "unbelievably", "unusually", "utterly", "very",
];

#[rustfmt::skip]
const DAMPENERS: &[&str] = &[
    "almost", "barely", "hardly", "just enough", "kind of", "kinda", "kindof", "kind-of", "less", "little", "marginally",
    "occasionally", "partly", "scarcely", "slightly", "somewhat", "sort of", "sorta", "sortof", "sort-of",
];

/// Idioms with their valences.
const IDIOMS: &[(&str, f64)] = &[
    ("the shit", 3.0),
    ("the bomb", 3.0),
    ("bad ass", 1.5),
    ("yeah right", -2.0),
    ("cut the mustard", 2.0),
    ("kiss of death", -1.5),
    ("hand to mouth", -2.0),
];

/// Punctuation before or after a word.
const PUNCTUATION: &[&str] = &[
    ".", "!", "?", ",", ";", ":", "-", "'", "\"", "!!", "!!!", "??", "???", "?!?", "!?!", "?!?!", "!?!?",
];

static LEXICON: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    vader_sentiment::LEXICON
        .iter()
        .map(|(word, &valence)| (word.to_lowercase(), valence))
        .collect()
});
static BOOSTER_VALUES: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
    let boosters = BOOSTERS.iter().map(|&word| (word, BOOST));
    boosters.chain(DAMPENERS.iter().map(|&word| (word, -BOOST))).collect()
});

/// A word in its original form and in lower case.
struct Word<'a> {
    text: &'a str,
    lower: String,
    valence: Option<f64>,
    capitals: bool,
}

/// How many words before a word affect its valence.
const BEFORE: usize = 3;
/// How many words after a word affect its valence.
const BEHIND: usize = 2;

/// The compound score of a text: from -1 (negative) to 1 (positive), rounded to 4 decimals; 0 for a text without words.
///
/// It reads the text twice and keeps only a few words in memory.
pub fn compound(text: &str) -> f64 {
    let differ = capitals_differ(text);
    let mut coming = words(text);
    let mut near: Vec<Word> = coming.by_ref().take(1 + BEHIND).collect();
    let mut at = 0;
    let mut weight = None;
    let mut sum = 0.0;
    while at < near.len() {
        stop::point();
        if near[at].lower == "but" && weight.is_none() {
            // Words before the first "but" count half, words after it one and a half times.
            sum *= 0.5;
            weight = Some(1.5);
        }
        sum += valence(&near, at, differ) * weight.unwrap_or(1.0);
        near.extend(coming.next());
        if at == BEFORE {
            near.remove(0);
        } else {
            at += 1;
        }
    }
    if sum == 0.0 {
        return 0.0;
    }
    let exclamations = text.bytes().filter(|&byte| byte == b'!').take(4).count() as f64 * 0.292;
    let questions = match text.bytes().filter(|&byte| byte == b'?').take(4).count() {
        0 | 1 => 0.0,
        count @ 2..=3 => count as f64 * 0.18,
        _ => 0.96,
    };
    let sum = sum + sum.signum() * (exclamations + questions);
    (sum / (sum * sum + ALPHA).sqrt() * 1e4).round() / 1e4
}

/// The words of a text that have at least two characters.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    tokens(text).map(|token| {
        let text = strip(token);
        let lower = text.to_lowercase();
        Word {
            valence: LEXICON.get(lower.as_str()).copied(),
            capitals: is_upper(text),
            text,
            lower,
        }
    })
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '\u{1C}'..='\u{1F}'))
        .filter(|token| token.chars().nth(1).is_some())
}

/// Whether some words of a text are in capitals and others are not.
fn capitals_differ(text: &str) -> bool {
    let mut capitals = tokens(text).map(|token| is_upper(strip(token)));
    capitals
        .next()
        .is_some_and(|first| capitals.any(|other| other != first))
}

/// Strips punctuation from a word. Emoticons and contractions stay unchanged.
fn strip(token: &str) -> &str {
    let is_word = |word: &str| word.chars().nth(1).is_some() && !word.bytes().any(|byte| byte.is_ascii_punctuation());
    let behind = token.trim_end_matches(|c: char| c.is_ascii_punctuation());
    if PUNCTUATION.contains(&&token[behind.len()..]) && is_word(behind) {
        return behind;
    }
    let before = token.trim_start_matches(|c: char| c.is_ascii_punctuation());
    if PUNCTUATION.contains(&&token[..token.len() - before.len()]) && is_word(before) {
        return before;
    }
    token
}

/// Whether a word has capital letters and none in lower case.
fn is_upper(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}

fn is_negation(lower: &str) -> bool {
    // Every contraction with "n't" is a negation.
    lower.contains("n't") || NEGATIONS.contains(&lower)
}

fn valence(words: &[Word], at: usize, differ: bool) -> f64 {
    let word = &words[at];
    let is_kind_of = word.lower == "kind" && words.get(at + 1).is_some_and(|next| next.lower == "of");
    if is_kind_of || BOOSTER_VALUES.contains_key(word.lower.as_str()) {
        return 0.0;
    }
    let Some(mut valence) = word.valence else { return 0.0 };
    if word.capitals && differ {
        valence += if valence > 0.0 { CAPITALS } else { -CAPITALS };
    }
    for (distance, fading) in [(1, 1.0), (2, 0.95), (3, 0.9)] {
        if at < distance || words[at - distance].valence.is_some() {
            continue;
        }
        valence += fading * boost(&words[at - distance], valence, differ);
        valence *= negate(words, at, distance);
        if distance == 3 {
            valence = idiom(words, at, valence);
        }
    }
    let least = at > 0 && words[at - 1].lower == "least" && words[at - 1].valence.is_none();
    let exempt = at > 1 && matches!(words[at - 2].lower.as_str(), "at" | "very");
    if least && !exempt { valence * NEGATION } else { valence }
}

/// The change of a valence by a booster or dampener.
fn boost(word: &Word, valence: f64, differ: bool) -> f64 {
    let Some(&value) = BOOSTER_VALUES.get(word.lower.as_str()) else {
        return 0.0;
    };
    let value = if valence < 0.0 { -value } else { value };
    match word.capitals && differ {
        true if valence > 0.0 => value + CAPITALS,
        true => value - CAPITALS,
        false => value,
    }
}

/// The factor of a valence by the word at a distance before it.
fn negate(words: &[Word], at: usize, distance: usize) -> f64 {
    let is = |back: usize, expected: &[&str]| expected.contains(&words[at - back].text);
    let emphasis = ["so", "this"];
    // "never so good" is praise.
    match distance {
        2 if is(2, &["never"]) && is(1, &emphasis) => 1.5,
        3 if is(3, &["never"]) && is(2, &emphasis) || distance == 3 && is(1, &emphasis) => 1.25,
        _ if is_negation(&words[at - distance].lower) => NEGATION,
        _ => 1.0,
    }
}

/// The valence of an idiom around a word, or `valence` if there is none. At least three words must precede the word.
fn idiom(words: &[Word], at: usize, mut valence: f64) -> f64 {
    let phrase = |from: usize, to: usize| {
        let texts: Vec<&str> = words
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .map(|word| word.text)
            .collect();
        texts.join(" ")
    };
    let value = |phrase: &str| {
        IDIOMS
            .iter()
            .find(|(idiom, _)| *idiom == phrase)
            .map(|&(_, value)| value)
    };
    let before = [(1, 1), (2, 1), (2, 0), (3, 0), (3, -1)];
    if let Some(found) = before
        .iter()
        .find_map(|&(from, to)| value(&phrase(at - from, at.saturating_add_signed(to))))
    {
        valence = found;
    }
    for length in [2, 3] {
        valence = value(&phrase(at, at + length)).unwrap_or(valence);
    }
    let dampened = [phrase(at - 3, at - 1), phrase(at - 2, at)];
    let dampened = dampened
        .iter()
        .any(|phrase| BOOSTER_VALUES.contains_key(phrase.as_str()));
    if dampened { valence - BOOST } else { valence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of the authors' program, with the scores of NLTK 3.10.
    #[test]
    fn scores_the_examples_of_the_authors() {
        for (text, score) in [
            ("VADER is smart, handsome, and funny.", 0.8316),
            ("VADER is smart, handsome, and funny!", 0.8439),
            ("VADER is very smart, handsome, and funny.", 0.8545),
            ("VADER is VERY SMART, handsome, and FUNNY.", 0.9227),
            ("VADER is VERY SMART, handsome, and FUNNY!!!", 0.9342),
            ("VADER is not smart, handsome, nor funny.", -0.7424),
            ("The book was good.", 0.4404),
            ("The book was kind of good.", 0.3832),
            ("At least it isn't a horrible book.", 0.431),
            ("Today SUX!", -0.5461),
            ("Not bad at all", 0.431),
            ("", 0.0),
            ("The table is round.", 0.0),
        ] {
            assert_eq!(compound(text), score, "{text}");
        }
    }

    #[test]
    fn reads_each_word_where_it_stands() {
        let once = compound("it is not good");
        assert!(once < 0.0);
        assert!(compound("it is not good and once more it is not good") < once);
        assert!(compound("good is what they say and for me it is not good") < compound("good is what they say"));
    }

    /// With the scores of NLTK 3.10.
    #[test]
    fn what_is_far_away_counts_where_it_should() {
        let far = "the table is round and the chair is not, ".repeat(50) + "and so on, ";
        // One word in capitals stands out from the others, however far they are.
        assert_eq!(compound(&format!("it is GREAT {far}")), 0.7034);
        assert_eq!(compound(&format!("it is great {far}")), 0.6249);
        assert_eq!(compound(&format!("IT IS GREAT {}", far.to_uppercase())), 0.6249);
        // The first "but" weighs all of the text.
        assert_eq!(compound(&format!("it was good {far} but {far} it was bad")), -0.5859);
        assert_eq!(compound(&format!("it was bad {far} but {far} it was good but")), 0.3818);
    }

    proptest! {
        #[test]
        fn stays_within_its_bounds(text in r"(\PC|[ \n!?]|good |BAD |not |kind of |but |least ){0,40}") {
            prop_assert!((-1.0..=1.0).contains(&compound(&text)));
        }
    }
}
