//! Tells the assistant's own words from those of others that an answer reports: quotations, lines of scripts, letters.

use std::ops::Range;

use serde::Deserialize;

use super::lazy_pattern::{Compilation, LazyPattern, SearchError};
use super::needles::Needles;
use crate::rules::error::RuleErrorKind;
use crate::rules::regex::MatchType;

/// Bytes around a phrase that may contain its quotation marks, and bytes next to those that may contain a verb of
/// speech.
const QUOTED: usize = 600;
const BESIDE: usize = 60;
/// The fewest letters around a quotation for an answer that is more than the quotation. An ideograph counts as two.
const AROUND: usize = 24;
/// The most bytes between a phrase and the beginning or the end of its letter.
const LETTER: usize = 2000;
/// The most bytes of a label, such as a speaker's name.
const LABEL: usize = 60;
/// The most lines of a script that are read.
const LINES: usize = 400;

/// Opening and closing quotation marks.
const QUOTES: [(char, char); 8] = [
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
];
/// Dashes that begin a line of speech, and that end the speech within a line.
const DASHES: [char; 4] = ['—', '–', '―', '-'];

/// Patterns that match at the beginning of a line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Letters {
    /// A letter begins with one of these, at the beginning of a line or of a quotation.
    pub salutations: Vec<String>,
    /// Words for the user. A salutation with one of these begins an answer.
    #[serde(default)]
    pub readers: Vec<String>,
    /// Answers begin with these too, so they begin a letter only if a closing follows.
    #[serde(default)]
    pub greetings: Vec<String>,
    /// A letter ends with one of these, at the beginning of a line.
    #[serde(default)]
    pub closings: Vec<String>,
}

/// The patterns of all languages.
#[derive(Debug, Default)]
pub(super) struct TellingWords {
    speech: Vec<String>,
    assistants: Vec<String>,
    letters: Letters,
}

impl TellingWords {
    /// Adds the words of a language.
    pub fn add(&mut self, speech: &[String], assistants: &[String], letters: &Letters) {
        self.speech.extend_from_slice(speech);
        self.assistants.extend_from_slice(assistants);
        self.letters.salutations.extend_from_slice(&letters.salutations);
        self.letters.readers.extend_from_slice(&letters.readers);
        self.letters.greetings.extend_from_slice(&letters.greetings);
        self.letters.closings.extend_from_slice(&letters.closings);
    }
}

/// Decides whether the assistant says a phrase, or somebody else.
#[derive(Debug)]
pub(super) struct Telling {
    /// The verbs of speech. Without them, everything counts as said by the assistant.
    speech: Option<TellingPattern>,
    assistants: Option<TellingPattern>,
    salutations: Option<TellingPattern>,
    readers: Option<TellingPattern>,
    greetings: Option<TellingPattern>,
    closings: Option<TellingPattern>,
}

/// A pattern that is compiled when a text contains its needles.
#[derive(Debug)]
struct TellingPattern {
    pattern: LazyPattern,
    needles: Needles,
}

impl TellingPattern {
    fn new(pattern: &str) -> Self {
        let pattern = LazyPattern::new(pattern);
        let needles = Needles::new([pattern.source.as_str()]);
        Self { pattern, needles }
    }

    fn find(
        &self,
        text: &str,
        match_type: MatchType,
        compilation: Compilation,
    ) -> Result<Vec<Range<usize>>, SearchError> {
        match self.needles.suspects(text)[0] {
            true => self.pattern.find(text, match_type, compilation),
            false => Ok(Vec::new()),
        }
    }
}

