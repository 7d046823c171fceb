//! Options of the search.

use super::rule::RuleSource;

/// A user's changes to the embedded rules.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Additional rules. Their patterns match characters, not bytes. A rule without keywords searches the whole text.
    pub rules: Vec<RuleSource>,
    /// The ids of disabled embedded rules.
    pub disabled_rules: Vec<String>,
    /// Patterns of allowed values, in the syntax of the `regex` crate.
    pub allow: Vec<String>,
}
