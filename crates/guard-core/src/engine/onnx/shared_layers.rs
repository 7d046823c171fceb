//! The lowest layers, which several models share.
//!
//! The scanners of one call ask several models about the same texts. If the lowest layers of these models are equal, a
//! row passes them once. Their vectors are kept until the memory is needed for other rows, or until nothing runs.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use ort::AsPointer;
use ort::sys::OrtValue;

use super::graph::{Input, LoadedGraph, tensors};
use super::session::{Memory, SharedSession};
use crate::engine::error::EngineError;
use crate::engine::runtime::Runtime;
use crate::model_files::ModelFileError;
use crate::model_folder::ModelFolder;
use crate::tokens::{Ids, Row};

/// The most memory of kept vectors: those of about twenty windows of 128 tokens with 384 numbers each.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The layers that models of a pool share, each file loaded once.
#[derive(Default)]
pub(in crate::engine) struct LayerFiles {
    /// The layers by the SHA-256 of their files.
    loaded: Mutex<HashMap<[u8; 32], Weak<SharedLayers>>>,
    /// The number of computed rows.
    computed: Arc<AtomicU64>,
}

/// Layers that convert token ids to vectors. Their session is freed with the last model that uses them.
pub(in crate::engine) struct SharedLayers {
    session: SharedSession,
    inputs: Vec<Input>,
    /// The name of the output, and of the input of the models.
    pub output: String,
    /// Whether rows must run alone.
    pub is_single: bool,
    kept: Mutex<Kept>,
    computed: Arc<AtomicU64>,
}

/// The vectors of rows: `[rows, tokens, size]`.
pub(in crate::engine) struct Vectors {
    pub shape: Vec<i64>,
    pub values: Vec<f32>,
}

/// The vectors of one row, locked while they are computed.
type Slot = Arc<Mutex<Option<Arc<Vectors>>>>;

#[derive(Default)]
struct Kept {
    slots: HashMap<Ids, Slot>,
    /// The rows from old to new, with the memory of their vectors.
    order: VecDeque<(Ids, usize)>,
    bytes: usize,
}

impl LayerFiles {
    /// Loads the layers in a file of a model's folder, or shares them. The tensor files that it names are in the folder
    /// `place`.
    pub fn share(
        &self,
        folder: &ModelFolder,
        file: &Path,
        place: &Path,
        runtime: &Runtime,
        threads: usize,
    ) -> Result<Arc<SharedLayers>, EngineError> {
        let content = folder.read(file)?;
        // Models that need these layers wait while they are loaded.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layers) = loaded.get(&content.digest).and_then(Weak::upgrade) {
            return Ok(layers);
        }
        loaded.retain(|_, layers| layers.strong_count() > 0);
        let graph = LoadedGraph::new(folder, &content, place, runtime, threads)?;
        let bad = |message: String| ModelFileError::Bad {
            path: content.path.clone(),
            message,
        };
        let outputs = graph.outputs();
        let [output] = outputs.as_slice() else {
            return Err(bad(format!("shared layers have one output, and it has {}", outputs.len())).into());
        };
        let (inputs, _) = graph.inputs(None, None).map_err(bad)?;
        if let Some(input) = inputs.iter().find(|input| !matches!(input, Input::Ids | Input::Mask)) {
            return Err(bad(format!("shared layers have no input {input:?}")).into());
        }
        let session = graph.share(None, runtime, threads);
        let layers = Arc::new(SharedLayers {
            session: session.map_err(|error| bad(error.to_string()))?,
            inputs,
            output: output.clone(),
            is_single: graph.is_single,
            kept: Mutex::default(),
            computed: Arc::clone(&self.computed),
        });
        loaded.insert(content.digest, Arc::downgrade(&layers));
        Ok(layers)
    }

    /// The number of rows whose vectors were computed so far.
    pub fn computed_rows(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }
}

impl SharedLayers {
    /// The vectors of rows, padded to `width` tokens with `pad`. Those of a single row are computed once.
    ///
    /// # Errors
    /// Errors of ONNX Runtime.
    pub fn vectors(&self, rows: &[&Row], width: usize, pad: u32) -> Result<Arc<Vectors>, ort::Error> {
        let &[row] = rows else {
            return self.run(rows, width, pad, Memory::Keep).map(Arc::new);
        };
        let slot = self.lock().slot(&row.ids);
        let mut vectors = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*vectors {
            return Ok(Arc::clone(known));
        }
        let found = match self.run(rows, width, pad, Memory::Keep) {
            Ok(found) => Arc::new(found),
            Err(error) => {
                self.lock().slots.remove(&row.ids);
                return Err(error);
            }
        };
        *vectors = Some(Arc::clone(&found));
        self.lock().count(&row.ids, size_of_val(&*found.values));
        Ok(found)
    }

    /// Whether the vectors of a row are computed now.
    pub fn is_busy_with(&self, row: &Row) -> bool {
        let slot = self.lock().slots.get(&row.ids).map(Arc::clone);
        slot.is_some_and(|slot| matches!(slot.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Releases the kept vectors and the unused memory of the session, with a run of a short row.
    pub fn rest(&self, row: &Row) -> Result<Vectors, ort::Error> {
        *self.lock() = Kept::default();
        // A row alone is not padded.
        self.run(&[row], row.ids.len(), 0, Memory::GiveBack)
    }

    fn run(&self, rows: &[&Row], width: usize, pad: u32, memory: Memory) -> Result<Vectors, ort::Error> {
        let tensors = tensors(&self.inputs, rows, width, pad)?;
        let inputs: Vec<&dyn AsPointer<Sys = OrtValue>> = tensors.iter().map(|tensor| tensor as _).collect();
        let outputs = self.session.run(&inputs, memory)?;
        let vectors = outputs
            .get(&self.output)
            .ok_or_else(|| ort::Error::new("a run of shared layers gave no output"))?;
        let (shape, values) = vectors.try_extract_tensor::<f32>()?;
        self.computed.fetch_add(rows.len() as u64, Ordering::Relaxed);
        Ok(Vectors {
            shape: shape.to_vec(),
            values: values.to_vec(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn slot(&mut self, ids: &Ids) -> Slot {
        Arc::clone(self.slots.entry(ids.clone()).or_default())
    }

    /// Counts the memory of new vectors, and forgets the oldest ones beyond the limit.
    fn count(&mut self, ids: &Ids, bytes: usize) {
        self.order.push_back((ids.clone(), bytes));
        self.bytes += bytes;
        while self.bytes > MAX_BYTES
            && let Some((oldest, bytes)) = self.order.pop_front()
        {
            self.slots.remove(&oldest);
            self.bytes -= bytes;
        }
    }
}
