//! Tests of addresses among random pieces, and of their cost.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::pii::{Options, Recognizers};

/// Pieces of addresses, and signs that end and join them.
const PIECES: [&str; 48] = [
    "12",
    "221b",
    "12-14",
    "3/4",
    "1984",
    "10115",
    "75002",
    "SW1A",
    "1AA",
    "TX",
    "78701",
    "#",
    "№",
    "No.",
    "nr.",
    "Flat",
    "Apt.",
    "bl.",
    "кв.",
    "PO Box",
    "Postfach",
    "Oak",
    "calle",
    "Mayor",
    "rue",
    "de",
    "la",
    "Paix",
    "Street",
    "st.",
    "Hauptstraße",
    "utca",
    "Cad.",
    "ул.",
    "Ленина",
    "רחוב",
    "שארוע",
    "شارع",
    "ถนน",
    "道123號",
    "Berlin",
    "New York",
    "India",
    "\n",
    ", ",
    ". ",
    " - ",
    "(",
];

fn recognizers() -> Recognizers {
    let options = Options {
        entities: Some(vec!["STREET_ADDRESS".to_owned()]),
        ..Options::default()
    };
    Recognizers::new(&options).unwrap()
}

proptest! {
    #[test]
    fn any_order_of_pieces(order in prop::collection::vec((0..PIECES.len(), any::<bool>()), 0..40)) {
        thread_local! {
            static ALL: Recognizers = recognizers();
        }
        let mut text = String::new();
        for (index, has_space) in order {
            text.push_str(PIECES[index]);
            text.push_str(if has_space { " " } else { "" });
        }
        for finding in ALL.with(|all| all.find(&text)).unwrap() {
            prop_assert!(text.get(finding.range).is_some_and(|value| value.chars().any(char::is_alphanumeric)));
        }
    }
}

#[test]
fn the_time_is_linear() {
    let all = recognizers();
    let started = Instant::now();
    for piece in [
        "street 5 ",
        "calle Mayor 5, ",
        "12 ",
        "PO Box ",
        "ул. ",
        "Flat 5, ",
        "12 Oak\n",
        "a.b.",
        "’",
    ] {
        all.find(&piece.repeat(20_000)).unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
