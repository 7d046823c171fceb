//! Decides whether a text is clearly not in the expected languages.
//!
//! The model of [`natural`] always names a language, often with a high probability even if nobody could tell: `hi` is
//! Tsonga to it, and `pizza margherita` Italian. So a language counts only with enough evidence:
//!
//! - Only prose counts. Fenced blocks, code, identifiers, paths, flags, formulas, links and e-mail addresses have no
//!   language.
//! - Only *marker words* decide: words that begin with a small letter, words in a script without small letters, and, in
//!   a text with enough of these ([`ENOUGH_SMALL`]), words at the start of a sentence. Names of people, places and
//!   products are the same in all languages. In a text in capitals, all words are markers.
//! - If no expected language uses the script of the text, one word of two letters is enough. Latin letters need
//!   [`LATIN_WORDS`] marker words, since all languages write names, units and commands in them.
//! - Otherwise a few marker words must be far likelier in other languages than in the expected ones. The margin depends
//!   on their number ([`FAR`], [`FAR_SENTENCE`]), and falls to zero at [`PLENTY`] letters of markers. These numbers
//!   were fitted to the short texts in `test/fixtures/short-texts.json`.

use std::collections::HashSet;
use std::iter;
use std::ops::Range;

use unicode_script::Script;

use super::code::{self, CodeFinder, Section};
use super::linear::LinearModel;
use super::natural::{self, LanguageGuess, blank};
use crate::stop;
use crate::text::sentences;

/// The minimum letters and words of markers that distinguish a language from unexpected languages in its script.
const LEAST_LETTERS: usize = 8;
const LEAST_WORDS: usize = 2;
/// How much likelier two or three marker words must be in other languages, in logits: 330,000 to 1. Loan words such as
/// `spaghetti alla carbonara` reach 90,000 to 1.
const FAR: f32 = 12.7;
/// All languages quote words of this language: `et cetera`, `quid pro quo`. So a few of its words are no evidence.
const QUOTED: &str = "la";
/// The same for a sentence of at least [`SENTENCE`] marker words: 1,100 to 1.
const FAR_SENTENCE: f32 = 7.0;
const SENTENCE: usize = 4;
/// With this many words that begin small, the first word of a sentence is hardly a name such as `Ludwig` in `Ludwig van
/// Beethoven`.
const ENOUGH_SMALL: usize = 3;
/// The fewest marker words in Latin letters that show that a text is in none of the expected languages of other
/// scripts.
const LATIN_WORDS: usize = 4;
/// Up to this many letters of markers the margins hold; they fall linearly from there on.
const FEW: usize = 20;
/// With this many letters of markers, no margin is needed.
const PLENTY: usize = 100;
/// The fewest words of an answer in another language than its prompt; shorter ones may be a requested name or word. If
/// the prompt's languages use the script, these are marker words.
const ANSWER_WORDS: usize = 3;
/// The least probability of code at which a piece has no language.
const SURELY_CODE: f32 = 0.7;
/// The fewest words of a text in capitals; a shorter one may be a list of abbreviations.
const CAPITALS: usize = 4;

/// The language check of a text or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageCheck {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The likeliest unexpected language; `None` if there is none, or too little evidence.
    pub other: Option<LanguageGuess>,
    /// Whether there is enough text to detect a language.
    pub is_detectable: bool,
}

/// Checks the languages of texts with a language model.
pub struct LanguageChecker<'a> {
    model: &'a LinearModel,
    code: Option<CodeFinder<'a>>,
}

impl<'a> LanguageChecker<'a> {
    /// Creates a checker. `code` finds lines of code, which have no language. Without it, only fenced blocks and
    /// identifiers are excluded.
    pub fn new(model: &'a LinearModel, code: Option<CodeFinder<'a>>) -> Self {
        Self { model, code }
    }

