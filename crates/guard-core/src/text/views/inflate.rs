//! Decompresses bytes that an encoding contains.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::view::MAX_GROWTH;

/// The fewest bytes of compressed text.
const LEAST: usize = 12;
/// The header of gzip before its optional fields (RFC 1952, section 2.3), and its trailer.
const GZIP_HEADER: usize = 10;
const GZIP_TRAILER: usize = 8;

/// Decompressed data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Inflated {
    pub(super) data: Vec<u8>,
    /// Whether the data had a header. Otherwise it may be other bytes, which are compressed data by chance.
    pub(super) has_header: bool,
}

/// Decompresses gzip (RFC 1952), zlib (RFC 1950) and plain deflate (RFC 1951): the first [`MAX_GROWTH`] times as many
/// bytes as are compressed, so that a small text cannot fill the memory.
///
/// Damaged data is read as far as possible, since other programs do so too, but only behind a header.
pub(super) fn inflate(bytes: &[u8]) -> Option<Inflated> {
    if bytes.len() < LEAST || !may_begin(bytes) {
        return None;
    }
    let has_header = is_gzip(bytes) || is_zlib(bytes);
    let (data, is_whole) = if is_gzip(bytes) {
        let start = gzip_data(bytes)?;
        let end = bytes.len().saturating_sub(GZIP_TRAILER).max(start);
        inflated(&bytes[start..end], 0)
    } else {
        inflated(bytes, if has_header { TINFL_FLAG_PARSE_ZLIB_HEADER } else { 0 })
    };
    (has_header || is_whole).then_some(Inflated { data, has_header })
}

/// Whether compressed text may begin with these bytes, of which there are at least five.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    // Plain deflate of a text is one last block: as it is, or with fixed or own codes.
    let is_last_block = match *bytes {
        [1, low, high, not_low, not_high, ..] => low == !not_low && high == !not_high,
        [first, ..] => matches!(first & 0b111, 0b011 | 0b101),
        [] => false,
    };
    is_gzip(bytes) || is_zlib(bytes) || is_last_block
}

/// Whether the data begins with a header of zlib without a dictionary.
fn is_zlib(bytes: &[u8]) -> bool {
    let [method, flags, ..] = *bytes else { return false };
    method & 0xF == 8 && method >> 4 <= 7 && flags & 0x20 == 0 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

/// Whether the data begins with a header of gzip.
fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1F, 0x8B, 8])
}

/// The offset of the data behind a header of gzip.
fn gzip_data(bytes: &[u8]) -> Option<usize> {
    if !is_gzip(bytes) || bytes.len() < GZIP_HEADER {
        return None;
    }
    let flags = bytes[3];
    let mut at = GZIP_HEADER;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    }
    // The name of the file and a comment, each up to a zero.
    for field in [8, 16] {
        if flags & field != 0 {
            at += bytes.get(at..)?.iter().position(|&byte| byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at < bytes.len()).then_some(at)
}

/// The decompressed data, and whether it is all of it.
fn inflated(bytes: &[u8], flags: u32) -> (Vec<u8>, bool) {
    let mut data = vec![0; bytes.len() * MAX_GROWTH];
    let flags = flags | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, read, written) = decompress(&mut Box::<DecompressorOxide>::default(), bytes, &mut data, 0, flags);
    data.truncate(written);
    (data, status == TINFLStatus::Done && read == bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    use proptest::prelude::*;

    fn text_of(bytes: &[u8]) -> Option<String> {
        String::from_utf8(inflate(bytes)?.data).ok()
    }

    fn gzip(flags: u8, fields: &[u8], data: &[u8]) -> Vec<u8> {
        let header = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 255];
        [&header, fields, &compress_to_vec(data, 6), &[0; GZIP_TRAILER]].concat()
    }

    proptest! {
        #[test]
        fn compressed_text_is_found_again(text in "[a-z ]{20,300}", level in 1_u8..10) {
            let bytes = text.as_bytes();
            let zlib = compress_to_vec_zlib(bytes, level);
            let named = gzip(8 | 2, b"a.txt\0\0\0", bytes);
            for compressed in [zlib, compress_to_vec(bytes, level), gzip(0, &[], bytes), named] {
                prop_assert_eq!(text_of(&compressed), Some(text.clone()));
            }
        }

        #[test]
        fn little_is_made_of_any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..3) {
            match kind {
                0 if bytes.len() > 4 => bytes[..4].copy_from_slice(&[0x1F, 0x8B, 8, 31]),
                1 if bytes.len() > 2 => bytes[..2].copy_from_slice(&[0x78, 0x9C]),
                _ => {}
            }
            let length = inflate(&bytes).map_or(0, |inflated| inflated.data.len());
            prop_assert!(length <= MAX_GROWTH * bytes.len());
        }
    }

    #[test]
    fn the_start_of_a_bomb_is_read() {
        let bomb = compress_to_vec_zlib(&[b'a'; 1_000_000], 9);
        assert_eq!(text_of(&bomb), Some("a".repeat(MAX_GROWTH * bomb.len())));
    }

    #[test]
    fn damaged_data_is_read_as_far_as_possible() {
        let text = "Water the flowers in the evening, and never at noon.";
        let mut damaged = compress_to_vec_zlib(text.as_bytes(), 6);
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(text_of(&damaged).as_deref(), Some(text));
    }
}
