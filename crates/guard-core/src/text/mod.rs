//! Texts as such: sentences, invisible characters, offsets and redaction.

pub mod invisible;
pub mod offsets;
pub mod redact;
pub mod sentences;
