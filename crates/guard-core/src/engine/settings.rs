//! How an engine is set up.

use std::path::PathBuf;

use super::error::EngineError;

/// How an engine is set up. Engines of equal settings share their threads and models; see [`Engine`](super::Engine).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where the ONNX Runtime library may be; the first file that exists is taken.
    pub libraries: Vec<PathBuf>,
    /// Execution providers in order of preference, by short or full name; an empty list means the CPU.
    pub providers: Vec<String>,
    /// Threads in all for inference; `None` means the physical cores, or fewer where the process may not use them all.
    pub threads: Option<usize>,
}

/// More threads than these for one run bring little: a row has a few hundred tokens.
const MOST_PER_RUN: usize = 8;

/// Threads for inference: as many runs go on at a time.
///
/// # Errors
/// [`EngineError::Setting`] for no thread.
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

/// Threads that a run may use while the others have nothing to do.
pub(super) fn per_run(threads: usize) -> usize {
    threads.min(MOST_PER_RUN)
}
