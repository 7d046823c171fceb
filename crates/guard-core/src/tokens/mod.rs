//! Tokens: truncation and windows for classifiers, counting for token limits.

pub mod limit;
pub mod windows;
