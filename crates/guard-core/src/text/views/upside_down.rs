//! Letters that are upside down.

use std::ops::Range;

use super::letters::rarity;
use super::view::{Step, View, Writer};

/// With fewer turned letters, a passage is taken for a phonetic transcription or a formula.
const LEAST: usize = 4;

/// Pairs of a character that looks upside down and the character that it stands for. Most of them are turned letters by their
/// names in Unicode ("turned a"); the others are what such writing uses where there is none ("open o" for "c", "b with topbar"
/// for "g").
const TURNED: &str = "\
    ɐaɔcǝeəeɟfƃgᵷgɥhᴉiıiɾjʞkꞁlʃlןlɯmɹrʇtʌvʍwʎy\
    ∀AᗺBƆCᗡDƎEℲFפG⅁GſJꓘK⋊K⅂L˥LƜMԀPᴚRꓤRʇt┴T⊥TꞱT∩UΛV⅄Y\
    Ɩ1ᄅ2Ɛ3ㄣ4ϛ5ㄥ7˙.¡!¿?„\"⅋&‾_؛;";

/// The text with lines, or parts of lines, of upside-down letters turned. Most people write such text from right to left, as a
/// turned page has it, and some from left to right; the order that looks more like words is taken.
pub(super) fn turn(text: &str) -> Option<View> {
    // Most turned letters are from U+0240 to U+02BF, whose UTF-8 begins with one of these bytes. A text without any of them is
    // not searched.
    if text.is_ascii() || memchr::memchr2(0xC9, 0xCA, text.as_bytes()).is_none() {
        return None;
    }
    let mut writer = Writer::new(text);
    for range in passages(text) {
        let usual: String = text[range.clone()].chars().filter_map(turned).collect();
        let reversed: String = usual.chars().rev().collect();
        let best = if rarity(usual.bytes()) < rarity(reversed.bytes()) {
            usual
        } else {
            reversed
        };
        writer.replace(range, &best, Step::UpsideDown);
    }
    writer.finish()
}

/// The runs of words within a line that consist of turned characters, with enough letters that are no upright ones.
fn passages(text: &str) -> Vec<Range<usize>> {
    let mut passages = Vec::new();
    let mut run: Option<(Range<usize>, usize)> = None;
    let mut end_run = |run: &mut Option<(Range<usize>, usize)>| {
        if let Some((range, letters)) = run.take()
            && letters >= LEAST
        {
            passages.push(range);
        }
    };
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += word.len();
        let bare = word.trim_end();
        let turns = bare.chars().all(|c| turned(c).is_some());
        if !turns {
            end_run(&mut run);
        } else if !bare.is_empty() {
            let letters = bare.chars().filter(|&c| !c.is_ascii() && c.is_alphabetic()).count();
            let (range, before) = run.take().unwrap_or((start..start, 0));
            run = Some((range.start..start + bare.len(), before + letters));
        }
        if word.ends_with('\n') {
            end_run(&mut run);
        }
    }
    end_run(&mut run);
    passages
}

/// What a character becomes when it is turned by 180 degrees. ASCII letters that become none, most of them vowels, are never in
/// a passage of turned letters.
fn turned(character: char) -> Option<char> {
    match character {
        'b' => Some('q'),
        'q' => Some('b'),
        'd' => Some('p'),
        'p' => Some('d'),
        'n' => Some('u'),
        'u' => Some('n'),
        'M' => Some('W'),
        'W' => Some('M'),
        '6' => Some('9'),
        '9' => Some('6'),
        ',' => Some('\''),
        '\'' => Some(','),
        '(' => Some(')'),
        ')' => Some('('),
        '[' => Some(']'),
        ']' => Some('['),
        '{' => Some('}'),
        '}' => Some('{'),
        '<' => Some('>'),
        '>' => Some('<'),
        'l' | 'o' | 's' | 'x' | 'z' | 'H' | 'I' | 'N' | 'O' | 'S' | 'X' | 'Z' => Some(character),
        _ if character.is_ascii_alphabetic() => None,
        // Writers often leave other digits and signs as they are.
        _ if character.is_ascii() => Some(character),
        _ => {
            let mut characters = TURNED.chars();
            while let (Some(from), Some(to)) = (characters.next(), characters.next()) {
                if from == character {
                    return Some(to);
                }
            }
            None
        }
    }
}
