//! Phrases that say what a text does.

use std::sync::Arc;

use guard_core::rules::phrases::{self, Phrases};
use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text_with};
use crate::error::{Failure, at_once};
use crate::rules::{RuleScan, in_views, rule_scan};

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
            on_text_with(&phrases, Cost(120), call.get(0)?, scan)
        })
    }
}

/// Orders to put aside what was asked before and to give out words that are dictated.
#[napi]
pub struct Hijacks(Arc<Phrases>);

#[napi]
impl Hijacks {
    #[napi(constructor)]
    pub fn new(env: &Env) -> Result<Self> {
        at_once(env, || Ok(Self(phrases::hijacks()?)))
    }

    /// The function that scans a text as it is written; it gives null where nothing is found. All matches have rule 0.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Answer<'static, Option<RuleScan>>>> {
        let phrases = Arc::clone(&self.0);
        env.create_function_from_closure("scan", move |call| {
            on_text_with(&phrases, Cost(120), call.get(0)?, scan)
        })
    }
}

fn scan(phrases: &Phrases, text: &str) -> std::result::Result<Option<RuleScan>, Failure> {
    let found = phrases.find(text).map_err(Failure::in_search)?;
    let found: Vec<_> = found.into_iter().map(|found| (0, found.range, None)).collect();
    Ok(rule_scan(text, &found, false))
}

/// Orders to a model that have no business in the description of a tool.
#[napi]
pub struct Orders(Arc<Phrases>);

#[napi]
impl Orders {
    #[napi(constructor)]
    pub fn new(env: &Env) -> Result<Self> {
        at_once(env, || Ok(Self(phrases::orders()?)))
    }

    /// The ids of the phrases; the rule of a match is an index of this list.
    #[napi(getter)]
    pub fn ids(&self) -> Vec<String> {
        self.0.ids().into_iter().map(str::to_owned).collect()
    }

    /// The function that scans a text and its views; it gives null where nothing is found.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Answer<'static, Option<RuleScan>>>> {
        let phrases = Arc::clone(&self.0);
        env.create_function_from_closure("scan", move |call| {
            on_text_with(&phrases, Cost(2000), call.get(0)?, scan_views)
        })
    }
}

fn scan_views(phrases: &Phrases, text: &str) -> std::result::Result<Option<RuleScan>, Failure> {
    let found = phrases.find_across_views(text).map_err(Failure::in_search)?;
    Ok(rule_scan(text, &in_views(found), false))
}
