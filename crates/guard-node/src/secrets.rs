//! Finds credentials in texts.

use std::sync::Arc;

use guard_core::rules::CheckResult;
use guard_core::rules::secrets::{self, Options, RuleSource, Secret, Secrets, redact};
use napi::{Env, JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_with};
use crate::error::{Failure, at_once};
use crate::spans::{MOST_FINDINGS, Rows, Span, rows, with_spans};

/// A user's rule.
#[napi(object)]
pub struct SecretRule {
    pub id: String,
    pub pattern: String,
    pub service: Option<String>,
    pub keywords: Vec<String>,
    pub entropy: Option<f64>,
}

/// A user's changes to the embedded rules.
#[napi(object)]
pub struct SecretOptions {
    pub rules: Vec<SecretRule>,
    pub disabled_rules: Vec<String>,
    pub allow: Vec<String>,
}

/// The replacement of a secret.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum RedactMode {
    All,
    Partial,
    Hash,
}

impl From<RedactMode> for secrets::RedactMode {
    fn from(mode: RedactMode) -> Self {
        match mode {
            RedactMode::All => Self::All,
            RedactMode::Partial => Self::Partial,
            RedactMode::Hash => Self::Hash,
        }
    }
}

/// A credential in a text.
#[napi(object)]
pub struct SecretMatch {
    pub start: u32,
    pub end: u32,
    /// The id of the rule.
    pub rule: String,
    pub service: Option<String>,
    /// The name of the rule's check, such as of a checksum.
    pub check: Option<String>,
    /// Whether the check failed: the checksum is wrong, so it can't be a live credential.
    pub is_doubtful: bool,
    /// The name of its view; absent for the text itself.
    pub view: Option<String>,
}

/// The credentials of a text, and the redacted text.
#[napi(object)]
pub struct SecretScan {
    /// The first secrets, up to the limit of findings.
    pub secrets: Vec<SecretMatch>,
    /// The start and the end of each further secret. Absent if there are none.
    pub rest: Option<Rows>,
    /// Absent if nothing was found.
    pub redacted: Option<String>,
}

/// Rules for credentials.
#[napi]
pub struct SecretRules(Arc<Secrets>);

#[napi]
impl SecretRules {
    /// Prepares the embedded rules with a user's options.
    #[napi(constructor)]
    pub fn new(env: &Env, options: SecretOptions) -> Result<Self> {
        let rules = options.rules.into_iter().map(|rule| RuleSource {
            id: rule.id,
            pattern: Some(rule.pattern),
            service: rule.service,
            keywords: rule.keywords,
            entropy: rule.entropy,
            ..RuleSource::default()
        });
        let options = Options {
            rules: rules.collect(),
            disabled_rules: options.disabled_rules,
            allow: options.allow,
        };
        at_once(env, || Ok(Self(Arc::new(Secrets::new(&options)?))))
    }

    /// Finds and replaces credentials, with `deobfuscate` in views of the text too.
    #[napi]
    pub fn scan<'env>(
        &self,
        text: JsString<'env>,
        mode: RedactMode,
        deobfuscate: bool,
    ) -> Result<Answer<'env, SecretScan>> {
        on_text_with(&self.0, Cost(200), text, move |secrets, text| {
            scan(secrets, text, mode.into(), deobfuscate)
        })
    }
}

fn scan(
    secrets: &Secrets,
    text: &str,
    mode: secrets::RedactMode,
    deobfuscate: bool,
) -> std::result::Result<SecretScan, Failure> {
    let mut found = secrets.find(text, deobfuscate).map_err(Failure::in_search)?;
    let redacted = (!found.is_empty()).then(|| redact(text, &found, mode));
    let others = found.split_off(found.len().min(MOST_FINDINGS));
    let rest = (!others.is_empty()).then(|| rows(text, &others, |secret| secret.range.clone(), |_| []));
    let secret = |secret: Secret, Span { start, end }| SecretMatch {
        start,
        end,
        rule: secret.rule.to_owned(),
        service: secret.service.map(str::to_owned),
        check: secret.check.map(|check| check.name.to_owned()),
        is_doubtful: CheckResult::is_failure(secret.check),
        view: secret.view,
    };
    let secrets = with_spans(text, found, |secret| secret.range.clone(), secret);
    Ok(SecretScan {
        secrets,
        rest,
        redacted,
    })
}
