//! Shannon entropy.

/// The entropy of the bytes of `value` in bits per byte (Shannon, A Mathematical Theory of Communication, 1948, section
/// 6): 0 for one repeated byte, at most log2 of the length.
pub fn shannon(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_per_byte() {
        assert_eq!(shannon(b""), 0.0);
        assert_eq!(shannon(b"aaaa"), 0.0);
        assert_eq!(shannon(b"abab"), 1.0);
        assert_eq!(shannon(b"0123456789abcdef"), 4.0);
        assert!((shannon(b"aaab") - 0.811_278).abs() < 1e-6);
    }
}
