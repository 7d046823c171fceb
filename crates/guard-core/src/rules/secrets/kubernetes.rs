//! Reads the values of Kubernetes Secrets, in YAML and in JSON
//! (<https://kubernetes.io/docs/concepts/configuration/secret/>).

use std::ops::Range;

use super::ranges::{quoted, trimmed};
use crate::stop;

/// The keys of a Secret whose values are secret.
const VALUES: [&[u8]; 2] = [b"data", b"stringData"];

/// The values of all Secrets in a text, in order, without overlaps.
pub(super) fn secret_values(text: &[u8]) -> Vec<Range<usize>> {
    if memchr::memmem::find(text, b"Secret").is_none() {
        return Vec::new();
    }
    let mut found = in_yaml(text);
    found.extend(in_json(text));
    found.sort_by_key(|range| (range.start, range.end));
    let mut end = 0;
    found.retain(|range| {
        let is_free = range.start >= end;
        if is_free {
            end = range.end;
        }
        is_free
    });
    found
}

/// A line of YAML.
struct Line<'a> {
    /// The offset of the line.
    start: usize,
    /// The column of the key, behind the dashes of lists.
    column: usize,
    /// The text from the key on, without white space at its end.
    rest: &'a [u8],
}

impl<'a> Line<'a> {
    fn new(text: &'a [u8], range: Range<usize>) -> Self {
        let line = text[range.clone()].trim_ascii_end();
        let mut column = line.iter().take_while(|byte| b" \t".contains(byte)).count();
        while line[column..].starts_with(b"- ") {
            column += 2 + line[column + 2..].iter().take_while(|&&byte| byte == b' ').count();
        }
        Self {
            start: range.start,
            column,
            rest: &line[column..],
        }
    }

    fn is_blank(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(b"#")
    }

    /// The key, and the value on the same line with its offset in `rest`.
    fn entry(&self) -> Option<(&'a [u8], usize)> {
        let quote = self.rest.first().filter(|byte| b"\"'".contains(byte));
        let colon = self
            .rest
            .windows(2)
            .position(|pair| pair[0] == b':' && b" \t".contains(&pair[1]));
        let colon = colon.or_else(|| self.rest.ends_with(b":").then(|| self.rest.len() - 1))?;
        let key = &self.rest[..colon];
        let key = quote.map_or(key, |quote| key.strip_prefix(&[*quote]).unwrap_or(key));
        let key = quote.map_or(key, |quote| key.strip_suffix(&[*quote]).unwrap_or(key));
        let value = self.rest[colon + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        (!key.is_empty()).then_some((key, colon + 1 + value))
    }

    /// Whether the line names the kind of a Secret.
    fn is_secret(&self) -> bool {
        let value = |(key, at): (&[u8], usize)| {
            let value = self.rest[at..]
                .split(|&byte| byte == b'#')
                .next()
                .unwrap_or_default()
                .trim_ascii_end();
            key == b"kind" && matches!(value, b"Secret" | b"\"Secret\"" | b"'Secret'")
        };
        self.entry().is_some_and(value)
    }
}

fn in_yaml(text: &[u8]) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
        lines.push(Line::new(text, start..end));
        start = end + 1;
    }
    let mut found = Vec::new();
    // The first line that belongs to no earlier Secret.
    let mut free = 0;
    for (index, line) in lines.iter().enumerate() {
        if index < free || !line.is_secret() {
            continue;
        }
        stop::point();
        let column = line.column;
        let ends = |other: &Line| {
            other.rest.starts_with(b"---")
                || other.rest.starts_with(b"```")
                || !other.is_blank() && other.column < column
        };
        // A list begins another item at the same column.
        let begins_item =
            |other: &Line| other.column == column && text[other.start..other.start + column].contains(&b'-');
        let before = lines[free..index + 1]
            .iter()
            .rposition(|other| ends(other) || begins_item(other));
        let first = before.map_or(free, |at| free + at + usize::from(ends(&lines[free + at])));
        let after = lines[index + 1..]
            .iter()
            .position(|other| ends(other) || begins_item(other));
        let last = after.map_or(lines.len(), |at| index + 1 + at);
        for at in first..last {
            let is_values = |(key, _): (&[u8], usize)| lines[at].column == column && VALUES.contains(&key);
            if lines[at].entry().is_some_and(is_values) {
                entries(text, &lines[at..last], &mut found);
            }
        }
        free = last;
    }
    found
}

