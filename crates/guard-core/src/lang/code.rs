//! Finds pieces of code in a text, and names their languages.
//!
//! A piece of code is one of these:
//!
//! - a fenced block of Markdown (CommonMark 0.31, section 4.5),
//! - a code span within a line (section 6.1) with a character that is rare in prose,
//! - a run of lines that look like code. Each line is scored separately. Then the Viterbi algorithm finds the cheapest
//!   way to label all lines as code or prose, where each change between the two has a price.
//!
//! A text without such a piece is classified as a whole.
//!
//! The model classifies the piece. A fence, and the language that it names, are only hints that change the odds by
//! [`HINT`]. Unless a fence names a language, a piece without [syntax](super::code_signs) is no code, whatever the
//! model says.
//!
//! The time is linear in the length of the text.

use std::collections::HashMap;
use std::ops::Range;

use super::code_signs;
use super::linear::{LinearModel, softmax};
use crate::stop;

/// The label of text that is not code.
pub const NONE: &str = "none";
/// How much a fence, or the language that it names, raises the logits. That multiplies the odds by e², about 7.
const HINT: f32 = 2.0;
/// How much a piece without any sign of syntax raises the logit of prose, unless a fence names a language. This exceeds
/// the model's greatest confidence in code. After a fence without a name it is half.
const DOUBT: f32 = 12.0;
/// Info strings of fences without code.
const PLAIN: &[&str] = &["text", "txt", "plain", "plaintext", "none", "md", "markdown"];
/// The cost of a change between prose and code, in logits. The text before the first line and after the last one counts
/// as prose. So a single odd line, such as a list item, is no piece: it gains at most [`SURE`], and costs two changes.
const CHANGE: f32 = 2.5;
/// The most evidence of a single line for or against code, in logits.
const SURE: f32 = 4.0;
/// The most bytes of a piece. Longer pieces are cut at line breaks and classified in parts, so that a few lines in
/// another language are not lost in a long listing.
const PART: usize = 8192;
/// A code span without any of these characters is a word or a name. The list is that of llm-guard 0.3.16.
const SPAN_CHARACTERS: &[char] = &['{', '}', '[', ']', '(', ')', '=', '+', '-', '*', '/', '<', '>', '!'];

/// The form of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Between fences.
    Fenced,
    /// Between backticks.
    Span,
    /// Lines that look like code.
    Lines,
    /// The whole text, if there is no other piece.
    Text,
}

/// A classified piece of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The byte range, without fences and backticks.
    pub range: Range<usize>,
    /// The form of the piece.
    pub kind: Kind,
    /// The probability that it is code.
    pub code: f32,
    /// The probability that it is code in one of the listed languages.
    pub listed: f32,
    /// The most probable of the listed languages.
    pub listed_label: Option<usize>,
    /// The most probable of the other languages.
    pub other_label: Option<usize>,
}

/// The model can't separate code from prose: it has no label [`NONE`].
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
    /// Creates a finder. `listed` are indices of the model's labels.
    ///
    /// # Errors
    ///
    /// [`CodeFinderError`] if the model has no label [`NONE`].
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

    /// Finds and classifies the pieces of `text`, in order. A text without letters and digits has none.
    pub fn find(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for section in sections(text) {
            stop::point();
            match section {
                Section::Fenced { range, info } => {
                    for part in parts(text, range) {
                        self.classify(text, part, Kind::Fenced, Some(info), &mut pieces);
                    }
                }
                Section::Bare(lines) => self.read_lines(text, &lines, &mut pieces),
            }
        }
        // A text without letters and digits, such as an empty fence, has no piece.
        if pieces.is_empty() && text.contains(char::is_alphanumeric) {
            self.classify(text, 0..text.len(), Kind::Text, None, &mut pieces);
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
                    self.classify(text, part, Kind::Lines, None, pieces);
                }
            } else {
                for line in &lines[at..end] {
                    for span in spans(text, line.clone()) {
                        if text[span.clone()].contains(SPAN_CHARACTERS) {
                            self.classify(text, span, Kind::Span, None, pieces);
                        }
                    }
                }
            }
            at = end;
        }
    }

    /// Labels the lines that are code. Blank lines take the label of their neighbours.
    fn code_lines(&self, text: &str, lines: &[Range<usize>]) -> Vec<bool> {
        // The gains of the best path that ends in prose, and of the best one that ends in code. For each line,
        // `origins` records whether these paths came from the same side.
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

    /// The log odds that a line is code.
    fn line_odds(&self, line: &str) -> f32 {
        let line = line.trim();
        if line.is_empty() {
            return 0.0;
        }
        let none = softmax(&self.model.logits(line))[self.none];
        ((1.0 - none).max(1e-6) / none.max(1e-6)).ln().clamp(-SURE, SURE)
    }

    /// Classifies a piece without the blank lines around it.
    fn classify(&self, text: &str, range: Range<usize>, kind: Kind, info: Option<&str>, pieces: &mut Vec<Piece>) {
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
        let listed: f32 = probabilities
            .iter()
            .zip(&self.listed)
            .filter_map(|(probability, listed)| listed.then_some(probability))
            .sum();
        pieces.push(Piece {
            range,
            kind,
            code: 1.0 - probabilities[self.none],
            // Rounding can lift the sum above 1.
            listed: listed.min(1.0),
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

/// Parses a fence: its character, its length, and the text after it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    // Fences in lists may be indented more deeply than elsewhere in CommonMark.
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
    // The open fence: its character, its length, its info string, and the start of its content.
    let mut open: Option<(char, usize, &str, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        match (open, fence(line)) {
            (None, None) => bare.push(range),
            (None, Some((mark, length, info))) => {
                sections.push(Section::Bare(std::mem::take(&mut bare)));
                // The first word of the info string is the language: `python title="x"`, `{.python}`, `js{1,3}`.
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
        // An unclosed fence reaches to the end. A closing fence has no words after it and is not shorter.
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
