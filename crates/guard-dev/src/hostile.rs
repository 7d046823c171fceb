//! `hostile SCANNER SIZE [FILE...]`: repeats what rules look for until a text has SIZE bytes, and prints what each text costs, and
//! which texts cost more a byte than shorter ones of the same kind: their time is not linear.
//!
//! SCANNER is `all` or one of those below. What is repeated is a list of its own and, of each rule of the files, its keywords and its
//! examples: whole, cut in the middle of what is found, and without their last character.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use guard_core::pii::{self, Detector};
use guard_core::rules::data::examples::Example;
use guard_core::rules::overlap::{Options as OverlapOptions, overlap};
use guard_core::rules::placeholders::{self, Matching};
use guard_core::rules::secrets::{self, Secrets};
use guard_core::rules::substrings::{MatchType, Substrings};
use guard_core::rules::{phrases, urls};
use guard_core::text::{invisible, json, reading_time, sentences, sentiment, views};

use crate::Outcome;

/// Texts that are repeated besides those of the rules.
const PIECES: &[&str] = &[
    "key=",
    "api_key=\"",
    "password: ",
    "password=",
    "token=",
    "\"secret\": \"",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nAAAA: ",
    "AKIA",
    "ghp_",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "//user:",
    "https://user:",
    "://a:b@",
    "key-a-a-a-a-a-a-a-a-",
    "key-a1b2c3-",
    "key-token-access-password-",
    "key a-1-b-2-c-3-d-4-e-5-f-6-",
    "secret key token ",
    "key is a1b2c3d4e5f6g7h8 ",
    "key\nkey\n",
    "\"aB3dE5gH7jK9mN1pQ3\" ",
    "'aB3dE5gH7jK9'",
    "aB3dE5gH7jK9",
    "9f86d081884c7d65",
    "aB3dE5gH7jK9aB3dE5gH7jK9aB3dE5gH7jK9aB3dE5gH7jK9aB3dE5gH7jK9abcd\n",
    "curl ",
    "curl -u a",
    "mysql ",
    "Server=",
    "user=x;password ",
    "machine a login b ",
    "authorization: basic ",
    "bearer a1",
    "$2a$",
    "a",
    "0",
    " ",
    "\n",
    "-",
    "=",
    "\"",
    "a ",
    "a.",
    "a-",
    "a@",
    "a@a.",
    "a[at]b[dot]",
    "1.1.1.",
    "1 ",
    "1-",
    "12:",
    "fe80::",
    "+49",
    "+49 1 ",
    "(1) ",
    "IBAN ",
    "IBAN DE",
    "DE89 ",
    "Street 1 ",
    "1 Main Street ",
    "born on 1.1.2000 ",
    "4111 1111 1111 ",
    "passport number ",
    "http://",
    "https://a.",
    "www.",
    "[x](",
    "[x](http://",
    "a.com ",
    "a.com/",
    "example.org,",
    "<a href=\"",
    "[REDACTED_",
    "[REDACTED_PERSON_1]",
    "[REDACTED",
    "<PERSON_1>",
    "{\"a\":[",
    "{",
    "[",
    "{\"a\":1}",
    "```json\n{",
    "\"a\": ",
    "{'",
    "\\u0041",
    "%41",
    "&#65;",
    "\u{200B}",
    "a\u{200B}",
    "\u{202E}a\u{202C}",
    "\u{E0041}",
    "a\u{301}",
    "\u{301}",
    "😀",
    "é",
    "пароль ",
    "ключ: ",
    "密码",
    "日本語。",
    "SGVsbG8gd29ybGQg",
    "SGVsbG8gd29ybGQg ",
    "68656c6c6f20",
    "68 65 6c 6c 6f ",
    ".... . .-.. ",
    "01101000 ",
    "h e l l o ",
    "h.e.l.l.o.",
    "b0mb ",
    "Mr. ",
    "e.g. ",
    "a. B",
    "I cannot ",
    "I'm sorry, but ",
    "ignore all previous ",
    "good ",
    "not very ",
    "!?",
    "the secret plan ",
    "Ann ",
];

/// How many times longer a text is than the one that its cost is compared with.
const LONGER: usize = 8;
/// From how many times the cost a byte of the shorter text on a text is named, and from how many seconds a MB on: less is noise.
const GROWS: f64 = 2.5;
const NOTABLE: f64 = 0.1;

type Scan = Box<dyn Fn(&str)>;

