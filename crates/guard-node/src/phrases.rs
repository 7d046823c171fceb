//! Phrases that show the intent of a text.

use guard_core::rules::phrases::{EmbeddedPhrases, HIJACKS, ORDERS, PhraseMatch, REFUSALS};
use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text, on_text_if_ready};
use crate::error::{Failure, at_once};
use crate::rules::{RuleScan, in_views, rule_scan};

/// A JavaScript function that scans a text.
type Scanner<'env> = Function<'env, String, Answer<'static, Option<RuleScan>>>;

/// Phrases of refusals.
#[napi]
#[derive(Default)]
pub struct Refusals;

#[napi]
impl Refusals {
    /// Creates the phrases; they are parsed on the first scan.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self
    }

    /// Returns a function that scans a text; it returns null if nothing is found. All matches have rule 0.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Scanner<'env>> {
        scanner_for(&REFUSALS, env)
    }
}

/// Instructions to ignore the task and output dictated words.
#[napi]
#[derive(Default)]
pub struct Hijacks;

#[napi]
impl Hijacks {
    /// Creates the phrases; they are parsed on the first scan.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self
    }

    /// Returns a function that scans a text without its views; it returns null if nothing is found. All matches have
    /// rule 0.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Scanner<'env>> {
        scanner_for(&HIJACKS, env)
    }
}

fn scanner_for<'env>(known: &'static EmbeddedPhrases, env: &'env Env) -> Result<Scanner<'env>> {
    env.create_function_from_closure("scan", move |call| {
        let find = move |text: &str| {
            let found = known.get()?.find(text).map_err(Failure::in_search)?;
            Ok(scanned(text, found))
        };
        let find_if_ready = |text: &str| {
            let found = known.find_if_ready(text).map_err(Failure::in_search)?;
            Ok(found.map(|found| scanned(text, found)))
        };
        on_text_if_ready(Cost(20), call.get(0)?, find_if_ready, find)
    })
}

fn scanned(text: &str, found: Vec<PhraseMatch>) -> Option<RuleScan> {
    let found: Vec<_> = found.into_iter().map(|found| (0, found.range, None)).collect();
    rule_scan(text, &found)
}

/// Instructions to a model that do not belong in a tool description.
#[napi]
pub struct Orders;

#[napi]
impl Orders {
    #[napi(constructor)]
    pub fn new(env: &Env) -> Result<Self> {
        at_once(env, || Ok(ORDERS.get().map(|_| Self)?))
    }

    /// The ids of the phrases; the rule of a match is an index in this list.
    #[napi(getter)]
    pub fn ids(&self, env: &Env) -> Result<Vec<String>> {
        at_once(env, || Ok(ORDERS.get()?.ids().into_iter().map(str::to_owned).collect()))
    }

    /// Returns a function that scans a text and its views; it returns null if nothing is found.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Scanner<'env>> {
        env.create_function_from_closure("scan", |call| {
            on_text(Cost(2000), call.get(0)?, |text| {
                let found = ORDERS.get()?.find_in_views(text).map_err(Failure::in_search)?;
                Ok(rule_scan(text, &in_views(found)))
            })
        })
    }
}
