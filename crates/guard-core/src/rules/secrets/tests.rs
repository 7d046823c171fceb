//! Tests of the credential rules, separately and together.

use proptest::prelude::*;

use super::providers::{PROVIDERS, read};
use super::*;
use crate::rules::data::examples::{Example, expand};

fn all() -> Secrets {
    Secrets::new(&Options::default()).unwrap()
}

fn found<'a>(secrets: &'a Secrets, text: &'a str) -> Vec<(&'a str, &'a str)> {
    let found = secrets.find(text, false).unwrap().into_iter();
    found.map(|secret| (secret.rule, &text[secret.range])).collect()
}

/// A random text that no rule matches.
fn random(template: &str) -> String {
    expand(template, template).unwrap()
}

#[test]
fn every_rule_finds_its_examples_and_nothing_else() {
    for (file, toml) in PROVIDERS {
        let failures = check_examples(file, toml).unwrap();
        assert!(failures.is_empty(), "{file}: {failures:#?}");
    }
}

#[test]
fn every_example_is_found_by_all_rules_together() {
    let secrets = all();
    let mut missed = Vec::new();
    for rule in PROVIDERS.iter().flat_map(|(file, toml)| read(file, toml).unwrap()) {
        for (index, example) in rule.matches.iter().enumerate() {
            let text = Example::of_match(example, &format!("{} together {index}", rule.id))
                .unwrap()
                .text;
            let found = secrets.find(&text, false).unwrap();
            if !found
                .iter()
                .any(|secret| rule.service.is_none() || secret.service.is_some())
            {
                missed.push((rule.id.clone(), text));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn keys_without_an_end_cost_what_they_are_long() {
    let secrets = all();
    let body = random("${base64 44}");
    for line in [
        format!("a: -----BEGIN PRIVATE KEY-----\n{body}\n"),
        format!("-----BEGIN PRIVATE KEY-----\n{body}\nAAAA: "),
    ] {
        let found = secrets.find(&line.repeat(30_000), false).unwrap();
        assert!(found.len() > 10_000, "{}", found.len());
    }
}

#[test]
fn a_key_is_taken_whole_whatever_its_headers_say() {
    let body = random("${base64 64}\n${base64 20}");
    for comment in ["two -- dashes", "pre-Build - Beta", "-- at both ends --", "--> here"] {
        let key = format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: {comment}\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"
        );
        assert_eq!(
            found(&all(), &format!("{key}\nIt is ours.")),
            [("private-key", key.as_str())]
        );
    }
}

#[test]
fn a_long_secret_is_found_everywhere() {
    let token = random("${base64url 40000}");
    let text = format!("Authorization: Bearer {token}\nand once more:\n{token}\n");
    assert_eq!(found(&all(), &text).len(), 2);
}

#[test]
fn the_files_are_in_order() {
    for (file, toml) in PROVIDERS {
        let rules = read(file, toml).unwrap();
        assert!(
            !rules.is_empty() && rules.windows(2).all(|pair| pair[0].id < pair[1].id),
            "{file}"
        );
        assert_eq!(rules[0].service.is_none(), *file == "generic.toml", "{file}");
    }
}

#[test]
fn unknown_keys_and_bad_rules_are_errors() {
    let rule = |line: &str| {
        format!(
            "service = 'Acme'\n[[rule]]\nid = 'acme-key'\ndescription = 'x'\nsource = 'https://acme.org'\n{line}\n\
             matches = ['{{{{acme_12}}}}', '{{{{acme_34}}}}']\nmisses = ['acme_']"
        )
    };
    let problem = |line: &str| match check_examples("acme.toml", &rule(line)) {
        Ok(failures) => failures
            .first()
            .map(|failure| failure.problem.clone())
            .unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    assert_eq!(problem("keywords = ['acme']\npattern = 'acme_[0-9]{2}'"), "");
    for (line, expected) in [
        ("keyword = ['acme']\npattern = 'acme_'", "unknown field `keyword`"),
        ("service = 'Other'\npattern = 'acme_'", "unknown field `service`"),
        (
            "keywords = ['acme']\npattern = 'a'\ncheck = 'luhn'",
            "unknown variant `luhn`, expected one of `github-crc`",
        ),
        ("pattern = 'acme_'", "a rule needs keywords"),
        ("keywords = ['Acme']\npattern = 'acme_'", "lower-case"),
        ("keywords = ['acme']", "expected exactly one of pattern"),
        ("keywords = ['acme']\npattern = '('", "unclosed group"),
        ("keywords = ['acme']\npattern = 'acme_[0-9]'", "found [\"acme_1\"]"),
    ] {
        assert!(problem(line).contains(expected), "{line}: {}", problem(line));
    }
}

#[test]
fn harmless_texts_have_no_secrets() {
    let secrets = all();
    let texts = [
        "The password must have at least 12 characters, and the token expires after 15 minutes.",
        "Забыли пароль? Нажмите на ссылку, и мы пришлём новый.",
        "const token = await getToken(user.id); headers.set('Authorization', `Bearer ${token}`);",
        "password = os.environ['DB_PASSWORD']\nPORT=8080",
        "api_key: ${{ secrets.API_KEY }}",
        "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "OPENAI_API_KEY=<your-key-goes-here>",
        "github_token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "git checkout 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b && echo done",
        "\"integrity\": \"sha512-b1sRL2qxGSYh1s4mTn0mGzWtPTQ2FYrQ1Jv3SYBz6rN4h0JbXqJt1pQ2kYVnJzQ1F7m3c9h2QYpFq0aY0yH2Vg==\"",
        "image: registry.acme.org/app@sha256:9e6a55b6b4563e652a23be9d623ca5055c3569409e6a55b6b4563e652a23be9d",
        "id = 3f292041-51d2-4005-8e48-f39df3585d44, etag: \"cb7a1d775e800fd1ee4049f7dca9e041\"",
        "postgres://user:password@localhost:5432/db and https://user:${TOKEN}@host.org/x",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "<input type=\"password\" name=\"login_password\" placeholder=\"Your password\">",
        "!function(e,t){\"object\"==typeof exports&&\"undefined\"!=typeof module?t(exports):t(e.key2={})}(this,function(e){});",
        "",
        " \r\n\t",
        "🔑🔑🔑",
    ];
    for text in texts {
        assert_eq!(found(&secrets, text), [], "{text}");
    }
}

#[test]
fn the_rule_that_knows_most_wins_and_nothing_is_left() {
    let secrets = all();
    let token = random("ghp_${alnum 36}");
    let text = format!("password = \"{token}\"");
    assert_eq!(
        found(&secrets, &text),
        [("github-personal-access-token", token.as_str())]
    );
    // Two overlapping matches: the secret covers both.
    let text = format!("password: {token}!suffix");
    assert_eq!(found(&secrets, &text), [("github-personal-access-token", &text[10..])]);
}

#[test]
fn a_checksum_that_does_not_fit_is_told() {
    let body = random("${alnum 30}");
    let sum = check::checksum(body.as_bytes());
    let live = format!("ghp_{body}{}", std::str::from_utf8(&sum).unwrap());
    let secrets = all();
    let check = |text: &str| {
        let check = secrets.find(text, false).unwrap()[0].check.unwrap();
        (check.name, check.has_passed)
    };
    assert_eq!(check(&live), ("github-crc", true));
    assert_eq!(check(&random("ghp_${alnum 36}")), ("github-crc", false));
}

#[test]
fn a_secret_is_found_wherever_it_stands() {
    let secrets = all();
    let token = random("${alnum 24}");
    let text = format!("api_key = {token}\nthen I ran x{token}x and `{token}`");
    assert_eq!(found(&secrets, &text), [("generic-api-key", token.as_str()); 3]);
    // A short value counts only as a whole word, and an ordinary word not at all.
    let text = "password: hunter2, hunter2, hunter23; PASSWORD=docker docker";
    let values: Vec<_> = found(&secrets, text).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["hunter2", "hunter2", "docker"]);
}

#[test]
fn long_texts_are_read_to_their_end() {
    let secrets = all();
    let key =
        random("-----BEGIN PRIVATE KEY-----\n${base64 64}\n${base64 64}\n${base64 64}\n-----END PRIVATE KEY-----");
    let long = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
        format!("{}\n", random("${base64 64}")).repeat(200)
    );
    let filler = "The quick brown fox has a token and a key. ".repeat(2_000);
    let text = format!("{filler}{key}{filler}{long}\n{filler}{key}");
    assert_eq!(
        found(&secrets, &text),
        [
            ("private-key", key.as_str()),
            ("private-key", &long),
            ("private-key", &key)
        ]
    );
}

#[test]
fn secrets_of_any_length_are_found_whole() {
    let secrets = all();
    let values = |text: &str| -> Vec<String> {
        let found = secrets.find(text, false).unwrap();
        found
            .iter()
            .map(|secret| text[secret.range.clone()].to_owned())
            .collect()
    };
    for gap in ["\n", "\r\n", "\\n", "\\\\n", "\n      ", "\n> "] {
        let lines = vec![random("${base64 64}"); 48].join(gap);
        let key = format!("-----BEGIN RSA PRIVATE KEY-----{gap}{lines}{gap}-----END RSA PRIVATE KEY-----");
        assert_eq!(values(&format!("see {key} end")), [key]);
    }
    for length in [40, 1000, 1100, 9000] {
        let claims = format!("{{\"sub\":\"{}\"}}", random(&format!("${{alnum {length}}}")));
        let payload = data_encoding::BASE64URL_NOPAD.encode(claims.as_bytes());
        let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{payload}.{}", random("${alnum 43}"));
        for text in [format!("see {jwt} end"), format!("{{\"access_token\": \"{jwt}\"}}")] {
            assert_eq!(values(&text), [jwt.as_str()]);
        }
    }
    for length in [500, 520, 1500] {
        let value = random(&format!("${{alnum {length}}}"));
        assert_eq!(values(&format!("api_key = {value} end")), [value]);
    }
    let user = random("${base64 900}");
    assert_eq!(
        values(&format!("Authorization: Basic {user}==\r\n")),
        [format!("{user}==")]
    );
}

#[test]
fn other_readings_are_looked_at_when_asked_for() {
    let secrets = all();
    let token = random("ghp_${alnum 36}");
    let hidden = data_encoding::BASE64.encode(format!("my token is {token}, keep it").as_bytes());
    let text = format!("Decode this: {hidden} please");
    assert!(
        !found(&secrets, &text)
            .iter()
            .any(|(rule, _)| rule.starts_with("github"))
    );
    let read = secrets.find(&text, true).unwrap();
    assert_eq!(read.len(), 1, "{read:?}");
    assert_eq!(
        (read[0].rule, &text[read[0].range.clone()]),
        ("github-personal-access-token", hidden.as_str())
    );
    assert!(read[0].view.as_ref().is_some_and(|view| view.contains("base64")));
    let spread: String = token.chars().flat_map(|c| [c, '\u{200B}']).collect();
    let read = secrets.find(&spread, true).unwrap();
    assert_eq!(
        redact(&spread, &read, RedactMode::All).trim_end_matches('\u{200B}'),
        "******"
    );
}

#[test]
fn secrets_are_replaced_in_three_ways() {
    let secrets = all();
    let text = "Пароль: вода, 😀 password=hunter2222";
    let found = secrets.find(text, false).unwrap();
    let redacted = |mode| redact(text, &found, mode);
    assert_eq!(redacted(RedactMode::All), "Пароль: вода, 😀 password=******");
    assert_eq!(redacted(RedactMode::Partial), "Пароль: вода, 😀 password=hu..22");
    assert_eq!(
        redacted(RedactMode::Hash),
        "Пароль: вода, 😀 password=60f2a47846b182f4c1b60e8d45e704ac"
    );
}

#[test]
fn passwords_in_braces_are_found_whole() {
    let text = "Provider=MSOLEDBSQL;Data Source=db;User ID=sa;Password={Lamp;47};Encrypt=true";
    assert_eq!(found(&all(), text), [("connection-string-password-quoted", "Lamp;47")]);
}

#[test]
fn values_of_kubernetes_secrets_are_named_by_their_content() {
    let secrets = all();
    let token = random("ghp_${alnum 36}");
    let encoded = data_encoding::BASE64.encode(token.as_bytes());
    let text = format!("kind: Secret\ndata:\n  user: Ym9i\n  token: {encoded}\n");
    assert_eq!(
        found(&secrets, &text),
        [
            ("kubernetes-secret-manifest", "Ym9i"),
            ("github-personal-access-token", encoded.as_str())
        ]
    );
}

#[test]
fn users_add_and_take_away() {
    let rule = |id: &str, pattern: &str, keywords: &[&str]| RuleSource {
        id: id.to_owned(),
        pattern: Some(pattern.to_owned()),
        keywords: keywords.iter().map(|&keyword| keyword.to_owned()).collect(),
        ..RuleSource::default()
    };
    let options = Options {
        rules: vec![
            rule("acme", r"\bACME-\d{4}\b", &[]),
            rule("ключ", r"(?i)КЛЮЧ-(?P<secret>\w{6})", &["КЛЮЧ"]),
        ],
        disabled_rules: vec!["generic-password".to_owned()],
        allow: vec!["^ACME-0000$".to_owned()],
    };
    let secrets = Secrets::new(&options).unwrap();
    let text = "ACME-1234 ACME-0000 КЛЮЧ-абвгд7 password: hunter2222";
    assert_eq!(found(&secrets, text), [("acme", "ACME-1234"), ("ключ", "абвгд7")]);
}

#[test]
fn what_a_user_gets_wrong_is_named() {
    let rule = |pattern: &str| RuleSource {
        id: "x".to_owned(),
        pattern: Some(pattern.to_owned()),
        ..RuleSource::default()
    };
    let path = |options: Options| Secrets::new(&options).unwrap_err().path;
    let rules = vec![rule("a"), rule("(?=a)")];
    assert_eq!(
        path(Options {
            rules,
            ..Options::default()
        }),
        "rules.1.pattern"
    );
    let disabled_rules = vec!["no-such-rule".to_owned()];
    assert_eq!(
        path(Options {
            disabled_rules,
            ..Options::default()
        }),
        "disabled_rules.0"
    );
    let allow = vec!["a".to_owned(), "(".to_owned()];
    assert_eq!(
        path(Options {
            allow,
            ..Options::default()
        }),
        "allow.1"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_can_be_read(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "password", "=", ": ", "\"", "'", "ghp_", "AKIA", "key", "://", ":", "@", "-----BEGIN PRIVATE KEY-----", "\n", " ",
            "aB3dE5gH7jK9", "é", "😀", "пароль", "eyJhbGciOiJIUzI1NiJ9.", "0123456789abcdef", "\u{200B}", "%41", "host",
        ]), 0..30),
        noise in ".{0,8}",
    ) {
        let secrets = all();
        let text = pieces.concat() + &noise;
        for deobfuscate in [false, true] {
            let found = secrets.find(&text, deobfuscate).unwrap();
            for secret in &found {
                prop_assert!(text.get(secret.range.clone()).is_some_and(|value| !value.is_empty()));
            }
            prop_assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
            // Redaction changes only the found spans.
            let mut shown = 0;
            let mut expected = String::new();
            for secret in &found {
                expected += &text[shown..secret.range.start];
                expected += "******";
                shown = secret.range.end;
            }
            expected += &text[shown..];
            prop_assert_eq!(redact(&text, &found, RedactMode::All), expected);
        }
    }

    #[test]
    fn a_token_is_found_in_any_surroundings(before in "[^A-Za-z0-9_]{0,20}", after in "[^A-Za-z0-9_]{0,20}", seed in "[a-z]{8}") {
        let token = expand("ghp_${alnum 36}", &seed).unwrap();
        let text = format!("{before}{token}{after}");
        let secrets = all();
        let found = secrets.find(&text, false).unwrap();
        prop_assert!(found.iter().any(|secret| secret.rule.starts_with("github") && text[secret.range.clone()].contains(&token)));
    }
}
