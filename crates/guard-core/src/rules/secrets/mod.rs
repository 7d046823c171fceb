//! Credentials in texts.
//!
//! What is looked for is data: `rules.toml` has one rule per kind of credential, each with texts that it must and must not
//! match. A user adds rules and allowed values of their own.

mod allow;
mod check;
mod context;
mod entropy;
pub mod examples;
mod redact;
mod rule;
mod set;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde::Deserialize;

use crate::rules::across::{RuleMatch, Sighting, Wanted, across_views};

pub use check::Check;
pub use redact::{RedactMode, redact};
pub use rule::{RuleError, RuleSource};

use allow::{Allow, AllowSource};
use check::Outcome;
use rule::Rule;
use set::RuleSet;

/// Time that all searches of one rule of a user in one text may take together.
///
/// Every search is linear, but there can be as many as the text has bytes, each of which reads on to the end.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// How often a text is looked at, each time without what was found before.
const LOOKS: usize = 4;
/// Bytes of the shortest value that is looked for in all of the text, if it is a word; others are looked for from half of it.
const WORD: usize = 8;
/// Bytes of a value that is the same one even inside of a word.
const UNMISTAKABLE: usize = 10;
/// Bytes of all secrets from which on the quickest automaton takes too much memory: 512 bytes for each.
const DENSE: usize = 16 * 1024;

/// The embedded file.
const RULES: &str = include_str!("rules.toml");

/// A file of rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Embedded {
    #[serde(default)]
    allow: AllowSource,
    #[serde(default)]
    rule: Vec<RuleSource>,
}

impl Embedded {
    fn parse(toml: &str) -> Result<Self, String> {
        toml::from_str(toml).map_err(|error: toml::de::Error| error.to_string())
    }
}

/// The embedded rules and placeholders, read once per process.
static BUILT_IN: LazyLock<Result<BuiltIn, String>> = LazyLock::new(|| {
    let file = Embedded::parse(RULES)?;
    let allow =
        Allow::new(&file.allow, false).map_err(|(index, message)| format!("allow.patterns.{index}: {message}"))?;
    let rules: Result<Vec<Rule>, String> = file
        .rule
        .into_iter()
        .map(|source| {
            let id = source.id.clone();
            Rule::embedded(source).map_err(|message| format!("{id}: {message}"))
        })
        .collect();
    Ok(BuiltIn {
        allow,
        rules: Arc::new(RuleSet::new(rules?)?),
    })
});

struct BuiltIn {
    allow: Allow,
    rules: Arc<RuleSet>,
}

fn built_in() -> Result<&'static BuiltIn, String> {
    BUILT_IN.as_ref().map_err(Clone::clone)
}

/// What a user adds to the embedded rules, and takes away.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rules of the user. Their patterns see characters, not bytes; without keywords they are searched for in all of a text.
    pub rules: Vec<RuleSource>,
    /// The ids of embedded rules that are not to be applied.
    pub disabled_rules: Vec<String>,
    /// Patterns of values that are no secrets.
    pub allow: Vec<String>,
}

/// A credential in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret<'a> {
    /// The UTF-8 byte range in the text, on character boundaries.
    pub range: Range<usize>,
    /// The id of the rule.
    pub rule: &'a str,
    /// The service, where the rule knows it.
    pub service: Option<&'a str>,
    /// Whether it can be a live one: false where it has a checksum that does not fit.
    pub sound: bool,
    /// How the text was read to find it; `None` where it stands there as it is.
    pub view: Option<String>,
}

/// What a rule matched and nothing spoke against.
struct Hit {
    /// The index of the rule, those of the user after the embedded ones.
    rule: usize,
    range: Range<usize>,
    sound: bool,
}

impl RuleMatch for Hit {
    fn rule(&self) -> usize {
        self.rule
    }

    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Rules ready to be searched for.
#[derive(Debug)]
pub struct Secrets {
    embedded: Arc<RuleSet>,
    /// For each embedded rule, whether it is applied.
    enabled: Vec<bool>,
    own: RuleSet,
    allow: Allow,
}

impl Secrets {
    /// The embedded rules as a user wants them.
    ///
    /// # Errors
    ///
    /// The first value that can not be used, with its path in the options.
    pub fn new(options: &Options) -> Result<Self, RuleError> {
        let fault = |path: String| move |message| RuleError { path, message };
        let embedded = Arc::clone(&built_in().map_err(fault(String::new()))?.rules);
        let mut enabled = vec![true; embedded.rules.len()];
        for (index, id) in options.disabled_rules.iter().enumerate() {
            let place = embedded.rules.iter().position(|rule| rule.source.id == *id);
            let place = place.ok_or_else(|| fault(format!("disabled_rules.{index}"))(format!("unknown rule {id}")))?;
            enabled[place] = false;
        }
        let own: Result<Vec<Rule>, RuleError> = options
            .rules
            .iter()
            .enumerate()
            .map(|(index, source)| Rule::user(source.clone()).map_err(fault(format!("rules.{index}.pattern"))))
            .collect();
        let source = AllowSource {
            words: Vec::new(),
            patterns: options.allow.clone(),
        };
        Ok(Self {
            embedded,
            enabled,
            own: RuleSet::new(own?).map_err(fault("rules".to_owned()))?,
            allow: Allow::new(&source, true).map_err(|(index, message)| fault(format!("allow.{index}"))(message))?,
        })
    }

