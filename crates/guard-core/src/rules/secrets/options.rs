//! Settings of a user for the search.

use super::rule::RuleSource;

/// What a user adds to the embedded rules, and takes away.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rules of the user. Their patterns see characters, not bytes; a rule without keywords is searched for in all of a
    /// text.
    pub rules: Vec<RuleSource>,
    /// The ids of embedded rules that are not to be applied.
    pub disabled_rules: Vec<String>,
    /// Patterns of values that are no secrets, in the syntax of the `regex` crate.
    pub allow: Vec<String>,
}
