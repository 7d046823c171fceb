//! Node.js bindings of `guard-core`: types in, types out, no logic of their own.
//!
//! - Offsets leave this crate as UTF-16 code units ([`spans`]).
//! - A function on a text returns its value if that takes microseconds, and otherwise a promise ([`answer`], [`pool`]).
//! - Errors are `Error` objects with a `code` and, if one value is invalid, a `path` ([`error`]).

#![deny(clippy::all)]
// Only Node.js calls the functions, so they look unused when the crate is compiled as a test.
#![cfg_attr(test, allow(dead_code))]

mod answer;
mod engine;
mod error;
mod js_text;
mod json;
mod linear;
mod overlap;
mod phrases;
mod pii;
mod placeholders;
mod pool;
mod reading_time;
mod rules;
mod secrets;
mod spans;
mod text;
mod urls;
