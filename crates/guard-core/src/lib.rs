//! Everything in guard that is proportional to the length of a text.
//!
//! This crate knows nothing of Node.js, HTTP or configuration files: it splits sentences, matches rules, counts and
//! cuts tokens, and runs classifiers. All offsets are **bytes** of the UTF-8 text that a function was given; whoever
//! shows them to a user converts them once, with [`text::offsets`].

pub mod engine;
pub mod lang;
pub mod memory;
pub mod model_files;
pub mod model_folder;
pub mod pii;
mod random;
pub mod rules;
pub mod stop;
pub mod text;
pub mod tokens;
