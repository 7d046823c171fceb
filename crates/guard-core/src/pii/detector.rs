//! Finds all personal data in a text: combines recognizers, hidden names and findings of other sources.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::character_width::canonical_form;
use super::finding::{Evidence, Finding};
use super::merge::merge;
use super::options::Options;
use super::people;
use super::recognizers::Recognizers;
use crate::rules::substrings::{MatchType, Substrings, SubstringsError};
use crate::rules::{RuleError, RuleErrorKind};
use crate::stop;

/// The type of hidden names, as in llm-guard.
pub const HIDDEN: &str = "CUSTOM";
/// Replaces placeholders during the search: the control character SUBSTITUTE, which is part of no word.
const SUBSTITUTE: &str = "\u{1A}";

/// A placeholder such as `[REDACTED_PERSON_1]`, or a model's version of it: without brackets, in any case.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let whole = r"\[REDACTED_([^\s\[\]]{1,100})_([0-9]{1,9})\]";
    let bare = r"REDACTED_([^\s\[\]]{1,100}?)_([0-9]{1,9})";
    Regex::new(&format!("(?i){whole}|{bare}")).ok()
});

/// Text that is surely a placeholder: it is too short to contain a card number.
static SURE_PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\[REDACTED_[\p{L}_]{1,100}_[0-9]{1,7}\]").ok());

/// Finds personal data.
///
/// ```
/// use guard_core::pii::{Detector, Options};
///
/// let detector = Detector::new(&Options::default(), &["Aurora".to_owned()])?;
/// let found = detector.find("Aurora: ann@example.org", Vec::new(), &[])?.findings;
/// assert_eq!((&*found[0].entity, &*found[1].entity), ("CUSTOM", "EMAIL_ADDRESS"));
/// # Ok::<(), guard_core::rules::RuleError>(())
/// ```
#[derive(Debug)]
pub struct Detector {
    recognizers: Recognizers,
    hidden: Option<Substrings>,
    allowed: HashSet<String>,
    threshold: f64,
    /// Whether names of people are looked for.
    names: bool,
}

/// The result of [`Detector::find`].
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The findings in the order of the text, without overlaps.
    pub findings: Vec<Finding>,
    /// The highest score before merging; 0 without findings.
    pub highest: f64,
}

impl Detector {
    /// Creates a detector for `options` and `hidden` names, which match as whole words in any case.
    ///
    /// # Errors
    ///
    /// The first invalid value, with its path: `hidden.0`, or one of [`Recognizers::new`].
    pub fn new(options: &Options, hidden: &[String]) -> Result<Self, RuleError> {
        let fault = |error: SubstringsError| {
            let path = match error {
                SubstringsError::Empty { substring } => format!("hidden.{substring}"),
                SubstringsError::TooLarge(_) => "hidden".to_owned(),
            };
            RuleErrorKind::from(error).at(path)
        };
        let names = || Substrings::new(hidden, MatchType::Word, false).map_err(fault);
        let allowed = options.allowed.iter();
        Ok(Self {
            recognizers: Recognizers::new(options)?,
            hidden: if hidden.is_empty() { None } else { Some(names()?) },
            allowed: allowed.map(|value| canonical_form(value)).collect(),
            threshold: options.threshold,
            names: options.names,
        })
    }

    /// Finds personal data in `text`, and merges it with the findings in `others`.
    ///
    /// `known` are the ranges of placeholders, in order and without overlaps. Placeholders, known or not, contain no
    /// findings and are no context.
    ///
    /// # Errors
    ///
    /// A user's pattern is too slow. Treat the text as not scanned.
    pub fn find(&self, text: &str, others: Vec<Finding>, known: &[Range<usize>]) -> Result<Detection, RuleError> {
        self.find_only(text, others, known, None)
    }

