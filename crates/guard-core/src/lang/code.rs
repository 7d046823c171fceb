//! Finding pieces of code in a text, and naming their languages.
//!
//! Three things are taken for pieces of code:
//!
//! - fenced blocks of Markdown (CommonMark 0.31, section 4.5),
//! - code spans within a line (section 6.1) that have a character which is rare in prose,
//! - runs of lines that look like code. Each line is scored by itself. Then the cheapest way to label all lines as code or prose
//!   is found, where each change between the two has a price (the Viterbi algorithm).
//!
//! A text without such a piece is judged as a whole.
//!
//! The model says what a piece is. That a block is fenced, and the language that its fence names, are only hints, which change
//! the odds by [`HINT`]. Where no fence names a language, a piece that shows no [syntax](super::code_signs) is no code, whatever the
//! model says of it.
//!
//! It takes time linear in the length of the text.

use std::collections::HashMap;
use std::ops::Range;

use super::code_signs;
use super::linear::{LinearModel, softmax};
use crate::stop;

/// The label of text that is not code.
pub const NONE: &str = "none";
/// By how much a fence, or the language that it names, raises the logits. That changes the odds by e², about 7 to 1.
const HINT: f32 = 2.0;
/// How much a piece without any sign of syntax raises the logit of prose, where no fence names a language. The model is never surer
/// of code than this. Behind a fence without a name it is half of it.
const DOUBT: f32 = 12.0;
/// Info strings of fences that contain no code.
const PLAIN: &[&str] = &["text", "txt", "plain", "plaintext", "none", "md", "markdown"];
/// What a change between prose and code costs, in logits. The text before the first line and after the last one counts as prose.
/// So a single odd line, such as an item of a list, is no piece wherever it stands: it gains [`SURE`] at most, and costs two
/// changes.
const CHANGE: f32 = 2.5;
/// The most that a single line can say for or against code, in logits.
const SURE: f32 = 4.0;
/// Longer pieces, in bytes, are cut at line breaks and judged in parts, so that a few lines in another language are not overlooked
/// in a long listing.
const PART: usize = 8192;
/// A code span without any of these characters is a word or a name. They are those of llm-guard 0.3.16.
const SPAN_CHARACTERS: &[char] = &['{', '}', '[', ']', '(', ')', '=', '+', '-', '*', '/', '<', '>', '!'];

/// What made a piece of text a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Between fences.
    Fenced,
    /// Between backticks.
    Span,
    /// Lines that look like code.
    Lines,
    /// The text as a whole, which has no other piece.
    Text,
}

/// A piece of text and what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its byte range, without fences and backticks.
    pub range: Range<usize>,
    /// What made it a candidate.
    pub kind: Kind,
    /// The probability that it is code.
    pub code: f32,
    /// The probability that it is code in one of the listed languages.
    pub listed: f32,
    /// The most probable of the listed languages.
    pub listed_label: Option<usize>,
    /// The most probable of the others.
    pub other_label: Option<usize>,
}

/// The model cannot tell code from prose: it has no label [`NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the model has no label {NONE}")]
pub struct CodeFinderError;

/// Finds code with a model that has the label [`NONE`].
pub struct CodeFinder<'a> {
    model: &'a LinearModel,
    none: usize,
    listed: Vec<bool>,
}

impl<'a> CodeFinder<'a> {
    /// `listed` are indices of labels of the model.
    ///
    /// # Errors
    ///
    /// [`CodeFinderError`] when the model has no label [`NONE`].
    pub fn new(model: &'a LinearModel, listed: &[usize]) -> Result<Self, CodeFinderError> {
        let none = model
            .labels()
            .iter()
            .position(|label| label == NONE)
            .ok_or(CodeFinderError)?;
        let listed = (0..model.labels().len())
            .map(|label| label != none && listed.contains(&label))
            .collect();
        Ok(Self { model, none, listed })
    }

    /// The pieces of `text` that may be code, in order. A text without a letter or digit has none.
    pub fn find(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for section in sections(text) {
            stop::point();
            match section {
                Section::Fenced { range, info } => {
                    for part in parts(text, range) {
                        self.judge(text, part, Kind::Fenced, Some(info), &mut pieces);
                    }
                }
                Section::Bare(lines) => self.read_lines(text, &lines, &mut pieces),
            }
        }
        // A text without letters and digits, such as an empty fence, has no piece.
        if pieces.is_empty() && text.contains(char::is_alphanumeric) {
            self.judge(text, 0..text.len(), Kind::Text, None, &mut pieces);
        }
        pieces
    }

