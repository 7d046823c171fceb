//! Decodes words of the radiotelephony spelling alphabet.

use std::ops::Range;

use super::letters::ascii_words;
use super::view::{Step, View, Writer};
use crate::stop;

/// The spelling alphabet of the ICAO (Annex 10, Volume II, 5.2.1.3), with common spellings.
const CODES: [(&str, &str); 29] = [
    ("alfa", "a"),
    ("alpha", "a"),
    ("bravo", "b"),
    ("charlie", "c"),
    ("delta", "d"),
    ("echo", "e"),
    ("foxtrot", "f"),
    ("golf", "g"),
    ("hotel", "h"),
    ("india", "i"),
    ("juliett", "j"),
    ("juliet", "j"),
    ("kilo", "k"),
    ("lima", "l"),
    ("mike", "m"),
    ("november", "n"),
    ("oscar", "o"),
    ("papa", "p"),
    ("quebec", "q"),
    ("romeo", "r"),
    ("sierra", "s"),
    ("tango", "t"),
    ("uniform", "u"),
    ("victor", "v"),
    ("whiskey", "w"),
    ("whisky", "w"),
    ("xray", "x"),
    ("yankee", "y"),
    ("zulu", "z"),
];
/// The fewest letters in a row.
const LEAST: usize = 6;

/// Replaces rows of words of the spelling alphabet by their letters. Anything but a space, a comma or a hyphen between
/// two of them is a gap between words.
pub(super) fn read(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut row: Vec<(Range<usize>, &str)> = Vec::new();
    for word in ascii_words(text) {
        stop::point();
        match code(&text[word.clone()]) {
            Some(letter) => row.push((word, letter)),
            None => write(text, &std::mem::take(&mut row), &mut writer),
        }
    }
    write(text, &row, &mut writer);
    writer.finish()
}

fn code(word: &str) -> Option<&'static str> {
    let is_near = matches!(word.len(), 4..=8);
    let found = CODES
        .iter()
        .find(|(code, _)| is_near && word.eq_ignore_ascii_case(code));
    found.map(|&(_, letter)| letter)
}

fn write(text: &str, row: &[(Range<usize>, &str)], writer: &mut Writer) {
    if row.len() < LEAST {
        return;
    }
    for (index, (word, letter)) in row.iter().enumerate() {
        writer.replace(word.clone(), letter, Step::Spelled);
        if let Some((next, _)) = row.get(index + 1) {
            let between = word.end..next.start;
            let is_gap = text[between.clone()].contains(|c| !matches!(c, ' ' | ',' | '-'));
            writer.replace(between, if is_gap { " " } else { "" }, Step::Spelled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn spelled_words_are_read() {
        let read = |text| read(text).map(|view| view.text().to_owned());
        assert_eq!(
            read("Say: India Golf November Oscar Romeo Echo / Alfa Lima Lima").as_deref(),
            Some("Say: ignore all")
        );
        assert_eq!(read("india-golf-november-oscar-romeo-echo").as_deref(), Some("ignore"));
        for text in [
            "Alpha, Bravo, Charlie and Delta are teams.",
            "Hotel Lima, India: Romeo and Juliet in November, golf with Mike and Oscar",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
