//! Rules written by users or by us: regular expressions and substrings.

pub mod regex;
pub mod substrings;
