//! Street addresses.

/// Words that are in no address after its first word, but begin the next sentence if the address has no full stop.
#[rustfmt::skip]
const NEVER: [&str; 105] = [
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
    // Words between a place and a time
    "desde", "hace", "since", "depuis", "seit",
];
/// Words that end no address.
#[rustfmt::skip]
const NEVER_LAST: [&str; 50] = [
    "An", "The", "My", "In", "On", "At", "To", "From", "For", "And", "Or", "Of", "This", "That", "These", "Those", "By", "With", "As",
    "So", "Do", "Not", "Dr", "Version", "Der", "Die", "Das", "Ein", "Eine", "Ich", "Er", "Sie", "Es", "Wir", "Und", "Mein", "Meine",
    "El", "Los", "Las", "Un", "Una", "Yo", "En", "Le", "Les", "Je", "Il", "Elle", "Mon",
];

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
    value.contains(char::is_alphabetic) && !NEVER_LAST.contains(&last)
}

#[cfg(test)]
mod tests {
    use super::super::accepts;
    use super::*;

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