    /// Checks whether `text` as a whole, and each of its sentences, is not in the `expected` languages. The time is
    /// linear in the length of the text.
    pub fn check_text(&self, text: &str, expected: &[&str]) -> (LanguageCheck, Vec<LanguageCheck>) {
        let prose = Prose::new(text);
        let mut whole = self.check(&prose, 0..text.len(), expected);
        let ranges = sentences::split(text);
        let mut parts: Vec<LanguageCheck> = ranges
            .into_iter()
            .map(|range| self.check(&prose, range, expected))
            .collect();
        // Most texts are in the expected languages, and need no search for code.
        let is_foreign = |part: &LanguageCheck| part.other.is_some();
        if let Some(code) = &self.code
            && (is_foreign(&whole) || parts.iter().any(is_foreign))
        {
            let masked = prose.mask_code(code);
            for part in iter::once(&mut whole).chain(&mut parts).filter(|part| is_foreign(part)) {
                stop::point();
                let without_code = masked.part(part.range.clone());
                if without_code != prose.part(part.range.clone()) {
                    *part = self.check_part(&without_code, part.range.clone(), expected);
                }
            }
        }
        (whole, parts)
    }

    /// Checks whether `answer` shares no language with `prompt`. A text has the languages with a probability above
    /// `threshold`, and always the likeliest one, so that a text shares a language with itself even if the model is
    /// unsure.
    pub fn check_answer(&self, prompt: &str, answer: &str, threshold: f32) -> LanguageCheck {
        let [asked, answered] = [prompt, answer].map(|text| {
            let prose = Prose::new(text);
            self.code
                .as_ref()
                .map_or_else(|| prose.clone(), |code| prose.mask_code(code))
        });
        let mut check = LanguageCheck {
            range: 0..answer.len(),
            other: None,
            is_detectable: false,
        };
        let of_prompt = natural::detect(self.model, &asked.masked);
        let of_answer = natural::detect(self.model, &answered.masked);
        let (Some(top), Some(best)) = (of_prompt.first(), of_answer.first()) else {
            return check;
        };
        let [expected, found] = [&of_prompt, &of_answer].map(|guesses| -> Vec<&str> {
            let (likeliest, others) = guesses.split_at(1);
            let above = others.iter().filter(|guess| guess.probability > threshold);
            likeliest
                .iter()
                .chain(above)
                .map(|guess| guess.language.as_str())
                .collect()
        });
        let answer_evidence = self.evidence(&answered, best, &expected);
        let prompt_evidence = self.evidence(&asked, top, &found);
        let is_long = |evidence| matches!(evidence, Evidence::Clear { words } | Evidence::Script { words, .. } if words >= ANSWER_WORDS);
        let differ = is_long(answer_evidence) && prompt_evidence != Evidence::Little;
        if expected.iter().any(|language| found.contains(language)) {
            check.is_detectable = [(&asked, top), (&answered, best)]
                .iter()
                .all(|(prose, guess)| letters_of(prose, guess) >= LEAST_LETTERS);
        } else if differ {
            check.is_detectable = true;
            check.other = Some(best.clone());
        }
        check
    }

    fn check(&self, prose: &Prose, range: Range<usize>, expected: &[&str]) -> LanguageCheck {
        self.check_part(&prose.part(range.clone()), range, expected)
    }

    fn check_part(&self, part: &Prose, range: Range<usize>, expected: &[&str]) -> LanguageCheck {
        let guesses = natural::detect(self.model, &part.masked);
        let is_expected = |guess: &LanguageGuess| expected.contains(&guess.language.as_str());
        let mut check = LanguageCheck {
            range,
            other: None,
            is_detectable: false,
        };
        match guesses.iter().find(|guess| !is_expected(guess)) {
            Some(other) => {
                let evidence = self.evidence(part, other, expected);
                check.is_detectable = evidence != Evidence::Little;
                check.other = check.is_detectable.then(|| match evidence {
                    Evidence::Script { script, .. } => of_all_languages(script, other, &guesses),
                    _ => other.clone(),
                });
            }
            None => check.is_detectable = !guesses.is_empty(),
        }
        // A text that seems to be in an expected language was checked too, unless it is too short.
        if check.other.is_none()
            && let Some(best) = guesses.first().filter(|guess| is_expected(guess))
        {
            check.is_detectable = letters_of(part, best) >= LEAST_LETTERS;
        }
        check
    }