    fn read_lines(&self, text: &str, lines: &[Range<usize>], pieces: &mut Vec<Piece>) {
        let is_code = self.code_lines(text, lines);
        let mut at = 0;
        while at < lines.len() {
            stop::point();
            let end = at + is_code[at..].iter().take_while(|code| **code == is_code[at]).count();
            if is_code[at] {
                for part in parts(text, lines[at].start..lines[end - 1].end) {
                    self.judge(text, part, Kind::Lines, None, pieces);
                }
            } else {
                for line in &lines[at..end] {
                    for span in spans(text, line.clone()) {
                        if text[span.clone()].contains(SPAN_CHARACTERS) {
                            self.judge(text, span, Kind::Span, None, pieces);
                        }
                    }
                }
            }
            at = end;
        }
    }

    /// Which lines are code. Blank lines go with those around them.
    fn code_lines(&self, text: &str, lines: &[Range<usize>]) -> Vec<bool> {
        // The gain of the best path that ends in prose, and of the best that ends in code. For each line, `origins` says whether
        // these paths came from the same side.
        let mut gains = [0.0f32, -CHANGE];
        let mut origins = Vec::with_capacity(lines.len());
        for line in lines {
            stop::point();
            let stays = [gains[0] >= gains[1] - CHANGE, gains[1] >= gains[0] - CHANGE];
            let odds = self.line_odds(&text[line.clone()]);
            let before = gains;
            gains = [
                if stays[0] { before[0] } else { before[1] - CHANGE },
                odds + if stays[1] { before[1] } else { before[0] - CHANGE },
            ];
            origins.push(stays);
        }
        let mut code = gains[1] - CHANGE > gains[0];
        let mut result = vec![false; lines.len()];
        for (line, stays) in origins.iter().enumerate().rev() {
            result[line] = code;
            if !stays[usize::from(code)] {
                code = !code;
            }
        }
        result
    }

    /// The logarithm of the odds that a line is code.
    fn line_odds(&self, line: &str) -> f32 {
        let line = line.trim();
        if line.is_empty() {
            return 0.0;
        }
        let none = softmax(&self.model.logits(line))[self.none];
        ((1.0 - none).max(1e-6) / none.max(1e-6)).ln().clamp(-SURE, SURE)
    }

    /// Judges a piece, without the blank lines around it.
    fn judge(&self, text: &str, range: Range<usize>, kind: Kind, info: Option<&str>, pieces: &mut Vec<Piece>) {
        let piece = &text[range.clone()];
        let start = range.start + piece.len() - piece.trim_start_matches(['\n', '\r']).len();
        let range = start..range.start + piece.trim_end().len();
        if range.is_empty() || text[range.clone()].trim().is_empty() {
            return;
        }
        let piece = &text[range.clone()];
        let mut logits = self.model.logits(piece);
        let info = info
            .map(str::to_lowercase)
            .filter(|info| !PLAIN.contains(&info.as_str()));
        let doubt = match info.as_deref() {
            None => DOUBT,
            Some("") => DOUBT / 2.0,
            Some(_) => 0.0,
        };
        if doubt > 0.0 {
            logits[self.none] += doubt * (1.0 - code_signs::signs(piece));
        }
        if let Some(info) = info {
            logits[self.none] -= HINT;
            if let Some(named) = self.model.label(&info) {
                logits[named] += HINT;
            }
        }
        let probabilities = softmax(&logits);
        let best = |listed: bool| {
            (0..probabilities.len())
                .filter(|label| *label != self.none && self.listed[*label] == listed)
                .max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]))
        };
        let listed = probabilities
            .iter()
            .zip(&self.listed)
            .filter_map(|(probability, listed)| listed.then_some(probability))
            .sum();
        pieces.push(Piece {
            range,
            kind,
            code: 1.0 - probabilities[self.none],
            listed,
            listed_label: best(true),
            other_label: best(false),
        });
    }
}

/// A part of a text: a fenced block, or the lines outside of fences.
pub(super) enum Section<'a> {
    Fenced { range: Range<usize>, info: &'a str },
    Bare(Vec<Range<usize>>),
}

/// The fence that a line consists of: its character, its length, and the text after it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    // Fences in lists are indented more deeply than CommonMark allows elsewhere.
    let line = line.trim_start_matches([' ', '\t', '>']);
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let info = rest.trim();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length, info))
}

pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut bare = Vec::new();
    // The open fence: its character, its length, its info string, and where its content begins.
    let mut open: Option<(char, usize, &str, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        match (open, fence(line)) {
            (None, None) => bare.push(range),
            (None, Some((mark, length, info))) => {
                sections.push(Section::Bare(std::mem::take(&mut bare)));
                // Only the first word of the info string names the language: `python title="x"`, `{.python}`, `js{1,3}`.
                let name = info
                    .trim_start_matches(['{', '.'])
                    .split([' ', '\t', ',', '{', '}', ':'])
                    .next()
                    .unwrap_or_default();
                open = Some((mark, length, name, range.end));
            }
            (Some((mark, length, info, content)), Some((closing, its_length, "")))
                if closing == mark && its_length >= length =>
            {
                sections.push(Section::Fenced {
                    range: content..range.start,
                    info,
                });
                open = None;
            }
            (Some(_), _) => {}
        }
    }
    sections.push(match open {
        Some((_, _, info, content)) => Section::Fenced {
            range: content..text.len(),
            info,
        },
        None => Section::Bare(bare),
    });
    sections
}

/// Cuts a range at line breaks into parts of about [`PART`] bytes.
fn parts(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    let mut end = range.start;
    for line in text[range.clone()].split_inclusive('\n') {
        if end > start && end - start + line.len() > PART {
            parts.push(start..end);
            start = end;
        }
        end += line.len();
    }
    parts.push(start..range.end);
    parts
}

/// The code spans of a line.
pub(super) fn spans(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text[line.clone()].match_indices('`') {
        let at = line.start + at;
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    // The next run of the same length closes each run of backticks.
    let mut later = HashMap::new();
    let mut closing = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        closing[index] = later.insert(run.len(), index);
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        match closing[at] {
            Some(end) => {
                found.push(runs[at].end..runs[end].start);
                at = end + 1;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fenced(text: &str) -> Vec<(&str, &str)> {
        sections(text)
            .into_iter()
            .filter_map(|section| match section {
                Section::Fenced { range, info } => Some((info, &text[range])),
                Section::Bare(_) => None,
            })
            .collect()
    }

    #[test]
    fn fences_are_those_of_markdown() {
        assert_eq!(fenced("a\n```py\nx\n```\nb"), [("py", "x\n")]);
        assert_eq!(
            fenced("~~~ {.python title=a}\n```\n~~\n~~~~  \nb"),
            [("python", "```\n~~\n")]
        );
        assert_eq!(
            fenced("1. a\n   ```js{1,3}\r\n   x\r\n   ```\r\n"),
            [("js", "   x\r\n")]
        );
        assert_eq!(fenced("> ```\n> x\n> ```"), [("", "> x\n")]);
        // A fence that is never closed goes on to the end. A closing fence has no words after it and is not shorter.
        assert_eq!(fenced("````\n```\n```` no\nx"), [("", "```\n```` no\nx")]);
        assert_eq!(fenced("``` a ` b\nx\n"), []);
        assert_eq!(fenced("``\nx\n``"), []);
    }

    #[test]
    fn spans_end_with_as_many_backticks() {
        let find = |line: &str| -> Vec<String> {
            spans(line, 0..line.len())
                .into_iter()
                .map(|range| line[range].to_owned())
                .collect()
        };
        assert_eq!(find("use `a()` or ``b`c`` here"), ["a()", "b`c"]);
        assert_eq!(find("one ` alone, ``two``"), ["two"]);
        assert_eq!(find("none"), [""; 0]);
    }

    proptest! {
        #[test]
        fn sections_keep_to_the_text(text in "(```|~~~~|`|\n|\r\n|x = 1;|слово| |> ){0,30}") {
            let mut at = 0;
            for section in sections(&text) {
                let ranges = match section {
                    Section::Fenced { range, .. } => parts(&text, range),
                    Section::Bare(lines) => lines,
                };
                for range in ranges {
                    prop_assert!(range.start >= at && range.end >= range.start);
                    at = range.end;
                    for span in spans(&text, range) {
                        prop_assert!(!text[span].is_empty());
                    }
                }
            }
            prop_assert!(at <= text.len());
        }

        #[test]
        fn parts_are_all_of_the_text(lengths in prop::collection::vec(0usize..5000, 0..12)) {
            let text: String = lengths.iter().map(|length| "x".repeat(*length) + "\n").collect();
            let parts = parts(&text, 0..text.len());
            prop_assert_eq!(parts.iter().map(|part| &text[part.clone()]).collect::<String>(), text.clone());
            prop_assert!(parts.iter().all(|part| part.len() <= PART || !text[part.clone()].trim_end().contains('\n')));
        }
    }
}