    /// Does what [`Detector::find`] does, for findings of the types in `only`. Findings of other types hide nothing: a mail
    /// address inside of a link is found if `only` has no links.
    ///
    /// # Errors
    ///
    /// A user's pattern is too slow. Treat the text as not scanned.
    pub fn find_only(
        &self,
        text: &str,
        others: Vec<Finding>,
        known: &[Range<usize>],
        only: Option<&HashSet<String>>,
    ) -> Result<Detection, RuleError> {
        let known = &with_sure_placeholders(text, known);
        let read = blank_known(text, known);
        let read = read.as_deref().unwrap_or(text);
        stop::point();
        let mut findings = self.recognizers.find(read)?;
        let (entity, recognizer): (Arc<str>, Arc<str>) = (HIDDEN.into(), "hidden-names".into());
        let hidden = self.hidden.iter().flat_map(|names| names.find(read, true));
        findings.extend(hidden.map(|found| Finding {
            range: found.range,
            entity: Arc::clone(&entity),
            score: 1.0,
            recognizer: Arc::clone(&recognizer),
            evidence: Evidence::default(),
        }));
        findings.extend(others.into_iter().filter_map(|finding| people::correct(read, finding)));
        if self.names {
            findings.extend(people::behind_closings(read));
        }
        let is_wanted = |finding: &Finding| only.is_none_or(|only| only.contains(&*finding.entity));
        let is_personal = |finding: &Finding| {
            let value = text.get(finding.range.clone()).unwrap_or_default().trim();
            is_wanted(finding)
                && finding.score >= self.threshold
                && !value.is_empty()
                && !self.allowed.contains(&canonical_form(value))
        };
        let findings: Vec<Finding> = findings
            .into_iter()
            .filter(is_personal)
            .flat_map(|finding| outside(text, known, finding))
            .collect();
        let highest = findings.iter().map(|finding| finding.score).fold(0.0, f64::max);
        Ok(Detection {
            findings: merge(text, findings, self.threshold),
            highest,
        })
    }
}

/// The ranges of known placeholders, and of text that is surely a placeholder.
fn with_sure_placeholders(text: &str, known: &[Range<usize>]) -> Vec<Range<usize>> {
    let written = SURE_PLACEHOLDER.iter().flat_map(|pattern| pattern.find_iter(text));
    let mut all: Vec<Range<usize>> = known
        .iter()
        .cloned()
        .chain(written.map(|found| found.range()))
        .collect();
    all.sort_unstable_by_key(|range| range.start);
    all.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        last.end = last.end.max(if overlaps { next.end } else { last.end });
        overlaps
    });
    all
}

/// Replaces every byte of `known`; `None` if it is empty.
fn blank_known(text: &str, known: &[Range<usize>]) -> Option<String> {
    let last = known.last()?;
    let mut read = String::with_capacity(text.len());
    let mut end = 0;
    for range in known {
        read.push_str(&text[end..range.start]);
        read.extend(std::iter::repeat_n(SUBSTITUTE, range.len()));
        end = range.end;
    }
    read.push_str(&text[last.end..]);
    Some(read)
}

/// The parts of a finding that lie outside of `known` and have a letter or digit.
fn outside(text: &str, known: &[Range<usize>], finding: Finding) -> Vec<Finding> {
    let first = known.partition_point(|range| range.end <= finding.range.start);
    let inside = known[first..]
        .iter()
        .take_while(|range| range.start < finding.range.end);
    let mut start = finding.range.start;
    let mut gaps = Vec::new();
    for range in inside {
        gaps.push(start..range.start.max(start));
        start = range.end;
    }
    if gaps.is_empty() {
        return vec![finding];
    }
    gaps.push(start.min(finding.range.end)..finding.range.end);
    let part = |gap: Range<usize>| {
        let left = &text[gap.clone()];
        let start = gap.start + left.len() - left.trim_start().len();
        left.chars().any(char::is_alphanumeric).then(|| Finding {
            range: start..start + left.trim().len(),
            ..finding.clone()
        })
    };
    gaps.into_iter().filter_map(part).collect()
}

