//! The checksum of Verhoeff: J. Verhoeff, "Error Detecting Decimal Codes", Mathematical Centre Tracts 29, 1969.

/// The digit after the permutation (1 5 8 9 4 2 7 0)(3 6), which is applied `position` times.
fn permute(position: usize, digit: u32) -> u32 {
    const ONCE: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    (0..position % 8).fold(digit, |digit, _| ONCE[digit as usize])
}

/// The product in the dihedral group of the pentagon: 0 to 4 are rotations, 5 to 9 reflections.
fn product(first: u32, second: u32) -> u32 {
    match (first < 5, second < 5) {
        (true, true) => (first + second) % 5,
        (true, false) => (first + second) % 5 + 5,
        (false, true) => (first + 5 - second) % 5 + 5,
        (false, false) => (first + 5 - second) % 5,
    }
}

/// Whether the last digit is the check digit of those before it.
pub fn is_valid(digits: &[u32]) -> bool {
    let positions = digits.iter().rev().enumerate();
    positions.fold(0, |sum, (position, &digit)| product(sum, permute(position, digit))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_examples() {
        assert!(is_valid(&[2, 3, 6, 3]));
        assert!(!is_valid(&[2, 3, 6, 4]));
        assert!(is_valid(&[1, 2, 3, 4, 5, 1]));
        assert!(!is_valid(&[1, 3, 2, 4, 5, 1]), "neighbours that changed places");
    }
}
