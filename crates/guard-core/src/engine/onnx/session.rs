//! One session of ONNX Runtime for all threads that run a model.

use std::ffi::CString;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, PoisonError};

use ort::memory::Allocator;
use ort::session::{RunOptions, Session, SharedSessionInner};
use ort::value::{DynValue, Tensor};
use ort::{AsPointer, Error};

/// What a run may ask of the session besides its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Memory that the run needed is kept for the next one.
    Keep,
    /// Memory that no run needs is given back when the run ends.
    GiveBack,
}

/// The option of a run that names the arenas that are to be shrunk when it ends, and the arena of the CPU
/// (`onnxruntime_run_options_config_keys.h` of ONNX Runtime).
const SHRINK: (&str, &str) = ("memory.enable_memory_arena_shrinkage", "cpu:0");

/// A session that several threads run at a time, so that the weights of a model are in memory once.
///
/// `ort` asks for `&mut` of a session that runs, because some execution providers crash otherwise. On the CPU, ONNX Runtime promises more:
/// "Multiple threads are allowed to run this function" (`InferenceSession::Run` in `core/session/inference_session.h`). Runs with other
/// providers take turns here.
pub(super) struct SharedSession {
    session: Arc<SharedSessionInner>,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
    /// Held during a run, where runs take turns.
    turns: Option<Mutex<()>>,
    shrinking: RunOptions,
}

/// What a run gave, in the order of the session's outputs.
pub(super) struct Outputs<'session> {
    names: &'session [CString],
    /// Their memory is the session's, which therefore is borrowed for as long.
    values: Vec<DynValue>,
}

impl SharedSession {
    /// Takes a session over. `further` is an input that has a value of its own and will be given all the same, behind the others;
    /// `is_concurrent` says whether the execution providers bear several runs at a time.
    ///
    /// # Errors
    /// When an input or an output has a zero byte in its name.
    pub fn new(session: &Session, further: Option<&str>, is_concurrent: bool) -> Result<Self, Error> {
        let named = |name: &str| CString::new(name).map_err(Error::wrap);
        let mut shrinking = RunOptions::new()?;
        shrinking.set(SHRINK.0, SHRINK.1)?;
        Ok(Self {
            inputs: session
                .inputs()
                .iter()
                .map(|input| input.name())
                .chain(further)
                .map(named)
                .collect::<Result<_, _>>()?,
            outputs: session
                .outputs()
                .iter()
                .map(|output| named(output.name()))
                .collect::<Result<_, _>>()?,
            turns: (!is_concurrent).then(Mutex::default),
            shrinking,
            session: session.inner(),
        })
    }

    /// Runs the graph on a tensor for each input, in the order of the session's inputs; the further one is the last.
    ///
    /// # Errors
    /// Those of ONNX Runtime; too few or too many tensors.
    pub fn run(&self, tensors: &[Tensor<i64>], memory: Memory) -> Result<Outputs<'_>, Error> {
        if tensors.len() != self.inputs.len() {
            return Err(Error::new(format!(
                "{} inputs for {}",
                tensors.len(),
                self.inputs.len()
            )));
        }
        let inputs: Vec<_> = tensors.iter().map(|tensor| tensor.ptr()).collect();
        let input_names: Vec<_> = self.inputs.iter().map(|name| name.as_ptr()).collect();
        let output_names: Vec<_> = self.outputs.iter().map(|name| name.as_ptr()).collect();
        let mut outputs = vec![ptr::null_mut(); self.outputs.len()];
        let options = match memory {
            Memory::Keep => ptr::null(),
            Memory::GiveBack => self.shrinking.ptr(),
        };
        let turn = self
            .turns
            .as_ref()
            .map(|turns| turns.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the session lives as long as `self`, the names and tensors as long as the call; there are as many of each as is said,
        // and room for a pointer to each output. Other threads may be in the same call: see `SharedSession`.
        let status = unsafe {
            (ort::api().Run)(
                self.session.ptr().cast_mut(),
                options,
                input_names.as_ptr(),
                inputs.as_ptr(),
                inputs.len(),
                output_names.as_ptr(),
                output_names.len(),
                outputs.as_mut_ptr(),
            )
        };
        drop(turn);
        // SAFETY: the status comes from the call above and is looked at once.
        unsafe { Error::result_from_status(status) }?;
        let allocator = Allocator::default();
        let values = outputs
            .into_iter()
            .map(|output| {
                let output = NonNull::new(output).ok_or_else(|| Error::new("a run gave no value for an output"))?;
                // SAFETY: a run that succeeded gave a value for each output, which nobody else frees.
                Ok(unsafe { DynValue::from_ptr(output, Some(&allocator)) })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Outputs {
            names: &self.outputs,
            values,
        })
    }
}

impl Outputs<'_> {
    /// The output of this name.
    pub fn get(&self, name: &str) -> Option<&DynValue> {
        let at = self
            .names
            .iter()
            .position(|output| output.to_bytes() == name.as_bytes())?;
        self.values.get(at)
    }
}
