//! Converts byte offsets to the units of other languages.
//!
//! JavaScript indexes strings in UTF-16 code units and Python in code points, while this crate counts UTF-8 bytes. All
//! offsets of a text are converted together, once, at the border.
//!
//! ```
//! use guard_core::text::offsets::{Unit, convert, convert_back};
//!
//! let mut offsets = [0, 4, 5];
//! convert("😀b", Unit::Utf16, &mut offsets);
//! assert_eq!(offsets, [0, 2, 3]);
//! convert_back("😀b", Unit::Utf16, &mut offsets);
//! assert_eq!(offsets, [0, 4, 5]);
//! ```

/// The unit of an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// UTF-16 code units, as in JavaScript, Java and .NET: a character outside the Basic Multilingual Plane counts 2.
    Utf16,
    /// Unicode code points, as in Python.
    CodePoint,
}

/// Converts every UTF-8 byte offset in `offsets` to `unit`.
///
/// The offsets may be in any order and repeat. An offset beyond the end becomes the end; one within a character becomes
/// the start of that character. The time is O(n + k log k) for n bytes and k offsets, O(n + k) if the offsets ascend,
/// and O(k) after one vectorized scan if the text is ASCII.
pub fn convert(text: &str, unit: Unit, offsets: &mut [usize]) {
    if text.is_ascii() {
        for offset in offsets {
            *offset = (*offset).min(text.len());
        }
    } else if offsets.is_sorted() {
        let mut walk = Walk::new(text, unit);
        for offset in offsets {
            *offset = walk.advance(*offset);
        }
    } else {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_unstable_by_key(|&index| offsets[index]);
        let mut walk = Walk::new(text, unit);
        for index in order {
            offsets[index] = walk.advance(offsets[index]);
        }
    }
}

/// Converts every offset in `offsets` from `unit` to UTF-8 bytes: the inverse of [`convert`], at the same cost. An
/// offset beyond the end becomes the end; one within a character becomes the start of that character.
pub fn convert_back(text: &str, unit: Unit, offsets: &mut [usize]) {
    if text.is_ascii() {
        for offset in offsets {
            *offset = (*offset).min(text.len());
        }
        return;
    }
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&index| offsets[index]);
    let mut characters = text.chars();
    let (mut byte, mut units) = (0, 0);
    let mut next = characters.next();
    for index in order {
        while let Some(character) = next {
            let width = match unit {
                Unit::CodePoint => 1,
                Unit::Utf16 => character.len_utf16(),
            };
            if units + width > offsets[index] {
                break;
            }
            units += width;
            byte += character.len_utf8();
            next = characters.next();
        }
        offsets[index] = byte;
    }
}

/// A position in the text that only moves forward, and the number of units before it.
struct Walk<'a> {
    text: &'a str,
    unit: Unit,
    byte: usize,
    units: usize,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str, unit: Unit) -> Self {
        Self {
            text,
            unit,
            byte: 0,
            units: 0,
        }
    }

    /// Moves to the byte offset `to`, not smaller than the last one, and returns the units before it.
    fn advance(&mut self, to: usize) -> usize {
        let to = self.text.floor_char_boundary(to);
        let passed = &self.text.as_bytes()[self.byte..to];
        // Every byte except a continuation byte (10xxxxxx) starts a character. Exactly the four-byte characters
        // (11110xxx) take a surrogate pair in UTF-16 (RFC 3629, section 3).
        self.units += match self.unit {
            Unit::CodePoint => passed.iter().filter(|&&byte| byte & 0xC0 != 0x80).count(),
            Unit::Utf16 => passed
                .iter()
                .map(|&byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0))
                .sum(),
        };
        self.byte = to;
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn converted(text: &str, unit: Unit, offsets: &[usize]) -> Vec<usize> {
        let mut offsets = offsets.to_vec();
        convert(text, unit, &mut offsets);
        offsets
    }

    #[test]
    fn ascii_offsets_stay() {
        assert_eq!(converted("plain text", Unit::Utf16, &[0, 5, 10]), [0, 5, 10]);
        assert_eq!(converted("plain text", Unit::CodePoint, &[5, 5, 0]), [5, 5, 0]);
    }

    #[test]
    fn characters_outside_the_bmp_count_twice_in_utf16_only() {
        let text = "Привет, 😀 мир";
        let end = text.len();
        let smile = text.find('😀').unwrap();
        assert_eq!(converted(text, Unit::Utf16, &[smile, smile + 4, end]), [8, 10, 14]);
        assert_eq!(converted(text, Unit::CodePoint, &[smile, smile + 4, end]), [8, 9, 13]);
    }

    #[test]
    fn offsets_may_be_unsorted_and_repeated() {
        assert_eq!(
            converted("你好吗", Unit::CodePoint, &[9, 0, 3, 9, 6, 3]),
            [3, 0, 1, 3, 2, 1]
        );
    }

    #[test]
    fn bad_offsets_are_clamped() {
        assert_eq!(converted("é!", Unit::CodePoint, &[1, 99]), [0, 2]);
        assert_eq!(converted("a", Unit::Utf16, &[99]), [1]);
        assert_eq!(converted("", Unit::Utf16, &[0, usize::MAX]), [0, 0]);
        assert_eq!(converted("é", Unit::Utf16, &[]), [0; 0]);
    }

    #[test]
    fn the_way_back_is_clamped() {
        let mut offsets = [9, 2, 1, 0, 3];
        convert_back("a😀b", Unit::Utf16, &mut offsets);
        assert_eq!(offsets, [6, 1, 1, 0, 5]);
    }

    proptest! {
        #[test]
        fn agrees_with_counting_each_prefix(text in ".*", mut offsets in prop::collection::vec(0usize..200, 0..20)) {
            let expected: Vec<_> = offsets.iter().map(|&o| &text[..text.floor_char_boundary(o)]).collect();
            let utf16: Vec<_> = expected.iter().map(|prefix| prefix.encode_utf16().count()).collect();
            let points: Vec<_> = expected.iter().map(|prefix| prefix.chars().count()).collect();
            prop_assert_eq!(&converted(&text, Unit::CodePoint, &offsets), &points);
            let bytes: Vec<_> = expected.iter().map(|prefix| prefix.len()).collect();
            for (unit, offsets) in [(Unit::CodePoint, &points), (Unit::Utf16, &utf16)] {
                let mut back = offsets.clone();
                convert_back(&text, unit, &mut back);
                prop_assert_eq!(&back, &bytes);
            }
            convert(&text, Unit::Utf16, &mut offsets);
            prop_assert_eq!(offsets, utf16);
        }
    }
}