    /// The evidence that `prose` is in `other` and not in one of the `expected` languages.
    fn evidence(&self, prose: &Prose, other: &LanguageGuess, expected: &[&str]) -> Evidence {
        let Some(script) = main_script(prose, &other.language) else {
            return Evidence::Little;
        };
        let all = prose.words_in(script);
        if !expected.iter().any(|language| natural::is_written_in(language, script)) {
            let is_enough = match script {
                Script::Latin => prose.markers_in(script).words >= LATIN_WORDS,
                _ => all.longest >= 2,
            };
            return if is_enough {
                Evidence::Script {
                    script,
                    words: all.words,
                }
            } else {
                Evidence::Little
            };
        }
        let markers = prose.markers_in(script);
        if markers.letters < LEAST_LETTERS || markers.words < LEAST_WORDS {
            return Evidence::Little;
        }
        let slope = (PLENTY.saturating_sub(markers.letters) as f32 / (PLENTY - FEW) as f32).min(1.0);
        let far = slope * if markers.words < SENTENCE { FAR } else { FAR_SENTENCE };
        let quoted = (markers.words < SENTENCE).then_some(QUOTED);
        let is_far = |words: &str, far: f32| self.margin(script, words, expected, quoted) >= far;
        // The second margin is the smaller one, so equal words need no second comparison.
        let are_markers_far = || markers.text == all.text || is_far(&markers.text, far.min(FAR_SENTENCE));
        if slope == 0.0 || is_far(&all.text, far) && are_markers_far() {
            Evidence::Clear { words: markers.words }
        } else {
            Evidence::Little
        }
    }

    /// How much likelier `words` are in other languages than in the expected ones, in logits. The `quoted` language
    /// does not count as another one.
    fn margin(&self, script: Script, words: &str, expected: &[&str], quoted: Option<&str>) -> f32 {
        let probabilities = natural::of_script(self.model, script, words);
        let (mut within, mut beyond) = (0.0f32, 0.0f32);
        for (probability, label) in probabilities.iter().zip(self.model.labels()) {
            if expected.contains(&label.as_str()) {
                within += probability;
            } else if quoted != Some(label.as_str()) {
                beyond += probability;
            }
        }
        (beyond.max(f32::MIN_POSITIVE) / within.max(f32::MIN_POSITIVE)).ln()
    }
}

/// The evidence for another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Too few words, or words that are about as likely in both.
    Little,
    /// No expected language uses the script of these words.
    Script { script: Script, words: usize },
    /// These marker words are far likelier in the other language.
    Clear { words: usize },
}

/// The guess with the probability of all languages of a script that no expected language uses. A word or two may be in
/// any of them, but are certainly in none that is expected.
fn of_all_languages(script: Script, guess: &LanguageGuess, guesses: &[LanguageGuess]) -> LanguageGuess {
    let of_script = guesses
        .iter()
        .filter(|other| natural::is_written_in(&other.language, script));
    LanguageGuess {
        language: guess.language.clone(),
        probability: of_script.map(|other| other.probability).sum::<f32>().min(1.0),
    }
}

/// Whether `text` has enough marker words to detect a language, whatever the model.
pub fn has_enough_words(text: &str) -> bool {
    let prose = Prose::new(text);
    let scripts: HashSet<Script> = prose.words.iter().map(|word| word.script).collect();
    scripts.into_iter().any(|script| {
        let markers = prose.markers_in(script);
        markers.letters >= LEAST_LETTERS && markers.words >= LEAST_WORDS
            || script != Script::Latin && prose.words_in(script).longest >= 2
    })
}

/// The letters of the marker words of `prose` in the script of a language.
fn letters_of(prose: &Prose, guess: &LanguageGuess) -> usize {
    main_script(prose, &guess.language).map_or(0, |script| prose.markers_in(script).letters)
}

/// The script of `language` in which `prose` has the most letters.
fn main_script(prose: &Prose, language: &str) -> Option<Script> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for word in &prose.words {
        stop::point();
        if !natural::is_written_in(language, word.script) {
            continue;
        }
        match counts.iter_mut().find(|(script, _)| *script == word.script) {
            Some((_, count)) => *count += word.letters,
            None => counts.push((word.script, word.letters)),
        }
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(script, _)| script)
}

/// The words of one script.
struct Words {
    text: String,
    letters: usize,
    words: usize,
    /// The letters of the longest word.
    longest: usize,
}

