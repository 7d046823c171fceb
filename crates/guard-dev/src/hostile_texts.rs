//! `hostile SCANNER SIZE [FILE...]`: measures scanners on texts that are made to be slow.
//!
//! Each text repeats one piece up to SIZE bytes. The command prints the cost of the slowest texts, and the texts whose
//! cost per byte is higher than that of a shorter text: their time is not linear. SCANNER is `all` or a name below. The
//! pieces are a fixed list and, for each rule of the FILEs, its keywords and examples: whole, cut in the middle of the
//! match, and without the last character.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use guard_core::pii::{self, Detector};
use guard_core::rules::data::examples::Example;
use guard_core::rules::overlap::{Options as OverlapOptions, Overlap, overlap};
use guard_core::rules::placeholders::{self, Matching};
use guard_core::rules::secrets::{self, Secrets};
use guard_core::rules::substrings::{MatchType, Substrings};
use guard_core::rules::{phrases, urls};
use guard_core::text::{invisible, json, reading_time, sentences, sentiment, views};

use crate::Outcome;

/// Pieces in addition to those of the rules.
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
    "tax id number nr. ",
    "PIN is the 1, ",
    "Steuernummer (a) ",
    "身份证号是",
    "CPF/",
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

/// How many times longer a text is than the shorter one.
const LONGER: usize = 8;
/// A text is reported if its cost per byte is this many times that of the shorter text, and at least [`NOTABLE`]
/// seconds per MB.
const GROWS: f64 = 2.5;
const NOTABLE: f64 = 0.1;

type Scan = Box<dyn Fn(&str)>;

/// A scan that drops its result, which the optimizer must not skip.
fn scan<T>(run: impl Fn(&str) -> T + 'static) -> Scan {
    Box::new(move |text| drop(black_box(run(text))))
}

/// The scans by name.
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
    let lists = [names(MatchType::Str)?, names(MatchType::Word)?, names(MatchType::Name)?];
    let search_lists = move |text: &str| {
        let found = lists.iter().map(|list| list.find_in_views(text, true));
        found.collect::<Vec<_>>()
    };
    Ok(vec![
        ("secrets", scan(move |text| plain.find(text, false).is_ok())),
        (
            "secrets-deobfuscate",
            scan(move |text| revealing.find(text, true).is_ok()),
        ),
        ("pii", scan(move |text| detector.find(text, Vec::new(), &[]))),
        ("refusals", scan(|text| refusals.find_in_views(text))),
        ("orders", scan(|text| orders.find_in_views(text))),
        ("hijacks", scan(|text| hijacks.find(text))),
        ("substrings", scan(search_lists)),
        ("urls", scan(urls::find)),
        ("views", scan(views::views)),
        ("json", scan(json::find)),
        ("invisible", scan(invisible::find)),
        ("sentences", scan(sentences::split)),
        ("sentiment", scan(sentiment::compound)),
        ("reading-time", scan(|text| reading_time::measure(text, 10.0))),
        ("placeholders", scan(find_placeholders)),
        ("overlap", scan(find_overlap)),
    ])
}

fn find_placeholders(text: &str) -> usize {
    let known = [
        "[REDACTED_PERSON_1]",
        "[REDACTED_PERSON_12]",
        "[REDACTED_EMAIL_ADDRESS_1]",
    ];
    placeholders::find(text, &known, Matching::Fuzzy).map_or(0, |result| result.found.len())
}

fn find_overlap(text: &str) -> Overlap {
    let other = format!("{} and some other words", &text[..text.floor_char_boundary(400)]);
    overlap(text, &[&other], &OverlapOptions::default())
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
                // The first scan compiles patterns.
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
            println!("{name}: {cost:.3} s of CPU per MB: {piece:?}");
        }
        growing.sort_by(|left, right| right.0.total_cmp(&left.0));
        for (times, piece) in &growing {
            println!("{name}: {times:.1} times the cost per byte of a text {LONGER} times shorter: {piece:?}");
        }
        let sum: f64 = costs.iter().map(|(cost, _)| cost).sum();
        println!(
            "{name}: {:.4} s of CPU per MB on average of {} texts",
            sum / costs.len() as f64,
            costs.len()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Seconds of CPU per MB of a text. The clock ticks in milliseconds, so a text is scanned `times` times.
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

/// Seconds of CPU time of this thread, or of wall time if the system does not report CPU time.
fn cpu() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let measured = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let measured = measured.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    measured.map_or_else(
        || START.get_or_init(Instant::now).elapsed().as_secs_f64(),
        |ns| ns / 1e9,
    )
}
