//! Node.js bindings of `guard-core`: types in, types out, no logic of their own.
//!
//! - Offsets leave this crate as UTF-16 code units ([`spans`]).
//! - A function that takes a text answers at once where that takes microseconds, and with a promise where it does not ([`answer`],
//!   [`pool`]).
//! - Errors are `Error` objects with a `code` and, where one value is at fault, a `path` ([`error`]).

#![deny(clippy::all)]
// The functions are only reachable from Node.js, so that they look unused where the crate is compiled as a test.
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
