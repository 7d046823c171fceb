//! Regular expressions written by users.
//!
//! Patterns use the syntax of Python's `re`, as in llm-guard, plus additions of the `regex` crate and JavaScript
//! (`\p{L}`, `(?<name>…)`). Syntax that means something else in Python is an error. [`Syntax::Ecmascript`] is for the
//! patterns of JSON Schema.
//!
//! ```
//! use guard_core::rules::regex::{MatchType, Patterns};
//!
//! let patterns = Patterns::compile(&[r"Bearer \w+", r"(?<=key: )\d{4}"])?;
//! let found = patterns.find("key: 1234, Bearer abc", MatchType::All)?;
//! assert_eq!((found[0].pattern, found[0].range.clone()), (0, 11..21));
//! assert_eq!((found[1].pattern, found[1].range.clone()), (1, 5..9));
//! # Ok::<(), guard_core::rules::regex::PatternError>(())
//! ```
//!
//! # Time
//!
//! A pattern runs in linear time unless it needs look-around, back-references or another feature of backtracking. Such
//! patterns run under a limit, and reaching the limit is an error, so that a text can't switch off a rule by being
//! expensive. The limit also covers patterns whose linear time has a large factor, such as `(?:[ab]{1,100}c?){100}x`.
//!
//! # All patterns are reported
//!
//! llm-guard stops at the first matching pattern, and leaves the matches of later patterns in the redacted text.
//! [`Patterns::find`] returns the matches of every pattern.

mod backtracking;
mod ecmascript;
mod error;
mod matcher;
mod options;
mod pattern;
mod patterns;
mod python;
mod relaxation;
mod sieve;
mod terms;
mod timed_regex;
mod translation;

#[cfg(test)]
mod tests;

pub use error::PatternError;
pub use options::{MatchType, Syntax};
pub use patterns::{PatternMatch, Patterns};
