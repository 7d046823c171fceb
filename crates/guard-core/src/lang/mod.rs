//! What a text is written in: natural and programming languages, and whether it is language at all.
//!
//! - [`features`] turns a text into hashed features. [`url_features`] adds those of URLs. Training uses the same code, through a
//!   developer command, so that a model sees the features that it was trained on.
//! - [`linear`] is the model: labels with probabilities, in microseconds for a short text, without ONNX Runtime.
//! - [`url_standing`] says which URLs need no model, and how international names are put before it.
//! - [`natural`] finds natural languages, [`code`] finds pieces of code and names their languages. Both work with any model that
//!   has the right labels.
//! - [`telling`] says whether a text is clearly in other languages than those that are expected of it.
//! - [`code_signs`] says how much a piece of text looks like code, without a model.
//! - [`parts`] cuts a text into parts that are in known languages and parts that are not, for models that know a few languages.
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
pub mod linear;
pub mod natural;
pub mod parts;
pub mod telling;
pub mod url_features;
pub mod url_standing;
