//! The syntax of patterns, and how they match.

/// The syntax of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Python's `re`, with additions of the `regex` crate and JavaScript.
    Python,
    /// ECMA-262 with the flag `u`, as in JSON Schema: `$` is the very end, and `\d`, `\w` and `\b` are ASCII only. Two
    /// things differ: look-around and back-references are errors, and any ASCII punctuation may be escaped, since
    /// people write `\-`.
    Ecmascript,
}

/// How a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The first match anywhere in the text (`re.search`).
    Search,
    /// One match that is the whole text (`re.fullmatch`).
    FullMatch,
    /// All matches that do not overlap, from left to right (`re.finditer`).
    All,
}
