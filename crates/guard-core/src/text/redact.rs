//! Replaces spans of a text.
//!
//! ```
//! use guard_core::text::redact::{REDACTED, redact};
//!
//! assert_eq!(redact("my key is 12345!", &[10..15], REDACTED), "my key is [REDACTED]!");
//! ```

use std::ops::Range;

/// The default replacement, the same as in llm-guard.
pub const REDACTED: &str = "[REDACTED]";

/// Returns `text` with every span replaced by `replacement`.
///
/// `spans` are UTF-8 byte ranges in any order:
///
/// - Spans that share at least one byte become one replacement. Spans that only touch become two, so that two secrets
///   next to each other still look like two.
/// - Empty and reversed spans are ignored. A span that reaches beyond the text ends with it.
/// - A span that cuts a character is widened to the whole character: hiding too much is safe, showing part of a secret
///   is not.
/// - A span inside an earlier replacement is ignored. Otherwise a rule that matches capital letters would turn
///   "[REDACTED]" into "[[REDACTED]]".
///
/// The time is O(n + k log k) for n bytes and k spans.
pub fn redact(text: &str, spans: &[Range<usize>], replacement: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut shown = 0;
    let spans = spans.iter().filter(|span| !is_inside(text, span, replacement));
    for span in merge_spans(text, spans) {
        result.push_str(&text[shown..span.start]);
        result.push_str(replacement);
        shown = span.end;
    }
    result.push_str(&text[shown..]);
    result
}

/// Whether a span lies within an occurrence of `replacement`.
fn is_inside(text: &str, span: &Range<usize>, replacement: &str) -> bool {
    (0..replacement.len()).any(|before| {
        let start = span.start.checked_sub(before);
        let found = start.filter(|&start| text.as_bytes()[start.min(text.len())..].starts_with(replacement.as_bytes()));
        found.is_some_and(|start| span.end <= start + replacement.len())
    })
}

/// The spans in ascending order, widened to character boundaries, without overlaps.
fn merge_spans<'a>(text: &str, spans: impl Iterator<Item = &'a Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<Range<usize>> = spans
        .filter(|span| span.start < span.end && span.start < text.len())
        .map(|span| text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end))
        .collect();
    sorted.sort_unstable_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for span in sorted {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn replaces_only_the_spans() {
        let text = "Мой пароль — hunter2, 请保密。";
        let start = text.find("hunter2").unwrap();
        let span = start..start + 7;
        assert_eq!(
            redact(text, std::slice::from_ref(&span), REDACTED),
            "Мой пароль — [REDACTED], 请保密。"
        );
        assert_eq!(redact(text, &[], REDACTED), text);
    }

    #[test]
    fn what_was_redacted_stays() {
        assert_eq!(
            redact("a [REDACTED] B", &[3..11, 13..14], REDACTED),
            "a [REDACTED] [REDACTED]"
        );
        assert_eq!(redact("a [REDACTED] B", &[2..12, 3..4], REDACTED), "a [REDACTED] B");
        assert_eq!(redact("a [REDACTED] B", &[0..4], REDACTED), "[REDACTED]EDACTED] B");
    }

    #[test]
    fn overlapping_spans_merge_and_adjacent_spans_do_not() {
        assert_eq!(redact("abcdef", &[3..5, 1..4], "#"), "a#f");
        assert_eq!(redact("abcdef", &[1..5, 2..3], "#"), "a#f");
        assert_eq!(redact("abcdef", &[1..3, 3..5], "#"), "a##f");
        assert_eq!(redact("abcdef", &[1..3, 1..3], "#"), "a#def");
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, clippy::single_range_in_vec_init)]
    fn odd_spans_are_harmless() {
        assert_eq!(redact("abc", &[1..1, 2..1, 7..9, 3..3], "#"), "abc");
        assert_eq!(redact("abc", &[1..usize::MAX], "#"), "a#");
        assert_eq!(redact("aéb", &[2..3], "#"), "a#b");
        assert_eq!(redact("", &[0..4], "#"), "");
    }

    proptest! {
        #[test]
        fn text_outside_the_spans_is_kept(
            text in ".*",
            spans in prop::collection::vec((0usize..120, 0usize..12), 0..8),
        ) {
            let spans: Vec<_> = spans.into_iter().map(|(start, length)| start..start + length).collect();
            let kept: String = text
                .char_indices()
                .filter(|(at, c)| !spans.iter().any(|s| !s.is_empty() && s.start < at + c.len_utf8() && s.end > *at))
                .map(|(_, c)| c)
                .collect();
            prop_assert_eq!(redact(&text, &spans, ""), kept);
        }
    }
}
