//! Decodes upside-down letters.

use std::ops::Range;

use super::letters::rarity;
use super::view::{Step, View, Writer};

/// The fewest turned letters. A passage with fewer is a phonetic transcription or a formula.
const LEAST: usize = 4;

/// Pairs of an upside-down character and the character that it stands for. Most are turned letters by their Unicode
/// names ("turned a"); the others replace missing ones ("open o" for "c", "b with topbar" for "g").
const TURNED: &str = "\
    ɐaɔcǝeəeɟfƃgᵷgɥhᴉiıiɾjʞkꞁlʃlןlɯmɹrʇtʌvʍwʎy\
    ∀AᗺBƆCᗡDƎEℲFפG⅁GſJꓘK⋊K⅂L˥LƜMԀPᴚRꓤRʇt┴T⊥TꞱT∩UΛV⅄Y\
    Ɩ1ᄅ2Ɛ3ㄣ4ϛ5ㄥ7˙.¡!¿?„\"⅋&‾_؛;";

/// Turns lines, or parts of lines, of upside-down letters. Most writers go from right to left, as on a turned page, and
/// some from left to right; the order that looks more like words wins.
pub(super) fn turn(text: &str) -> Option<View> {
    // Most turned letters are from U+0240 to U+02BF, whose UTF-8 begins with one of these bytes. Texts without these
    // bytes are skipped.
    if text.is_ascii() || memchr::memchr2(0xC9, 0xCA, text.as_bytes()).is_none() {
        return None;
    }
    let mut writer = Writer::new(text);
    for range in passages(text) {
        let usual: String = text[range.clone()].chars().filter_map(turn_letter).collect();
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

/// The runs of turned characters within a line that have enough turned letters.
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
        let turns = bare.chars().all(|c| turn_letter(c).is_some());
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

/// The character turned by 180 degrees. ASCII letters without a counterpart, mostly vowels, are never in a turned
/// passage.
fn turn_letter(character: char) -> Option<char> {
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
        // Writers often keep other digits and signs.
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
