//! Why rules cannot be used.

use std::fmt;

use super::regex::PatternError;
use super::substrings::SubstringsError;

/// Why rules or options cannot be used, or a text cannot be searched with them.
///
/// It displays what is wrong, in one line and without the path; [`RuleError::path`] says where.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuleError {
    /// Where in the options the value at fault stands, such as `rules.2.pattern`; empty if it is no single value.
    pub path: String,
    /// What is wrong.
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

/// An error of no value of the options in particular.
impl From<RuleErrorKind> for RuleError {
    fn from(kind: RuleErrorKind) -> Self {
        kind.at("")
    }
}

/// What is wrong with a rule, with an option, or with a search.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// A data file is no TOML, or has a key that nobody knows.
    #[error("{file}: {cause}")]
    File {
        /// The name of the file.
        file: String,
        /// What the parser says.
        #[source]
        cause: Box<toml::de::Error>,
    },
    /// A rule of a data file is at fault.
    #[error("{id}: {cause}")]
    Rule {
        /// The id of the rule.
        id: String,
        /// What is wrong with it.
        #[source]
        cause: Box<RuleErrorKind>,
    },
    /// Two rules have the same id.
    #[error("the id {0} occurs twice")]
    DuplicateId(String),
    /// A regular expression of a user, in the syntax of [`super::regex`], is at fault or takes too long.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Substrings of a user are at fault.
    #[error(transparent)]
    Substrings(#[from] SubstringsError),
    /// A pattern in the syntax of the `regex` crate is at fault.
    #[error("{}", one_line(.0))]
    Expression(#[source] Box<regex::Error>),
    /// A pattern cannot be read.
    #[error(transparent)]
    Syntax(Box<regex_syntax::Error>),
    /// An automaton of literals cannot be built.
    #[error(transparent)]
    Literals(#[from] aho_corasick::BuildError),
    /// An automaton of patterns cannot be built.
    #[error(transparent)]
    Automaton(#[from] Box<regex_automata::hybrid::BuildError>),
    /// A search with an automaton was given up.
    #[error(transparent)]
    Search(#[from] regex_automata::MatchError),
    /// A rule for credentials has none or several of the keys that say what it looks for.
    #[error("expected one of pattern, assigned and quoted")]
    Shape,
    /// Every rule for credentials of a data file has keywords, but for one of strings in quotes, which has none.
    #[error("a rule needs keywords, and one for quoted strings has none")]
    Keywords,
    /// A keyword is too short, or has upper-case letters.
    #[error("{0:?} is no lower-case text of three bytes")]
    Keyword(String),
    /// An embedded rule that does not exist.
    #[error("unknown rule {0}")]
    UnknownRule(String),
    /// A region that has no telephone numbers (ISO 3166-1 alpha-2).
    #[error("unknown region {0}")]
    UnknownRegion(String),
    /// A score outside of 0 to 1.
    #[error("expected a number from 0 to 1")]
    Score,
    /// A word of context that would be found everywhere.
    #[error("the word of context {0:?} says nothing")]
    EmptyContext(String),
    /// A type of personal data that has no priority.
    #[error("the type {0} is not in the list of priorities")]
    NoPriority(String),
    /// A name in braces that stands for nothing.
    #[error("unknown abbreviation {{{name}}}; known are: {}", known.join(", "))]
    UnknownAbbreviation {
        /// The name.
        name: String,
        /// All names that there are.
        known: Vec<String>,
    },
    /// Abbreviations contain each other, or too many others, in this pattern.
    #[error("abbreviations are nested too deeply in {0}")]
    Nesting(String),
    /// Random characters of an alphabet that does not exist.
    #[error("unknown template ${{{0} ...}}")]
    UnknownAlphabet(String),
    /// A rule of a user takes too long.
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

/// The reason alone, of a message that shows the pattern in several lines.
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
