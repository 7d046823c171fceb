//! Detects the languages of a text, natural and programming languages, and features for linear classifiers.
//!
//! - [`features`] converts a text to hashed features. [`url_features`] adds those of URLs. Training uses the same code
//!   through a developer command, so that a model sees the features of its training.
//! - [`linear`] is the classifier: probabilities of labels, in microseconds for a short text, without ONNX Runtime.
//! - [`url_triage`] decides which URLs need no model, and prepares international names for it.
//! - [`natural`] detects natural languages; [`code`] finds pieces of code and names their languages. Both work with any
//!   model that has the right labels.
//! - [`language_check`] decides whether a text is clearly not in the expected languages.
//! - [`code_signs`] measures how much a piece of text looks like code, without a model.
//! - [`parts`] cuts a text into parts in known and in foreign languages, for models that know a few languages.
//! - [`word_evidence`] measures whether a text has enough words to tell gibberish from language.
//!
//! ```
//! use std::path::Path;
//!
//! use guard_core::lang::{linear::LinearModel, natural};
//!
//! let model = LinearModel::load(Path::new("../../models/language"))?;
//! assert_eq!(natural::detect(&model, "Ein ganz gewöhnlicher Satz.")[0].language, "de");
//! # Ok::<(), guard_core::model_files::ModelFileError>(())
//! ```

pub mod code;
pub mod code_signs;
pub mod features;
pub mod language_check;
pub mod linear;
pub mod natural;
pub mod parts;
pub mod url_features;
pub mod url_triage;
mod well_known_sites;
pub mod word_evidence;
