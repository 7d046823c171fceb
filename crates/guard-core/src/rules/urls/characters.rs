//! Characters of hosts.

/// Whether a character may be part of a host's labels.
pub(super) fn is_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '*')
    } else {
        character.is_alphanumeric() || is_mark(character)
    }
}

/// Whether a character is a combining mark, such as an Indic vowel sign or an accent.
pub(super) fn is_mark(character: char) -> bool {
    use unicode_general_category::{GeneralCategory::*, get_general_category};
    matches!(get_general_category(character), NonspacingMark | SpacingMark)
}

/// Whether a character belongs to a script without spaces between words, which can touch an ASCII URL.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character as u32,
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F | 0x1780..=0x17FF // Myanmar, Khmer
        | 0x1100..=0x11FF | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul: particles follow words
        | 0x2E80..=0x2FFF | 0x3005..=0x30FF | 0x3100..=0x31FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}
