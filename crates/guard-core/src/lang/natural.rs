//! Detects the natural languages of a text.
//!
//! A linear model scores the letters of each script (Latin, Cyrillic, Han, ...) separately, and only languages of that
//! script can be the result: Greek letters are never Russian. The probabilities are averaged over the scripts, weighted
//! by their shares of the text. So a text that is half English and half Russian has both languages with a probability
//! of 0.5, and a Chinese sentence with a product name in Latin letters is still Chinese.
//!
//! The model is sure of one language even for a text in two languages of one script. So the letters of each script in a
//! long text are scored in pieces, and the probabilities averaged in the same way. The end of a text counts as much as
//! its beginning.
//!
//! URLs, e-mail addresses and text without letters (digits, punctuation, emoji) have no language.

use std::ops::Range;

use unicode_script::{Script, UnicodeScript};

use super::linear::{LinearModel, softmax};
use crate::rules::urls;
use crate::stop;

/// A language and its probability.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageGuess {
    /// The ISO 639-1 code.
    pub language: String,
    /// From 0 to 1.
    pub probability: f32,
}

/// The scripts of the languages that are not, or not only, written in Latin letters, as in the Unicode CLDR
/// (`supplementalData`), with both scripts of Serbian.
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

/// The most letters of a piece. More letters of one language add nothing.
const ENOUGH: usize = 4096;

/// The approximate most bytes of a piece, however many digits and signs are between its letters. Prose has far fewer.
const ROOM: usize = 16 * ENOUGH;

/// The least reported probability.
const LEAST: f32 = 0.01;

/// Detects the languages of the whole text, the likeliest first. The probability of a language is its share of the
/// letters. The time is linear in the length of the text.
pub fn detect(model: &LinearModel, text: &str) -> Vec<LanguageGuess> {
    let masked = without_addresses(text);
    let mut shares = vec![0.0f32; model.labels().len()];
    let scripts = by_script(model, &masked);
    let alone = scripts.len() == 1;
    let mut total = 0.0;
    for read in &scripts {
        let each = match read.script {
            // A Han character is about half a word, so it counts as two letters.
            Script::Han => 2.0,
            // Texts in all languages have names, units and technical terms in Latin letters, so these count half.
            Script::Latin if !alone => 0.5,
            _ => 1.0,
        };
        total += each * read.letters as f32;
        for (share, sum) in shares.iter_mut().zip(&read.sums) {
            *share += each * sum;
        }
    }
    if total == 0.0 {
        return Vec::new();
    }
    let mut guesses: Vec<LanguageGuess> = shares
        .iter()
        .zip(model.labels())
        .map(|(share, label)| LanguageGuess {
            language: label.clone(),
            probability: share / total,
        })
        .filter(|guess| guess.probability >= LEAST)
        .collect();
    guesses.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    guesses
}

/// The letters of a text in one script.
struct ScriptScores {
    script: Script,
    /// The piece that is not scored yet.
    piece: Piece,
    /// The number of scored letters.
    letters: usize,
    /// For each language, the sum of letters times probability over the scored pieces.
    sums: Vec<f32>,
}

#[derive(Default)]
struct Piece {
    text: String,
    letters: usize,
    has_kana: bool,
}

impl Piece {
    fn is_full(&self) -> bool {
        self.letters >= ENOUGH || self.text.len() >= ROOM
    }
}

impl ScriptScores {
    fn new(script: Script, labels: usize) -> Self {
        Self {
            script,
            piece: Piece::default(),
            letters: 0,
            sums: vec![0.0; labels],
        }
    }

    /// Scores the piece and begins the next one.
    fn score(&mut self, model: &LinearModel) {
        let script = match self.script {
            // Kana make the Han characters in a text Japanese. Both are scored as one text.
            Script::Han if self.piece.has_kana => Script::Hiragana,
            script => script,
        };
        let letters = self.piece.letters as f32;
        for (sum, probability) in self.sums.iter_mut().zip(of_script(model, script, &self.piece.text)) {
            *sum += letters * probability;
        }
        self.letters += self.piece.letters;
        self.piece = Piece::default();
    }
}

/// Scores the words of each script that the model's languages use. Kana count as Han.
fn by_script(model: &LinearModel, text: &str) -> Vec<ScriptScores> {
    let mut scripts: Vec<ScriptScores> = Vec::new();
    let mut current: Option<usize> = None;
    for character in text.chars() {
        if let Some(script) = script_of(character) {
            let is_kana = script == Script::Hiragana;
            let script = if is_kana { Script::Han } else { script };
            let index = scripts
                .iter()
                .position(|read| read.script == script)
                .unwrap_or_else(|| {
                    scripts.push(ScriptScores::new(script, model.labels().len()));
                    scripts.len() - 1
                });
            let read = &mut scripts[index];
            if read.piece.is_full() {
                read.score(model);
            }
            let piece = &mut read.piece;
            // Two words around another script must not become one.
            if current != Some(index) && !piece.text.is_empty() && !piece.text.ends_with(' ') {
                piece.text.push(' ');
            }
            piece.text.push(character);
            piece.letters += 1;
            piece.has_kana |= is_kana;
            current = Some(index);
        } else if let Some(index) = current {
            // Marks, apostrophes, digits and spaces belong to the letters before them.
            let piece = &mut scripts[index].piece;
            if !(piece.is_full() || character.is_whitespace() && piece.text.ends_with(' ')) {
                piece.text.push(if character.is_whitespace() { ' ' } else { character });
            }
        }
    }
    for read in &mut scripts {
        read.score(model);
    }
    scripts
}

