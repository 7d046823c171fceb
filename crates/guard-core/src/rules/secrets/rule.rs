//! One rule as it is written, and its compiled form.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, literal::Extractor};
use serde::Deserialize;

use super::check::Check;
use crate::rules::error::RuleErrorKind;

/// Bytes that one compiled pattern may take.
const SIZE_LIMIT: usize = 4 * 1024 * 1024;
/// How far from its keyword a match may lie that does not contain the keyword, or may begin if its length has no upper bound,
/// in bytes. Also how much of an assigned value without an upper bound is looked at first.
const REACH: usize = 1024;
/// Bytes between the name of a service and the value that is assigned.
pub(super) const BETWEEN: usize = 64;
/// Most bytes of a value that are looked at before its pattern is tried.
const LEADING: usize = 32;
/// Bytes behind a match that the regex engine looks at to see where the match ends.
const SLACK: usize = 4;

/// A rule as it is written in a file of `providers/`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSource {
    /// The unique name, in kebab-case.
    pub id: String,
    /// The service whose credential it is, which stands at the top of its file; none for a rule of last resort, which
    /// yields to all others.
    #[serde(skip)]
    pub service: Option<String>,
    /// What is found, in a few words.
    #[serde(default)]
    pub description: String,
    /// Where the service documents its credentials.
    #[serde(default)]
    pub source: String,
    /// Lower-case texts of which one must be near for the rule to be tried, in any case of ASCII letters.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The credential, in the syntax of the `regex` crate; its group `secret`, if there is one, is what is secret.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The shape of a value that must be assigned to something named after one of the keywords.
    #[serde(default)]
    pub assigned: Option<String>,
    /// The shape of a string in quotes.
    #[serde(default)]
    pub quoted: Option<String>,
    /// The least Shannon entropy of the secret, in bits per character.
    #[serde(default)]
    pub entropy: Option<f64>,
    /// What else must hold of the secret.
    #[serde(default)]
    pub check: Option<Check>,
    /// Texts with exactly one secret, in double braces ([`crate::rules::data::examples`]).
    #[serde(default)]
    pub matches: Vec<String>,
    /// Texts without a secret.
    #[serde(default)]
    pub misses: Vec<String>,
}

/// What a rule looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A text that is known by its form alone.
    Pattern,
    /// A value assigned to a name.
    Assigned,
    /// A whole string in quotes.
    Quoted,
}

/// A rule that can be searched for.
#[derive(Debug)]
pub(super) struct Rule {
    pub source: RuleSource,
    pub shape: Shape,
    unicode: bool,
    compiled: OnceLock<Result<Compiled, RuleErrorKind>>,
}

/// A compiled pattern and how far from a keyword its matches are.
#[derive(Debug)]
pub(super) struct Compiled {
    pub regex: Regex,
    /// The index of the group `secret`; 0 is the whole match.
    pub group: usize,
    /// Bytes before the start of a keyword at which a match may start.
    pub before: usize,
    /// Bytes after the start of a keyword at which a match may end, or begin if it is unbounded; for a value that is assigned,
    /// its length.
    pub after: usize,
    /// Whether matches have no greatest length and lie anywhere.
    pub unbounded: bool,
    /// Whether matches have a greatest length.
    pub is_bounded: bool,
    /// Of a value that is assigned, by bytes: the whole value and nothing else.
    pub value: Option<Regex>,
    /// For each of the first bytes of a value that is assigned or in quotes, as many as all values have, what it may be.
    leading: Vec<[bool; 256]>,
}

impl Compiled {
    /// Whether the first bytes of `value` are such that the regex is worth a try.
    pub fn may_start(&self, value: &[u8]) -> bool {
        value.len() >= self.leading.len()
            && self
                .leading
                .iter()
                .zip(value)
                .all(|(allowed, &byte)| allowed[usize::from(byte)])
    }

    /// Where the value ends of a match of [`Shape::Assigned`] in `text`. To know it from what may stand behind a value takes a
    /// fraction of the time that the regex engine needs to tell where a group ends.
    pub fn value_end(&self, text: &[u8], found: &Range<usize>) -> usize {
        let is_value = |end: usize| {
            let value = self.value.as_ref();
            value.is_some_and(|value| value.is_match(&text[found.start..end]))
        };
        let [.., before, last] = text[found.clone()] else {
            return found.end;
        };
        let is_word = last.is_ascii_alphanumeric() || last == b'_';
        if is_word || found.end == text.len() && is_value(found.end) {
            return found.end;
        }
        let is_hyphen = before == b'-' && (b"+-".contains(&last) || !is_value(found.end - 1));
        found.end - if is_hyphen { 2 } else { 1 }
    }
}

impl Rule {
    /// A rule of a data file. Its pattern is compiled when a text has one of its keywords for the first time.
    pub fn embedded(source: RuleSource) -> Result<Self, RuleErrorKind> {
        let rule = Self::new(source, false)?;
        if rule.source.keywords.is_empty() != (rule.shape == Shape::Quoted) {
            return Err(RuleErrorKind::Keywords);
        }
        if let Some(keyword) = rule
            .source
            .keywords
            .iter()
            .find(|keyword| keyword.len() < 3 || keyword.to_ascii_lowercase() != **keyword)
        {
            return Err(RuleErrorKind::Keyword(keyword.clone()));
        }
        Ok(rule)
    }

