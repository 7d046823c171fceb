//! Decodes text in invisible characters.

use std::ops::Range;

use super::view::{Step, View, Writer};

/// This many readable bytes in a row are text, whatever else is in their run of variation selectors.
const MEANT: usize = 8;

/// Decodes in place Unicode tags (U+E0020 to U+E007E, an invisible copy of ASCII) and runs of variation selectors,
/// which can carry any bytes (Paul Butler, "Smuggling arbitrary data through an emoji", 2025).
pub(super) fn reveal(text: &str) -> Option<View> {
    // In UTF-8, all of these characters begin with one of two byte pairs.
    let bytes = text.as_bytes();
    let near = |at: usize| matches!(bytes[at..], [0xF3, 0xA0, ..] | [0xEF, 0xB8, ..]);
    if text.is_ascii() || !memchr::memchr2_iter(0xF3, 0xEF, bytes).any(near) {
        return None;
    }
    let mut writer = Writer::new(text);
    let mut run: Vec<(Range<usize>, u8)> = Vec::new();
    for (start, character) in text.char_indices() {
        let range = start..start + character.len_utf8();
        if let '\u{E0020}'..='\u{E007E}' = character {
            let ascii = char::from((character as u32 - 0xE0000) as u8);
            writer.replace(range, ascii.encode_utf8(&mut [0; 4]), Step::Hidden);
            continue;
        }
        let byte = match character {
            '\u{FE00}'..='\u{FE0F}' => Some((character as u32 - 0xFE00) as u8),
            '\u{E0100}'..='\u{E01EF}' => Some((character as u32 - 0xE0100 + 16) as u8),
            _ => None,
        };
        match byte {
            Some(byte) => run.push((range, byte)),
            None => write(&mut run, &mut writer),
        }
    }
    write(&mut run, &mut writer);
    writer.finish()
}

/// Decodes a run of variation selectors. Selectors without text stay: one that belongs to an emoji, and those around
/// and between the ones with text.
fn write(run: &mut Vec<(Range<usize>, u8)>, writer: &mut Writer) {
    let run = std::mem::take(run);
    let bytes: Vec<u8> = run.iter().map(|&(_, byte)| byte).collect();
    let stretches = readable(&bytes);
    let total: usize = stretches.iter().map(|(_, text)| text.len()).sum();
    // Otherwise these are a few unrelated selectors, or binary data.
    let mostly = total >= 2 && total * 2 >= run.len();
    for (start, text) in stretches.into_iter().filter(|(_, text)| mostly || text.len() >= MEANT) {
        for (at, character) in text.char_indices() {
            let last = at + character.len_utf8() - 1;
            let origin = run[start + at].0.start..run[start + last].0.end;
            writer.replace(origin, &text[at..=last], Step::Hidden);
        }
    }
}

/// The longest pieces of valid UTF-8 without control characters, each with its offset.
fn readable(bytes: &[u8]) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for piece in chunk
            .valid()
            .split_inclusive(|c: char| c.is_control() && !c.is_whitespace())
        {
            let text = piece.trim_end_matches(|c: char| c.is_control() && !c.is_whitespace());
            if !text.is_empty() {
                pieces.push((at, text));
            }
            at += piece.len();
        }
        at += chunk.invalid().len();
    }
    pieces
}
