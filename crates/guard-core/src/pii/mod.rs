//! Finds personal data in texts, and merges the findings of several sources.
//!
//! The recognizers are data: `recognizers/` has one file per country or kind, with an entry for each format, its
//! source, and texts that it must match or must not match (see [`crate::rules::data::examples`]); `shared.toml` has the
//! priority of the types, named parts of patterns, and words that several recognizers have. A format with a checksum names its check ([`checks`]). Models
//! find names of people and places, and [`merge`] combines both.
//!
//! ```
//! use guard_core::pii::{Options, Recognizers, merge};
//!
//! let recognizers = Recognizers::new(&Options::default())?;
//! let text = "Write to ann@example.org, or pay with 4111 1111 1111 1111.";
//! let findings = merge(text, recognizers.find(text)?, 0.5);
//! let found: Vec<_> = findings.iter().map(|finding| (&*finding.entity, &text[finding.range.clone()])).collect();
//! assert_eq!(found, [("EMAIL_ADDRESS", "ann@example.org"), ("CREDIT_CARD", "4111 1111 1111 1111")]);
//! # Ok::<(), guard_core::rules::RuleError>(())
//! ```

pub mod checks;

mod addresses;
mod adjacent_patterns;
mod boundaries;
mod character_width;
mod context;
mod detector;
mod domain;
mod email;
mod examples;
mod finding;
mod lookalikes;
mod merge;
mod names;
mod options;
mod people;
mod prefixes;
mod recognizer;
mod recognizers;
mod search;

#[cfg(test)]
mod tests;

pub use detector::{Detection, Detector, HIDDEN, numbers};
pub use examples::check_examples;
pub use finding::{Evidence, Finding};
pub use lookalikes::Lookalikes;
pub use merge::merge;
pub use options::{Checksum, CustomPattern, Options, PatternLimits};
pub use recognizer::{Source, Words, on_demand, sources};
pub use recognizers::Recognizers;
