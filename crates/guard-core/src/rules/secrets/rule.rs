//! One rule as it is written, and its compiled form.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, literal::Extractor};
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
    /// Whether matches have no greatest length.
    pub unbounded: bool,
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
        let group = regex.capture_names().position(|name| name == Some("secret"));
        Ok(Compiled {
            group: group.unwrap_or(0),
            regex,
            before,
            after,
            unbounded: longest.is_none() && self.shape == Shape::Pattern,
        })
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
