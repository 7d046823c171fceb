//! Phrases that say what a text does.

use std::sync::Arc;

use guard_core::rules::phrases::{self, Phrases};
use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_with};
use crate::error::{Failure, at_once};
use crate::rules::{RuleScan, rule_scan};

/// Phrases that refuse to do what was asked for.
#[napi]
pub struct Refusals(Arc<Phrases>);

#[napi]
impl Refusals {
    #[napi(constructor)]
    pub fn new(env: &Env) -> Result<Self> {
        at_once(env, || Ok(Self(phrases::refusals()?)))
    }

    /// The function that scans a text; it gives null where nothing is found. All matches have rule 0.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Answer<'static, Option<RuleScan>>>> {
        let phrases = Arc::clone(&self.0);
        env.create_function_from_closure("scan", move |call| {
            on_text_with(&phrases, Cost::Length, call.get(0)?, scan)
        })
    }
}

fn scan(phrases: &Phrases, text: &str) -> std::result::Result<Option<RuleScan>, Failure> {
    let found = phrases.find(text).map_err(Failure::in_search)?;
    let found = found.into_iter().map(|found| (0, found.range, None));
    Ok(rule_scan(text, found.collect(), false))
}
