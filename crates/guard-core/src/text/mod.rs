//! Texts as such: sentences, JSON values, invisible characters, offsets and redaction, reading time, sentiment, and other
//! readings of a text.

pub mod invisible;
pub mod json;
pub mod offsets;
pub mod reading_time;
pub mod redact;
pub mod sentences;
pub mod sentiment;
pub mod views;
