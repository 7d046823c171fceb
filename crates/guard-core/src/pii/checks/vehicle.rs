//! Vehicle identification numbers.

use super::digits::alphanumerics;

/// The number that a letter of a vehicle identification number stands for.
fn value(byte: u8) -> Option<u32> {
    Some(match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'A'..=b'H' => u32::from(byte - b'A') + 1,
        b'J'..=b'N' => u32::from(byte - b'J') + 1,
        b'P' => 7,
        b'R' => 9,
        b'S'..=b'Z' => u32::from(byte - b'S') + 2,
        _ => return None,
    })
}

/// A vehicle identification number (ISO 3779) whose ninth character is the check digit that is mandatory in North
/// America (49 CFR 565.15).
pub fn is_vin(text: &str) -> bool {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let characters = alphanumerics(text);
    let values: Option<Vec<u32>> = characters.iter().map(|&byte| value(byte)).collect();
    let Some(values) = values.filter(|values| values.len() == 17) else {
        return false;
    };
    let sum: u32 = values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
    let check = match sum % 11 {
        10 => b'X',
        rest => b'0' + rest as u8,
    };
    characters[8] == check && characters.iter().any(u8::is_ascii_alphabetic)
}

/// A vehicle identification number (ISO 3779) of a maker outside of North America, whose ninth character is arbitrary.
pub fn is_vin_elsewhere(text: &str) -> bool {
    let characters = alphanumerics(text);
    characters.len() == 17
        && characters.iter().all(|&byte| value(byte).is_some())
        && !matches!(characters[0], b'0'..=b'5')
        // The last four are a serial number.
        && characters[13..].iter().all(u8::is_ascii_digit)
        && characters[..8].iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vehicles() {
        assert!(is_vin("1M8GDM9AXKP042788"));
        assert!(is_vin("1HGCM82633A004352"));
        assert!(!is_vin("1HGCM82643A004352"));
        assert!(!is_vin("11111111111111111"), "no letters");
        assert!(is_vin_elsewhere("WVWZZZ1JZXW000001"));
        assert!(!is_vin_elsewhere("1HGCM82643A004352"));
        assert!(!is_vin_elsewhere("WVWZZZ1JZXWOOOOO1"));
    }
}
