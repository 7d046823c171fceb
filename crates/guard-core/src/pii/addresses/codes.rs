//! Postal codes.

use std::sync::LazyLock;

use regex::Regex;

/// The evidence of a postal code: digits that could be something else, five or more digits, and a form of letters and
/// digits or with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quality {
    Year,
    Short,
    Long,
    Distinct,
}

/// Small words after a number, which are no letters of a Dutch code: "1234 in".
const SMALL: [&str; 52] = [
    " in", " am", " is", " on", " at", " to", " of", " by", " de", " la", " el", " le", " en", " di", " da", " do",
    " im", " an", " zu", " es", " et", " or", " as", " if", " we", " he", " me", " my", " no", " so", " up", " us",
    " go", " be", " du", " il", " al", " ta", " på", " og", " kr", " km", " kg", " cm", " mm", " gb", " mb", " tb",
    " hz", " kw", " pm", " st",
];

/// The codes of letters, of digits with signs, and of digits alone (UPU, Addressing the world).
static CODES: LazyLock<Option<[(Regex, Quality); 4]>> = LazyLock::new(|| {
    let end = r"(?:\z|[^0-9A-Za-z-])";
    let compile = |pattern: &str| Regex::new(&format!(r"\A({pattern}){end}")).ok();
    // The United Kingdom, Canada, Ireland, Malta, the Netherlands, Latvia, Lithuania, Moldova, Azerbaijan.
    let letters = r"(?i:[a-z]{1,2}[0-9][a-z0-9]? ?[0-9][a-z]{2}|[a-z][0-9][a-z] ?[0-9][a-z][0-9]|[a-z][0-9][0-9w] ?[a-z0-9]{4}|[a-z]{3} ?[0-9]{4})|[0-9]{4} ?[A-Z]{2}|[0-9]{4} [a-z]{2}|(?i:LV|LT|MD|AZ|SI|HR|BG|RO|FI|EE|DK|NO|SE|D|A|CH|F|B|L|NL|E|I|P|PL|CZ|SK|H|GR|CY|FL|N|S)-[0-9]{3,6}";
    // Argentina, Brazil, Japan, Portugal, Poland, Sweden and others, the United States, India.
    let signs = r"[A-Z][0-9]{4}(?:[A-Z]{3})?|[0-9]{5}-[0-9]{3,4}|[0-9]{3}-[0-9]{4}|[0-9]{4}-[0-9]{3}|[0-9]{2}-[0-9]{3}|[0-9]{3} [0-9]{2}|[0-9]{3} [0-9]{3}|〒 ?[0-9]{3}-[0-9]{4}";
    Some([
        (compile(letters)?, Quality::Distinct),
        (compile(signs)?, Quality::Long),
        (compile("[0-9]{5,7}|[0-9]{10}")?, Quality::Long),
        (compile("[0-9]{4}|[0-9]{3}")?, Quality::Short),
    ])
});

/// The length and the quality of the code at the start of `text`.
pub(super) fn code(text: &str) -> Option<(usize, Quality)> {
    let near = &text[..text.floor_char_boundary(text.len().min(24))];
    let codes = CODES.as_ref()?.iter();
    let is_word = |length: usize, quality: Quality| {
        quality == Quality::Distinct && SMALL.iter().any(|word| near[..length].ends_with(word))
    };
    let found = codes.filter_map(|(pattern, quality)| Some((pattern.captures(near)?.get(1)?.end(), *quality)));
    let found = found.filter(|&(length, quality)| !is_word(length, quality));
    let (length, quality) = found.max_by_key(|&(length, quality)| (length, quality))?;
    let is_year = quality == Quality::Short && (near.starts_with("19") || near.starts_with("20"));
    Some((length, if is_year { Quality::Year } else { quality }))
}

/// Whether a code is one of the United Kingdom.
pub(super) fn is_british(code: &str) -> bool {
    let bytes = code.as_bytes();
    let inward = bytes.len() >= 5 && bytes[bytes.len() - 3].is_ascii_digit();
    inward && bytes[bytes.len() - 2..].iter().all(u8::is_ascii_uppercase) && bytes[0].is_ascii_uppercase()
}
