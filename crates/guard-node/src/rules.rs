//! Rules: regular expressions, substrings and token limits.
//!
//! Each comes in two forms: at once for texts that take microseconds, and off the event loop for long ones.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use guard_core::rules::across::{self, Sighting};
use guard_core::rules::regex::{self, PatternError, Patterns};
use guard_core::rules::substrings::{self, Substrings};
use guard_core::text::redact::{REDACTED, redact};
use guard_core::tokens::limit::Encoding;
use napi::bindgen_prelude::{AsyncTask, FnArgs, Function};
use napi::{Env, JsString, Result, Task};
use napi_derive::napi;

use crate::error;
use crate::js_text::{to_string, with_text};
use crate::off_thread::OffThread;
use crate::places::{Span, place, spans};

/// A match of the rule with this index.
#[napi(object)]
pub struct RuleMatch {
    pub start: u32,
    pub end: u32,
    pub rule: u32,
    /// How the text was read to find it; absent where it stands there as it is.
    pub view: Option<String>,
}

/// What matched, and the text with the matches replaced.
#[napi(object)]
pub struct RuleScan {
    pub matches: Vec<RuleMatch>,
    /// Absent where nothing was to be replaced.
    pub redacted: Option<String>,
}

/// A match before its offsets are converted: the rule, where, and the reading that it was found in.
type Found = (usize, Range<usize>, Option<String>);

fn in_text<M: across::RuleMatch>(found: Vec<M>) -> Vec<Found> {
    found
        .into_iter()
        .map(|found| (found.rule(), found.range(), None))
        .collect()
}

fn in_views<M: across::RuleMatch>(sightings: Vec<Sighting<M>>) -> Vec<Found> {
    sightings
        .into_iter()
        .map(|sighting| (sighting.found.rule(), sighting.range, sighting.view))
        .collect()
}

fn rule_scan(text: &str, found: Vec<Found>, replace: bool) -> Option<RuleScan> {
    if found.is_empty() {
        return None;
    }
    let redacted = (replace && found.iter().any(|(_, range, _)| !range.is_empty())).then(|| {
        let spans: Vec<Range<usize>> = found.iter().map(|(_, range, _)| range.clone()).collect();
        redact(text, &spans, REDACTED)
    });
    let places = spans(text, found.iter().map(|(_, range, _)| range.clone()));
    let matches = found
        .into_iter()
        .zip(places)
        .map(|((rule, _, view), Span { start, end })| RuleMatch {
            start,
            end,
            rule: rule as u32,
            view,
        })
        .collect();
    Some(RuleScan { matches, redacted })
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

/// The index of the pattern at fault stands between code and message: `GUARD_PATTERN|2|...`.
fn pattern_error(cause: PatternError) -> napi::Error {
    let (pattern, message) = match &cause {
        PatternError::Syntax {
            pattern,
            message,
            position: Some(position),
        } => (*pattern, format!("{message} (at offset {position})")),
        PatternError::Syntax {
            pattern,
            message,
            position: None,
        } => (*pattern, message.clone()),
        PatternError::StepLimit { pattern }
        | PatternError::TooLarge { pattern }
        | PatternError::TooMany { pattern } => (*pattern, cause.to_string()),
    };
    error("GUARD_PATTERN", format_args!("{pattern}|{message}"))
}

/// How a list of patterns is applied.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct PatternOptions {
    pub match_type: PatternMatchType,
    /// Absent: that of Python.
    pub syntax: Option<PatternSyntax>,
    /// Whether other readings of the text are searched too.
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
    pub fn new(patterns: Vec<String>, options: PatternOptions) -> Result<Self> {
        let syntax = options.syntax.map_or(regex::Syntax::Python, Into::into);
        let patterns = Arc::new(Patterns::compile_as(&patterns, syntax).map_err(pattern_error)?);
        Ok(Self { patterns, options })
    }

    /// Whether a scan may take long even in a short text.
    #[napi(getter)]
    pub fn costly(&self) -> bool {
        self.patterns.are_costly()
    }

    /// The function that scans a short text at once; null where nothing matches. Calling a method takes longer than such a scan.
    #[napi(ts_return_type = "(text: string) => RuleScan | null")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Option<RuleScan>>> {
        let (patterns, options) = (Arc::clone(&self.patterns), self.options);
        env.create_function_from_closure("scan", move |call| {
            with_text(&call.get(0)?, |text| scan_patterns(&patterns, text, options))?
        })
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<RuleScan | null>")]
    pub fn scan_long(
        &self,
        #[napi(ts_arg_type = "string")] text: JsString<'_>,
    ) -> Result<AsyncTask<OffThread<Option<RuleScan>>>> {
        let (patterns, options, text) = (Arc::clone(&self.patterns), self.options, to_string(&text)?);
        Ok(OffThread::new(move || scan_patterns(&patterns, &text, options)))
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
                let found = patterns.find_within(text, match_type, limit);
                found.map(|found| !found.is_empty()).map_err(pattern_error)
            })?
        })
    }
}

