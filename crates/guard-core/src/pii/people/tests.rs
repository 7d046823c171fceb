//! Tests of names of people.

use super::*;

fn corrected<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(name).unwrap();
    let finding = Finding {
        range: start..start + name.len(),
        entity: PERSON.into(),
        score: 0.9,
        recognizer: "model.0".into(),
        evidence: Evidence::default(),
    };
    correct(text, finding).map(|finding| &text[finding.range])
}

#[test]
fn terms_are_no_people() {
    for (text, name) in [
        ("Prove Euler's formula", "Euler"),
        ("She was diagnosed with Crohn's disease.", "Crohn"),
        ("the Pythagoras' theorem", "Pythagoras"),
        ("a Turing machine", "Turing"),
        ("Apply the Hardy-Weinberg principle", "Hardy-Weinberg"),
        ("Kruskal's algorithm", "Kruskal's algorithm"),
        ("the Nobel Prize", "Nobel"),
        ("la maladie de Parkinson", "Parkinson"),
        ("la ley de Ohm", "Ohm"),
        ("der Satz von Gauss", "Gauss"),
        ("закон Ома", "Ома"),
        ("болезнь Альцгеймера", "Альцгеймера"),
        ("贝叶斯 and Bayes定理", "Bayes"),
        ("Zorn lemma", "Zorn"),
        ("Szemerédi's theorem", "Szemerédi"),
        ("20 degrees Celsius", "Celsius"),
        ("PAN: 5", "PAN"),
        ("Atentamente,\nLola", "Atentamente"),
    ] {
        assert_eq!(corrected(text, name), None, "{text}");
    }
}

#[test]
fn people_stay() {
    for (text, name) in [
        ("Mr. Parkinson's disease is worse", "Parkinson"),
        ("Anna's test results", "Anna"),
        ("Maria Bayes wrote a theorem", "Maria Bayes"),
        ("Newton called. The law is new.", "Newton"),
        ("Ask Taylor, the series is over", "Taylor"),
        ("Smith's law firm", "Smith"),
        ("Kelly's method of payment", "Kelly"),
        ("Peter lives here", "Peter"),
        ("Dear Ms Bell, the test is on", "Bell"),
    ] {
        assert_eq!(corrected(text, name), Some(name), "{text}");
    }
}

#[test]
fn columns_of_places_hold_no_people() {
    assert_eq!(corrected("name,city\nVera,Florence\nTim,Paris", "Florence"), None);
    assert_eq!(corrected("name,city\nVera,Florence\nTim,Paris", "Vera"), Some("Vera"));
    assert_eq!(corrected("Driver\tCar\nKimi\tFerrari\n", "Ferrari"), None);
    assert_eq!(
        corrected("name,city\n\"Roth, Vera\",Florence", "Florence"),
        Some("Florence")
    );
    assert_eq!(
        corrected("We saw a city, Paris\nand Vera, Florence, too", "Florence"),
        Some("Florence")
    );
}

#[test]
fn russian_names_are_whole() {
    assert_eq!(corrected("Орлов АС получил письмо", "Орлов"), Some("Орлов АС"));
    assert_eq!(corrected("Орлов А.С. получил письмо", "Орлов"), Some("Орлов А.С."));
    assert_eq!(corrected("Орлов А. С., письмо", "Орлов"), Some("Орлов А. С."));
    assert_eq!(
        corrected("ОРЛОВА ЕЛЕНА СЕРГЕЕВНА", "ЕЛЕНА СЕРГЕЕВНА"),
        Some("ОРЛОВА ЕЛЕНА СЕРГЕЕВНА")
    );
    assert_eq!(
        corrected("ДОГОВОР ЕЛЕНА СЕРГЕЕВНА", "ЕЛЕНА СЕРГЕЕВНА"),
        Some("ЕЛЕНА СЕРГЕЕВНА")
    );
    assert_eq!(corrected("Орлов НАТО критикует", "Орлов"), Some("Орлов"));
}

#[test]
fn names_behind_closings() {
    let found = |text: &'static str| -> Vec<&str> {
        behind_closings(text)
            .into_iter()
            .map(|finding| &text[finding.range])
            .collect()
    };
    assert_eq!(
        found("See you soon.\n\nKind regards,\nAutumn Leaf\nSales"),
        ["Autumn Leaf"]
    );
    assert_eq!(found("Cheers,\n\n  River Stone"), ["River Stone"]);
    assert_eq!(found("С уважением,\nРоза Ветрова\n"), ["Роза Ветрова"]);
    for text in [
        "Best,\nthe team",
        "Best regards,\nThe Support Team",
        "Viele Grüße,\nIhr Team",
        "Thanks,\nthat helps",
        "Love\nStory",
        "The best,\nAutumn Leaf",
        "Thanks!",
        "Best,\nI will be out of the office on Monday",
        "Cheers,\nCheers",
    ] {
        assert!(found(text).is_empty(), "{text}");
    }
}
