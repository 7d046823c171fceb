//! Checks of rule files against their own examples.

use super::detector::Secrets;
use super::providers::read;
use super::rule::{Rule, RuleSource};
use crate::rules::data::examples::{Examples, Failure};
use crate::rules::error::RuleErrorKind;

/// Checks each rule of a file in the format of `providers/` against its own examples.
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
/// The file is not a list of rules.
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
    let secrets = match Rule::embedded(source.clone()).and_then(Secrets::from_rule) {
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
