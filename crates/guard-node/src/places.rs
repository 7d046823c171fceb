//! Places of a text as JavaScript counts them: in UTF-16 code units.

use std::ops::Range;

use guard_core::text::offsets::{self, Unit};
use napi_derive::napi;

/// A piece of a text, in UTF-16 code units.
#[napi(object)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// The pieces of a text with these byte ranges, in the same order.
pub fn spans(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Span> {
    let mut places: Vec<usize> = ranges.into_iter().flat_map(|range| [range.start, range.end]).collect();
    offsets::convert(text, Unit::Utf16, &mut places);
    let spans = places.chunks_exact(2).map(|place| Span {
        start: place[0] as u32,
        end: place[1] as u32,
    });
    spans.collect()
}

/// The place in a text with this byte offset.
pub fn place(text: &str, byte: usize) -> u32 {
    let mut place = [byte];
    offsets::convert(text, Unit::Utf16, &mut place);
    place[0] as u32
}
