//! Converts errors of guard-core to JavaScript `Error` objects.
//!
//! An error that this crate throws or rejects a promise with is an `Error` with a plain `message`, a `code` of
//! [`Code`], and a `path` if one value among many is invalid.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use guard_core::engine::EngineError;
use guard_core::lang::code::CodeFinderError;
use guard_core::model_files::ModelFileError;
use guard_core::rules::regex::PatternError;
use guard_core::rules::substrings::SubstringsError;
use guard_core::rules::{RuleError, RuleErrorKind};
use guard_core::tokens::TokenizeError;
use guard_core::tokens::limit::EncodingError;
use napi::bindgen_prelude::JsObjectValue;
use napi::{Env, Error, JsValue};
use napi_derive::napi;

/// The codes of errors, for programs. They are stable; `ErrorCode` in TypeScript adds those that TypeScript throws.
#[napi(string_enum, js_name = "NativeErrorCode")]
#[derive(Clone, Copy)]
pub enum Code {
    /// An argument is invalid; `path` names it.
    #[napi(value = "GUARD_VALIDATION")]
    Validation,
    /// A pattern is invalid, or too slow on this text; `path` names it.
    #[napi(value = "GUARD_PATTERN")]
    Pattern,
    /// A model file is missing or invalid.
    #[napi(value = "GUARD_MODEL")]
    Model,
    /// The ONNX Runtime library can't be loaded, or embedded data is invalid.
    #[napi(value = "GUARD_RUNTIME")]
    Runtime,
    /// An execution provider is not available or did not start.
    #[napi(value = "GUARD_PROVIDER_UNAVAILABLE")]
    ProviderUnavailable,
    /// A setting of the engine is invalid.
    #[napi(value = "GUARD_SETTING")]
    Setting,
    /// A tokenizer rejected a text.
    #[napi(value = "GUARD_TOKENIZATION")]
    Tokenization,
    /// ONNX Runtime failed to run a model.
    #[napi(value = "GUARD_INFERENCE")]
    Inference,
    /// The queue of a model is full. A retry later may succeed.
    #[napi(value = "GUARD_OVERLOADED")]
    Overloaded,
    /// The caller aborted the call.
    #[napi(value = "GUARD_ABORTED")]
    Aborted,
    /// The model is closed.
    #[napi(value = "GUARD_CLOSED")]
    Closed,
    /// A bug: code of the addon panicked. Only this one call is affected.
    #[napi(value = "GUARD_PANIC")]
    Panic,
}

/// The conversion of an error of guard-core to JavaScript. Its message is its `Display` text.
pub trait IntoJs: Display {
    /// The code of the error.
    fn code(&self) -> Code;

    /// The path of the invalid value in the arguments, such as `patterns.2.score`; `None` if no single value is at
    /// fault.
    fn path(&self) -> Option<String> {
        None
    }

    /// The message for users, without code and path.
    fn message(&self) -> String {
        self.to_string()
    }
}

/// An error that can be created on any thread; only [`Failure::into_js`] needs the JavaScript thread.
pub struct Failure {
    code: Code,
    path: Option<String>,
    message: String,
}

impl Failure {
    /// Creates an error without a path.
    pub fn new(code: Code, message: impl Display) -> Self {
        Self {
            code,
            path: None,
            message: message.to_string(),
        }
    }

    /// Creates the error of a search: the rules are valid, but the search does not finish on this text.
    pub fn in_search(cause: impl IntoJs) -> Self {
        Self {
            code: Code::Pattern,
            ..cause.into()
        }
    }

    /// Converts the error to an `Error` object, to throw or to reject a promise with.
    pub fn into_js(self, env: &Env) -> Error {
        self.object(env).unwrap_or_else(|error| error)
    }

    fn object(self, env: &Env) -> napi::Result<Error> {
        let mut object = env.create_error(Error::from_reason(self.message))?;
        object.set_named_property("code", self.code)?;
        if let Some(path) = self.path {
            object.set_named_property("path", path)?;
        }
        Ok(Error::from_unknown_without_coercion(object.to_unknown()))
    }
}

impl<E: IntoJs> From<E> for Failure {
    fn from(cause: E) -> Self {
        Self {
            code: cause.code(),
            path: cause.path().filter(|path| !path.is_empty()),
            message: cause.message(),
        }
    }
}

/// Runs `work`, and converts a panic to an error.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Failure::new(Code::Panic, "internal error in a scan")))
}

/// Runs `work` on the JavaScript thread, and throws its error.
pub fn at_once<T>(env: &Env, work: impl FnOnce() -> Result<T, Failure>) -> napi::Result<T> {
    caught(work).map_err(|failure| failure.into_js(env))
}

impl IntoJs for ModelFileError {
    fn code(&self) -> Code {
        Code::Model
    }
}

impl IntoJs for EngineError {
    fn code(&self) -> Code {
        match self {
            Self::ProviderUnavailable { .. } | Self::ProviderFailed { .. } => Code::ProviderUnavailable,
            Self::Setting { .. } => Code::Setting,
            Self::File(_) => Code::Model,
            Self::Tokenize(TokenizeError::Refused { .. }) => Code::Tokenization,
            Self::Tokenize(_) => Code::Model,
            Self::Inference { .. } => Code::Inference,
            Self::Overloaded { .. } => Code::Overloaded,
            Self::Aborted => Code::Aborted,
            Self::Closed => Code::Closed,
            Self::Panic { .. } => Code::Panic,
            _ => Code::Runtime,
        }
    }
}

impl IntoJs for PatternError {
    fn code(&self) -> Code {
        Code::Pattern
    }

    fn path(&self) -> Option<String> {
        let (Self::Syntax { pattern, .. }
        | Self::StepLimit { pattern }
        | Self::TooLarge { pattern }
        | Self::NotLinear { pattern }
        | Self::TooMany { pattern }) = self;
        Some(format!("patterns.{pattern}"))
    }

    fn message(&self) -> String {
        match self {
            Self::Syntax {
                message,
                position: Some(position),
                ..
            } => format!("{message} (at offset {position})"),
            Self::Syntax { message, .. } => message.clone(),
            _ => self.to_string(),
        }
    }
}

impl IntoJs for RuleError {
    fn code(&self) -> Code {
        Code::Validation
    }

    fn path(&self) -> Option<String> {
        Some(self.path.clone())
    }
}

/// An error of embedded rules.
impl IntoJs for RuleErrorKind {
    fn code(&self) -> Code {
        Code::Runtime
    }
}

impl IntoJs for CodeFinderError {
    fn code(&self) -> Code {
        Code::Model
    }
}

impl IntoJs for EncodingError {
    fn code(&self) -> Code {
        Code::Validation
    }
}

impl IntoJs for SubstringsError {
    fn code(&self) -> Code {
        Code::Validation
    }
}