/// Adds the values below the first line, which has the key of a map.
fn entries(text: &[u8], lines: &[Line<'_>], found: &mut Vec<Range<usize>>) {
    let [head, rest @ ..] = lines else { return };
    if let Some((_, at)) = head.entry()
        && head.rest[at..].starts_with(b"{")
    {
        let start = head.start + head.column;
        flow_entries(text, start + at..start + head.rest.len(), found);
        return;
    }
    let below = rest
        .iter()
        .take_while(|line| line.is_blank() || line.column > head.column)
        .count();
    let lines = &rest[..below];
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some((_, value)) = line.entry() else { continue };
        // Lines that are indented more than the key continue its value.
        let goes_on = lines[at..]
            .iter()
            .take_while(|next| next.rest.is_empty() || next.column > line.column)
            .count();
        let last = lines[at..at + goes_on].iter().rev().find(|next| !next.rest.is_empty());
        let value_start = line.start + line.column + value;
        let (start, end) = match (line.rest.get(value), last) {
            (Some(b'|' | b'>'), Some(last)) => {
                let first = lines[at..at + goes_on]
                    .iter()
                    .find(|next| !next.rest.is_empty())
                    .unwrap_or(last);
                (first.start + first.column, last.start + last.column + last.rest.len())
            }
            (None, Some(last)) => (
                lines[at].start + lines[at].column,
                last.start + last.column + last.rest.len(),
            ),
            (Some(_), Some(last)) => (value_start, last.start + last.column + last.rest.len()),
            (_, None) => (value_start, line.start + line.column + line.rest.len()),
        };
        at += goes_on;
        add_scalar(text, start..end, found);
    }
}

/// Adds a scalar without its quotes and without a comment behind it.
fn add_scalar(text: &[u8], range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let value = text.get(range.clone()).unwrap_or_default();
    let inner = match value.first() {
        Some(quote @ (b'"' | b'\'')) => {
            let close = value.iter().rposition(|byte| byte == quote).filter(|&close| close > 0);
            1..close.unwrap_or(value.len())
        }
        _ => {
            let comment = value.windows(2).position(|pair| pair == b" #").unwrap_or(value.len());
            0..value[..comment].trim_ascii_end().len()
        }
    };
    let is_empty = matches!(&value[inner.clone()], b"" | b"null" | b"~" | b"{}" | b"|" | b">");
    if !is_empty {
        found.push(range.start + inner.start..range.start + inner.end);
    }
}

/// Adds the values of a map on one line, which begins with a brace.
fn flow_entries(text: &[u8], map: Range<usize>, found: &mut Vec<Range<usize>>) {
    let end = memchr::memchr(b'}', &text[map.clone()]).map_or(map.end, |at| map.start + at);
    let mut start = map.start + 1;
    for entry in text[start..end].split(|&byte| byte == b',') {
        if let Some(colon) = memchr::memchr(b':', entry) {
            let value = trimmed(text, start + colon + 1..start + entry.len());
            let content = quoted(text, value.clone()).unwrap_or(value);
            if !content.is_empty() {
                found.push(content);
            }
        }
        start += entry.len() + 1;
    }
}

/// An object of JSON that is open.
#[derive(Default)]
struct Object {
    /// Whether it is the map of values in an object.
    is_values: bool,
    /// Whether its kind is Secret.
    is_secret: bool,
    /// The values of its maps; for a map of values, its strings.
    values: Vec<Range<usize>>,
    /// The last key that has no value yet.
    key: Option<Range<usize>>,
}

