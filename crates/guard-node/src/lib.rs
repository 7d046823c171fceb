//! Node.js bindings of `guard-core`: types in, types out.
//!
//! Offsets leave this crate as UTF-16 code units. Errors carry a code in front of their message, `CODE|message`, which
//! `src/native.ts` takes apart.

#![deny(clippy::all)]

mod engine;
mod js_text;
mod json;
mod linear;
mod off_thread;
mod pii;
mod placeholders;
mod places;
mod reading;
mod rules;
mod secrets;
mod text;
mod urls;

use napi::{Error, Status};

/// An error whose code the JavaScript side can read.
fn error(code: &str, message: impl std::fmt::Display) -> Error {
    Error::new(Status::GenericFailure, format!("{code}|{message}"))
}