/// The distinct types, in upper case, and numbers of possible placeholders in `text`, in order.
pub fn numbers(text: &str) -> Vec<(String, u32)> {
    let captures = PLACEHOLDER.iter().flat_map(|pattern| pattern.captures_iter(text));
    let found: BTreeSet<(String, u32)> = captures
        .filter_map(|found| {
            let entity = found.get(1).or(found.get(3))?.as_str();
            let number = found.get(2).or(found.get(4))?.as_str();
            Some((entity.to_uppercase(), number.parse().ok()?))
        })
        .collect();
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn detector(hidden: &[&str], allowed: &[&str]) -> Detector {
        let options = Options {
            allowed: allowed.iter().map(|&value| value.to_owned()).collect(),
            ..Options::default()
        };
        let hidden: Vec<String> = hidden.iter().map(|&value| value.to_owned()).collect();
        Detector::new(&options, &hidden).unwrap()
    }

    /// A finding of another source.
    fn other(range: Range<usize>, score: f64) -> Finding {
        Finding {
            range,
            entity: "PERSON".into(),
            score,
            recognizer: "own".into(),
            evidence: Evidence::default(),
        }
    }

    fn values(text: &str, findings: Vec<Finding>) -> Vec<&str> {
        findings.into_iter().map(|finding| &text[finding.range]).collect()
    }

    fn found<'a>(detector: &Detector, text: &'a str, known: &[Range<usize>]) -> Vec<(String, &'a str)> {
        let detection = detector.find(text, Vec::new(), known).unwrap();
        let findings = detection.findings.into_iter();
        findings
            .map(|finding| (finding.entity.to_string(), &text[finding.range]))
            .collect()
    }

    #[test]
    fn hidden_and_allowed_values() {
        let detector = detector(&["Aurora", "极光"], &["Info@Example.org"]);
        assert_eq!(
            found(
                &detector,
                "AURORA and auroras: info@example.org, a@example.org, 我们的极光项目",
                &[]
            ),
            [
                ("CUSTOM".to_owned(), "AURORA"),
                ("EMAIL_ADDRESS".to_owned(), "a@example.org"),
                ("CUSTOM".to_owned(), "极光")
            ]
        );
        assert_eq!(
            Detector::new(&Options::default(), &[String::new()]).unwrap_err().path,
            "hidden.0"
        );
    }

    #[test]
    fn others_are_merged_and_known_places_left_alone() {
        let detector = detector(&["Ann"], &["Bob"]);
        let text = "Ann Lee and Bob, Ann";
        let others = vec![other(0..7, 0.8), other(12..15, 0.9), other(17..20, 0.2)];
        let detection = detector.find(text, others, &[17..20]).unwrap();
        assert_eq!(detection.highest, 1.0);
        assert_eq!(values(text, detection.findings), ["Ann Lee"]);
    }

    #[test]
    fn types_that_are_not_wanted_hide_nothing() {
        let options = Options {
            entities: Some(vec!["URL".to_owned(), "EMAIL_ADDRESS".to_owned()]),
            ..Options::default()
        };
        let detector = Detector::new(&options, &[]).unwrap();
        let text = "See https://example.org/?to=ann@example.org and ask bob@example.org.";
        let found = |only: Option<&[&str]>| {
            let only = only.map(|types| types.iter().map(|&entity| entity.to_owned()).collect());
            let detection = detector.find_only(text, Vec::new(), &[], only.as_ref()).unwrap();
            values(text, detection.findings)
        };
        let link = "https://example.org/?to=ann@example.org";
        assert_eq!(found(None), [link, "bob@example.org"]);
        assert_eq!(found(Some(&["URL"])), [link]);
        assert_eq!(found(Some(&["EMAIL_ADDRESS"])), ["ann@example.org", "bob@example.org"]);
        assert_eq!(found(Some(&[])), [""; 0]);
    }

    #[test]
    fn what_is_around_a_known_place_is_still_found() {
        let text = "ab é[X]cd[Y]. ";
        let detection = detector(&[], &[])
            .find(text, vec![other(0..text.len(), 1.0)], &[5..8, 10..13])
            .unwrap();
        assert_eq!(values(text, detection.findings), ["ab é", "cd"]);
    }

    #[test]
    fn nothing_is_found_in_what_is_written_like_a_placeholder() {
        let detector = detector(&[], &[]);
        assert_eq!(
            found(
                &detector,
                "[REDACTED_EMAIL_ADDRESS_1], [redacted_phone_number_20]",
                &[10..15]
            ),
            []
        );
        let card = found(&detector, "[REDACTED_4111111111111111_1]", &[]);
        assert_eq!(card, [("CREDIT_CARD".to_owned(), "4111111111111111")]);
    }

    #[test]
    fn numbers_of_placeholders() {
        let text = "[REDACTED_PERSON_2], (redacted_person_2), [REDACTED_US_SSN_10][REDACTED_X_1_3] [REDACTED]";
        let expected = [("PERSON", 2), ("US_SSN", 10), ("X_1", 3)];
        assert_eq!(
            numbers(text),
            expected.map(|(entity, number)| (entity.to_owned(), number))
        );
    }

    proptest! {
        #[test]
        fn any_text(text in "(?s).{0,120}", at in 0..100_usize, length in 0..40_usize) {
            thread_local! {
                static ALL: Detector = detector(&[], &[]);
            }
            let floor = |at: usize| text.floor_char_boundary(at);
            let known = floor(at)..floor(at + length);
            let known = if known.is_empty() { vec![] } else { vec![known] };
            let detection = ALL.with(|all| all.find(&text, vec![other(0..text.len(), 1.0)], &known)).unwrap();
            for finding in detection.findings {
                prop_assert!(text.get(finding.range.clone()).is_some_and(|value| !value.is_empty()));
                for range in &known {
                    prop_assert!(finding.range.end <= range.start || finding.range.start >= range.end);
                }
            }
        }
    }
}
