//! Credentials in texts: keys, tokens and passwords.
//!
//! What is looked for is data: `providers/` has one file a service, with a rule for each kind of its credentials, and
//! `generic.toml` has the rules of last resort. Each rule has texts that it must match and texts that it must miss (see
//! [`super::data::examples`]). `allow.toml` lists what is a placeholder and no secret. Users add rules and allowed values
//! of their own, and switch rules off.
//!
//! ```
//! use guard_core::rules::data::examples::expand;
//! use guard_core::rules::secrets::{Options, RedactMode, Secrets, redact};
//!
//! let secrets = Secrets::new(&Options::default())?;
//! // The token is made up: this one has the form of GitHub's, and a checksum that does not fit.
//! let token = expand("ghp_${alnum 36}", "an example")?;
//! let text = format!("Use {token}, please.");
//!
//! let found = secrets.find(&text, false)?;
//! assert_eq!((found[0].rule, found[0].service), ("github-personal-access-token", Some("GitHub")));
//! assert_eq!(found[0].range, 4..44);
//! assert!(!found[0].sound);
//! assert_eq!(redact(&text, &found, RedactMode::All), "Use ******, please.");
//! # Ok::<(), guard_core::rules::RuleError>(())
//! ```

mod allow;
mod assigned;
mod check;
mod context;
mod entropy;
mod providers;
mod redact;
mod repeats;
mod rule;
mod search;
mod set;
mod turned;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use check::Check;
pub use providers::check_examples;
pub use redact::{RedactMode, redact};
pub use rule::RuleSource;
pub use search::Secrets;

/// What a user adds to the embedded rules, and takes away.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rules of the user. Their patterns see characters, not bytes; a rule without keywords is searched for in all of a
    /// text.
    pub rules: Vec<RuleSource>,
    /// The ids of embedded rules that are not to be applied.
    pub disabled_rules: Vec<String>,
    /// Patterns of values that are no secrets, in the syntax of the `regex` crate.
    pub allow: Vec<String>,
}

/// A credential in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret<'a> {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The id of the rule.
    pub rule: &'a str,
    /// The service, where the rule knows it.
    pub service: Option<&'a str>,
    /// Whether it can be a live credential: false where it has a checksum that does not fit.
    pub sound: bool,
    /// The view of the text in which it was found, such as `base64`; `None` where it stands there as it is.
    pub view: Option<String>,
}