    /// One embedded rule by itself.
    fn only(rule: Rule) -> Result<Self, String> {
        Ok(Self {
            embedded: Arc::new(RuleSet::new(vec![rule])?),
            enabled: vec![true],
            own: RuleSet::new(Vec::new())?,
            allow: Allow::new(&AllowSource::default(), true).map_err(|(_, message)| message)?,
        })
    }

    /// The credentials in `text`, from left to right, without overlaps, each wherever it stands; with `deobfuscate`, those
    /// in other readings of the text too ([`crate::text::views`]).
    ///
    /// Of several rules that match at one place, that of the user wins, then one that knows the service, then the longer
    /// match; the secret is all that they match together.
    ///
    /// # Errors
    ///
    /// A rule of the user that takes too long, or an embedded one that can not be compiled. The text must then be treated as
    /// if it was not looked at.
    pub fn find(&self, text: &str, deobfuscate: bool) -> Result<Vec<Secret<'_>>, RuleError> {
        let mut secrets = self.look(text, deobfuscate)?;
        // A secret that touches another has no boundary of its own until that one is replaced.
        let mut fresh = secrets.clone();
        let mut masked = text.as_bytes().to_vec();
        for _ in 1..LOOKS {
            if fresh.is_empty() {
                break;
            }
            for secret in &fresh {
                masked[secret.range.clone()].fill(b'*');
            }
            // Whole characters were replaced, so this is a text still.
            let Ok(rest) = std::str::from_utf8(&masked) else { break };
            fresh = self.look(rest, deobfuscate)?;
            fresh.retain(|secret| !overlap(&secrets, &secret.range));
            secrets.extend(fresh.iter().cloned());
            secrets.sort_by_key(|secret| (secret.range.start, secret.range.end));
        }
        Ok(secrets)
    }

    /// What one look at a text finds.
    fn look(&self, text: &str, deobfuscate: bool) -> Result<Vec<Secret<'_>>, RuleError> {
        let mut sightings = if deobfuscate {
            let mut sightings = across_views(text, Wanted::All, |reading| self.hits(reading))?;
            // Leetspeak replaces digits, and a credential is none without them.
            let read = |sighting: &Sighting<Hit>| !sighting.view.as_ref().is_some_and(|view| view.contains("leet"));
            sightings.retain(read);
            sightings
        } else {
            let found = self.hits(text)?.into_iter();
            let in_text = |found: Hit| Sighting {
                range: found.range.clone(),
                found,
                view: None,
            };
            found.map(in_text).collect()
        };
        sightings.sort_by_key(|sighting| (sighting.range.start, sighting.range.end));
        let secrets = self.resolve(text, sightings);
        Ok(everywhere(text, secrets))
    }

    /// What all rules match in one reading.
    fn hits(&self, text: &str) -> Result<Vec<Hit>, RuleError> {
        let fault = |message| RuleError {
            path: String::new(),
            message,
        };
        let placeholders = &built_in().map_err(fault)?.allow;
        let accept = |rule: &Rule, value: &[u8]| {
            let source = &rule.source;
            let outcome = source.check.map(|check| check.run(value));
            // A checksum that fits leaves nothing to guess.
            let proven = outcome == Some(Outcome::Proven) && source.check == Some(Check::GithubCrc);
            outcome != Some(Outcome::Refuted)
                && !self.allow.allows(value)
                && (proven
                    || source.entropy.is_none_or(|least| entropy::shannon(value) >= least)
                        && !allow::is_monotonous(value)
                        && !placeholders.allows(value))
        };
        let mut hits = Vec::new();
        for set in [&*self.embedded, &self.own] {
            let (first, limit) = if std::ptr::eq(set, &self.own) {
                (self.embedded.rules.len(), Some(TIME_LIMIT))
            } else {
                (0, None)
            };
            let enabled = |index: usize| first > 0 || self.enabled[index];
            for candidate in set.find(text.as_bytes(), enabled, accept, limit).map_err(fault)? {
                let value = &text.as_bytes()[candidate.range.clone()];
                let check = set.rules[candidate.rule].source.check;
                hits.push(Hit {
                    rule: first + candidate.rule,
                    sound: check.is_none_or(|check| check.run(value) != Outcome::Doubtful),
                    range: text.floor_char_boundary(candidate.range.start)
                        ..text.ceil_char_boundary(candidate.range.end),
                });
            }
        }
        Ok(hits)
    }

    fn source(&self, rule: usize) -> &RuleSource {
        let embedded = self.embedded.rules.len();
        let rule = match rule.checked_sub(embedded) {
            Some(own) => &self.own.rules[own],
            None => &self.embedded.rules[rule],
        };
        &rule.source
    }

    /// Makes one secret of those that overlap; `sightings` ascend.
    fn resolve(&self, text: &str, sightings: Vec<Sighting<Hit>>) -> Vec<Secret<'_>> {
        let rank = |sighting: &Sighting<Hit>| {
            let rule = sighting.found.rule;
            let own = rule >= self.embedded.rules.len();
            let service = self.source(rule).service.is_some();
            (
                sighting.view.is_none(),
                own,
                service,
                sighting.range.len(),
                Reverse(rule),
            )
        };
        let mut groups: Vec<(Range<usize>, Sighting<Hit>)> = Vec::new();
        for sighting in sightings {
            match groups.last_mut() {
                Some((range, best)) if sighting.range.start < range.end => {
                    range.end = range.end.max(sighting.range.end);
                    if rank(&sighting) > rank(best) {
                        *best = sighting;
                    }
                }
                _ => groups.push((sighting.range.clone(), sighting)),
            }
        }
        let secret = |(range, sighting): (Range<usize>, Sighting<Hit>)| {
            let source = self.source(sighting.found.rule);
            Secret {
                range: text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end),
                rule: &source.id,
                service: source.service.as_deref(),
                sound: sighting.found.sound,
                view: sighting.view,
            }
        };
        groups.into_iter().map(secret).collect()
    }
}

