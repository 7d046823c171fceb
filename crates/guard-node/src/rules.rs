//! Rules: regular expressions, substrings and token limits.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use guard_core::rules::regex::{self, Patterns};
use guard_core::rules::substrings::{self, Substrings};
use guard_core::rules::view_search::{self, ViewMatch};
use guard_core::tokens::limit::Encoding;
use napi::bindgen_prelude::{FnArgs, Function, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, off_thread, on_text_with};
use crate::error::{Failure, at_once};
use crate::js_text::with_text;
use crate::spans::{Names, Rows, position, rows};

/// The additional [`Cost`] of views.
const VIEWS: usize = 60;

/// The matches of rules in a text.
#[napi(object)]
pub struct RuleScan {
    /// For each match: the start, the end, the rule, and the index of its view, or -1 for the text itself.
    pub matches: Rows,
    /// The names of the views with matches. Absent if there are none.
    pub views: Option<Vec<String>>,
}

/// A match before conversion of its offsets: the rule, the bytes, and the view.
pub(crate) type Found = (usize, Range<usize>, Option<String>);

fn in_text<M: view_search::RuleMatch>(found: Vec<M>) -> Vec<Found> {
    found
        .into_iter()
        .map(|found| (found.rule(), found.range(), None))
        .collect()
}

pub(crate) fn in_views<M: view_search::RuleMatch>(matches: Vec<ViewMatch<M>>) -> Vec<Found> {
    matches
        .into_iter()
        .map(|view_match| (view_match.found.rule(), view_match.range, view_match.view))
        .collect()
}

pub(crate) fn rule_scan(text: &str, found: &[Found]) -> Option<RuleScan> {
    if found.is_empty() {
        return None;
    }
    let mut views = Names::default();
    let matches = rows(
        text,
        found,
        |(_, range, _)| range.clone(),
        |(rule, _, view)| [*rule as f64, views.index_of(view.as_deref())],
    );
    let views = views.into_list();
    Some(RuleScan {
        matches,
        views: (!views.is_empty()).then_some(views),
    })
}

/// How a regular expression matches.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum PatternMatchType {
    Search,
    Fullmatch,
    All,
}

impl From<PatternMatchType> for regex::MatchType {
    fn from(match_type: PatternMatchType) -> Self {
        match match_type {
            PatternMatchType::Search => Self::Search,
            PatternMatchType::Fullmatch => Self::FullMatch,
            PatternMatchType::All => Self::All,
        }
    }
}

/// The syntax of regular expressions; see `Syntax` of guard-core.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum PatternSyntax {
    Python,
    Ecmascript,
}

impl From<PatternSyntax> for regex::Syntax {
    fn from(syntax: PatternSyntax) -> Self {
        match syntax {
            PatternSyntax::Python => Self::Python,
            PatternSyntax::Ecmascript => Self::Ecmascript,
        }
    }
}

/// Options of a list of patterns.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct PatternOptions {
    pub match_type: PatternMatchType,
    /// Absent: Python.
    pub syntax: Option<PatternSyntax>,
    /// Whether to search the views of the text too.
    pub deobfuscate: bool,
}

/// Compiled regular expressions.
#[napi]
pub struct PatternSet {
    patterns: Arc<Patterns>,
    options: PatternOptions,
}

#[napi]
impl PatternSet {
    /// Compiles the patterns.
    #[napi(constructor)]
    pub fn new(env: &Env, patterns: Vec<String>, options: PatternOptions) -> Result<Self> {
        at_once(env, || {
            let syntax = options.syntax.map_or(regex::Syntax::Python, Into::into);
            let patterns = Arc::new(Patterns::compile_as(&patterns, syntax)?);
            Ok(Self { patterns, options })
        })
    }

    /// Returns a function that scans a text; it returns null without matches. A method `scan` would be slower: a method
    /// call through napi takes 230 ns longer than a function call, and the scan of a short text takes 120 ns.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Answer<'static, Option<RuleScan>>>> {
        let (patterns, options) = (Arc::clone(&self.patterns), self.options);
        let cost = match (patterns.are_costly(), options.deobfuscate) {
            (true, _) => Cost::HIGH,
            (false, false) => Cost(2 * (1 + patterns.count())),
            (false, true) => Cost(2 * (1 + patterns.count()) + VIEWS),
        };
        env.create_function_from_closure("scan", move |call| {
            on_text_with(&patterns, cost, call.get(0)?, move |patterns, text| {
                scan_patterns(patterns, text, options)
            })
        })
    }

    /// Returns a function that tests whether a pattern matches a text without its views. It throws if that takes longer
    /// than about the given milliseconds.
    #[napi(ts_return_type = "(text: string, limit: number) => boolean")]
    pub fn tester<'env>(&self, env: &'env Env) -> Result<Function<'env, FnArgs<(String, u32)>, bool>> {
        let patterns = Arc::clone(&self.patterns);
        let match_type = regex::MatchType::from(self.options.match_type);
        env.create_function_from_closure("test", move |call| {
            let limit = Duration::from_millis(u64::from(call.get::<u32>(1)?));
            with_text(&call.get(0)?, |text| {
                at_once(call.env, || {
                    Ok(!patterns.find_within(text, match_type, limit)?.is_empty())
                })
            })?
        })
    }
}

