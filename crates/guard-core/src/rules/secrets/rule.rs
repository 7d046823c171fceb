//! A rule and its compiled form.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, literal::Extractor};
use serde::Deserialize;

use super::check::Check;
use super::parsers::Parser;
use crate::rules::error::RuleErrorKind;

/// The most bytes of a compiled pattern.
const SIZE_LIMIT: usize = 4 * 1024 * 1024;
/// The most bytes between a keyword and a match that does not contain it, or the start of a match without a greatest
/// length. Also the first part of an unbounded assigned value that is searched.
const REACH: usize = 1024;
/// The most bytes between a name and its value.
pub(super) const BETWEEN: usize = 64;
/// The most bytes of a value that are checked before its pattern is tried.
const LEADING: usize = 32;
/// Bytes after a match that the regex engine reads to find its end.
const SLACK: usize = 4;

/// A rule in a file of `providers/`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSource {
    /// The unique name, in kebab-case.
    pub id: String,
    /// The service, from the top of the file; `None` for a rule of last resort, which yields to all others.
    #[serde(skip)]
    pub service: Option<String>,
    /// A short description of the credential.
    #[serde(default)]
    pub description: String,
    /// The documentation of the credential.
    #[serde(default)]
    pub source: String,
    /// Lower-case keywords, compared without ASCII case. One must be near for the rule to be tried.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Whether a keyword counts only at the start of a word: not the end of a time (`10:00:07Z `) for the command `7z `.
    #[serde(default)]
    pub starts_word: bool,
    /// The credential, in the syntax of the `regex` crate. If there is a group `secret`, only that is secret.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The pattern of a value that must be assigned to a name with one of the keywords.
    #[serde(default)]
    pub assigned: Option<String>,
    /// The pattern of a string in quotes that must be assigned to a name with one of the keywords.
    #[serde(default)]
    pub literal: Option<String>,
    /// The pattern of a quoted string.
    #[serde(default)]
    pub quoted: Option<String>,
    /// A parser that finds the secrets, instead of a pattern.
    #[serde(default)]
    pub parser: Option<Parser>,
    /// The least Shannon entropy of the secret, in bits per character.
    #[serde(default)]
    pub entropy: Option<f64>,
    /// The most bytes of the secret per token of byte pairs. Words and names have more than random strings.
    #[serde(default)]
    pub rarity: Option<f64>,
    /// A further condition on the secret.
    #[serde(default)]
    pub check: Option<Check>,
    /// Texts with exactly one secret, in double braces ([`crate::rules::data::examples`]).
    #[serde(default)]
    pub matches: Vec<String>,
    /// Texts without a secret.
    #[serde(default)]
    pub misses: Vec<String>,
}

/// The kind of match of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Text with a form of its own.
    Pattern,
    /// A value assigned to a name.
    Assigned,
    /// A whole string in quotes that is assigned to a name.
    Literal,
    /// What a parser finds.
    Parsed(Parser),
    /// A whole quoted string.
    Quoted,
}

/// A rule with its compiled pattern.
#[derive(Debug)]
pub(super) struct Rule {
    pub source: RuleSource,
    pub shape: Shape,
    unicode: bool,
    compiled: OnceLock<Result<CompiledRule, RuleErrorKind>>,
}

/// A compiled pattern, and the distance of its matches from a keyword.
#[derive(Debug)]
pub(super) struct CompiledRule {
    pub regex: Regex,
    /// The index of the group `secret`; 0 is the whole match.
    pub group: usize,
    /// The most bytes between the start of a match and the start of a keyword after it.
    pub before: usize,
    /// The most bytes between the start of a keyword and the end of a match, or its start if it is unbounded; for an
    /// assigned value, its length.
    pub after: usize,
    /// Whether matches have no greatest length and may be anywhere.
    pub unbounded: bool,
    /// Whether matches have a greatest length.
    pub is_bounded: bool,
    /// For an assigned value: a pattern of the whole value, by bytes.
    pub value: Option<Regex>,
    /// For each of the first bytes that all assigned or quoted values have: the allowed bytes.
    leading: Vec<[bool; 256]>,
}

impl CompiledRule {
    /// Whether the first bytes of `value` allow a match.
    pub fn may_start(&self, value: &[u8]) -> bool {
        value.len() >= self.leading.len()
            && self
                .leading
                .iter()
                .zip(value)
                .all(|(allowed, &byte)| allowed[usize::from(byte)])
    }

    /// The end of the value in a match of [`Shape::Assigned`]. Checking the bytes after a value takes a fraction of the
    /// time that the regex engine needs to locate a group.
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
    /// Creates a rule of a data file. Its pattern is compiled when a text first has one of its keywords.
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

    /// Creates a user rule, whose pattern matches characters instead of bytes and is compiled immediately.
    pub fn user(mut source: RuleSource) -> Result<Self, RuleErrorKind> {
        for keyword in &mut source.keywords {
            keyword.make_ascii_lowercase();
        }
        let rule = Self::new(source, true)?;
        rule.compiled()?;
        Ok(rule)
    }

    fn new(source: RuleSource, unicode: bool) -> Result<Self, RuleErrorKind> {
        let shapes = [
            source.pattern.as_ref().map(|_| Shape::Pattern),
            source.assigned.as_ref().map(|_| Shape::Assigned),
            source.literal.as_ref().map(|_| Shape::Literal),
            source.quoted.as_ref().map(|_| Shape::Quoted),
            source.parser.map(Shape::Parsed),
        ];
        let mut shapes = shapes.into_iter().flatten();
        let (Some(shape), None) = (shapes.next(), shapes.next()) else {
            return Err(RuleErrorKind::Shape);
        };
        Ok(Self {
            source,
            shape,
            unicode,
            compiled: OnceLock::new(),
        })
    }

    /// The compiled pattern.
    pub fn compiled(&self) -> Result<&CompiledRule, RuleErrorKind> {
        self.compiled
            .get_or_init(|| self.compile())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn compile(&self) -> Result<CompiledRule, RuleErrorKind> {
        let RuleSource {
            pattern,
            assigned,
            literal,
            quoted,
            keywords,
            ..
        } = &self.source;
        let pattern = match (pattern, assigned, literal.as_ref().or(quoted.as_ref())) {
            (Some(pattern), ..) => pattern.clone(),
            // A value ends before a character that can't belong to it.
            (_, Some(value), _) => format!(r"\A(?P<secret>{value})(?:[^0-9A-Za-z_+\-]|-\W|\z)"),
            (_, _, value) => format!(r"\A(?:{})\z", value.map(String::as_str).unwrap_or_default()),
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
            Shape::Literal | Shape::Quoted | Shape::Parsed(_) => (0, 0),
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
        Ok(CompiledRule {
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

/// Adds the allowed first bytes of every match, as far as all matches have them. Returns whether that is the whole
/// pattern.
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
            // Up to the shortest alternative, a position allows the bytes of every alternative.
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

/// Whether every match starts with a literal that contains a keyword, so that all matches are near a keyword.
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
