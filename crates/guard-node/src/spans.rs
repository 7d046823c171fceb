//! Offsets at the border: guard-core counts the bytes of a text, JavaScript its UTF-16 code units.

use std::ops::Range;

use guard_core::text::offsets::{self, Unit};
use napi_derive::napi;

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
