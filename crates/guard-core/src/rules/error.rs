//! Errors of rules and of options.

use std::fmt;

use super::regex::PatternError;
use super::substrings::SubstringsError;

/// An error of a rule, of an option, or of a search.
///
/// It displays the reason in one line, without the path; [`RuleError::path`] has the path.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuleError {
    /// The path of the invalid value in the options, such as `rules.2.pattern`; empty if no single value is at fault.
    pub path: String,
    /// The reason.
    pub kind: RuleErrorKind,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for RuleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// An error without a path.
impl From<RuleErrorKind> for RuleError {
    fn from(kind: RuleErrorKind) -> Self {
        kind.at("")
    }
}

/// The kind of an error of a rule, an option or a search.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// A data file is invalid TOML, or has an unknown key.
    #[error("{file}: {cause}")]
    File {
        /// The name of the file.
        file: String,
        /// The parser's message.
        #[source]
        cause: Box<toml::de::Error>,
    },
    /// A rule of a data file is invalid.
    #[error("{id}: {cause}")]
    Rule {
        /// The id of the rule.
        id: String,
        /// The reason.
        #[source]
        cause: Box<RuleErrorKind>,
    },
    /// Two rules have the same id.
    #[error("the id {0} occurs twice")]
    DuplicateId(String),
    /// A user's regular expression, in the syntax of [`super::regex`], is invalid or too slow.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A user's substrings are invalid.
    #[error(transparent)]
    Substrings(#[from] SubstringsError),
    /// A pattern in the syntax of the `regex` crate is invalid.
    #[error("{}", one_line(.0))]
    Expression(#[source] Box<regex::Error>),
    /// A pattern can't be parsed.
    #[error(transparent)]
    Syntax(Box<regex_syntax::Error>),
    /// An automaton of literals can't be built.
    #[error(transparent)]
    Literals(#[from] aho_corasick::BuildError),
    /// An automaton of patterns can't be built.
    #[error(transparent)]
    Automaton(#[from] Box<regex_automata::hybrid::BuildError>),
    /// A search with an automaton failed.
    #[error(transparent)]
    Search(#[from] regex_automata::MatchError),
    /// A credential rule has none or several of the keys `pattern`, `assigned`, `literal`, `quoted` and `parser`.
    #[error("expected exactly one of pattern, assigned, literal, quoted and parser")]
    Shape,
    /// Every credential rule of a data file needs keywords, except rules for quoted strings, which have none.
    #[error("a rule needs keywords, unless it is for quoted strings")]
    Keywords,
    /// A keyword is too short, or has upper-case letters.
    #[error("the keyword {0:?} must be lower-case text of at least three bytes")]
    Keyword(String),
    /// An embedded rule that does not exist.
    #[error("unknown rule {0}")]
    UnknownRule(String),
    /// A data file names shared words that do not exist.
    #[error("unknown words {0}")]
    UnknownWords(String),
    /// A region that has no telephone numbers (ISO 3166-1 alpha-2).
    #[error("unknown region {0}")]
    UnknownRegion(String),
    /// A score that is not from 0 to 1.
    #[error("expected a number from 0 to 1")]
    Score,
    /// A context word that would match everywhere.
    #[error("the context word {0:?} has no letters or digits")]
    EmptyContext(String),
    /// A type of personal data without a priority.
    #[error("the type {0} is not in the list of priorities")]
    NoPriority(String),
    /// An unknown name in braces.
    #[error("unknown abbreviation {{{name}}}; known are: {}", known.join(", "))]
    UnknownAbbreviation {
        /// The name.
        name: String,
        /// All known names.
        known: Vec<String>,
    },
    /// Abbreviations contain each other, or too many others, in this pattern.
    #[error("abbreviations are nested too deeply in {0}")]
    Nesting(String),
    /// An unknown alphabet of random characters.
    #[error("unknown template ${{{0} ...}}")]
    UnknownAlphabet(String),
    /// A user's rule is too slow.
    #[error("the rule {rule} takes too long in this text")]
    TooSlow {
        /// The id of the rule.
        rule: String,
    },
}

impl RuleErrorKind {
    /// The error of the value at `path` in the options.
    pub(crate) fn at(self, path: impl Into<String>) -> RuleError {
        RuleError {
            path: path.into(),
            kind: self,
        }
    }

    /// The error of a rule of a data file.
    pub(crate) fn of_rule(self, id: &str) -> Self {
        Self::Rule {
            id: id.to_owned(),
            cause: Box::new(self),
        }
    }
}

impl From<regex::Error> for RuleErrorKind {
    fn from(cause: regex::Error) -> Self {
        Self::Expression(Box::new(cause))
    }
}

impl From<regex_syntax::Error> for RuleErrorKind {
    fn from(cause: regex_syntax::Error) -> Self {
        Self::Syntax(Box::new(cause))
    }
}

/// The reason in a message of the `regex` crate, which also shows the pattern.
fn one_line(error: &regex::Error) -> String {
    let message = error.to_string();
    message.rsplit("error: ").next().unwrap_or(&message).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_beside_the_message() {
        let broken = "(".to_owned();
        let cause = regex::Regex::new(&broken).unwrap_err();
        let error = RuleErrorKind::from(cause).at("rules.1.pattern");
        assert_eq!(
            (error.path.as_str(), error.to_string().as_str()),
            ("rules.1.pattern", "unclosed group")
        );
        assert!(std::error::Error::source(&error).is_some());
    }
}
