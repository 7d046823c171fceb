//! Errors of the engine.

use std::path::PathBuf;

use crate::model_files::ModelFileError;
use crate::tokens::TokenizeError;

/// An error of loading or running a model. Every message names the cause or the remedy.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No ONNX Runtime library was found or it could not be loaded.
    #[error(
        "the ONNX Runtime library could not be loaded: {message}; install the package onnxruntime-node, or set \
         GUARD_ONNX_LIBRARY to the path of the library"
    )]
    Runtime {
        /// The attempts and their errors.
        message: String,
    },
    /// Another ONNX Runtime library is already loaded; a process can have only one.
    #[error(
        "the ONNX Runtime library {} cannot be loaded: this process has loaded {} already, and can have only one",
        asked.display(),
        loaded.display()
    )]
    OtherLibrary {
        /// The requested library.
        asked: PathBuf,
        /// The library that this process uses.
        loaded: PathBuf,
    },
    /// The library lacks a requested execution provider.
    #[error("the execution provider {asked} is not available; available are: {}", available.join(", "))]
    ProviderUnavailable {
        /// The provider as requested.
        asked: String,
        /// The full names of the library's providers.
        available: Vec<String>,
    },
    /// An execution provider did not start, for lack of a driver or a device.
    #[error("the execution providers {} did not start: {message}", providers.join(", "))]
    ProviderFailed {
        /// The full names of the requested providers.
        providers: Vec<String>,
        /// The reason, from ONNX Runtime.
        message: String,
    },
    /// A setting of the engine has an invalid value.
    #[error("{name}: {message}")]
    Setting {
        /// The name of the setting, as users know it.
        name: String,
        /// The reason.
        message: String,
    },
    /// A file of the model folder is missing or invalid.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The tokenizer could not be loaded, or rejected a text.
    #[error(transparent)]
    Tokenize(#[from] TokenizeError),
    /// Inference failed.
    #[error("inference failed: {message}")]
    Inference {
        /// The reason.
        message: String,
    },
    /// The model's queue is full. A retry later may succeed.
    #[error("the model is overloaded: {capacity} texts are waiting already")]
    Overloaded {
        /// The most waiting texts.
        capacity: usize,
    },
    /// The caller aborted the call.
    #[error("the call was aborted")]
    Aborted,
    /// The model or the process is closing.
    #[error("the model is closed")]
    Closed,
    /// A bug: code of the engine panicked. Only this one call is affected.
    #[error("internal error: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
}

impl EngineError {
    /// The error for a caught panic.
    pub(crate) fn from_panic(payload: Box<dyn std::any::Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".to_owned());
        Self::Panic { message }
    }
}