/// A word of prose.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    range: Range<usize>,
    script: Script,
    /// The number of letters. A Han character counts as two, since it is about half a word.
    letters: usize,
    /// Whether the first letter is small. A word with a capital may be a name.
    begins_small: bool,
    /// Whether it begins a sentence whose next word begins small.
    begins_sentence: bool,
    in_capitals: bool,
}

impl Word {
    /// The number of words that it counts for. Chinese, Japanese and Thai have no spaces between words. A single letter
    /// may be a variable.
    fn count(&self) -> usize {
        match self.script {
            _ if self.letters < 2 => 0,
            Script::Han | Script::Hiragana | Script::Thai => (self.letters / 4).max(1),
            _ => 1,
        }
    }
}

/// A text in which everything without a language is blank. The offsets stay the same.
#[derive(Debug, Clone, PartialEq)]
struct Prose {
    masked: String,
    words: Vec<Word>,
}

impl Prose {
    fn new(text: &str) -> Self {
        let mut masked = text.as_bytes().to_vec();
        // Only lines outside of fences count, without their code spans.
        let mut at = 0;
        for section in code::sections(text) {
            stop::point();
            let Section::Bare(lines) = section else { continue };
            for line in lines {
                blank(&mut masked, at..line.start);
                at = line.end;
                for span in code::spans(text, line) {
                    blank(&mut masked, span);
                }
            }
        }
        blank(&mut masked, at..text.len());
        for range in natural::addresses(text) {
            blank(&mut masked, range);
        }
        Self::read(masked)
    }

    fn mask_code(&self, code: &CodeFinder) -> Self {
        let mut masked = self.masked.clone().into_bytes();
        for piece in code.find(&self.masked) {
            if piece.code >= SURELY_CODE {
                blank(&mut masked, piece.range);
            }
        }
        Self::read(masked)
    }

    /// Finds the words, and blanks those that are parts of code.
    fn read(masked: Vec<u8>) -> Self {
        let text = String::from_utf8(masked).expect("whole characters were replaced by spaces");
        let mut all = words(&text);
        // Kana make the Han characters of a text Japanese, as in [`natural`].
        if all.iter().any(|(word, _)| word.script == Script::Hiragana) {
            for (word, _) in all.iter_mut().filter(|(word, _)| word.script == Script::Han) {
                word.script = Script::Hiragana;
            }
        }
        let (words, other): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, is_prose)| *is_prose);
        let mut masked = text.into_bytes();
        for (word, _) in other {
            stop::point();
            blank(&mut masked, word.range);
        }
        Self {
            masked: String::from_utf8(masked).expect("whole words were replaced by spaces"),
            words: words.into_iter().map(|(word, _)| word).collect(),
        }
    }

    fn part(&self, range: Range<usize>) -> Self {
        let from = self.words.partition_point(|word| word.range.start < range.start);
        let words = self.words[from..]
            .iter()
            .take_while(|word| word.range.end <= range.end)
            .map(|word| Word {
                range: word.range.start - range.start..word.range.end - range.start,
                ..word.clone()
            })
            .collect();
        Self {
            masked: self.masked[range].to_owned(),
            words,
        }
    }

    fn words_in(&self, script: Script) -> Words {
        self.those(|word| word.script == script)
    }

    fn markers_in(&self, script: Script) -> Words {
        let of_script = || self.words.iter().filter(|word| word.script == script);
        let in_capitals = of_script().count() >= CAPITALS && of_script().all(|word| word.in_capitals);
        let enough = of_script().filter(|word| word.begins_small).count() >= ENOUGH_SMALL;
        self.those(|word| word.script == script && (word.begins_small || in_capitals || enough && word.begins_sentence))
    }

    fn those(&self, is_meant: impl Fn(&Word) -> bool) -> Words {
        let mut found = Words {
            text: String::new(),
            letters: 0,
            words: 0,
            longest: 0,
        };
        for word in self.words.iter().filter(|word| is_meant(word)) {
            if found.letters < PLENTY {
                if !found.text.is_empty() {
                    found.text.push(' ');
                }
                found.text.push_str(&self.masked[word.range.clone()]);
            }
            found.letters += word.letters;
            found.words += word.count();
            found.longest = found.longest.max(word.letters);
        }
        found
    }
}