    /// A rule of a user, whose pattern sees characters instead of bytes and is compiled at once.
    pub fn user(mut source: RuleSource) -> Result<Self, RuleErrorKind> {
        for keyword in &mut source.keywords {
            keyword.make_ascii_lowercase();
        }
        let rule = Self::new(source, true)?;
        rule.compiled()?;
        Ok(rule)
    }

    fn new(source: RuleSource, unicode: bool) -> Result<Self, RuleErrorKind> {
        let shape = match (&source.pattern, &source.assigned, &source.quoted) {
            (Some(_), None, None) => Shape::Pattern,
            (None, Some(_), None) => Shape::Assigned,
            (None, None, Some(_)) => Shape::Quoted,
            _ => return Err(RuleErrorKind::Shape),
        };
        Ok(Self {
            source,
            shape,
            unicode,
            compiled: OnceLock::new(),
        })
    }

    /// The compiled pattern.
    pub fn compiled(&self) -> Result<&Compiled, RuleErrorKind> {
        self.compiled
            .get_or_init(|| self.compile())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn compile(&self) -> Result<Compiled, RuleErrorKind> {
        let RuleSource {
            pattern,
            assigned,
            quoted,
            keywords,
            ..
        } = &self.source;
        let pattern = match (pattern, assigned, quoted) {
            (Some(pattern), ..) => pattern.clone(),
            // A value ends where no character follows that could belong to it.
            (_, Some(value), _) => format!(r"\A(?P<secret>{value})(?:[^0-9A-Za-z_+\-]|-\W|\z)"),
            (_, _, value) => format!(r"\A(?:{})\z", value.as_deref().unwrap_or_default()),
        };
        let regex = RegexBuilder::new(&pattern)
            .unicode(self.unicode)
            .size_limit(SIZE_LIMIT)
            .build()?;
        let hir = regex_syntax::ParserBuilder::new()
            .unicode(self.unicode)
            .utf8(false)
            .build()
            .parse(&pattern)?;
        let longest = hir.properties().maximum_len();
        let length = longest.unwrap_or(REACH) + SLACK;
        let (before, after) = match self.shape {
            Shape::Pattern if starts_with_keyword(&hir, keywords) => (length, length),
            Shape::Pattern => (length.max(REACH), length.max(REACH)),
            Shape::Assigned => (0, length),
            Shape::Quoted => (0, 0),
        };
        let assigned = assigned.as_ref().filter(|_| !self.unicode);
        let value = assigned.map(|value| {
            RegexBuilder::new(&format!(r"\A(?:{value})\z"))
                .unicode(false)
                .size_limit(SIZE_LIMIT)
                .build()
        });
        let mut leading = Vec::new();
        if self.shape != Shape::Pattern {
            lead(&hir, &mut leading);
        }
        let group = regex.capture_names().position(|name| name == Some("secret"));
        Ok(Compiled {
            group: group.unwrap_or(0),
            regex,
            before,
            after,
            unbounded: longest.is_none() && self.shape == Shape::Pattern,
            is_bounded: longest.is_some(),
            value: value.transpose()?,
            leading,
        })
    }
}

/// Adds what the first bytes of every match may be, as far as all matches have them; returns whether that is the whole pattern.
fn lead(hir: &Hir, leading: &mut Vec<[bool; 256]>) -> bool {
    let mut allowed = [false; 256];
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            leading.extend(literal.0.iter().map(|&byte| {
                let mut allowed = [false; 256];
                allowed[usize::from(byte)] = true;
                allowed
            }));
            true
        }
        HirKind::Class(Class::Bytes(class)) => {
            for range in class.ranges() {
                allowed[usize::from(range.start())..=usize::from(range.end())].fill(true);
            }
            leading.push(allowed);
            true
        }
        HirKind::Class(Class::Unicode(_)) => false,
        HirKind::Repetition(repetition) => {
            let whole = (0..repetition.min).all(|_| leading.len() < LEADING && lead(&repetition.sub, leading));
            whole && repetition.max == Some(repetition.min)
        }
        HirKind::Capture(capture) => lead(&capture.sub, leading),
        HirKind::Concat(parts) => parts.iter().all(|part| lead(part, leading)),
        HirKind::Alternation(parts) => {
            // What all have: the shortest of them, and at each place what any of them may have there.
            let led = parts.iter().map(|part| {
                let mut leading = Vec::new();
                lead(part, &mut leading);
                leading
            });
            leading.extend(
                led.reduce(|mut left, right| {
                    left.truncate(right.len());
                    for (left, right) in left.iter_mut().zip(right) {
                        left.iter_mut().zip(right).for_each(|(left, right)| *left |= right);
                    }
                    left
                })
                .unwrap_or_default(),
            );
            false
        }
    }
}

/// Whether every match starts with a literal that contains a keyword, so that no match is far from its keyword.
fn starts_with_keyword(hir: &Hir, keywords: &[String]) -> bool {
    Extractor::new().extract(hir).literals().is_some_and(|literals| {
        !literals.is_empty()
            && literals.iter().all(|literal| {
                let literal = literal.as_bytes().to_ascii_lowercase();
                keywords
                    .iter()
                    .any(|keyword| literal.windows(keyword.len()).any(|part| part == keyword.as_bytes()))
            })
    })
}
