//! Street addresses.

/// Words that are in no address after its first word, but begin the next sentence if the address has no full stop.
#[rustfmt::skip]
const NEVER: [&str; 100] = [
    // English
    "Please", "Her", "His", "Their", "Your", "Our", "Its", "Mr", "Mrs", "Ms", "Phone", "Email", "E-mail", "Tel", "Telephone", "Fax",
    "Mobile", "Contact", "Passport", "It", "They", "We", "You", "He", "She", "Is", "Are", "Was", "Were", "What", "How", "When",
    "Where", "Who", "Why", "Which", "Can", "Could", "Would", "Should", "Will", "Thanks", "Thank", "Hello", "Hi", "Dear", "If", "But",
    "Also", "There", "Then", "After", "Because", "Ticket", "Invoice", "Order", "Send", "Write",
    "Pay", "Call", "Tell", "Give", "Make", "Let",
    // German
    "Bitte", "Ihr", "Ihre", "Herr", "Telefon", "Danke", "Wann", "Warum", "Wie", "Wer", "Können", "Könnte", "Könnten",
    // Spanish, Portuguese, Italian, French
    "Por", "Mi", "Teléfono", "Correo", "Gracias", "Señor", "Señora", "Sr", "Sra", "Meu", "Minha", "Obrigado", "Telefone", "Grazie",
    "Telefono", "Signor", "Signora", "Merci", "Monsieur", "Veuillez", "Téléphone", "Pouvez", "Est-ce",
];
/// Words that end no address.
#[rustfmt::skip]
const NEVER_LAST: [&str; 50] = [
    "An", "The", "My", "In", "On", "At", "To", "From", "For", "And", "Or", "Of", "This", "That", "These", "Those", "By", "With", "As",
    "So", "Do", "Not", "Dr", "Version", "Der", "Die", "Das", "Ein", "Eine", "Ich", "Er", "Sie", "Es", "Wir", "Und", "Mein", "Meine",
    "El", "Los", "Las", "Un", "Una", "Yo", "En", "Le", "Les", "Je", "Il", "Elle", "Mon",
];

/// Units after a number, in capitals like names (SI Brochure; IEC 80000-13), and times of day.
const UNITS: [&str; 22] = [
    "GB", "MB", "TB", "KB", "PB", "GiB", "MiB", "TiB", "Gb", "Mb", "Gbps", "Mbps", "Hz", "KHz", "MHz", "GHz", "KG",
    "KM", "MM", "PM", "AM", "P.M",
];
/// Counted things after a number, in titles and product names: a 14 Day Trail, a 16 Bit Loop.
const COUNTED: [&str; 10] = [
    "Bit", "Bits", "Day", "Days", "Hour", "Hours", "Minute", "Month", "Week", "Year",
];
/// Words for streets that often mean something else: a hard drive, a supreme court, a way of life.
const BROAD: [&str; 7] = ["drive", "court", "place", "way", "park", "walk", "loop"];
/// Words for a part of a house (USPS Publication 28, appendix C2).
const PARTS: [&str; 11] = [
    "apt",
    "apartment",
    "suite",
    "ste",
    "unit",
    "flat",
    "floor",
    "fl",
    "room",
    "rm",
    "#",
];

/// Whether a number is a recent year.
fn is_year(word: &str) -> bool {
    word.len() == 4 && matches!(word.parse::<u32>(), Ok(1800..=2099))
}

