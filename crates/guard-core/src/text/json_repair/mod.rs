//! Repairs broken JSON without changing its data.
//!
//! A repair adds what is missing (brackets, commas, quotes) and removes what JSON lacks (comments, trailing commas). The
//! content of every string stays. Where two readings of a text exist, it stays broken:
//!
//! | broken | repaired | reason |
//! |---|---|---|
//! | `{'a': 'it's', b: [1, 2,]` | `{"a": "it's", "b": [1, 2]}` | an apostrophe stands between letters |
//! | `{"re": "\d+"}` | `{"re": "\\d+"}` | an escape that JSON lacks is a backslash |
//! | `{"path": "C:\dir\new"}` | no | `\n` may be a line break, or a backslash and an "n" |
//! | `{"a": "say "yes" or no", "b": 1}` | `{"a": "say \"yes\" or no", "b": 1}` | only the last quote can end the string |
//! | `{"a": "It is 70", a lot"}` | no | the string may end before or after the comma |
//! | `{"a": 1; "b": 2}` | no | the first value may be `1` or `1;` |
//! | `{"a": NaN}`, `{"a": 007}` | no | JSON has no such number |
//!
//! ```
//! use guard_core::text::json_repair::repair;
//!
//! assert_eq!(repair("{'a': 1,}").as_deref(), Some(r#"{"a": 1}"#));
//! assert_eq!(repair(r#"{"a": [1, {"b": "x"#).as_deref(), Some(r#"{"a": [1, {"b": "x"}]}"#));
//! assert_eq!(repair("{x}"), None);
//! ```

mod repairer;
mod scalar;
mod string;
mod tokens;

use self::repairer::Repairer;
use super::json::is_valid;

/// Repairs an object or array. Valid JSON stays. Returns `None` if the text has no reading, or two. Time and memory are
/// linear in its length.
pub fn repair(piece: &str) -> Option<String> {
    if is_valid(piece) {
        return Some(piece.to_owned());
    }
    let unescaped = unescape(piece);
    let piece = unescaped.as_deref().unwrap_or(piece);
    let repaired = Repairer::new(piece).run()?;
    is_valid(&repaired).then_some(repaired)
}

/// Removes one level of escapes from JSON that is escaped as a whole: `{\"a\": \"b\"}`.
fn unescape(piece: &str) -> Option<String> {
    let first = piece.find('"')?;
    if !piece[..first].ends_with('\\') || piece[..first].contains('\'') {
        return None;
    }
    // Line breaks between its tokens are not escaped.
    let quoted = format!("\"{}\"", piece.replace("\r\n", "\\n").replace('\n', "\\n"));
    let unescaped: String = serde_json::from_str(&quoted).ok()?;
    Some(unescaped)
}

#[cfg(test)]
mod tests;
