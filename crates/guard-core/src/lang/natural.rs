//! Which natural languages a text is in.
//!
//! A linear model scores the letters of each script (Latin, Cyrillic, Han, ...) by themselves, and only languages that are
//! written in that script can be the answer: Greek letters are never Russian. The probabilities of the scripts are then mixed
//! by how much of the text each has. So a text that is half English and half Russian is each with a probability of one half,
//! and a Chinese sentence with a product's name in Latin letters is still Chinese.
//!
//! URLs, e-mail addresses and whatever has no letters (digits, punctuation, emoji) are in no language.

use std::ops::Range;

use unicode_script::{Script, UnicodeScript};

use super::linear::{LinearModel, softmax};
use crate::rules::urls;
use crate::text::sentences;

/// A language and its probability.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Its ISO 639-1 code.
    pub language: String,
    /// From 0 to 1.
    pub probability: f32,
}

/// A piece of a text and its languages, the likeliest first; those below one percent are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// None where the piece has no language.
    pub guesses: Vec<Guess>,
}

/// The scripts of languages that are not, or not only, written in Latin letters (Unicode CLDR, `supplementalData`, languages
/// and their scripts; Serbian and Bosnian in both of theirs).
const SCRIPTS: &[(&str, &[Script])] = &[
    ("ar", &[Script::Arabic]),
    ("be", &[Script::Cyrillic]),
    ("bg", &[Script::Cyrillic]),
    ("bn", &[Script::Bengali]),
    ("el", &[Script::Greek]),
    ("fa", &[Script::Arabic]),
    ("gu", &[Script::Gujarati]),
    ("he", &[Script::Hebrew]),
    ("hi", &[Script::Devanagari]),
    ("hy", &[Script::Armenian]),
    ("ja", &[Script::Han, Script::Hiragana, Script::Katakana]),
    ("ka", &[Script::Georgian]),
    ("kk", &[Script::Cyrillic]),
    ("ko", &[Script::Hangul]),
    ("mk", &[Script::Cyrillic]),
    ("mn", &[Script::Cyrillic]),
    ("mr", &[Script::Devanagari]),
    ("pa", &[Script::Gurmukhi]),
    ("ru", &[Script::Cyrillic]),
    ("sr", &[Script::Cyrillic, Script::Latin]),
    ("ta", &[Script::Tamil]),
    ("te", &[Script::Telugu]),
    ("th", &[Script::Thai]),
    ("uk", &[Script::Cyrillic]),
    ("ur", &[Script::Arabic]),
    ("zh", &[Script::Han]),
];

/// Beyond this many letters of a script more of them say nothing new; a text of any length costs no more memory.
const ENOUGH: usize = 4096;

/// Guesses below this are not reported.
const LEAST: f32 = 0.01;

/// The languages of the whole of `text`. Linear in its length.
pub fn detect(model: &LinearModel, text: &str) -> Vec<Guess> {
    let masked = without_addresses(text);
    let mut shares = vec![0.0f32; model.labels().len()];
    let scripts = by_script(&masked);
    let weight = |script: Script, letters: usize| {
        let alone = scripts.len() == 1;
        let each = match script {
            // A character is about half a word.
            Script::Han | Script::Hiragana => 2.0,
            // Names, units and technical words are written in Latin letters in texts of all languages.
            Script::Latin if !alone => 0.5,
            _ => 1.0,
        };
        letters as f32 * each
    };
    let mut total = 0.0;
    for (script, piece) in &scripts {
        let weight = weight(*script, piece.letters);
        total += weight;
        for (share, probability) in shares.iter_mut().zip(of_script(model, *script, piece)) {
            *share += weight * probability;
        }
    }
    if total == 0.0 {
        return Vec::new();
    }
    let mut guesses: Vec<Guess> = shares
        .iter()
        .zip(model.labels())
        .map(|(share, label)| Guess {
            language: label.clone(),
            probability: share / total,
        })
        .filter(|guess| guess.probability >= LEAST)
        .collect();
    guesses.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    guesses
}

/// The sentences of `text` with their languages.
pub fn detect_sentences(model: &LinearModel, text: &str) -> Vec<Part> {
    sentences::split(text)
        .into_iter()
        .map(|range| Part {
            guesses: detect(model, &text[range.clone()]),
            range,
        })
        .collect()
}

/// What a text has of one script.
#[derive(Default)]
struct Piece {
    text: String,
    letters: usize,
}

/// The words of each script that some language of the model can have, in the order of the text.
fn by_script(text: &str) -> Vec<(Script, Piece)> {
    let mut pieces: Vec<(Script, Piece)> = Vec::new();
    let mut current: Option<usize> = None;
    let has_kana = text.chars().any(|c| script_of(c) == Some(Script::Hiragana));
    for character in text.chars() {
        let script = script_of(character).map(|script| match script {
            // Kana make the Han characters beside them Japanese: the two are read as one text.
            Script::Han if has_kana => Script::Hiragana,
            script => script,
        });
        if let Some(script) = script {
            let place = pieces
                .iter()
                .position(|(known, _)| *known == script)
                .unwrap_or_else(|| {
                    pieces.push((script, Piece::default()));
                    pieces.len() - 1
                });
            let piece = &mut pieces[place].1;
            if piece.letters < ENOUGH {
                // Two words that were apart must not touch.
                if current != Some(place) && !piece.text.is_empty() && !piece.text.ends_with(' ') {
                    piece.text.push(' ');
                }
                piece.text.push(character);
            }
            piece.letters += 1;
            current = Some(place);
        } else if let Some(place) = current {
            // Marks, apostrophes, digits and spaces go with the letters before them.
            let piece = &mut pieces[place].1;
            if piece.letters < ENOUGH && !(character.is_whitespace() && piece.text.ends_with(' ')) {
                piece.text.push(if character.is_whitespace() { ' ' } else { character });
            }
        }
    }
    pieces
}