/// Whether an English address needs no context: its number is no quantity ("5 PM", "500 GB") and no year, unless a town
/// or a postcode follows; and a street of a doubtful kind has a town, a postcode or a part of a house after it.
pub fn is_address_en(value: &str) -> bool {
    let is_part = |word: &str| {
        let letters = word.trim_end_matches('.').to_lowercase();
        word.starts_with('#') || PARTS.contains(&&*letters)
    };
    let mut behind = value.split(',').skip(1).map(str::trim);
    let begins = |piece: &str| piece.split_whitespace().next().is_some_and(is_part);
    let has_part_behind = behind.clone().any(begins);
    let has_town = behind.any(|piece| !piece.is_empty() && !begins(piece));
    let street: Vec<&str> = value.split(',').next().unwrap_or_default().split_whitespace().collect();
    let (Some(number), Some(first)) = (street.first(), street.get(1)) else {
        return false;
    };
    let part = (2..street.len()).find(|&index| is_part(street[index]));
    let mut street = &street[..part.unwrap_or(street.len())];
    while let [rest @ .., "N" | "E" | "S" | "W" | "NE" | "NW" | "SE" | "SW"] = street {
        street = rest;
    }
    let kind = street.last().map(|word| word.trim_end_matches('.').to_lowercase());
    let is_broad = kind.is_some_and(|kind| BROAD.contains(&&*kind));
    is_address(value)
        && !UNITS.contains(&first.trim_end_matches('.'))
        && (has_town || !is_year(number) && !COUNTED.contains(first))
        && (has_town || part.is_some() || has_part_behind || !is_broad)
}

/// Whether a Spanish or Portuguese address does not end with a year: "el camino de Santiago 2024".
pub fn is_address_es(value: &str) -> bool {
    is_address(value) && !value.split([' ', '\u{a0}', ',']).next_back().is_some_and(is_year)
}

/// Whether an English address of a doubtful kind is plausible in context: its number must be no quantity and no year.
pub fn is_address_en_doubtful(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let number = words.next().unwrap_or_default();
    let is_unit = words
        .next()
        .is_some_and(|word| UNITS.contains(&word.trim_end_matches('.')));
    is_address(value) && !is_unit && !is_year(number)
}

/// Whether a postal code has letters, or digits that are not all the same.
pub fn is_postal_code(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has_letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_same = |last: char| value.chars().all(|character| character == last);
    has_letters || (4..=9).contains(&digits) && !value.chars().next().is_some_and(is_same)
}

/// Whether an address contains no start of another sentence: people omit the full stop after addresses.
pub fn is_address(value: &str) -> bool {
    let words = value
        .split(|character: char| character.is_whitespace() || character == ',')
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty());
    let mut last = "";
    for (index, word) in words.enumerate() {
        if index > 0 && NEVER.contains(&word) {
            return false;
        }
        last = word;
    }
    !NEVER_LAST.contains(&last)
}

#[cfg(test)]
mod tests {
    use super::super::accepts;
    use super::*;

    #[test]
    fn addresses_that_need_no_context() {
        accepts(
            is_address_en,
            &[
                "742 Evergreen Terrace",
                "12 Oak Drive, Austin 78756",
                "12 Oak Drive Apt 5",
                "12 Oak Drive NW, #5",
                "1985 Maple Street, Springfield",
                "1600 Pennsylvania Avenue NW",
                "14 Day Street, Boston",
            ],
            &[
                "12 Oak Drive",
                "12 Oak Drive NW",
                "1985 Maple Street",
                "1985 Maple Street, Apt 5",
                "500 GB Baker Street",
                "14 Day Trail",
                "5 P.M. Baker Street",
            ],
        );
        accepts(
            is_address_en_doubtful,
            &["12 Oak Drive"],
            &["500 GB Hard Drive", "2020 Supreme Court"],
        );
        accepts(
            is_address_es,
            &[
                "Calle Mayor 3, 37002 Salamanca",
                "Avenida Diagonal, 640",
                "Avenida de Mayo 1925, Buenos Aires",
            ],
            &["camino de Santiago 2024", "Avenida de Mayo, 1925"],
        );
    }

    #[test]
    fn addresses_end_where_a_sentence_begins() {
        accepts(
            is_address,
            &[
                "12 High Street, The Hague, Netherlands",
                "Via Roma 5, 00184 Roma",
                "Order Road 5",
                "Hauptstr. 12 A",
            ],
            &[
                "12 High Street, London Please",
                "12 High Street, Cockle Bay, New Zealand My",
                "Via Roma 5, Roma. The",
                "5 Elm Road, Leeds Phone",
                "Calle Mayor 3, Madrid Gracias",
            ],
        );
    }
}