impl Telling {
    pub fn new(words: &TellingWords) -> Self {
        let any = |before: &str, patterns: &[String], after: &str| {
            let pattern = format!("{before}(?:{}){after}", patterns.join("|"));
            (!patterns.is_empty()).then(|| TellingPattern::new(&pattern))
        };
        let opening = r#"(?m)(?:^|["“„«»「])[ \t*_>#-]{0,6}"#;
        Self {
            speech: any("", &words.speech, ""),
            assistants: any("^", &words.assistants, "$"),
            salutations: any(opening, &words.letters.salutations, ""),
            readers: any("", &words.letters.readers, ""),
            greetings: any(opening, &words.letters.greetings, ""),
            closings: any(r"(?m)^[ \t*_>#-]{0,6}", &words.letters.closings, ""),
        }
    }

    /// Compiles all patterns, to find invalid ones.
    pub fn compile(&self) -> Result<(), RuleErrorKind> {
        let all = [
            &self.speech,
            &self.assistants,
            &self.salutations,
            &self.readers,
            &self.greetings,
            &self.closings,
        ];
        for known in all.into_iter().flatten() {
            known.pattern.patterns()?;
        }
        Ok(())
    }

    /// Whether the answer reports a range instead of saying it.
    pub fn is_told(&self, text: &str, range: &Range<usize>, compilation: Compilation) -> Result<bool, SearchError> {
        if self.speech.is_none() {
            return Ok(false);
        }
        if let Some(quotation) = quotation(text, range)
            && (self.is_beside_speech(text, &quotation, compilation)?
                || is_surrounded(text, &quotation) && !self.is_assistants(text, &quotation, compilation)?)
        {
            return Ok(true);
        }
        Ok(self.is_speech_after_dash(text, range, compilation)?
            || self.is_in_letter(text, range, compilation)?
            || self.is_in_script(text, range, compilation)?)
    }

    /// Whether a verb of speech is next to a quotation, in the same line.
    fn is_beside_speech(
        &self,
        text: &str,
        quotation: &Range<usize>,
        compilation: Compilation,
    ) -> Result<bool, SearchError> {
        let before = line_before(text, quotation.start, BESIDE);
        Ok(matches(&self.speech, compilation, before)?
            || matches(&self.speech, compilation, line_after(text, quotation.end, BESIDE))?)
    }

    /// Whether a quotation is in a line of the assistant: `ChatGPT: "I can't help with that."`
    fn is_assistants(
        &self,
        text: &str,
        quotation: &Range<usize>,
        compilation: Compilation,
    ) -> Result<bool, SearchError> {
        match label(line_before(text, quotation.start, QUOTED)) {
            Some(label) => matches(&self.assistants, compilation, label),
            None => Ok(false),
        }
    }

    /// Whether a range is in a line of speech that begins with a dash: `—No puedo —dijo el mago.`
    fn is_speech_after_dash(
        &self,
        text: &str,
        range: &Range<usize>,
        compilation: Compilation,
    ) -> Result<bool, SearchError> {
        if !line_before(text, range.start, QUOTED).trim_start().starts_with(DASHES) {
            return Ok(false);
        }
        let after = line_after(text, range.end, QUOTED);
        match after.find(['—', '–']) {
            Some(at) => matches(
                &self.speech,
                compilation,
                &after[at..after.floor_char_boundary(at + BESIDE)],
            ),
            None => Ok(false),
        }
    }

    fn is_in_letter(&self, text: &str, range: &Range<usize>, compilation: Compilation) -> Result<bool, SearchError> {
        let before = &text[text.ceil_char_boundary(range.start.saturating_sub(LETTER))..range.start];
        if let Some(salutations) = &self.salutations {
            for salutation in salutations.find(before, MatchType::All, compilation)? {
                if !matches(&self.readers, compilation, &before[salutation])? {
                    return Ok(true);
                }
            }
        }
        let after = &text[range.end..text.floor_char_boundary(range.end + LETTER)];
        Ok(matches(&self.greetings, compilation, before)? && matches(&self.closings, compilation, after)?)
    }