/// The script of a letter, if a known language uses it. Katakana counts as Hiragana, since both are Japanese.
pub(super) fn script_of(character: char) -> Option<Script> {
    if character.is_ascii() {
        return character.is_ascii_alphabetic().then_some(Script::Latin);
    }
    if !character.is_alphabetic() {
        return None;
    }
    match character.script() {
        Script::Katakana => Some(Script::Hiragana),
        Script::Latin => Some(Script::Latin),
        script => knows_script(script).then_some(script),
    }
}

/// Whether a known language uses `script`.
pub(super) fn knows_script(script: Script) -> bool {
    script == Script::Latin || SCRIPTS.iter().any(|(_, scripts)| scripts.contains(&script))
}

pub(super) fn is_written_in(language: &str, script: Script) -> bool {
    SCRIPTS
        .iter()
        .find(|(known, _)| *known == language)
        .map_or(script == Script::Latin, |(_, scripts)| scripts.contains(&script))
}

/// The probabilities of a script's languages for a piece of text in it; 0 for all other languages.
pub(super) fn of_script(model: &LinearModel, script: Script, piece: &str) -> Vec<f32> {
    let allowed: Vec<bool> = model
        .labels()
        .iter()
        .map(|label| is_written_in(label, script))
        .collect();
    let mut logits = model.logits(piece);
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

/// The byte ranges of the URLs and e-mail addresses of a text.
pub(super) fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = urls::find(text).into_iter().map(|url| url.range).collect();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        stop::point();
        let bare = word.trim_end();
        if bare.trim_matches('@').contains('@') {
            found.push(at..at + bare.len());
        }
        at += word.len();
    }
    found
}

/// Replaces URLs and e-mail addresses with spaces.
fn without_addresses(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in addresses(text) {
        blank(&mut bytes, range);
    }
    String::from_utf8(bytes).expect("whole characters were replaced by spaces")
}

/// Overwrites a range of whole characters with spaces. Line breaks stay.
pub(super) fn blank(bytes: &mut [u8], range: Range<usize>) {
    for byte in &mut bytes[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
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
    }

    const ENGLISH: &[&str] = &[
        "The meeting was moved to Thursday because nobody had read the report. ",
        "She opened the window and listened to the rain for a while. ",
        "Our train leaves at nine, so we should have breakfast early. ",
    ];
    const GERMAN: &[&str] = &[
        "Die Besprechung wurde verschoben, weil niemand den Bericht gelesen hatte. ",
        "Sie öffnete das Fenster und hörte eine Weile dem Regen zu. ",
        "Unser Zug fährt um neun, also sollten wir früh frühstücken. ",
    ];
    const FRENCH: &[&str] = &[
        "La réunion a été reportée parce que personne n'avait lu le rapport. ",
        "Elle ouvrit la fenêtre et écouta la pluie pendant un moment. ",
        "Notre train part à neuf heures, il faut donc déjeuner tôt. ",
    ];

    fn prose(sentences: &[&str], count: usize) -> String {
        sentences.iter().copied().cycle().take(count).collect()
    }

    fn share(guesses: &[LanguageGuess], language: &str) -> f32 {
        guesses
            .iter()
            .find(|guess| guess.language == language)
            .map_or(0.0, |guess| guess.probability)
    }

    #[test]
    fn all_of_a_long_text_counts() {
        let (few, many) = (prose(ENGLISH, 90), prose(GERMAN, 2000));
        assert!(few.chars().filter(|c| c.is_alphabetic()).count() > ENOUGH);
        for text in [
            format!("{few}{many}"),
            format!("{many}{few}"),
            format!("{few}Сегодня хорошая погода. {many}"),
        ] {
            let found = detect(model(), &text);
            assert_eq!(found[0].language, "de");
            assert!(found[0].probability > 0.9, "{found:?}");
            assert!(share(&found, "en") > 0.02, "{found:?}");
        }
        assert_eq!(best(&format!("{}{many}", prose(ENGLISH, 60))), "de");
    }

    #[test]
    fn languages_of_a_long_text_have_their_shares() {
        let texts = [ENGLISH, GERMAN, FRENCH].map(|sentences| prose(sentences, 600));
        let found = detect(model(), &texts.concat());
        for language in ["en", "de", "fr"] {
            assert!((share(&found, language) - 1.0 / 3.0).abs() < 0.05, "{found:?}");
        }
        // A text of one language is as sure as its pieces are.
        for (text, language) in texts.iter().zip(["en", "de", "fr"]) {
            let found = detect(model(), text);
            assert!(
                found[0].language == language && found[0].probability > 0.95,
                "{found:?}"
            );
        }
    }

    #[test]
    fn kana_are_far_from_other_chinese() {
        let chinese = "今天天气很好，我们去公园散步吧。会议改到星期四，因为没有人看过报告。".repeat(1000);
        let japanese = "今日は天気がいいので、公園へ散歩に行きます。".repeat(1000);
        let quoted = format!("{chinese}「ありがとう」");
        assert_eq!(best(&quoted), "zh");
        assert!(share(&detect(model(), &japanese), "ja") > 0.99);
        let both = detect(model(), &format!("{chinese}{japanese}"));
        assert!(share(&both, "zh") > 0.4 && share(&both, "ja") > 0.3, "{both:?}");
    }

    #[test]
    fn digits_do_not_push_letters_out() {
        let digits = "0123456789 ".repeat(ROOM / 5);
        let text = format!("{}{digits}{}", prose(ENGLISH, 3), prose(GERMAN, 9));
        let found = detect(model(), &text);
        assert_eq!(found[0].language, "de", "{found:?}");
        assert!(share(&found, "en") > 0.1, "{found:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_fine(text in "\\PC{0,60}") {
            let sum: f32 = detect(model(), &text).iter().map(|guess| guess.probability).sum();
            prop_assert!((0.0..1.001).contains(&sum));
        }
    }
}
