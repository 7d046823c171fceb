//! Characters that a reader does not see but a model does.
//!
//! A character is invisible here when its Unicode general category is `Cf` (format), `Co` (private use) or `Cn`
//! (unassigned), the three that llm-guard's `InvisibleText` bans; the categories are those of Unicode 16.0. That
//! includes the joiners of emoji sequences and of Persian or Indic words, which llm-guard reports as well; the
//! [`Kind`] of a finding lets a caller be more lenient.
//!
//! Beyond llm-guard, two or more variation selectors with no visible character between them are reported. They are of
//! category `Mn`, and one of them after a base character is ordinary text. But no sequence of the Unicode standard has two
//! (chapter 23.4, "Variation Selectors"), and since there are 256 of them, a run can carry any bytes behind one visible
//! character (Paul Butler, "Smuggling arbitrary data through an emoji", 2025).
//!
//! ```
//! use guard_core::text::invisible::{Kind, find, remove};
//!
//! let found = find("pass\u{200B}word");
//! assert_eq!((found[0].range.clone(), found[0].kind), (4..7, Kind::ZeroWidth));
//! assert_eq!(remove("pass\u{200B}word"), "password");
//! ```

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Why characters are invisible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Spaces and joiners that have no width: U+180E, U+200B to U+200D, U+2060 to U+2064 and U+FEFF.
    ZeroWidth,
    /// The characters with the property `Bidi_Control` (UAX #9), which reorder what the reader sees.
    BidiControl,
    /// The block Tags, U+E0000 to U+E007F, an invisible copy of ASCII.
    Tag,
    /// Private use (`Co`).
    PrivateUse,
    /// Not assigned (`Cn`), noncharacters included.
    Unassigned,
    /// Variation selectors (U+FE00 to U+FE0F, U+E0100 to U+E01EF), two or more with no visible character between.
    VariationSelectors,
    /// Any other format character (`Cf`), such as the soft hyphen.
    OtherFormat,
}

impl Kind {
    /// The name of the kind in kebab case, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ZeroWidth => "zero-width",
            Self::BidiControl => "bidi-control",
            Self::Tag => "tag",
            Self::PrivateUse => "private-use",
            Self::Unassigned => "unassigned",
            Self::VariationSelectors => "variation-selectors",
            Self::OtherFormat => "other-format",
        }
    }
}

/// A run of invisible characters of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invisible {
    /// The UTF-8 byte range of the run, on character boundaries.
    pub range: Range<usize>,
    /// The kind of all characters of the run.
    pub kind: Kind,
}

/// Finds every maximal run of invisible characters of one kind, in order.
pub fn find(text: &str) -> Vec<Invisible> {
    // No ASCII character is in the three categories.
    if text.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<Invisible> = Vec::new();
    let mut cluster = Cluster::default();
    for (start, character) in text.char_indices() {
        let Some(kind) = classify(character) else { continue };
        let end = start + character.len_utf8();
        if found.last().is_none_or(|last| last.range.end != start) {
            cluster.finish(&mut found);
        }
        if kind == Kind::VariationSelectors {
            cluster.selectors += 1;
            cluster.last_selector = found.len();
        }
        match found.last_mut() {
            Some(last) if last.kind == kind && last.range.end == start => last.range.end = end,
            _ => found.push(Invisible {
                range: start..end,
                kind,
            }),
        }
    }
    cluster.finish(&mut found);
    found
}

/// Returns `text` without the characters that [`find`] reports.
pub fn remove(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut kept = 0;
    for invisible in find(text) {
        result.push_str(&text[kept..invisible.range.start]);
        kept = invisible.range.end;
    }
    result.push_str(&text[kept..]);
    result
}

/// The variation selectors in a stretch of invisible characters that no visible one interrupts.
#[derive(Default)]
struct Cluster {
    selectors: usize,
    last_selector: usize,
}

impl Cluster {
    /// Removes a lone variation selector from what was found, since it is ordinary text, and starts the next cluster.
    ///
    /// The selectors are counted over the whole cluster. If only neighbours counted, a joiner between every two of them would
    /// hide them, and removing the joiners would leave the run.
    fn finish(&mut self, found: &mut Vec<Invisible>) {
        if self.selectors == 1 {
            found.remove(self.last_selector);
        }
        self.selectors = 0;
    }
}

