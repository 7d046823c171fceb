//! Decodes text in invisible characters.

use std::ops::Range;

use super::letters::rarity;
use super::view::{Step, View, Writer};

/// This many readable bytes in a row are text, whatever else is in their run of variation selectors.
const MEANT: usize = 8;

/// The bits of a character in hidden bits, and the fewest characters of such a text.
const BITS: usize = 8;
const LEAST_BYTES: usize = 3;

/// Decodes in place Unicode tags (U+E0020 to U+E007E, an invisible copy of ASCII), runs of variation selectors, which
/// can carry any bytes (Paul Butler, "Smuggling arbitrary data through an emoji", 2025), and runs of two invisible
/// characters that stand for bits (Johann Rehberger, "Sneaky Bits", 2025).
pub(super) fn reveal(text: &str) -> Option<View> {
    // In UTF-8, all of these characters begin with one of five byte pairs.
    let bytes = text.as_bytes();
    let near = |at: usize| {
        matches!(
            bytes[at..],
            [0xF3, 0xA0, ..] | [0xEF, 0xB8 | 0xBB, ..] | [0xE2, 0x80 | 0x81, ..]
        )
    };
    if text.is_ascii() || !memchr::memchr3_iter(0xF3, 0xEF, 0xE2, bytes).any(near) {
        return None;
    }
    let mut writer = Writer::new(text);
    let mut run: Vec<(Range<usize>, u8)> = Vec::new();
    let mut bits: Vec<(usize, char)> = Vec::new();
    for (start, character) in text.char_indices() {
        let range = start..start + character.len_utf8();
        match is_bit(character) {
            true => bits.push((start, character)),
            false => write_bits(&mut bits, start, &mut writer),
        }
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
    write_bits(&mut bits, text.len(), &mut writer);
    writer.finish()
}

/// Whether an invisible character of three bytes can stand for a bit: spaces and joiners without width, the word joiner,
/// the invisible operators, and the byte order mark.
fn is_bit(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

/// Decodes a run of two different invisible characters that ends at `end`, the highest bit first. Nothing tells which of
/// them is 1, so the text that looks more like words counts.
fn write_bits(run: &mut Vec<(usize, char)>, end: usize, writer: &mut Writer) {
    let run = std::mem::take(run);
    if run.len() < LEAST_BYTES * BITS {
        return;
    }
    let first = run[0].1;
    let Some(other) = run.iter().map(|&(_, kind)| kind).find(|&kind| kind != first) else {
        return;
    };
    if run.iter().any(|&(_, kind)| kind != first && kind != other) {
        return;
    }
    let decoded = [first, other].into_iter().filter_map(|one| {
        let bytes: Vec<u8> = run
            .chunks_exact(BITS)
            .map(|bits| {
                bits.iter()
                    .fold(0, |byte, &(_, kind)| byte << 1 | u8::from(kind == one))
            })
            .collect();
        let text = String::from_utf8(bytes).ok()?;
        (!text.contains(|c: char| c.is_control() && !c.is_whitespace())).then_some(text)
    });
    let Some(text) = decoded.min_by_key(|text| rarity(text.bytes())) else {
        return;
    };
    for (at, character) in text.char_indices() {
        let next = at + character.len_utf8();
        let behind = run.get(next * BITS).map_or(end, |&(start, _)| start);
        writer.replace(run[at * BITS].0..behind, &text[at..next], Step::Bits);
    }
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
