//! Offsets at the border: guard-core counts the bytes of a text, JavaScript its UTF-16 code units. And how many places cross it.

use std::collections::HashMap;
use std::ops::Range;

use guard_core::text::offsets::{self, Unit};
use napi::bindgen_prelude::{Either, Float64Array};
use napi_derive::napi;

/// So many findings of one text are told as objects; see `MOST_FINDINGS` of `src/findings.ts`, which is the same number.
pub const MOST_FINDINGS: usize = 1000;

/// A half-open range of a text, in UTF-16 code units.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// The spans of a text with these byte ranges, in the same order.
pub fn spans(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Span> {
    let mut offsets: Vec<usize> = ranges.into_iter().flat_map(|range| [range.start, range.end]).collect();
    offsets::convert(text, Unit::Utf16, &mut offsets);
    let spans = offsets.chunks_exact(2).map(|offsets| Span {
        start: offsets[0] as u32,
        end: offsets[1] as u32,
    });
    spans.collect()
}

/// What `make` makes of each item and its span, where `range` says which bytes of the text the item stands in.
pub fn with_spans<T, U>(
    text: &str,
    items: Vec<T>,
    range: impl Fn(&T) -> Range<usize>,
    mut make: impl FnMut(T, Span) -> U,
) -> Vec<U> {
    let spans = spans(text, items.iter().map(range));
    items
        .into_iter()
        .zip(spans)
        .map(|(item, span)| make(item, span))
        .collect()
}

/// Numbers, one row after the other: a plain array where they are few, and a typed one where they are many.
#[napi]
pub type Rows = Either<Vec<f64>, Float64Array>;

/// So many numbers at most are a plain array, of which Node-API takes each one by itself.
const PLAIN: usize = 32;

/// The start and the end of each item, and more numbers of it, one row after the other.
///
/// Node-API makes objects on the event loop, with a call for each of their fields, and a megabyte of text may have half a million
/// items. A typed array takes no time, whatever its length. What has no number is -1.
pub fn rows<T, const N: usize>(
    text: &str,
    items: &[T],
    range: impl Fn(&T) -> Range<usize>,
    mut more: impl FnMut(&T) -> [f64; N],
) -> Rows {
    let spans = spans(text, items.iter().map(range));
    let mut rows = Vec::with_capacity(items.len() * (2 + N));
    for (item, Span { start, end }) in items.iter().zip(spans) {
        rows.extend([f64::from(start), f64::from(end)]);
        rows.extend(more(item));
    }
    match rows.len() {
        0..=PLAIN => Either::A(rows),
        _ => Either::B(rows.into()),
    }
}

/// Whether there is a row.
pub fn has_rows(rows: &Rows) -> bool {
    match rows {
        Either::A(rows) => !rows.is_empty(),
        Either::B(rows) => !rows.is_empty(),
    }
}

/// The names that rows have, each once; rows have their indices.
#[derive(Default)]
pub struct Names {
    indices: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// The index of a name, as rows have it.
    pub fn index(&mut self, name: &str) -> f64 {
        if let Some(&index) = self.indices.get(name) {
            return f64::from(index);
        }
        let index = self.names.len() as u32;
        self.indices.insert(name.to_owned(), index);
        self.names.push(name.to_owned());
        f64::from(index)
    }

    /// The index of a name that may be absent.
    pub fn index_of(&mut self, name: Option<&str>) -> f64 {
        name.map_or(-1.0, |name| self.index(name))
    }

    /// The names, by their indices.
    pub fn into_list(self) -> Vec<String> {
        self.names
    }
}

/// The byte ranges of a text with these spans, in the same order. A span beyond the end ends with the text.
pub fn byte_ranges(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Range<usize>> {
    let mut offsets: Vec<usize> = spans
        .into_iter()
        .flat_map(|span| [span.start as usize, span.end as usize])
        .collect();
    offsets::convert_back(text, Unit::Utf16, &mut offsets);
    offsets.chunks_exact(2).map(|offsets| offsets[0]..offsets[1]).collect()
}

/// The position in a text with this byte offset.
pub fn position(text: &str, byte: usize) -> u32 {
    let mut offset = [byte];
    offsets::convert(text, Unit::Utf16, &mut offset);
    offset[0] as u32
}