/// The kind of one character, or `None` when it is ordinary. A variation selector is taken for part of a run.
pub(crate) fn classify(character: char) -> Option<Kind> {
    match character {
        '\0'..='\u{7F}' => None,
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => Some(Kind::VariationSelectors),
        '\u{180E}' | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' => Some(Kind::ZeroWidth),
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            Some(Kind::BidiControl)
        }
        '\u{E0000}'..='\u{E007F}' => Some(Kind::Tag),
        _ => match get_general_category(character) {
            GeneralCategory::Format => Some(Kind::OtherFormat),
            GeneralCategory::PrivateUse => Some(Kind::PrivateUse),
            GeneralCategory::Unassigned => Some(Kind::Unassigned),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(&str, Kind)> {
        find(text)
            .into_iter()
            .map(|invisible| (&text[invisible.range], invisible.kind))
            .collect()
    }

    #[test]
    fn ordinary_text_of_many_scripts_is_clean() {
        for text in [
            "",
            "Hello, world!\r\n\tTabs\0and controls\u{1b}[0m",
            "Привет, мир! Ёжик — №1",
            "你好，世界。「引用」",
            "नमस्ते दुनिया",
            "e\u{301}a\u{308} combining",
            "no\u{a0}break\u{3000}space",
            "replacement \u{FFFD}",
            "I \u{2764}\u{FE0F} you",
        ] {
            assert_eq!(kinds(text), [], "{text:?}");
            assert_eq!(remove(text), text);
        }
    }

    #[test]
    fn every_kind_is_found() {
        assert_eq!(kinds("a\u{200B}\u{FEFF}b"), [("\u{200B}\u{FEFF}", Kind::ZeroWidth)]);
        assert_eq!(
            kinds("\u{202E}gpj.exe\u{202C}"),
            [("\u{202E}", Kind::BidiControl), ("\u{202C}", Kind::BidiControl)]
        );
        assert_eq!(kinds("hi\u{E0068}\u{E0069}"), [("\u{E0068}\u{E0069}", Kind::Tag)]);
        assert_eq!(
            kinds("\u{E000}x\u{100000}"),
            [("\u{E000}", Kind::PrivateUse), ("\u{100000}", Kind::PrivateUse)]
        );
        assert_eq!(kinds("\u{378}\u{FFFE}"), [("\u{378}\u{FFFE}", Kind::Unassigned)]);
        assert_eq!(kinds("soft\u{AD}hyphen"), [("\u{AD}", Kind::OtherFormat)]);
        assert_eq!(
            kinds("\u{200B}\u{202E}"),
            [("\u{200B}", Kind::ZeroWidth), ("\u{202E}", Kind::BidiControl)]
        );
    }

    #[test]
    fn emoji_joiners_are_found_as_in_llm_guard() {
        assert_eq!(kinds("👨\u{200D}👩\u{200D}👧").len(), 2);
        assert_eq!(remove("👨\u{200D}👩"), "👨👩");
    }

    #[test]
    fn only_runs_of_variation_selectors_are_found() {
        let smuggled = "😀\u{E0148}\u{E0155}\u{FE01}!";
        assert_eq!(
            kinds(smuggled),
            [("\u{E0148}\u{E0155}\u{FE01}", Kind::VariationSelectors)]
        );
        assert_eq!(remove(smuggled), "😀!");
        assert_eq!(kinds("\u{2764}\u{FE0F}\u{200D}🔥"), [("\u{200D}", Kind::ZeroWidth)]);
        assert_eq!(kinds("\u{FE0F}a\u{FE0F}"), []);
        assert_eq!(remove("a\u{FE01}\u{200D}\u{FE02}\u{200D}b"), "ab");
    }

    #[test]
    fn names_are_kebab_case() {
        assert_eq!(Kind::ZeroWidth.as_str(), "zero-width");
        assert_eq!(Kind::VariationSelectors.as_str(), "variation-selectors");
    }

    proptest! {
        #[test]
        fn finds_all_of_the_banned_categories(text in "[\u{0}-\u{10FFFF}]{0,24}|(.|\u{200D}|\u{FE0F}|\u{E0101}|😀){0,24}") {
            let found = find(&text);
            prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
            for (at, character) in text.char_indices() {
                let banned = matches!(
                    get_general_category(character),
                    GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
                );
                let covered = found.iter().find(|invisible| invisible.range.contains(&at));
                match covered {
                    Some(run) => prop_assert!(banned || run.kind == Kind::VariationSelectors),
                    None => prop_assert!(!banned),
                }
            }
        }

        #[test]
        fn removal_deletes_only_what_was_found(text in "(.|\u{200D}|\u{FE0F}|\u{E0101}|😀){0,24}") {
            let mut expected = text.clone();
            for invisible in find(&text).into_iter().rev() {
                expected.replace_range(invisible.range, "");
            }
            prop_assert_eq!(remove(&text), expected.clone());
            prop_assert_eq!(find(&expected), []);
        }
    }
}