/// Whether a value that stands somewhere else is the same secret, and not a word that was chosen as a password.
fn is_telling(value: &str) -> bool {
    value.len()
        >= if value.chars().all(char::is_alphabetic) {
            WORD
        } else {
            WORD / 2
        }
}

/// Whether one of `secrets`, which ascend without overlaps, shares a byte with `range`.
fn overlap(secrets: &[Secret<'_>], range: &Range<usize>) -> bool {
    let next = secrets.partition_point(|secret| secret.range.end <= range.start);
    secrets.get(next).is_some_and(|secret| secret.range.start < range.end)
}

/// Adds the places where the found values stand without anything that tells what they are.
fn everywhere<'a>(text: &str, mut secrets: Vec<Secret<'a>>) -> Vec<Secret<'a>> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, secret) in secrets.iter().enumerate() {
        first.entry(&text[secret.range.clone()]).or_insert(index);
    }
    let values: Vec<(&str, usize)> = first.into_iter().filter(|(value, _)| is_telling(value)).collect();
    let bytes: usize = values.iter().map(|(value, _)| value.len()).sum();
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind((bytes > DENSE).then_some(AhoCorasickKind::ContiguousNFA))
        .build(values.iter().map(|(value, _)| value));
    // Only billions of bytes of secrets are too many.
    let Ok(automaton) = automaton else {
        return secrets;
    };
    let known = secrets.len();
    for place in automaton.find_iter(text) {
        let word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let whole = !word(text[..place.start()].chars().next_back()) && !word(text[place.end()..].chars().next());
        if !overlap(&secrets[..known], &place.range()) && (whole || place.len() >= UNMISTAKABLE) {
            let same = secrets[values[place.pattern().as_usize()].1].clone();
            secrets.push(Secret {
                range: place.range(),
                ..same
            });
        }
    }
    secrets.sort_by_key(|secret| secret.range.start);
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> Secrets {
        Secrets::new(&Options::default()).unwrap()
    }

    fn found<'a>(secrets: &'a Secrets, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let found = secrets.find(text, false).unwrap().into_iter();
        found.map(|secret| (secret.rule, &text[secret.range])).collect()
    }

    /// A random text that no rule knows by itself.
    fn random(template: &str) -> String {
        examples::expand(template, template).unwrap()
    }

    #[test]
    fn every_rule_finds_its_examples_and_nothing_else() {
        let failures = examples::check(RULES).unwrap();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn every_example_is_found_by_all_rules_together() {
        let secrets = all();
        let mut missed = Vec::new();
        for rule in Embedded::parse(RULES).unwrap().rule {
            for (index, example) in rule.positives.iter().enumerate() {
                let text = examples::expand(example, &format!("{} together {index}", rule.id)).unwrap();
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
        for line in [
            "a: -----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nAAAA: ",
        ] {
            let found = secrets.find(&line.repeat(30_000), false).unwrap();
            assert!(found.len() > 10_000, "{}", found.len());
        }
    }

    #[test]
    fn a_key_is_taken_whole_whatever_its_headers_say() {
        let body = random("{{base64 64}}\n{{base64 20}}");
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
        let token = random("{{base64url 40000}}");
        let text = format!("Authorization: Bearer {token}\nand once more:\n{token}\n");
        assert_eq!(found(&all(), &text).len(), 2);
    }

    #[test]
    fn the_file_is_in_order() {
        let rules = Embedded::parse(RULES).unwrap().rule;
        assert!(rules.windows(2).all(|pair| pair[0].id < pair[1].id));
        for rule in rules {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(rule.id.chars().all(kebab), "{}", rule.id);
            assert!(
                !rule.description.is_empty() && rule.source.starts_with("https://"),
                "{}",
                rule.id
            );
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
        let token = random("ghp_{{alnum 36}}");
        let text = format!("password = \"{token}\"");
        assert_eq!(
            found(&secrets, &text),
            [("github-personal-access-token", token.as_str())]
        );
        // Two rules that overlap: the secret is all of both.
        let text = format!("password: {token}!suffix");
        assert_eq!(found(&secrets, &text), [("github-personal-access-token", &text[10..])]);
    }

    #[test]
    fn a_checksum_that_does_not_fit_is_told() {
        let body = random("{{alnum 30}}");
        let sum = check::checksum(body.as_bytes());
        let live = format!("ghp_{body}{}", std::str::from_utf8(&sum).unwrap());
        let secrets = all();
        assert!(secrets.find(&live, false).unwrap()[0].sound);
        let other = random("ghp_{{alnum 36}}");
        assert!(!secrets.find(&other, false).unwrap()[0].sound);
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands() {
        let secrets = all();
        let token = random("{{alnum 24}}");
        let text = format!("api_key = {token}\nthen I ran x{token}x and `{token}`");
        assert_eq!(found(&secrets, &text), [("generic-api-key", token.as_str()); 3]);
        // A short one counts as a whole only, and a word not at all.
        let text = "password: hunter2, hunter2, hunter23; PASSWORD=docker docker";
        let values: Vec<_> = found(&secrets, text).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, ["hunter2", "hunter2", "docker"]);
    }

    #[test]
    fn long_texts_are_read_to_their_end() {
        let secrets = all();
        let key = random(
            "-----BEGIN PRIVATE KEY-----\n{{base64 64}}\n{{base64 64}}\n{{base64 64}}\n-----END PRIVATE KEY-----",
        );
        let long = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
            format!("{}\n", random("{{base64 64}}")).repeat(200)
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
            let lines = vec![random("{{base64 64}}"); 48].join(gap);
            let key = format!("-----BEGIN RSA PRIVATE KEY-----{gap}{lines}{gap}-----END RSA PRIVATE KEY-----");
            assert_eq!(values(&format!("see {key} end")), [key]);
        }
        for length in [40, 1000, 1100, 9000] {
            let claims = format!("{{\"sub\":\"{}\"}}", random(&format!("{{{{alnum {length}}}}}")));
            let payload = data_encoding::BASE64URL_NOPAD.encode(claims.as_bytes());
            let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{payload}.{}", random("{{alnum 43}}"));
            for text in [format!("see {jwt} end"), format!("{{\"access_token\": \"{jwt}\"}}")] {
                assert_eq!(values(&text), [jwt.as_str()]);
            }
        }
        for length in [500, 520, 1500] {
            let value = random(&format!("{{{{alnum {length}}}}}"));
            assert_eq!(values(&format!("api_key = {value} end")), [value]);
        }
        let user = random("{{base64 900}}");
        assert_eq!(
            values(&format!("Authorization: Basic {user}==\r\n")),
            [format!("{user}==")]
        );
    }

    #[test]
    fn other_readings_are_looked_at_when_asked_for() {
        let secrets = all();
        let token = random("ghp_{{alnum 36}}");
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
        let text = "Пароль: пароль1!2x, 😀 password=hunter2222";
        let found = secrets.find(text, false).unwrap();
        let redacted = |mode| redact(text, &found, mode);
        assert_eq!(redacted(RedactMode::All), "Пароль: пароль1!2x, 😀 password=******");
        assert_eq!(redacted(RedactMode::Partial), "Пароль: пароль1!2x, 😀 password=hu..22");
        assert_eq!(
            redacted(RedactMode::Hash),
            "Пароль: пароль1!2x, 😀 password=60f2a47846b182f4c1b60e8d45e704ac"
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
                // Redaction changes the found spans and nothing else.
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
            let token = examples::expand("ghp_{{alnum 36}}", &seed).unwrap();
            let text = format!("{before}{token}{after}");
            let secrets = all();
            let found = secrets.find(&text, false).unwrap();
            prop_assert!(found.iter().any(|secret| secret.rule.starts_with("github") && text[secret.range.clone()].contains(&token)));
        }
    }
}
