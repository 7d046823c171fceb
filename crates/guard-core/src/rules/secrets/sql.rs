//! Reads the values of passwords in INSERT statements of SQL.

use std::ops::Range;

use super::ranges::{quoted, trimmed};
use crate::stop;

/// Ends of names of columns with credentials.
const COLUMNS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "secret",
    "token",
    "api_key",
    "apikey",
    "passcode",
];
/// The most columns of a statement, and the most bytes of a list.
const COLUMNS_LIMIT: usize = 256;
const LIST_LENGTH: usize = 8 * 1024;

/// The strings that statements insert into columns of credentials.
pub(super) fn inserted_passwords(text: &[u8]) -> Vec<Range<usize>> {
    const INSERT: &[u8] = b"insert into";
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memmem::find(&lower[at..], INSERT) {
        stop::point();
        at += start + INSERT.len();
        at = statement(&lower, at, &mut found).unwrap_or(at);
    }
    found
}

/// Adds the strings of the statement whose table is named at an offset, and returns its end.
fn statement(text: &[u8], from: usize, found: &mut Vec<Range<usize>>) -> Option<usize> {
    let open = text[from..].iter().take(128).position(|&byte| byte == b'(')?;
    let (names, mut at) = list(text, from + open)?;
    let secret: Vec<usize> = (0..names.len())
        .filter(|&index| is_credential(&text[names[index].clone()]))
        .collect();
    at += skip_space(&text[at..]);
    if secret.is_empty() || !text[at..].starts_with(b"values") {
        return Some(at);
    }
    at += b"values".len();
    loop {
        at += skip_space(&text[at..]);
        let Some((values, end)) = list(text, at) else {
            return Some(at);
        };
        for &index in &secret {
            let Some(value) = values.get(index) else { continue };
            found.extend(quoted(text, value.clone()).filter(|content| !content.is_empty()));
        }
        at = end + skip_space(&text[end..]);
        if text.get(at) != Some(&b',') {
            return Some(at);
        }
        at += 1;
    }
}

/// The elements of a list in brackets that opens at an offset, and the offset behind it.
fn list(text: &[u8], open: usize) -> Option<(Vec<Range<usize>>, usize)> {
    if text.get(open) != Some(&b'(') {
        return None;
    }
    let mut elements = Vec::new();
    let (mut start, mut depth, mut quote) = (open + 1, 0, None);
    for at in open + 1..text.len().min(open + LIST_LENGTH) {
        let byte = text[at];
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth > 0 => depth -= 1,
            (None, b')' | b',') if depth == 0 => {
                elements.push(trimmed(text, start..at));
                start = at + 1;
                if byte == b')' {
                    return Some((elements, at + 1));
                }
                if elements.len() > COLUMNS_LIMIT {
                    return None;
                }
            }
            (None, b';') => return None,
            _ => {}
        }
    }
    None
}

fn skip_space(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Whether a column with this name in lower case has credentials.
fn is_credential(name: &[u8]) -> bool {
    let end = name
        .iter()
        .rposition(|byte| !b"\"'`]".contains(byte))
        .map_or(0, |at| at + 1);
    COLUMNS.iter().any(|column| name[..end].ends_with(column.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::inserted_passwords;

    #[test]
    fn strings_are_read_by_their_columns() {
        let text = "INSERT INTO `u` (`id`, `password`, mail) VALUES (f(1, 2), 'one, two', 'x'), (2, \"three\", 'y'); insert into t (a) values ('b')";
        let found: Vec<&str> = inserted_passwords(text.as_bytes())
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(found, ["one, two", "three"]);
    }

    #[test]
    fn other_statements_have_none() {
        for text in [
            "INSERT INTO t VALUES ('a')",
            "insert into",
            "INSERT INTO t (password) SELECT 'a'",
            "insert into t (password) values ('a",
        ] {
            assert!(inserted_passwords(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