fn scan_patterns(patterns: &Patterns, text: &str, options: PatternOptions) -> Result<Option<RuleScan>> {
    let match_type = options.match_type.into();
    let found = if options.deobfuscate {
        patterns.find_across_views(text, match_type).map(in_views)
    } else {
        patterns.find(text, match_type).map(in_text)
    };
    Ok(rule_scan(text, found.map_err(pattern_error)?, options.replace))
}

/// How a list of substrings is looked for.
#[napi(object)]
#[derive(Clone, Copy)]
pub struct SubstringOptions {
    /// Whether only whole words match.
    pub words: bool,
    pub case_sensitive: bool,
    /// Whether all occurrences are found, or the first one of each substring.
    pub all: bool,
    /// Whether other readings of the text are searched too.
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
    pub fn new(substrings: Vec<String>, options: SubstringOptions) -> Result<Self> {
        let match_type = if options.words {
            substrings::MatchType::Word
        } else {
            substrings::MatchType::Str
        };
        let substrings = Substrings::new(&substrings, match_type, options.case_sensitive)
            .map_err(|cause| error("GUARD_VALIDATION", cause))?;
        Ok(Self {
            substrings: Arc::new(substrings),
            options,
        })
    }

    /// The function that scans a short text at once; null where nothing is found. Calling a method takes longer than such a scan.
    #[napi(ts_return_type = "(text: string) => RuleScan | null")]
    pub fn scanner<'env>(&self, env: &'env Env) -> Result<Function<'env, String, Option<RuleScan>>> {
        let (substrings, options) = (Arc::clone(&self.substrings), self.options);
        env.create_function_from_closure("scan", move |call| {
            with_text(&call.get(0)?, |text| scan_substrings(&substrings, text, options))
        })
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<RuleScan | null>")]
    pub fn scan_long(
        &self,
        #[napi(ts_arg_type = "string")] text: JsString<'_>,
    ) -> Result<AsyncTask<OffThread<Option<RuleScan>>>> {
        let (substrings, options, text) = (Arc::clone(&self.substrings), self.options, to_string(&text)?);
        Ok(OffThread::new(move || Ok(scan_substrings(&substrings, &text, options))))
    }
}

fn scan_substrings(substrings: &Substrings, text: &str, options: SubstringOptions) -> Option<RuleScan> {
    let found = if options.deobfuscate {
        in_views(substrings.find_across_views(text, options.all))
    } else {
        in_text(substrings.find(text, options.all))
    };
    rule_scan(text, found, options.replace)
}

/// The longest beginning of a text that keeps to a limit.
#[napi(object)]
pub struct TokenCount {
    /// Tokens of the whole text.
    pub tokens: u32,
    /// Where the beginning ends, in UTF-16 code units.
    pub end: u32,
}

/// A tokenizer that counts.
#[napi]
pub struct TokenEncoding(Arc<Encoding>);

#[napi]
impl TokenEncoding {
    /// Counts the tokens of a text and finds its longest beginning of at most `limit` whole tokens.
    #[napi]
    pub fn count(&self, text: String, limit: u32) -> TokenCount {
        count_tokens(&self.0, &text, limit)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<TokenCount>")]
    pub fn count_long(&self, text: String, limit: u32) -> AsyncTask<OffThread<TokenCount>> {
        let encoding = Arc::clone(&self.0);
        OffThread::new(move || Ok(count_tokens(&encoding, &text, limit)))
    }
}

fn count_tokens(encoding: &Encoding, text: &str, limit: u32) -> TokenCount {
    let truncation = encoding.truncate(text, limit as usize);
    TokenCount {
        tokens: truncation.tokens as u32,
        end: place(text, truncation.end),
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

/// Loading of an encoding, whose tables take a while to build.
pub struct LoadEncoding {
    source: EncodingSource,
    name: String,
}

impl Task for LoadEncoding {
    type Output = Encoding;
    type JsValue = TokenEncoding;

    fn compute(&mut self) -> Result<Encoding> {
        match self.source {
            EncodingSource::Encoding => Encoding::by_name(&self.name),
            EncodingSource::Model => Encoding::for_model(&self.name),
            EncodingSource::File => Encoding::from_tokenizer_file(Path::new(&self.name)),
        }
        .map_err(|cause| error("GUARD_VALIDATION", cause))
    }

    fn resolve(&mut self, _: Env, encoding: Encoding) -> Result<TokenEncoding> {
        Ok(TokenEncoding(Arc::new(encoding)))
    }
}

/// Loads a token encoding.
#[napi(ts_return_type = "Promise<TokenEncoding>")]
pub fn load_encoding(source: EncodingSource, name: String) -> AsyncTask<LoadEncoding> {
    AsyncTask::new(LoadEncoding { source, name })
}
