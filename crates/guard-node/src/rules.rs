//! Rules: regular expressions, substrings and token limits.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use guard_core::rules::across::{self, Sighting};
use guard_core::rules::regex::{self, Patterns};
use guard_core::rules::substrings::{self, Substrings};
use guard_core::text::redact::{REDACTED, redact};
use guard_core::tokens::limit::Encoding;
use napi::bindgen_prelude::{FnArgs, Function, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, off_thread, on_text_with};
use crate::error::{Failure, at_once};
use crate::js_text::with_text;
use crate::spans::{Names, Rows, position, rows};

/// What views add to the [`Cost`] of a search.
const VIEWS: usize = 60;

/// What matched, and the text with the matches replaced.
#[napi(object)]
pub struct RuleScan {
    /// The start and the end of each match, its rule, and the index of the view that it was found in, or -1 where the text has it as it
    /// is written.
    pub matches: Rows,
    /// The views in which something was found. Absent where there are none.
    pub views: Option<Vec<String>>,
    /// Absent where nothing was to be replaced.
    pub redacted: Option<String>,
}

/// A match before its offsets are converted: the rule, the bytes, and the view that it was found in.
pub(crate) type Found = (usize, Range<usize>, Option<String>);

fn in_text<M: across::RuleMatch>(found: Vec<M>) -> Vec<Found> {
    found
        .into_iter()
        .map(|found| (found.rule(), found.range(), None))
        .collect()
}

pub(crate) fn in_views<M: across::RuleMatch>(sightings: Vec<Sighting<M>>) -> Vec<Found> {
    sightings
        .into_iter()
        .map(|sighting| (sighting.found.rule(), sighting.range, sighting.view))
        .collect()
}

pub(crate) fn rule_scan(text: &str, found: &[Found], replace: bool) -> Option<RuleScan> {
    if found.is_empty() {
        return None;
    }
    let redacted = (replace && found.iter().any(|(_, range, _)| !range.is_empty())).then(|| {
        let spans: Vec<Range<usize>> = found.iter().map(|(_, range, _)| range.clone()).collect();
        redact(text, &spans, REDACTED)
    });
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
        redacted,
    })
}

/// What a regular expression has to match.
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

/// How a list of patterns is applied.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct PatternOptions {
    pub match_type: PatternMatchType,
    /// Absent: that of Python.
    pub syntax: Option<PatternSyntax>,
    /// Whether views of the text are searched too.
    pub deobfuscate: bool,
    /// Whether matches are replaced.
    pub replace: bool,
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

    /// The function that scans a text; it gives null where nothing matches. This is no method `scan`, since napi's call of a method
    /// takes 230 ns longer than that of a function: more than the scan of a short text, which takes 120 ns.
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

    /// The function that says of a text whether a pattern matches it as it is, or throws where that takes longer than about
    /// so many milliseconds.
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
        in_views(patterns.find_across_views(text, match_type)?)
    } else {
        in_text(patterns.find(text, match_type)?)
    };
    Ok(rule_scan(text, &found, options.replace))
}

/// Where a substring counts: anywhere, as whole words, or as whole words with any run of white space for white space.
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

/// How a list of substrings is looked for.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct SubstringOptions {
    pub match_type: SubstringMatchType,
    pub case_sensitive: bool,
    /// Whether all occurrences are found, or the first one of each substring.
    pub all: bool,
    /// Whether views of the text are searched too.
    pub deobfuscate: bool,
    /// Whether occurrences are replaced.
    pub replace: bool,
}

/// Substrings to look for.
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

    /// The function that scans a text; it gives null where nothing is found. This is no method `scan`, since napi's call of a method
    /// takes 230 ns longer than that of a function: more than the scan of a short text, which takes 120 ns.
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
        in_views(substrings.find_across_views(text, options.all))
    } else {
        in_text(substrings.find(text, options.all))
    };
    rule_scan(text, &found, options.replace)
}

/// A tokenizer that counts.
#[napi]
pub struct TokenEncoding(Arc<Encoding>);

#[napi]
impl TokenEncoding {
    /// The UTF-8 bytes of the longest text that surely keeps to `limit` tokens, so that it need not be counted.
    #[napi]
    pub fn surely_within(&self, limit: u32) -> u32 {
        u32::try_from(self.0.surely_within(limit as usize)).unwrap_or(limit)
    }

    /// The function that counts the tokens of a text of more than `limit` of them, and finds its longest beginning of at most so many whole
    /// tokens: it gives their number, and the position where the beginning ends, in UTF-16 code units. It gives null for a text that keeps
    /// to the limit.
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

/// Where an encoding comes from.
#[napi(string_enum = "lowercase")]
pub enum EncodingSource {
    /// A tiktoken encoding by name.
    Encoding,
    /// The encoding of an OpenAI model.
    Model,
    /// A tokenizer.json.
    File,
}

/// Loads a token encoding, whose tables take a while to build.
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