    /// Whether a range is in a labelled line of a script: at least half of the lines are labelled, with at least two
    /// labels, none of which is the assistant's.
    fn is_in_script(&self, text: &str, range: &Range<usize>, compilation: Compilation) -> Result<bool, SearchError> {
        if label(line_before(text, range.start, QUOTED)).is_none() {
            return Ok(false);
        }
        let lines = text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
        let (mut count, mut labels) = (0, Vec::new());
        for line in lines {
            count += 1;
            labels.extend(label(line));
        }
        let labelled = labels.len();
        labels.sort_unstable();
        labels.dedup();
        if labels.len() < 2 || labelled * 2 < count {
            return Ok(false);
        }
        for label in labels {
            if matches(&self.assistants, compilation, label)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn matches(pattern: &Option<TellingPattern>, compilation: Compilation, text: &str) -> Result<bool, SearchError> {
    match pattern {
        Some(pattern) => Ok(!pattern.find(text, MatchType::Search, compilation)?.is_empty()),
        None => Ok(false),
    }
}

/// At most `bytes` of the line before an offset.
fn line_before(text: &str, end: usize, bytes: usize) -> &str {
    let before = &text[text.ceil_char_boundary(end.saturating_sub(bytes))..end];
    before.rsplit('\n').next().unwrap_or(before)
}

/// At most `bytes` of the line after an offset.
fn line_after(text: &str, start: usize, bytes: usize) -> &str {
    let after = &text[start..text.floor_char_boundary(start + bytes)];
    after.split('\n').next().unwrap_or(after)
}

/// The quotation around a range, with its marks: in one line, and not much longer than the range. The range may begin
/// with the opening mark.
fn quotation(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let said = &text[range.clone()];
    let inner = said.trim_start_matches(|character: char| !character.is_alphanumeric());
    let begin = range.end - inner.len();
    let before = line_before(text, begin, QUOTED);
    let after = line_after(text, range.end, QUOTED);
    QUOTES.iter().find_map(|(open, close)| {
        let start = before.rfind(*open)?;
        // If both marks are the same, every second one opens.
        let opens = open != close || before.matches(*open).count() % 2 == 1;
        let closed = open != close && before[start..].contains(*close);
        let end = after.find(*close)?;
        (opens && !closed).then(|| begin - before.len() + start..range.end + end + close.len_utf8())
    })
}

/// Whether an answer is more than a quotation, and no document in JSON or HTML, whose values are quoted anyway.
fn is_surrounded(text: &str, quotation: &Range<usize>) -> bool {
    let start = text.trim_start();
    let start = start.strip_prefix("```").map_or(start, |fenced| {
        fenced
            .trim_start_matches(|character: char| character.is_ascii_alphanumeric())
            .trim_start()
    });
    if start.starts_with(['{', '[', '<']) {
        return false;
    }
    // A quoted first line is the answer.
    if text[..quotation.start].trim().is_empty() && line_after(text, quotation.end, QUOTED).trim().is_empty() {
        return false;
    }
    let weight = |character: char| match character {
        '\u{2E80}'.. => 2,
        _ => 1,
    };
    let around = text[..quotation.start].chars().chain(text[quotation.end..].chars());
    let mut letters = around.filter(|character| character.is_alphabetic());
    let mut sum = 0;
    letters.any(|letter| {
        sum += weight(letter);
        sum >= AROUND
    })
}

/// The label of a line, such as `Waiter` in `Waiter: No.`, without marks and stage directions.
fn label(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|character: char| character.is_whitespace() || "*_>#".contains(character));
    let head = &line[..line.floor_char_boundary(LABEL)];
    let (label, _) = head.split_once([':', '：'])?;
    let label = label.split_once(['(', '（']).map_or(label, |(name, _)| name);
    let label = label.trim_end_matches(|character: char| character.is_whitespace() || "*_".contains(character));
    let is_name = |character: char| character.is_alphabetic() || " .'’".contains(character);
    let first = label.chars().next()?;
    let is_labelled = first.is_alphabetic() && !first.is_lowercase() && label.chars().all(is_name);
    (is_labelled && label.chars().count() <= 25).then_some(label)
}