/// The words of a text in scripts of known languages, and whether each is prose. The characters around a word mark it
/// as code: `max_value`, `--save`, `/etc`, `print(`, `a.b`, `\frac` and `x = 1`.
fn words(text: &str) -> Vec<(Word, bool)> {
    let mut found: Vec<(Word, bool)> = Vec::new();
    let mut before = ' ';
    // Whether the next word begins a sentence, and the index of the last word that did.
    let (mut is_beginning, mut begins) = (true, None);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        stop::point();
        let Some(script) = natural::script_of(first) else {
            at += first.len_utf8();
            before = first;
            is_beginning |= matches!(first, '.' | '!' | '?' | '…' | ':' | '¿' | '¡' | '\n');
            continue;
        };
        let start = at;
        let RawWord { word, is_camel, last } = read_word(text, start, first, script);
        at = word.range.end;
        let touches_word = before == '.' && found.last().is_some_and(|(word, _)| word.range.end + 1 == start);
        let is_code = is_camel || touches_word || marks_code_before(before) || marks_code_after(&text[at..]);
        // A capital at the start of a sentence is no sign of a name if the next word starts small.
        if word.begins_small
            && begins.is_some_and(|begins| begins + 1 == found.len())
            && let Some((first, _)) = found.last_mut()
        {
            first.begins_sentence = true;
        }
        if is_beginning {
            begins = Some(found.len());
        }
        is_beginning = false;
        found.push((word, !is_code));
        before = last;
    }
    found
}

/// A word that may be prose or code.
struct RawWord {
    word: Word,
    /// Whether a capital follows a small letter, as in `userName`.
    is_camel: bool,
    last: char,
}

/// Reads the word at `start`, which begins with the letter `first` of `script`.
fn read_word(text: &str, start: usize, first: char, script: Script) -> RawWord {
    let of_script = |character: char| natural::script_of(character) == Some(script);
    let mut end = start + first.len_utf8();
    let mut letters = 1;
    let mut last = first;
    let (mut is_camel, mut in_capitals) = (false, first.is_uppercase());
    for character in text[end..].chars() {
        let is_letter = of_script(character);
        // Marks and joiners are parts of words. So are apostrophes and hyphens between letters.
        let joins = !is_letter
            && (is_mark(character)
                || matches!(character, '\'' | '’' | '-' | '‑' | '·')
                    && text[end + character.len_utf8()..].starts_with(of_script));
        if !is_letter && !joins {
            break;
        }
        is_camel |= last.is_lowercase() && character.is_uppercase();
        in_capitals &= !character.is_lowercase();
        letters += usize::from(is_letter);
        last = character;
        end += character.len_utf8();
    }
    let weight = if matches!(script, Script::Han | Script::Hangul) {
        2
    } else {
        1
    };
    let word = Word {
        range: start..end,
        script,
        letters: weight * letters,
        begins_small: !first.is_uppercase(),
        begins_sentence: false,
        in_capitals,
    };
    RawWord { word, is_camel, last }
}

/// Whether a character before a word marks it as code.
fn marks_code_before(before: char) -> bool {
    matches!(
        before,
        '_' | '\\' | '/' | '$' | '#' | '@' | '-' | '=' | '<' | '&' | '0'..='9'
    )
}

/// Whether the text after a word marks it as code.
fn marks_code_after(after: &str) -> bool {
    let mut after = after.chars();
    let (next, second) = (after.next().unwrap_or(' '), after.next().unwrap_or(' '));
    matches!(next, '_' | '\\' | '/' | '(' | '=' | '[' | '{' | '>' | '0'..='9')
        || matches!(next, '.' | ':') && (second.is_alphanumeric() || second == ':')
        || next == ';' && second.is_alphabetic()
        || next == '"' && second == ':'
}

/// Whether a character is a combining mark or a joiner within a word. These are not `Alphabetic` in Unicode.
fn is_mark(character: char) -> bool {
    !character.is_ascii()
        && !character.is_whitespace()
        && (matches!(character, '\u{200C}' | '\u{200D}' | '\u{AD}') || is_combining(character))
}