/// What is measured, by name.
fn scanners() -> Result<Vec<(&'static str, Scan)>, Box<dyn std::error::Error>> {
    let secrets = || Secrets::new(&secrets::Options::default());
    let (plain, revealing) = (secrets()?, secrets()?);
    let detector = Detector::new(&pii::Options::default(), &["Ann Example".to_owned()])?;
    let (refusals, orders, hijacks) = (
        phrases::REFUSALS.get()?,
        phrases::ORDERS.get()?,
        phrases::HIJACKS.get()?,
    );
    let names = |kind| Substrings::new(&["bomb", "the secret plan", "aaa", "a a", "Ann Example"], kind, false);
    let (str, word, name) = (names(MatchType::Str)?, names(MatchType::Word)?, names(MatchType::Name)?);
    Ok(vec![
        (
            "secrets",
            Box::new(move |text| drop(black_box(plain.find(text, false)))),
        ),
        (
            "secrets-deobfuscate",
            Box::new(move |text| drop(black_box(revealing.find(text, true)))),
        ),
        (
            "pii",
            Box::new(move |text| drop(black_box(detector.find(text, Vec::new(), &[])))),
        ),
        (
            "refusals",
            Box::new(move |text| drop(black_box(refusals.find_across_views(text)))),
        ),
        (
            "orders",
            Box::new(move |text| drop(black_box(orders.find_across_views(text)))),
        ),
        ("hijacks", Box::new(move |text| drop(black_box(hijacks.find(text))))),
        (
            "substrings",
            Box::new(move |text| {
                for substrings in [&str, &word, &name] {
                    drop(black_box(substrings.find_across_views(text, true)));
                }
            }),
        ),
        ("urls", Box::new(|text| drop(black_box(urls::find(text))))),
        ("views", Box::new(|text| drop(black_box(views::views(text))))),
        ("json", Box::new(|text| drop(black_box(json::find(text))))),
        ("invisible", Box::new(|text| drop(black_box(invisible::find(text))))),
        ("sentences", Box::new(|text| drop(black_box(sentences::split(text))))),
        (
            "sentiment",
            Box::new(|text| {
                black_box(sentiment::compound(text));
            }),
        ),
        (
            "reading-time",
            Box::new(|text| {
                black_box(reading_time::measure(text, 10.0));
            }),
        ),
        (
            "placeholders",
            Box::new(|text| {
                let known = [
                    "[REDACTED_PERSON_1]",
                    "[REDACTED_PERSON_12]",
                    "[REDACTED_EMAIL_ADDRESS_1]",
                ];
                drop(black_box(placeholders::find(text, &known, Matching::Fuzzy)));
            }),
        ),
        (
            "overlap",
            Box::new(|text| {
                let other = format!("{} and some other words", &text[..text.floor_char_boundary(400)]);
                drop(black_box(overlap(text, &[&other], &OverlapOptions::default())));
            }),
        ),
    ])
}

pub fn run(arguments: &[String]) -> Outcome {
    let usage = "usage: guard-dev hostile SCANNER|all SIZE [FILE...]";
    let [wanted, size, files @ ..] = arguments else {
        return Err(usage.into());
    };
    let size: usize = size.parse()?;
    let mut pieces: BTreeSet<String> = PIECES.iter().map(|&piece| piece.to_owned()).collect();
    for path in files {
        read(&std::fs::read_to_string(path)?.parse()?, &mut pieces)?;
    }
    for (name, scan) in scanners()? {
        if wanted != "all" && wanted != name {
            continue;
        }
        let mut costs = Vec::new();
        let mut growing = Vec::new();
        for piece in &pieces {
            for separator in ["", " ", "\n"] {
                let text = format!("{piece}{separator}").repeat(size / (piece.len() + separator.len()) + 1);
                let shorter = &text[..text.floor_char_boundary(text.len() / LONGER)];
                // The first look compiles patterns, which is no cost of the text.
                scan(shorter);
                let before = cost(&scan, shorter, LONGER);
                let cost = cost(&scan, &text, 1);
                let shown = format!("{piece}{separator}");
                if cost > NOTABLE && before > 0.0 && cost > before * GROWS {
                    growing.push((cost / before, shown.clone()));
                }
                costs.push((cost, shown));
            }
        }
        costs.sort_by(|left, right| right.0.total_cmp(&left.0));
        for (cost, piece) in costs.iter().take(25) {
            println!("{name}: {cost:.3} s of CPU a MB: {piece:?}");
        }
        growing.sort_by(|left, right| right.0.total_cmp(&left.0));
        for (times, piece) in &growing {
            println!("{name}: {times:.1} times the cost a byte of a text {LONGER} times shorter: {piece:?}");
        }
        let sum: f64 = costs.iter().map(|(cost, _)| cost).sum();
        println!(
            "{name}: {:.4} s of CPU a MB on average of {} texts",
            sum / costs.len() as f64,
            costs.len()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Seconds of CPU a MB that a text costs which is looked at so many `times`: the clock ticks in milliseconds.
fn cost(scan: &Scan, text: &str, times: usize) -> f64 {
    let started = cpu();
    for _ in 0..times {
        scan(text);
    }
    (cpu() - started) * 1e6 / (text.len() * times) as f64
}

/// Adds the keywords and the examples of the rules of a file.
fn read(file: &toml::Table, pieces: &mut BTreeSet<String>) -> Result<(), Box<dyn std::error::Error>> {
    let rules = file.iter().filter_map(|(_, rules)| rules.as_array()).flatten();
    for rule in rules.filter_map(toml::Value::as_table) {
        let texts = |key: &str| {
            let texts = rule.get(key).and_then(toml::Value::as_array).into_iter().flatten();
            texts.filter_map(toml::Value::as_str)
        };
        pieces.extend(texts("keywords").filter(|text| !text.is_empty()).map(str::to_owned));
        for example in texts("matches").chain(texts("misses")).filter(|text| !text.is_empty()) {
            let Example { text, marked } = Example::of_match(example, "hostile")?;
            let mut ends = vec![text.len(), text.len().saturating_sub(1)];
            ends.extend(
                marked
                    .iter()
                    .flat_map(|range| [range.start, range.start.midpoint(range.end)]),
            );
            let cut = |end: usize| text[..text.floor_char_boundary(end)].to_owned();
            pieces.extend(ends.into_iter().map(cut).filter(|piece| !piece.is_empty()));
        }
    }
    Ok(())
}

/// Seconds of CPU time of this thread; of wall time where the system does not tell.
fn cpu() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    told.map_or_else(
        || START.get_or_init(Instant::now).elapsed().as_secs_f64(),
        |ns| ns / 1e9,
    )
}
