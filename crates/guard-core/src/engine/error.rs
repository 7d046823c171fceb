//! What can go wrong between a text and its scores.

use std::path::PathBuf;

use crate::model_files::ModelFileError;
use crate::tokens::TokenizeError;

/// An error of loading or running a model. Every variant says what to do about it, or what was at fault.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No ONNX Runtime library was found or it could not be loaded.
    #[error(
        "the ONNX Runtime library could not be loaded: {message}; install the package onnxruntime-node, or set \
         GUARD_ONNX_LIBRARY to the path of the library"
    )]
    Runtime {
        /// What was tried, and how each attempt failed.
        message: String,
    },
    /// Another ONNX Runtime library is loaded already: a process can have only one.
    #[error(
        "the ONNX Runtime library {} cannot be loaded: this process has loaded {} already, and can have only one",
        asked.display(),
        loaded.display()
    )]
    OtherLibrary {
        /// The library that was asked for.
        asked: PathBuf,
        /// The library that this process uses.
        loaded: PathBuf,
    },
    /// An execution provider was asked for that this runtime library does not bring.
    #[error("the execution provider {asked} is not available; available are: {}", available.join(", "))]
    ProviderUnavailable {
        /// The provider as it was asked for.
        asked: String,
        /// Full names of the providers of the loaded library.
        available: Vec<String>,
    },
    /// An execution provider that is there did not start, for want of a driver or a device.
    #[error("the execution providers {} did not start: {message}", providers.join(", "))]
    ProviderFailed {
        /// Full names of the providers that were asked for.
        providers: Vec<String>,
        /// The reason, from ONNX Runtime.
        message: String,
    },
    /// A setting of the engine has a value that makes no sense.
    #[error("{name}: {message}")]
    Setting {
        /// The name of the setting, as its user knows it.
        name: String,
        /// What is wrong with the value.
        message: String,
    },
    /// A file of the model folder is missing or cannot be used.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// The tokenizer could not be loaded, or refused a text.
    #[error(transparent)]
    Tokenize(#[from] TokenizeError),
    /// Inference failed.
    #[error("inference failed: {message}")]
    Inference {
        /// The reason.
        message: String,
    },
    /// The queue of the model is full; trying again later may work.
    #[error("the model is overloaded: {capacity} texts are waiting already")]
    Overloaded {
        /// The number of texts that may wait.
        capacity: usize,
    },
    /// The call was aborted by its caller.
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
