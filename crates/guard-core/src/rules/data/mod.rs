//! Rules that are written as data: what the files of credentials, of recognizers and of phrases have in common.
//!
//! A rule has an `id`, a `source` that says where its form is documented, texts that it must find something in
//! (`matches`), and texts that it must find nothing in (`misses`); see [`examples`] for how these are written. A folder
//! of such files is listed when the crate is built (`build.rs`), so a new file is found by itself. Keys that nobody
//! knows are errors.

pub mod examples;

pub(crate) mod abbreviations;

use serde::de::DeserializeOwned;

use super::error::RuleErrorKind;

/// A file that was embedded when the crate was built: its name and its text.
pub(crate) type DataFile = (&'static str, &'static str);

/// The files of a folder that `build.rs` lists under this name, in alphabetical order.
macro_rules! embedded {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"))
    };
}
pub(crate) use embedded;

/// Reads the TOML text of the file with this name.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, toml: &str) -> Result<T, RuleErrorKind> {
    toml::from_str(toml).map_err(|cause| RuleErrorKind::File {
        file: file.to_owned(),
        cause: Box::new(cause),
    })
}
