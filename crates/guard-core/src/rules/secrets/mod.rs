//! Credentials in texts: keys, tokens and passwords.
//!
//! The rules are data: `providers/` has one file per service, with a rule for each kind of its credentials, and
//! `generic.toml` has rules of last resort. Each rule has texts that it must match and texts that it must not match
//! (see [`super::data::examples`]). `allow.toml` lists placeholders. Users add rules and allowed values, and disable
//! rules.
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
//! assert!(found[0].check.is_some_and(|check| !check.has_passed));
//! assert_eq!(redact(&text, &found, RedactMode::All), "Use ******, please.");
//! # Ok::<(), guard_core::rules::RuleError>(())
//! ```

mod allowlist;
mod assignments;
mod check;
mod context;
mod detector;
mod entropy;
mod examples;
mod kubernetes;
mod matches;
mod options;
mod parsers;
mod phrases;
mod providers;
mod ranges;
mod rarity;
mod redact;
mod repeats;
mod reversed;
mod rule;
mod rule_set;
mod search;
mod secret;
mod sql;
mod string_values;
mod values;
mod words;

#[cfg(test)]
mod tests;

pub use check::Check;
pub use detector::Secrets;
pub use examples::check_examples;
pub use options::Options;
pub use redact::{RedactMode, redact};
pub use rule::RuleSource;
pub use secret::Secret;
