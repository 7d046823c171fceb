//! The syntax of patterns, and how they are applied.

/// The syntax that patterns are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// That of Python's `re`, with what the `regex` crate and JavaScript add to it.
    Python,
    /// That of ECMA-262 with the flag `u`, as JSON Schema has it: `$` is the very end, and `\d`, `\w` and `\b` know ASCII
    /// only. Two things differ: what needs backtracking (look-around and back-references) is an error, and any
    /// punctuation of ASCII may be escaped, as people write `\-`.
    Ecmascript,
}

/// How a pattern is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The first match anywhere in the text (`re.search`).
    Search,
    /// One match that is the whole text (`re.fullmatch`).
    FullMatch,
    /// All matches that do not overlap, from left to right (`re.finditer`).
    All,
}
