//! Converts offsets at the border: guard-core counts bytes, JavaScript UTF-16 code units. Also encodes lists of
//! findings.

use std::collections::HashMap;
use std::ops::Range;

use guard_core::text::offsets::{self, Unit};
use napi::bindgen_prelude::{Either, Float64Array};
use napi_derive::napi;

/// The most findings of one text that are returned as objects; `MOST_FINDINGS` in TypeScript is the same number.
pub const MOST_FINDINGS: usize = 1000;

/// A half-open range of a text, in UTF-16 code units.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Converts byte ranges of a text to spans, in the same order.
pub fn spans(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Span> {
    let mut offsets: Vec<usize> = ranges.into_iter().flat_map(|range| [range.start, range.end]).collect();
    offsets::convert(text, Unit::Utf16, &mut offsets);
    let spans = offsets.chunks_exact(2).map(|offsets| Span {
        start: offsets[0] as u32,
        end: offsets[1] as u32,
    });
    spans.collect()
}

/// Applies `make` to each item and its span. `range` returns the bytes of an item.
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

/// Rows of numbers: a plain array for few, a typed array for many.
#[napi]
pub type Rows = Either<Vec<f64>, Float64Array>;

/// The most numbers of a plain array, which Node-API creates element by element.
const PLAIN: usize = 32;

/// Encodes the start and the end of each item, and more numbers, as rows.
///
/// Node-API creates objects on the event loop, with a call for each field, and 1 MB of text may have half a million
/// items. A typed array takes no time, whatever its length. A missing number is -1.
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

/// The distinct names of rows, which contain their indices.
#[derive(Default)]
pub struct Names {
    indices: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// The index of a name.
    pub fn index(&mut self, name: &str) -> f64 {
        if let Some(&index) = self.indices.get(name) {
            return f64::from(index);
        }
        let index = self.names.len() as u32;
        self.indices.insert(name.to_owned(), index);
        self.names.push(name.to_owned());
        f64::from(index)
    }

    /// The index of an optional name, or -1.
    pub fn index_of(&mut self, name: Option<&str>) -> f64 {
        name.map_or(-1.0, |name| self.index(name))
    }

    /// The names, by their indices.
    pub fn into_list(self) -> Vec<String> {
        self.names
    }
}

/// Converts spans of a text to byte ranges, in the same order. A span beyond the end is cut off.
pub fn byte_ranges(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Range<usize>> {
    let mut offsets: Vec<usize> = spans
        .into_iter()
        .flat_map(|span| [span.start as usize, span.end as usize])
        .collect();
    offsets::convert_back(text, Unit::Utf16, &mut offsets);
    offsets.chunks_exact(2).map(|offsets| offsets[0]..offsets[1]).collect()
}

/// Converts a byte offset of a text to a position.
pub fn position(text: &str, byte: usize) -> u32 {
    let mut offset = [byte];
    offsets::convert(text, Unit::Utf16, &mut offset);
    offset[0] as u32
}
