//! Tokenizes texts for classifiers, and counts tokens for limits.
//!
//! This module knows nothing of the engine. A text passes three steps:
//!
//! 1. [`TextTokenizer`] is one `tokenizer.json`: it converts a text to [`Tokens`], and knows the special tokens around
//!    a text.
//! 2. [`Tokenizers`] loads each file once, and tokenizes a text once for all models with the same file.
//! 3. [`TextReader`] is a tokenizer with the limits of one model: it cuts the tokens into [`Row`]s, none longer than
//!    the model's maximum input length, as a [`LongTextStrategy`] specifies.
//!
//! [`limit`] cuts a text to a number of tokens of a large language model.
//!
//! ```
//! use guard_core::tokens::limit::Encoding;
//!
//! let encoding = Encoding::by_name("cl100k_base")?;
//! assert_eq!(encoding.count("hello world"), 2);
//! // The longest prefix of at most two tokens ends behind byte 11.
//! assert_eq!(encoding.truncate("hello world again", 2).end, 11);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This example makes rows with a tokenizer that has one token per word:
//!
//! ```
//! use guard_core::tokens::{LongTextStrategy, TextReader, Tokenizers};
//!
//! let folder = std::env::temp_dir().join(format!("guard-tokens-doc-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let file = folder.join("tokenizer.json");
//! std::fs::write(&file, r#"{
//!     "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
//!     "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
//!     "model": {"type": "WordLevel", "vocab": {"?": 0, "a": 1, "one": 2, "two": 3, "three": 4}, "unk_token": "?"}
//! }"#)?;
//!
//! // A model that reads at most two tokens at a time.
//! let tokenizers = Tokenizers::start()?;
//! let reader = TextReader::new(tokenizers.open(&file)?, 2)?;
//! let rows = reader.rows("one two three", LongTextStrategy::Windows)?;
//! assert_eq!(rows.tokens, 3);
//! let ids: Vec<Vec<u32>> = rows.rows.iter().map(|row| row.ids.to_vec()).collect();
//! assert_eq!(ids, [vec![2, 3], vec![4]]);
//! // Each row has its range in the text, in bytes.
//! assert_eq!(rows.rows[1].range, 8..13);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod claims;
mod error;
mod ids;
pub mod limit;
mod openai;
mod reader;
mod rows;
mod tokenizer;
mod unigram;
mod windows;

pub use cache::{SharedTokenizer, Tokenizers};
pub use error::TokenizeError;
pub use ids::Ids;
pub use reader::TextReader;
pub use rows::{ClaimPart, LongTextStrategy, Row, Rows};
pub use tokenizer::{TextTokenizer, Tokens};
