//! The embedded rules, a file a provider.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::Secrets;
use super::allow::{Allow, AllowSource};
use super::rule::{Rule, RuleSource};
use super::set::RuleSet;
use crate::rules::data::examples::{Examples, Failure};
use crate::rules::data::{self, DataFile};
use crate::rules::error::RuleErrorKind;

/// The files of all providers.
pub(super) const PROVIDERS: &[DataFile] = data::embedded!("secret_providers");
/// What is a placeholder, whichever rule matched it.
const ALLOW: &str = include_str!("allow.toml");

/// A file of `providers/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// The service whose credentials the rules find. Rules of a file without one yield to those of a file with one.
    #[serde(default)]
    service: Option<String>,
    rule: Vec<RuleSource>,
}

/// The rules of a file of `providers/`.
pub(super) fn read(file: &str, toml: &str) -> Result<Vec<RuleSource>, RuleErrorKind> {
    let Provider { service, mut rule } = data::parse(file, toml)?;
    for source in &mut rule {
        source.service.clone_from(&service);
    }
    Ok(rule)
}

/// The embedded rules and placeholders.
pub(super) struct BuiltIn {
    pub allow: Allow,
    pub rules: Arc<RuleSet>,
}

/// The embedded rules and placeholders, which are read once per process.
///
/// # Errors
///
/// What is wrong with the data files.
pub(super) fn built_in() -> Result<&'static BuiltIn, RuleErrorKind> {
    static BUILT_IN: LazyLock<Result<BuiltIn, RuleErrorKind>> = LazyLock::new(|| {
        let source: AllowSource = data::parse("allow.toml", ALLOW)?;
        let allow = Allow::new(&source, false).map_err(|(index, cause)| cause.of_rule(&format!("patterns.{index}")))?;
        // Of two rules that fit alike, the one whose id comes first wins, whichever files they stand in.
        let mut rules = BTreeMap::new();
        for (file, toml) in PROVIDERS {
            for source in read(file, toml)? {
                let id = source.id.clone();
                // Examples are for tests, and as long as all the rest.
                let source = RuleSource {
                    matches: Vec::new(),
                    misses: Vec::new(),
                    ..source
                };
                let rule = Rule::embedded(source).map_err(|cause| cause.of_rule(&id))?;
                if rules.insert(id.clone(), rule).is_some() {
                    return Err(RuleErrorKind::DuplicateId(id));
                }
            }
        }
        let rules = Arc::new(RuleSet::new(rules.into_values().collect()));
        Ok(BuiltIn { allow, rules })
    });
    BUILT_IN.as_ref().map_err(Clone::clone)
}

/// Checks the rules of a file that is written like those of `providers/`, each rule by itself, against its own examples.
///
/// ```
/// let toml = r#"
///     service = "Acme"
///     [[rule]]
///     id = "acme-key"
///     description = "Acme key"
///     source = "https://docs.acme.org/keys"
///     keywords = ["acme_"]
///     pattern = '\bacme_[0-9a-f]{32}\b'
///     matches = ["{{acme_${hex 32}}}", "ACME_KEY={{acme_${hex 32}}}"]
///     misses = ["acme_${hex 8}"]
/// "#;
/// assert_eq!(guard_core::rules::secrets::check_examples("acme.toml", toml)?, []);
/// # Ok::<(), guard_core::rules::RuleErrorKind>(())
/// ```
///
/// # Errors
///
/// Why the file is no list of rules.
pub fn check_examples(file: &str, toml: &str) -> Result<Vec<Failure>, RuleErrorKind> {
    Ok(read(file, toml)?.into_iter().flat_map(check_rule).collect())
}

fn check_rule(source: RuleSource) -> Vec<Failure> {
    let fail = |problem: String| Failure {
        rule: source.id.clone(),
        example: String::new(),
        problem,
    };
    let mut failures = Vec::new();
    let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    for (holds, problem) in [
        (source.id.chars().all(is_kebab), "an id is in kebab-case"),
        (!source.description.is_empty(), "a rule needs a description"),
        (
            source.source.starts_with("https://"),
            "a rule needs a source, an address with https",
        ),
        (source.matches.len() >= 2, "expected two texts that the rule matches"),
    ] {
        failures.extend((!holds).then(|| fail(problem.to_owned())));
    }
    let secrets = match Rule::embedded(source.clone()).and_then(Secrets::only) {
        Ok(secrets) => secrets,
        Err(problem) => {
            failures.push(fail(problem.to_string()));
            return failures;
        }
    };
    let examples = Examples {
        id: &source.id,
        matches: &source.matches,
        misses: &source.misses,
    };
    failures.extend(examples.check(|text| {
        let found = secrets.find(text, false)?;
        Ok(found.into_iter().map(|secret| secret.range).collect())
    }));
    failures
}
