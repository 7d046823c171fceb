//! Settings of an engine.

use std::path::PathBuf;

use super::error::EngineError;

/// Settings of an engine. Engines with equal settings share their threads and models; see [`Engine`](super::Engine).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Possible paths of the ONNX Runtime library; the first existing file is loaded.
    pub libraries: Vec<PathBuf>,
    /// Execution providers in order of preference, by short or full name; empty for the CPU.
    pub providers: Vec<String>,
    /// The number of inference threads; `None` for the physical cores, or fewer if the process may not use them all.
    pub threads: Option<usize>,
}

/// The most threads of one run. More bring little: a row has a few hundred tokens.
const MAX_PER_RUN: usize = 8;

/// The number of inference threads, and so of concurrent runs.
///
/// # Errors
/// [`EngineError::Setting`] for 0.
pub(super) fn threads(asked: Option<usize>) -> Result<usize, EngineError> {
    match asked {
        Some(0) => Err(EngineError::Setting {
            name: "threads".into(),
            message: "must be at least 1".into(),
        }),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(num_cpus::get_physical())),
    }
}

/// The threads that a run may use while the others are idle.
pub(super) fn per_run(threads: usize) -> usize {
    threads.min(MAX_PER_RUN)
}
