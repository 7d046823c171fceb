//! Rules as data: the parts that the files of credentials, recognizers and phrases share.
//!
//! A rule has an `id`, a `source` that documents its form, texts that it must match (`matches`), and texts that it must
//! not match (`misses`); [`examples`] explains their notation. The build script lists the files of a folder, so a new
//! file needs no registration. Unknown keys are errors.

pub mod examples;

pub(crate) mod abbreviations;

use serde::de::DeserializeOwned;

use super::error::RuleErrorKind;

/// An embedded file: its name and its text.
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