fn is_combining(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// The short texts of the scanners' tests.
    #[derive(Deserialize)]
    struct ShortTexts {
        english: Vec<String>,
        short: Vec<String>,
        foreign: BTreeMap<String, Vec<String>>,
        answers: Vec<String>,
        prompts: BTreeMap<String, String>,
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn short_texts() -> &'static ShortTexts {
        static TEXTS: OnceLock<ShortTexts> = OnceLock::new();
        TEXTS.get_or_init(|| {
            let file = std::fs::read(root().join("test/fixtures/short-texts.json")).unwrap();
            serde_json::from_slice(&file).unwrap()
        })
    }

    fn checker() -> LanguageChecker<'static> {
        static MODELS: OnceLock<[LinearModel; 2]> = OnceLock::new();
        let [languages, code] = MODELS.get_or_init(|| {
            ["language", "code"].map(|name| LinearModel::load(&root().join("models").join(name)).unwrap())
        });
        LanguageChecker::new(languages, Some(CodeFinder::new(code, &[]).unwrap()))
    }

    fn other(text: &str, expected: &[&str]) -> Option<LanguageGuess> {
        checker().check_text(text, expected).0.other
    }

    #[test]
    fn short_texts_are_in_no_unexpected_language() {
        for text in short_texts().english.iter().chain(&short_texts().short) {
            assert!(
                other(text, &["en"]).is_none_or(|guess| guess.probability <= 0.6),
                "{text:?}: {:?}",
                other(text, &["en"])
            );
        }
    }

    #[test]
    fn clear_texts_are() {
        for (language, texts) in &short_texts().foreign {
            for text in texts {
                assert!(other(text, &["en"]).is_some(), "{text:?}");
                let own = other(text, &[language]);
                assert!(own.is_none(), "{text:?}: {own:?}");
            }
        }
    }

    #[test]
    fn short_answers_go_with_any_prompt() {
        for prompt in short_texts().prompts.values() {
            for answer in &short_texts().answers {
                let check = checker().check_answer(prompt, answer, 0.1);
                assert_eq!(check.other, None, "{prompt:?} {answer:?}");
            }
        }
        for (asked, prompt) in &short_texts().prompts {
            for (answered, answer) in &short_texts().prompts {
                let check = checker().check_answer(prompt, answer, 0.1);
                assert_eq!(check.other.is_some(), asked != answered, "{prompt:?} {answer:?}");
                assert!(check.is_detectable || asked == answered);
            }
        }
    }

    #[test]
    fn a_text_shares_a_language_with_itself_where_every_one_is_unlikely() {
        let text = "cßv `vl ßeä ```\n`t!ßa ```\n```\n";
        for threshold in [0.1, 0.5, 0.99] {
            assert_eq!(checker().check_answer(text, text, threshold).other, None);
        }
    }

    #[test]
    fn code_and_what_stands_in_fences_is_in_no_language() {
        let prose = "Please explain what this does, and why it fails.";
        for german in [
            "```\nfür jedes Element in der Liste tue etwas damit\n```",
            "`für jedes Element in der Liste tue etwas`",
            "https://beispiel.de/für-jedes-element-in-der-liste",
        ] {
            assert_eq!(other(&format!("{prose}\n{german}\n"), &["en"]), None);
        }
        assert_eq!(
            other(
                "Das ist mir leider nicht klar.\n```\nfor each item in the list\n```",
                &["en"]
            )
            .map(|guess| guess.language),
            Some("de".to_owned())
        );
    }

    #[test]
    fn says_whether_there_was_enough_to_judge() {
        let is_detectable = |text: &str| checker().check_text(text, &["en"]).0.is_detectable;
        for text in [
            "",
            "42",
            "hi",
            "Paris",
            "print('hello world')",
            "Anna Schmidt, Jürgen Müller",
        ] {
            assert!(!is_detectable(text), "{text}");
        }
        for text in [
            "Where is the railway station?",
            "Wo ist denn hier der Bahnhof?",
            "Привет",
            "你好",
        ] {
            assert!(is_detectable(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_fine(text in "(\\PC|[a-zäß]{1,6} |```\n|`|\n){0,40}") {
            let (whole, parts) = checker().check_text(&text, &["en"]);
            prop_assert_eq!(whole.range, 0..text.len());
            for part in parts {
                prop_assert!(text.get(part.range).is_some());
            }
            prop_assert_eq!(checker().check_answer(&text, &text, 0.1).other, None);
            has_enough_words(&text);
        }
    }
}
