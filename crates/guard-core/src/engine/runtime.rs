//! The process's ONNX Runtime library and its execution providers.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use ort::ep::{self, ExecutionProvider, ExecutionProviderDispatch};

use super::EngineError;

/// A known execution provider: its short name, its full name, and how to request it.
struct Provider {
    short: &'static str,
    full: &'static str,
    is_compiled_in: fn() -> bool,
    /// The provider's library next to that of ONNX Runtime, without `lib` and `.so`. ONNX Runtime reports a provider as
    /// available even if its library is missing.
    library: Option<&'static str>,
    dispatch: fn() -> ExecutionProviderDispatch,
}

/// The names of the ONNX Runtime documentation.
const PROVIDERS: &[Provider] = &[
    Provider {
        short: "cpu",
        full: "CPUExecutionProvider",
        is_compiled_in: || true,
        library: None,
        dispatch: || ep::CPU::default().build(),
    },
    Provider {
        short: "cuda",
        full: "CUDAExecutionProvider",
        is_compiled_in: || ep::CUDA::is_available().unwrap_or(false),
        library: Some("onnxruntime_providers_cuda"),
        dispatch: || ep::CUDA::default().build(),
    },
    Provider {
        short: "tensorrt",
        full: "TensorrtExecutionProvider",
        is_compiled_in: || ep::TensorRT::is_available().unwrap_or(false),
        library: Some("onnxruntime_providers_tensorrt"),
        dispatch: || ep::TensorRT::default().build(),
    },
    Provider {
        short: "dml",
        full: "DmlExecutionProvider",
        is_compiled_in: || ep::DirectML::is_available().unwrap_or(false),
        library: None,
        dispatch: || ep::DirectML::default().build(),
    },
    Provider {
        short: "coreml",
        full: "CoreMLExecutionProvider",
        is_compiled_in: || ep::CoreML::is_available().unwrap_or(false),
        library: None,
        dispatch: || ep::CoreML::default().build(),
    },
    Provider {
        short: "openvino",
        full: "OpenVINOExecutionProvider",
        is_compiled_in: || ep::OpenVINO::is_available().unwrap_or(false),
        library: Some("onnxruntime_providers_openvino"),
        dispatch: || ep::OpenVINO::default().with_dynamic_shapes(true).build(),
    },
    Provider {
        short: "xnnpack",
        full: "XnnpackExecutionProvider",
        is_compiled_in: || ep::XNNPACK::is_available().unwrap_or(false),
        library: None,
        dispatch: || ep::XNNPACK::default().build(),
    },
];

/// A loaded library.
#[derive(Clone)]
struct Library {
    environment: Environment,
    path: PathBuf,
}

/// The process's library. ONNX Runtime has static state, so a process can load only one.
static LIBRARY: Mutex<Option<Library>> = Mutex::new(None);

/// The process's ONNX Runtime library with some of its execution providers.
#[derive(Clone)]
pub struct Runtime {
    library: Library,
    providers: Vec<&'static Provider>,
}

impl Runtime {
    /// Loads the first existing file of `candidates`, and checks that it has `providers` (short or full names, in order
    /// of preference; empty for the CPU). Later calls of the process reuse the loaded library.
    ///
    /// # Errors
    /// [`EngineError::Runtime`] if no candidate can be loaded, [`EngineError::OtherLibrary`] if another library is
    /// loaded, or [`EngineError::ProviderUnavailable`] for a missing provider: a request for a GPU never falls back to
    /// the CPU silently.
    pub fn load(candidates: &[PathBuf], providers: &[String]) -> Result<Self, EngineError> {
        let path = candidates
            .iter()
            .find(|path| path.is_file())
            .ok_or_else(|| EngineError::Runtime {
                message: match candidates {
                    [] => "no library is known for this platform".to_owned(),
                    _ => format!("none of these files exists: {}", display_list(candidates)),
                },
            })?;
        let library = library(path)?;
        let asked = if providers.is_empty() {
            vec!["cpu".to_owned()]
        } else {
            providers.to_vec()
        };
        let providers = asked
            .iter()
            .map(|name| find_provider(name, &library.path))
            .collect::<Result<_, _>>()?;
        Ok(Self { library, providers })
    }

