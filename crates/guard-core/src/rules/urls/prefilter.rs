//! A prefilter that rules out URLs in most prose.

use memchr::{memchr3, memchr3_iter};

use crate::stop;

/// Bytes that begin no part of a URL or of its disguises: ASCII except a few signs, and the first bytes of Latin,
/// Greek, Cyrillic, Armenian and Hebrew letters. Their continuation bytes carry no further information.
const QUIET: [bool; 256] = {
    let mut quiet = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        quiet[byte] = match byte as u8 {
            b'.' | b':' | b'[' | b'(' | b'{' | b'\\' => false,
            // U+0300 to U+037F contains an invisible character, so 0xCC and 0xCD are excluded.
            0x00..=0x7F | 0x80..=0xBF | 0xC3..=0xCB | 0xCE..=0xD7 => true,
            _ => false,
        };
        byte += 1;
    }
    quiet
};

/// Whether a text surely has no URL: no colon or dot with something after it, no replacement for these, and no
/// characters that are rare in prose.
pub fn has_no_url(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.is_ascii() {
        // This search uses SIMD.
        return memchr3(b'[', b'{', b'\\', bytes).is_none()
            && stop::iterate(memchr3_iter(b'.', b':', b'(', bytes)).all(|at| is_harmless(bytes, at));
    }
    let mut at = 0;
    while let Some(quiet) = bytes[at..].iter().position(|&byte| !QUIET[byte as usize]) {
        stop::point();
        at += quiet;
        if !is_harmless(bytes, at) {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether a byte that is not quiet begins no part of a URL, by the bytes after it.
fn is_harmless(bytes: &[u8], at: usize) -> bool {
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    match bytes[at] {
        b'.' => next.is_ascii_whitespace() || matches!(next, b'.' | b'"' | b'\'' | b')' | b',' | b';' | b'!' | b'?'),
        b':' => next.is_ascii_whitespace(),
        // Replacements such as "(.)", "(:)", "(dot)", "(punkt)" and "(at)".
        b'(' => !matches!(next, b'.' | b':' | b'd' | b'D' | b'p' | b'P' | b'a' | b'A') && next.is_ascii(),
        // All Latin-1 signs except the soft hyphen.
        0xC2 => next != 0xAD,
        // Dashes, quotation marks and dots in prose, U+2010 to U+2026.
        0xE2 => next == 0x80 && bytes.get(at + 2).is_some_and(|last| (0x90..=0xA6).contains(last)),
        _ => false,
    }
}