fn scan_patterns(
    patterns: &Patterns,
    text: &str,
    options: PatternOptions,
) -> std::result::Result<Option<RuleScan>, Failure> {
    let match_type = options.match_type.into();
    let found = if options.deobfuscate {
        in_views(patterns.find_in_views(text, match_type)?)
    } else {
        in_text(patterns.find(text, match_type)?)
    };
    Ok(rule_scan(text, &found))
}

/// Where a substring may occur: anywhere, as whole words, or as whole words with any white space.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum SubstringMatchType {
    Str,
    Word,
    Name,
}

impl From<SubstringMatchType> for substrings::MatchType {
    fn from(match_type: SubstringMatchType) -> Self {
        match match_type {
            SubstringMatchType::Str => Self::Str,
            SubstringMatchType::Word => Self::Word,
            SubstringMatchType::Name => Self::Name,
        }
    }
}

/// Options of a list of substrings.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct SubstringOptions {
    pub match_type: SubstringMatchType,
    pub case_sensitive: bool,
    /// Whether to find all occurrences, or the first one of each substring.
    pub all: bool,
    /// Whether to search the views of the text too.
    pub deobfuscate: bool,
}

/// Compiled substrings.
#[napi]
pub struct SubstringSet {
    substrings: Arc<Substrings>,
    options: SubstringOptions,
}

#[napi]
impl SubstringSet {
    #[napi(constructor)]
    pub fn new(env: &Env, substrings: Vec<String>, options: SubstringOptions) -> Result<Self> {
        at_once(env, || {
            let match_type = options.match_type.into();
            let substrings = Arc::new(Substrings::new(&substrings, match_type, options.case_sensitive)?);
            Ok(Self { substrings, options })
        })
    }

    /// Returns a function that scans a text; it returns null without occurrences. A method `scan` would be slower: a
    /// method call through napi takes 230 ns longer than a function call, and the scan of a short text takes 120 ns.
    #[napi(ts_return_type = "(text: string) => Answer<RuleScan | null>")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Answer<'static, Option<RuleScan>>>> {
        let (substrings, options) = (Arc::clone(&self.substrings), self.options);
        let cost = Cost(if options.deobfuscate { 20 + VIEWS } else { 20 });
        env.create_function_from_closure("scan", move |call| {
            on_text_with(&substrings, cost, call.get(0)?, move |substrings, text| {
                Ok(scan_substrings(substrings, text, options))
            })
        })
    }
}

fn scan_substrings(substrings: &Substrings, text: &str, options: SubstringOptions) -> Option<RuleScan> {
    let found = if options.deobfuscate {
        in_views(substrings.find_in_views(text, options.all))
    } else {
        in_text(substrings.find(text, options.all))
    };
    rule_scan(text, &found)
}

/// A token encoding for counting.
#[napi]
pub struct TokenEncoding(Arc<Encoding>);

#[napi]
impl TokenEncoding {
    /// The most UTF-8 bytes of a text that surely has at most `limit` tokens, so it need not be counted.
    #[napi]
    pub fn surely_within(&self, limit: u32) -> u32 {
        u32::try_from(self.0.surely_within(limit as usize)).unwrap_or(limit)
    }

    /// Returns a function that counts the tokens of a text with more than `limit` of them: it returns their number, and
    /// the end of the longest prefix within the limit, in UTF-16 code units. It returns null for a text within the
    /// limit.
    #[napi(ts_return_type = "(text: string) => Answer<[tokens: number, end: number] | null>")]
    pub fn counter<'env>(
        &self,
        env: &'env Env,
        limit: u32,
    ) -> Result<Function<'env, String, Answer<'static, Option<Vec<u32>>>>> {
        let encoding = Arc::clone(&self.0);
        env.create_function_from_closure("count", move |call| {
            on_text_with(&encoding, Cost(60), call.get(0)?, move |encoding, text| {
                let excess = encoding.excess(text, limit as usize);
                Ok(excess.map(|truncation| vec![truncation.tokens as u32, position(text, truncation.end)]))
            })
        })
    }
}

/// The source of an encoding.
#[napi(string_enum = "lowercase")]
pub enum EncodingSource {
    /// A tiktoken encoding by name.
    Encoding,
    /// The encoding of an OpenAI model.
    Model,
    /// A tokenizer.json.
    File,
}

/// Loads a token encoding.
#[napi]
pub fn load_encoding(env: &Env, source: EncodingSource, name: String) -> Result<PromiseRaw<'_, TokenEncoding>> {
    off_thread(env, move || {
        let encoding = match source {
            EncodingSource::Encoding => Encoding::by_name(&name),
            EncodingSource::Model => Encoding::for_model(&name),
            EncodingSource::File => Encoding::from_tokenizer_file(Path::new(&name)),
        };
        Ok(TokenEncoding(Arc::new(encoding?)))
    })
}
