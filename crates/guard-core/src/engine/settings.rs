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

/// How the threads for inference are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// Threads in all.
    pub total: usize,
    /// Runs that go on at the same time.
    pub workers: usize,
    /// Threads of each of these runs.
    pub per_worker: usize,
}

/// More sessions of one model than this would cost more memory than they bring.
const MOST_WORKERS: usize = 16;

impl Threads {
    pub(super) fn new(total: Option<usize>) -> Result<Self, EngineError> {
        let total = match total {
            Some(0) => {
                return Err(EngineError::Setting {
                    name: "threads".into(),
                    message: "must be at least 1".into(),
                });
            }
            Some(total) => total,
            None => std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(num_cpus::get_physical()),
        };
        let per_worker = total.div_ceil(MOST_WORKERS);
        Ok(Self {
            total,
            workers: total / per_worker,
            per_worker,
        })
    }
}