fn in_json(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<Object> = Vec::new();
    // A string that may be a key.
    let mut string: Option<Range<usize>> = None;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let range = string_at(text, at);
                at = range.end;
                string = Some(range.clone());
                let is_closed = text.get(at) == Some(&b'"');
                if let Some(object) = open.last_mut().filter(|_| is_closed)
                    && let Some(key) = object.key.take()
                {
                    if object.is_values && !range.is_empty() {
                        object.values.push(range);
                    } else if &text[key] == b"kind" && &text[range] == b"Secret" {
                        object.is_secret = true;
                    }
                }
            }
            b':' => {
                if let Some(object) = open.last_mut() {
                    object.key = string.take();
                }
            }
            b'{' => {
                let key = open.last_mut().and_then(|object| object.key.take());
                open.push(Object {
                    is_values: key.is_some_and(|key| VALUES.contains(&&text[key])),
                    ..Object::default()
                });
            }
            b'}' => {
                if let Some(object) = open.pop() {
                    close(object, open.last_mut(), &mut found);
                }
            }
            b',' | b'[' => {
                string = None;
                if let Some(object) = open.last_mut() {
                    object.key = None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    // The end of the text may have been cut.
    while let Some(object) = open.pop() {
        close(object, open.last_mut(), &mut found);
    }
    found
}

/// Passes the values of a closed object on, if it belongs to a Secret.
fn close(object: Object, parent: Option<&mut Object>, found: &mut Vec<Range<usize>>) {
    if object.is_secret {
        found.extend(object.values);
    } else if let Some(parent) = parent.filter(|parent| object.is_values && !parent.is_values) {
        parent.values.extend(object.values);
    }
}

/// The content of the string that opens at an offset; up to the end of the line if it has no end.
fn string_at(text: &[u8], open: usize) -> Range<usize> {
    let mut at = open + 1;
    while at < text.len() && text[at] != b'"' && text[at] != b'\n' {
        at += 1 + usize::from(text[at] == b'\\');
    }
    open + 1..at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::secret_values;

    fn values(text: &str) -> Vec<&str> {
        secret_values(text.as_bytes())
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn every_value_of_a_manifest_is_read() {
        let text = "apiVersion: v1\ndata:\n  url: cG9zdA==\n  user: YWRtaW4= # base64\n  empty: \"\"\nkind: Secret\nmetadata:\n  name: a\n\
                    stringData:\n  pin: '4711'\n  note.txt: |\n    first\n    second\n  long: one\n    two\n---\nkind: ConfigMap\ndata:\n  a: b\n";
        assert_eq!(
            values(text),
            ["cG9zdA==", "YWRtaW4=", "4711", "first\n    second", "one\n    two"]
        );
    }

    #[test]
    fn manifests_in_lists_and_in_braces_are_read() {
        let text = "items:\n- apiVersion: v1\n  data:\n    a: Zm9v\n  kind: Secret\n- apiVersion: v1\n  data:\n    b: YmFy\n  kind: ConfigMap\n\
                    - kind: Secret\n  data: {c: YmF6, 'd': \"cXV4\"}\n";
        assert_eq!(values(text), ["Zm9v", "YmF6", "cXV4"]);
    }

    #[test]
    fn manifests_in_json_are_read() {
        let text = r#"Apply {"kind": "List", "items": [{"apiVersion": "v1", "data": {"a": "Zm9v", "b": "YmFy"}, "kind": "Secret"},
            {"kind": "ConfigMap", "data": {"c": "baz"}}, {"kind": "Secret", "metadata": {"name": "x"}, "stringData": {"d": "q\"x"}}]}"#;
        assert_eq!(values(text), ["Zm9v", "YmFy", r#"q\"x"#]);
        assert_eq!(values(r#"{"kind": "Secret", "data": {"a": "Zm9v""#), ["Zm9v"]);
    }

    #[test]
    fn other_documents_have_no_values() {
        for text in [
            "kind: ConfigMap\ndata:\n  a: b\n",
            "kind: Secret\nmetadata:\n  name: a\n",
            "The kind: Secret, and its data: are explained below.",
            "kind: Secret\nkind: Secret\nkind: Secret\n",
            "kind: SealedSecret\nspec:\n  encryptedData:\n    a: b\n",
            "data:\n  a: b\n---\nkind: Secret\n",
            "",
        ] {
            assert!(values(text).is_empty(), "{text}");
        }
    }
}
