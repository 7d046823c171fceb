//! Restores the display order of text with directional overrides.

use unicode_bidi::{BidiInfo, Level};

use super::view::{Step, View, Writer};

/// Puts text with directional overrides (U+202D, U+202E) into display order: "\u{202E}erongi" is shown as "ignore".
/// From the first override of a line to the end of that line, the Unicode bidirectional algorithm applies (UAX #9,
/// crate `unicode-bidi`), with a left-to-right line direction.
///
/// Attackers use overrides to hide text from filters that read memory order (Boucher, Shumailov, Anderson and Papernot,
/// "Bad Characters: Imperceptible NLP Attacks", 2022). Hebrew or Arabic text without overrides stays unchanged.
pub(super) fn order(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    // U+202D and U+202E in UTF-8.
    let overrides =
        memchr::memmem::find_iter(bytes, b"\xE2\x80").filter(|&at| matches!(bytes.get(at + 2), Some(0xAD | 0xAE)));
    let mut writer = Writer::new(text);
    let mut at = 0;
    for start in overrides {
        if start < at {
            continue;
        }
        let end = text[start..]
            .find(|c| unicode_bidi::bidi_class(c) == unicode_bidi::BidiClass::B)
            .map_or(text.len(), |length| start + length);
        let line = &text[start..end];
        let info = BidiInfo::new(line, Some(Level::ltr()));
        let shown = info
            .paragraphs
            .iter()
            .map(|paragraph| info.reorder_line(paragraph, paragraph.range.clone()));
        let shown: String = shown.collect::<String>().chars().filter(|&c| !is_control(c)).collect();
        writer.replace(start..end, &shown, Step::Bidi);
        at = end;
    }
    writer.finish()
}

/// Explicit directional formatting characters (UAX #9, section 2).
fn is_control(character: char) -> bool {
    matches!(character, '\u{200E}' | '\u{200F}' | '\u{61C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
