//! Tests of whole addresses.

use super::{Address, Certainty, find, whole_address};

#[test]
fn a_street_needs_no_town() {
    let text = "12 Oak Street.";
    let street = Address {
        range: 0..13,
        certainty: Certainty::Sure,
    };
    assert_eq!(find(text), [street]);
}

fn around(text: &str, street: &str) -> String {
    let start = text.find(street).unwrap();
    text[whole_address(text, &(start..start + street.len()))].to_owned()
}

#[test]
fn what_belongs_to_an_address() {
    for (text, street) in [
        (
            "1600 Amphitheatre Parkway\nMountain View, CA 94043",
            "1600 Amphitheatre Parkway",
        ),
        ("221B Baker Street\nLondon NW1 6XE\nUnited Kingdom", "221B Baker Street"),
        ("4 Rosewood Close\nBristol\nBS8 1TH", "4 Rosewood Close"),
        (
            "Unit 5, 48 George Street, Sydney NSW 2000",
            "48 George Street, Sydney NSW 2000",
        ),
        ("Hauptstraße 12\n10115 Berlin", "Hauptstraße 12"),
        (
            "Mariahilfer Straße 88a/2/14, 1070 Wien, Österreich",
            "Mariahilfer Straße 88a",
        ),
        (
            "ул. Ленина, д. 5, кв. 12, г. Москва, 101000",
            "ул. Ленина, д. 5, кв. 12",
        ),
        (
            "Av. Paulista, 1578 - Bela Vista, São Paulo - SP, 01310-200",
            "Av. Paulista, 1578",
        ),
        (
            "Calle Orizaba 45, Col. Roma Norte, C.P. 06700, CDMX",
            "Calle Orizaba 45",
        ),
        (
            "Av. Chapultepec 15 int. 3, Colonia Americana, Alcaldía Cuauhtémoc, CP 44160 Guadalajara, Jal., México",
            "Av. Chapultepec 15",
        ),
        ("Koskikatu 25 Apt. 864, Artilleros, CO 88111, Uruguay", "Koskikatu 25"),
    ] {
        assert_eq!(around(text, street), text);
    }
}

#[test]
fn what_does_not() {
    for text in [
        "12 Oak Street\nBob Miller",
        "12 Oak Street, and then",
        "12 Oak Street. Call 94107",
        "12 Oak Street\nThe meeting is at 10",
        "12 Oak Street, 5 people",
    ] {
        assert_eq!(around(text, "12 Oak Street"), "12 Oak Street");
    }
}
