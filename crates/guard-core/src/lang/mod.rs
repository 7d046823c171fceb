//! What a text is written in: natural and programming languages, and whether it is language at all.
//!
//! The models are linear over hashed features: no ONNX, microseconds for a short text. [`features`] is the only place where
//! features are made; training asks it for them through `examples/features.rs`.

pub mod code;
pub mod features;
pub mod linear;
pub mod natural;
pub mod url_features;
