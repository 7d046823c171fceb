//! Personal data in texts: numbers, addresses and other things with a form of their own, and how what different sources
//! find becomes one list.
//!
//! What is looked for is data: `recognizers/` has one file a country or kind, with an entry for each form, its source, and
//! texts that it must match and must miss (see [`crate::rules::data::examples`]); `shared.toml` has the priority of the
//! types and parts of patterns with names. A form with a checksum names its check ([`checks`]). Names of people and places
//! have no form; models find those, and [`merge`] brings both together.
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

mod adjacent_patterns;
mod boundaries;
mod context;
mod detector;
mod domain;
mod email;
mod examples;
mod finding;
mod lookalikes;
mod merge;
mod narrow;
mod options;
mod prefixes;
mod recognizer;
mod recognizers;
mod search;
mod whole;

#[cfg(test)]
mod tests;

pub use detector::{Detection, Detector, HIDDEN, numbers};
pub use examples::check_examples;
pub use finding::Finding;
pub use lookalikes::Lookalikes;
pub use merge::merge;
pub use options::{CustomPattern, Options};
pub use recognizer::{Source, on_demand, sources};
pub use recognizers::Recognizers;
