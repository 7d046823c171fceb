//! The embedded rules, with one file per provider.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::allowlist::{Allowlist, AllowlistSource};
use super::rule::{Rule, RuleSource};
use super::rule_set::RuleSet;
use super::words;
use crate::rules::data::{self, DataFile};
use crate::rules::error::RuleErrorKind;

/// The files of all providers.
pub(super) const PROVIDERS: &[DataFile] = data::embedded!("secret_providers");
/// The placeholders for all rules.
const ALLOW: &str = include_str!("allow.toml");

/// A file of `providers/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// The service of the rules. Rules without a service yield to those with one.
    #[serde(default)]
    service: Option<String>,
    rule: Vec<RuleSource>,
}

/// Parses the rules of a file of `providers/`.
pub(super) fn read(file: &str, toml: &str) -> Result<Vec<RuleSource>, RuleErrorKind> {
    let Provider { service, mut rule } = data::parse(file, toml)?;
    for source in &mut rule {
        source.service.clone_from(&service);
    }
    Ok(rule)
}

/// The embedded rules and placeholders.
pub(super) struct BuiltIn {
    pub allow: Allowlist,
    pub rules: Arc<RuleSet>,
}

/// Returns the embedded rules and placeholders, which are parsed once per process.
///
/// # Errors
///
/// An error in the data files.
pub(super) fn built_in() -> Result<&'static BuiltIn, RuleErrorKind> {
    static BUILT_IN: LazyLock<Result<BuiltIn, RuleErrorKind>> = LazyLock::new(|| {
        words::load()?;
        let source: AllowlistSource = data::parse("allow.toml", ALLOW)?;
        let allow =
            Allowlist::new(&source, false).map_err(|(index, cause)| cause.of_rule(&format!("patterns.{index}")))?;
        // Of two equally good rules, the one with the first id wins, whatever their files.
        let mut rules = BTreeMap::new();
        for (file, toml) in PROVIDERS {
            for source in read(file, toml)? {
                let id = source.id.clone();
                // Examples are only for tests, and half of the data.
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