    /// The loaded file.
    pub fn library(&self) -> &Path {
        &self.library.path
    }

    /// The environment of sessions.
    pub(crate) fn environment(&self) -> &Environment {
        &self.library.environment
    }

    /// The providers that a session registers, in order. A provider that fails to start is an error.
    pub(crate) fn dispatches(&self) -> Vec<ExecutionProviderDispatch> {
        self.providers
            .iter()
            .map(|provider| (provider.dispatch)().error_on_failure())
            .collect()
    }

    /// The full names of the providers in use, in order.
    pub fn providers(&self) -> Vec<&'static str> {
        self.providers.iter().map(|provider| provider.full).collect()
    }

    /// Whether inference runs only on the CPU.
    pub fn is_cpu_only(&self) -> bool {
        self.providers.iter().all(|provider| provider.short == "cpu")
    }
}

fn display_list(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the process's library, and loads it if needed.
fn library(path: &Path) -> Result<Library, EngineError> {
    let mut loaded = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
    // Two paths of one file are the same library.
    let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match &*loaded {
        Some(library) if resolved(&library.path) == resolved(path) => Ok(library.clone()),
        Some(library) => Err(EngineError::OtherLibrary {
            asked: path.to_owned(),
            loaded: library.path.clone(),
        }),
        None => {
            let library = Library {
                environment: load_library(path)?,
                path: path.to_owned(),
            };
            *loaded = Some(library.clone());
            Ok(library)
        }
    }
}

fn load_library(path: &Path) -> Result<Environment, EngineError> {
    let failed = |message: String| EngineError::Runtime {
        message: format!("{}: {message}", path.display()),
    };
    disable_telemetry();
    // The crate panics on some broken libraries instead of returning an error.
    catch_unwind(|| {
        let builder = ort::init_from(path).map_err(|error| failed(error.to_string()))?;
        let environment = builder
            .with_name("guard")
            .with_telemetry(false)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        environment.set_log_level(ort::logging::LogLevel::Error);
        Ok(environment)
    })
    .unwrap_or_else(|panic| match EngineError::from_panic(panic) {
        EngineError::Panic { message } => Err(failed(message)),
        other => Err(other),
    })
}

/// Disables the telemetry of ONNX Runtime. Since 1.29 it is on by default on Linux and macOS as soon as the library is
/// loaded: it stores a machine id and a list of events in a file, and sends them. Settings of an environment come too
/// late (<https://github.com/microsoft/onnxruntime/pull/27379>).
fn disable_telemetry() {
    const DISABLE: &str = "ORT_DISABLE_TELEMETRY";
    if std::env::var_os(DISABLE).is_none() {
        // SAFETY: the standard library and Node.js, each with its own lock, and the C library share the environment
        // variables. This sets one once, like a program that sets `process.env`.
        unsafe { std::env::set_var(DISABLE, "1") };
    }
}

impl Provider {
    fn is_available(&self, runtime_library: &Path) -> bool {
        let is_there = |name: &str| {
            let name = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            runtime_library.with_file_name(name).is_file()
        };
        (self.is_compiled_in)() && self.library.is_none_or(is_there)
    }
}

fn find_provider(name: &str, library: &Path) -> Result<&'static Provider, EngineError> {
    PROVIDERS
        .iter()
        .find(|provider| provider.short.eq_ignore_ascii_case(name) || provider.full.eq_ignore_ascii_case(name))
        .filter(|provider| provider.is_available(library))
        .ok_or_else(|| EngineError::ProviderUnavailable {
            asked: name.to_owned(),
            available: PROVIDERS
                .iter()
                .filter(|provider| provider.is_available(library))
                .map(|provider| provider.full.to_owned())
                .collect(),
        })
}
