//! Rules of users and of guard: regular expressions, substrings, placeholders, phrases, credentials and URLs; and
//! overlaps between texts.

pub mod data;
pub mod overlap;
pub mod phrases;
pub mod placeholders;
pub mod regex;
pub mod secrets;
pub mod substrings;
pub mod urls;
pub mod view_search;

pub(crate) mod automaton;
pub(crate) mod check_result;
pub(crate) mod error;
pub(crate) mod folding;
pub(crate) mod keywords;
pub(crate) mod literals;
pub(crate) mod reversed_terms;
pub(crate) mod term_variants;

pub use check_result::CheckResult;
pub use error::{RuleError, RuleErrorKind};
