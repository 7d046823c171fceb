//! Rules: regular expressions, substrings and token limits.
//!
//! Each comes in two forms: at once for texts that take microseconds, and off the event loop for long ones.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use guard_core::rules::across::{self, Sighting};
use guard_core::rules::regex::{self, PatternError, Patterns};
use guard_core::rules::substrings::{self, Substrings};
use guard_core::text::offsets::{self, Unit};
use guard_core::text::redact::{REDACTED, redact};
use guard_core::tokens::limit::Encoding;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::error;
use crate::off_thread::OffThread;

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

fn rule_scan(text: &str, found: Vec<Found>, replace: bool) -> RuleScan {
    let redacted = (replace && found.iter().any(|(_, range, _)| !range.is_empty())).then(|| {
        let spans: Vec<Range<usize>> = found.iter().map(|(_, range, _)| range.clone()).collect();
        redact(text, &spans, REDACTED)
    });
    let mut bytes: Vec<usize> = found
        .iter()
        .flat_map(|(_, range, _)| [range.start, range.end])
        .collect();
    offsets::convert(text, Unit::Utf16, &mut bytes);
    let matches = found
        .into_iter()
        .zip(bytes.chunks_exact(2))
        .map(|((rule, _, view), at)| RuleMatch {
            start: at[0] as u32,
            end: at[1] as u32,
            rule: rule as u32,
            view,
        })
        .collect();
    RuleScan { matches, redacted }
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

/// Compiled regular expressions.
#[napi]
pub struct PatternSet(Arc<Patterns>);

#[napi]
impl PatternSet {
    /// Compiles the patterns.
    #[napi(constructor)]
    pub fn new(patterns: Vec<String>) -> Result<Self> {
        Ok(Self(Arc::new(Patterns::compile(&patterns).map_err(pattern_error)?)))
    }

    /// Whether a scan may take long even in a short text.
    #[napi(getter)]
    pub fn costly(&self) -> bool {
        self.0.are_costly()
    }

    /// Finds matches, in other readings of the text too with `deobfuscate`, and replaces them if so asked.
    #[napi]
    pub fn scan(
        &self,
        text: String,
        match_type: PatternMatchType,
        deobfuscate: bool,
        replace: bool,
    ) -> Result<RuleScan> {
        scan_patterns(&self.0, &text, match_type, deobfuscate, replace)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<RuleScan>")]
    pub fn scan_long(
        &self,
        text: String,
        match_type: PatternMatchType,
        deobfuscate: bool,
        replace: bool,
    ) -> AsyncTask<OffThread<RuleScan>> {
        let patterns = Arc::clone(&self.0);
        OffThread::new(move || scan_patterns(&patterns, &text, match_type, deobfuscate, replace))
    }
}

fn scan_patterns(
    patterns: &Patterns,
    text: &str,
    match_type: PatternMatchType,
    deobfuscate: bool,
    replace: bool,
) -> Result<RuleScan> {
    let found = if deobfuscate {
        patterns.find_across_views(text, match_type.into()).map(in_views)
    } else {
        patterns.find(text, match_type.into()).map(in_text)
    };
    Ok(rule_scan(text, found.map_err(pattern_error)?, replace))
}

/// Substrings to look for.
#[napi]
pub struct SubstringSet(Arc<Substrings>);

#[napi]
impl SubstringSet {
    /// `words`: only whole words match.
    #[napi(constructor)]
    pub fn new(substrings: Vec<String>, words: bool, case_sensitive: bool) -> Result<Self> {
        let match_type = if words {
            substrings::MatchType::Word
        } else {
            substrings::MatchType::Str
        };
        Substrings::new(&substrings, match_type, case_sensitive)
            .map(|set| Self(Arc::new(set)))
            .map_err(|cause| error("GUARD_VALIDATION", cause))
    }

    /// Finds the first occurrence of each substring, or all of them, in other readings of the text too with `deobfuscate`,
    /// and replaces them if so asked.
    #[napi]
    pub fn scan(&self, text: String, all: bool, deobfuscate: bool, replace: bool) -> RuleScan {
        scan_substrings(&self.0, &text, all, deobfuscate, replace)
    }

    /// The same off the event loop.
    #[napi(ts_return_type = "Promise<RuleScan>")]
    pub fn scan_long(
        &self,
        text: String,
        all: bool,
        deobfuscate: bool,
        replace: bool,
    ) -> AsyncTask<OffThread<RuleScan>> {
        let substrings = Arc::clone(&self.0);
        OffThread::new(move || Ok(scan_substrings(&substrings, &text, all, deobfuscate, replace)))
    }
}

fn scan_substrings(substrings: &Substrings, text: &str, all: bool, deobfuscate: bool, replace: bool) -> RuleScan {
    let found = if deobfuscate {
        in_views(substrings.find_across_views(text, all))
    } else {
        in_text(substrings.find(text, all))
    };
    rule_scan(text, found, replace)
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
    let mut end = [truncation.end];
    offsets::convert(text, Unit::Utf16, &mut end);
    TokenCount {
        tokens: truncation.tokens as u32,
        end: end[0] as u32,
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
