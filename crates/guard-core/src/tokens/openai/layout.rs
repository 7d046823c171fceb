//! The memory layout of a vocabulary, for the build script that writes it and for [`super::vocabulary`], which reads
//! it.
//!
//! All numbers are 32-bit little-endian: the number of tokens, the binary logarithm of the number of slots, for each
//! token the end of its bytes, and the slots. Then come the bytes of the tokens by rank. An empty slot is 0. Otherwise
//! its lower bits are the rank of a token plus one, and its upper bits are bits of the token's hash. A token whose slot
//! is taken has the next free one.

/// The bits of a slot for the rank; there are at most 200,000 tokens.
pub const RANK: u32 = (1 << 18) - 1;
/// The bytes before the ends of the tokens.
pub const HEAD: usize = 8;

/// The first slot of a token, and its hash bits in a slot.
pub fn place(token: &[u8], log_slots: u32) -> (usize, u32) {
    // Multiplication spreads the bits upwards: 2^64 divided by the golden ratio, as in "Fibonacci hashing" (Knuth, The
    // Art of Computer Programming 3, 6.4).
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = token.len() as u64;
    for piece in token.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..piece.len()].copy_from_slice(piece);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(FACTOR);
    }
    hash = (hash ^ hash >> 32).wrapping_mul(FACTOR);
    ((hash >> (64 - log_slots)) as usize, (hash as u32) & !RANK)
}
