//! All work whose cost grows with the length of a text.
//!
//! The crate splits sentences, matches rules, counts and cuts tokens, and runs classifiers. It knows nothing of
//! Node.js, HTTP or configuration files. All offsets are **bytes** of the UTF-8 text; callers convert them once, with
//! [`text::offsets`].
//!
//! Modules import downward only. `tests/imports.rs` holds their order, and checks that no files import each other in a
//! circle.

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
