//! Rules written by users or by us: regular expressions, substrings, placeholders, credentials and URLs.

pub mod across;
pub mod placeholders;
pub mod regex;
pub mod secrets;
pub mod substrings;
pub mod urls;

pub(crate) mod automaton;
mod relaxed;
mod sieve;
mod timed;
