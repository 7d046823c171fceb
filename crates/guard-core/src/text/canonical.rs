//! Composes characters, so that canonically equivalent texts are equal (UAX #15, form NFC).
//!
//! An "é" is one character, or an "e" and a combining accent. People see and mean the same, and programs write both:
//! keyboards the first, some file systems and PDF readers the second.
//!
//! ```
//! use guard_core::text::canonical::compose;
//!
//! let composed = compose("un cafe\u{301} noir");
//! assert_eq!(composed.text(), "un café noir");
//! assert_eq!(composed.original(3..8), 3..9);
//! assert!(!compose("un café noir").is_changed());
//! ```

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::stop;

/// A composed text that maps its offsets to the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComposedText<'a> {
    text: Cow<'a, str>,
    /// The clusters of characters that composition changes, in order.
    clusters: Vec<Cluster>,
}

/// A character and those that combine with it: its byte ranges in the composed and in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cluster {
    composed: Range<usize>,
    original: Range<usize>,
}

/// Composes a text. If composition changes nothing, the text is not copied.
pub fn compose(text: &str) -> ComposedText<'_> {
    let unchanged = ComposedText {
        text: Cow::Borrowed(text),
        clusters: Vec::new(),
    };
    if is_composed(text) {
        return unchanged;
    }
    let mut composed = String::with_capacity(text.len());
    let mut clusters = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((start, first)) = characters.next() {
        stop::point();
        let mut is_simple = is_stable(first);
        while characters.next_if(|&(_, next)| !is_stable(next)).is_some() {
            is_simple = false;
        }
        if is_simple {
            composed.push(first);
            continue;
        }
        let end = characters.peek().map_or(text.len(), |&(at, _)| at);
        let at = composed.len();
        composed.extend(text[start..end].nfc());
        if composed[at..] != text[start..end] {
            clusters.push(Cluster {
                composed: at..composed.len(),
                original: start..end,
            });
        }
    }
    if clusters.is_empty() {
        return unchanged;
    }
    ComposedText {
        text: Cow::Owned(composed),
        clusters,
    }
}

impl ComposedText<'_> {
    /// The composed text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether composition changes the text.
    pub fn is_changed(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// The range in the original text. A range that begins or ends within a cluster is extended to all of it.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = match self.last_cluster(|cluster| cluster.composed.start <= range.start) {
            Some(cluster) if range.start < cluster.composed.end => cluster.original.start,
            cluster => after(cluster, range.start),
        };
        let end = match self.last_cluster(|cluster| cluster.composed.start < range.end) {
            Some(cluster) if range.end < cluster.composed.end && !range.is_empty() => cluster.original.end,
            Some(_) if range.is_empty() => start,
            cluster => after(cluster, range.end),
        };
        start..end.max(start)
    }

    /// The last cluster of those at the front for which `is_before` holds.
    fn last_cluster(&self, is_before: impl Fn(&Cluster) -> bool) -> Option<&Cluster> {
        self.clusters[..self.clusters.partition_point(is_before)].last()
    }
}

/// The original offset of `at`, which lies after a cluster.
fn after(cluster: Option<&Cluster>, at: usize) -> usize {
    cluster.map_or(at, |cluster| cluster.original.end + (at - cluster.composed.end))
}

/// Whether all characters are as composition leaves them, whatever stands next to them.
fn is_composed(text: &str) -> bool {
    if text.is_ascii() {
        return true;
    }
    let bytes = text.as_bytes();
    // A loop without an early exit compares many bytes at once.
    let is_common_block = |block: &&[u8]| block.iter().fold(true, |all, &byte| all & is_common(byte));
    let mut at = bytes.chunks(64).take_while(is_common_block).map(<[u8]>::len).sum();
    while let Some(next) = bytes[at..].iter().position(|&byte| !is_common(byte)) {
        at += next;
        match text[at..].chars().next() {
            Some(character) if is_stable(character) => at += character.len_utf8(),
            _ => return false,
        }
    }
    true
}

/// Whether a byte is within a character, or begins one that is stable: ASCII, Latin with accents, Cyrillic, Chinese
/// characters and most Korean syllables.
fn is_common(byte: u8) -> bool {
    byte < 0xCC || matches!(byte, 0xD0 | 0xD1 | 0xE4..=0xE9 | 0xEB | 0xEC)
}

/// Whether a character neither changes nor combines with the previous character.
fn is_stable(character: char) -> bool {
    match character {
        '\0'..='\u{2FF}'
        | '\u{400}'..='\u{482}'
        | '\u{48A}'..='\u{52F}'
        | '\u{1E00}'..='\u{1EFF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7A3}' => true,
        _ => canonical_combining_class(character) == 0 && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clusters_map_to_their_originals() {
        let text = "Ne\u{301}stora, A\u{30A}sa, \u{1112}\u{1161}\u{11AB}, \u{212B}!";
        let composed = compose(text);
        assert_eq!(composed.text(), "Néstora, Åsa, 한, Å!");
        for word in ["Néstora", "Åsa", "한", "!"] {
            let start = composed.text().find(word).unwrap();
            let original = composed.original(start..start + word.len());
            assert_eq!(text[original].nfc().collect::<String>(), word);
        }
        // "ạ" is composed, and the other accent stays.
        let composed = compose("xa\u{323}\u{306}\u{35C}y");
        assert_eq!(composed.text(), "xặ\u{35C}y");
        assert_eq!(composed.original(1..4), 1..8);
        assert_eq!(composed.original(4..6), 1..8);
        assert_eq!(composed.original(6..7), 8..9);
    }

    #[test]
    fn all_characters_are_as_the_standard_says() {
        for character in '\0'..=char::MAX {
            let single = std::iter::once(character);
            let expected = canonical_combining_class(character) == 0 && is_nfc_quick(single) == IsNormalized::Yes;
            assert_eq!(is_stable(character), expected, "{character:?}");
            assert_eq!(is_composed(&format!("{character}")), expected, "{character:?}");
        }
    }

    #[test]
    fn composed_texts_need_no_copy() {
        for text in ["", "plain", "Néstora", "привет, мир", "日本語", "안녕하세요", "ไทย"] {
            let composed = compose(text);
            assert!(
                !composed.is_changed() && matches!(composed.text, Cow::Borrowed(_)),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn composition_is_that_of_the_standard(text in "([a-zA-ZéÅ한가คำ ]|[\u{300}-\u{330}]|[\u{1100}-\u{1175}]|\u{11AB}|\u{3099}|か|\u{212B}|\\PC){0,24}") {
            let expected: String = text.nfc().collect();
            let composed = compose(&text);
            prop_assert_eq!(composed.text(), expected.as_str());
            // All pairs of offsets give ranges of the original that compose to at least that part.
            let bounds: Vec<usize> = composed.text().char_indices().map(|(at, _)| at).chain([composed.text().len()]).collect();
            for pair in bounds.windows(2) {
                let original = text.get(composed.original(pair[0]..pair[1]));
                let part = &composed.text()[pair[0]..pair[1]];
                prop_assert!(original.is_some_and(|original| original.nfc().collect::<String>().contains(part)));
            }
            prop_assert_eq!(composed.original(0..composed.text().len()), 0..text.len());
        }
    }
}