/// The script of a letter that some language is known for. Katakana counts as Hiragana: both are Japanese.
fn script_of(character: char) -> Option<Script> {
    if character.is_ascii() {
        return character.is_ascii_alphabetic().then_some(Script::Latin);
    }
    if !character.is_alphabetic() {
        return None;
    }
    match character.script() {
        Script::Katakana => Some(Script::Hiragana),
        Script::Latin => Some(Script::Latin),
        script => SCRIPTS
            .iter()
            .any(|(_, scripts)| scripts.contains(&script))
            .then_some(script),
    }
}

fn is_written_in(language: &str, script: Script) -> bool {
    SCRIPTS
        .iter()
        .find(|(known, _)| *known == language)
        .map_or(script == Script::Latin, |(_, scripts)| scripts.contains(&script))
}

/// The probabilities of a script's languages for a piece of it; 0 for all others.
fn of_script(model: &LinearModel, script: Script, piece: &Piece) -> Vec<f32> {
    let allowed: Vec<bool> = model
        .labels()
        .iter()
        .map(|label| is_written_in(label, script))
        .collect();
    let mut logits = model.logits(&piece.text);
    for (logit, allowed) in logits.iter_mut().zip(&allowed) {
        if !allowed {
            *logit = f32::NEG_INFINITY;
        }
    }
    if !allowed.contains(&true) {
        return vec![0.0; logits.len()];
    }
    softmax(&logits)
}

/// The text with white space where URLs and e-mail addresses stand.
fn without_addresses(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for found in urls::find(text) {
        kept.push_str(&text[at..found.range.start]);
        kept.push(' ');
        at = found.range.end;
    }
    kept.push_str(&text[at..]);
    if !kept.contains('@') {
        return kept;
    }
    kept.split_inclusive(char::is_whitespace)
        .map(|word| {
            if word.trim_end().trim_matches('@').contains('@') {
                " "
            } else {
                word
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;

    fn model() -> &'static LinearModel {
        static MODEL: OnceLock<LinearModel> = OnceLock::new();
        MODEL.get_or_init(|| {
            LinearModel::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/language")).unwrap()
        })
    }

    fn best(text: &str) -> String {
        detect(model(), text)
            .first()
            .map_or(String::new(), |guess| guess.language.clone())
    }

    #[test]
    fn knows_languages() {
        for (language, text) in [
            ("en", "The weather is lovely today, isn't it?"),
            ("de", "Das Wetter ist heute wirklich schön."),
            ("fr", "Il fait très beau aujourd'hui."),
            ("es", "Hoy hace muy buen tiempo en la ciudad."),
            ("it", "Oggi è una bellissima giornata di sole."),
            ("nl", "Het is vandaag echt mooi weer."),
            ("ru", "Сегодня очень хорошая погода."),
            ("uk", "Сьогодні дуже гарна погода."),
            ("bg", "Днес времето е много хубаво."),
            ("ar", "الطقس جميل جدا اليوم."),
            ("fa", "امروز هوا خیلی خوب است."),
            ("ur", "آج موسم بہت اچھا ہے۔"),
            ("zh", "今天天气很好。"),
            ("ja", "今日はとても天気がいいです。"),
            ("ko", "오늘은 날씨가 아주 좋습니다."),
            ("th", "วันนี้อากาศดีมาก"),
            ("el", "Σήμερα ο καιρός είναι πολύ καλός."),
            ("hi", "आज मौसम बहुत अच्छा है।"),
            ("vi", "Hôm nay thời tiết rất đẹp."),
            ("tr", "Bugün hava çok güzel."),
            ("pl", "Dzisiaj jest bardzo ładna pogoda."),
            ("sw", "Leo hali ya hewa ni nzuri sana."),
            ("zh", "我用 Python 写代码，然后部署到服务器。"),
        ] {
            assert_eq!(best(text), language, "{text}");
        }
    }

    #[test]
    fn a_text_without_letters_has_no_language() {
        for text in [
            "",
            "  ",
            "12345",
            "3 + 4 = 7",
            "😀👍",
            "https://example.com/some/english/words",
            "me@example.com",
            "?!",
        ] {
            assert_eq!(detect(model(), text), [], "{text}");
        }
    }

    #[test]
    fn a_mixed_text_has_several() {
        let text = "The weather is lovely today. Сегодня очень хорошая погода, и мы идём гулять.";
        let found: Vec<String> = detect(model(), text)
            .into_iter()
            .take(2)
            .map(|guess| guess.language)
            .collect();
        assert_eq!(found, ["ru", "en"]);
        let parts = detect_sentences(model(), text);
        let languages: Vec<&str> = parts.iter().map(|part| part.guesses[0].language.as_str()).collect();
        assert_eq!(languages, ["en", "ru"]);
        assert_eq!(
            &text[parts[1].range.clone()],
            "Сегодня очень хорошая погода, и мы идём гулять."
        );
    }

    proptest! {
        #[test]
        fn any_text_is_fine(text in "\\PC{0,60}") {
            let sum: f32 = detect(model(), &text).iter().map(|guess| guess.probability).sum();
            prop_assert!((0.0..1.001).contains(&sum));
            for part in detect_sentences(model(), &text) {
                prop_assert!(text.is_char_boundary(part.range.start) && text.is_char_boundary(part.range.end));
            }
        }
    }
}
