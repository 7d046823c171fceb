//! Node.js bindings of `guard-core`: types in, types out, no logic of their own.
//!
//! - Offsets leave this crate as UTF-16 code units ([`spans`]).
//! - A function that takes a text answers at once where the text is short, and with a promise where it is not ([`answer`]).
//! - Errors are `Error` objects with a `code` and, where one value is at fault, a `path` ([`error`]).

#![deny(clippy::all)]

mod answer;
mod engine;
mod error;
mod js_text;
mod json;
mod linear;
mod phrases;
mod pii;
mod placeholders;
mod reading_time;
mod rules;
mod secrets;
mod spans;
mod text;
mod urls;
