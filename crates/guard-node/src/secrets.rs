//! Credentials in texts.

use std::sync::Arc;

use guard_core::rules::secrets::{self, Options, RuleError, RuleSource, Secrets, redact};
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::error;
use crate::off_thread::OffThread;
use crate::places::{Span, spans};

/// A rule of a user.
#[napi(object)]
pub struct SecretRule {
    pub id: String,
    pub pattern: String,
    pub service: Option<String>,
    pub keywords: Vec<String>,
    pub entropy: Option<f64>,
}

/// What a user adds to the embedded rules, and takes away.
#[napi(object)]
pub struct SecretOptions {
    pub rules: Vec<SecretRule>,
    pub disabled_rules: Vec<String>,
    pub allow: Vec<String>,
}

/// What replaces a secret.
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
    /// Whether it can be a live one: false where it has a checksum that does not fit.
    pub sound: bool,
    /// How the text was read to find it; absent where it stands there as it is.
    pub view: Option<String>,
}

/// The credentials of a text, and the text without them.
#[napi(object)]
pub struct SecretScan {
    pub secrets: Vec<SecretMatch>,
    /// Absent where nothing was found.
    pub redacted: Option<String>,
}

/// The path of the value at fault stands between code and message: `GUARD_VALIDATION|rules.2.pattern|...`.
fn rule_error(code: &str, RuleError { path, message }: RuleError) -> napi::Error {
    error(code, format_args!("{path}|{message}"))
}

/// Rules for credentials.
#[napi]
pub struct SecretRules(Arc<Secrets>);

#[napi]
impl SecretRules {
    /// The embedded rules as a user wants them.
    #[napi(constructor)]
    pub fn new(options: SecretOptions) -> Result<Self> {
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
        Secrets::new(&options)
            .map(|secrets| Self(Arc::new(secrets)))
            .map_err(|cause| rule_error("GUARD_VALIDATION", cause))
    }

    /// Finds credentials, in other readings of the text too with `deobfuscate`, and replaces them.
    #[napi]
    pub fn scan(&self, text: String, mode: RedactMode, deobfuscate: bool) -> Result<SecretScan> {
        scan(&self.0, &text, mode.into(), deobfuscate)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<SecretScan>")]
    pub fn scan_long(&self, text: String, mode: RedactMode, deobfuscate: bool) -> AsyncTask<OffThread<SecretScan>> {
        let secrets = Arc::clone(&self.0);
        OffThread::new(move || scan(&secrets, &text, mode.into(), deobfuscate))
    }
}

fn scan(secrets: &Secrets, text: &str, mode: secrets::RedactMode, deobfuscate: bool) -> Result<SecretScan> {
    let found = secrets
        .find(text, deobfuscate)
        .map_err(|cause| rule_error("GUARD_PATTERN", cause))?;
    let redacted = (!found.is_empty()).then(|| redact(text, &found, mode));
    let places = spans(text, found.iter().map(|secret| secret.range.clone()));
    let secrets = found
        .into_iter()
        .zip(places)
        .map(|(secret, Span { start, end })| SecretMatch {
            start,
            end,
            rule: secret.rule.to_owned(),
            service: secret.service.map(str::to_owned),
            sound: secret.sound,
            view: secret.view,
        })
        .collect();
    Ok(SecretScan { secrets, redacted })
}
