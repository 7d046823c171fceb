//! An ONNX Runtime session that several threads share.

use std::ffi::CString;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, PoisonError};

use ort::memory::Allocator;
use ort::session::{RunOptions, Session, SharedSessionInner};
use ort::value::{DynValue, Tensor};
use ort::{AsPointer, Error};

/// What happens to memory at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Keep memory for the next run.
    Keep,
    /// Release unused memory.
    GiveBack,
}

/// The run option for the arenas to shrink at the end of a run, and the CPU arena
/// (`onnxruntime_run_options_config_keys.h` of ONNX Runtime).
const SHRINK: (&str, &str) = ("memory.enable_memory_arena_shrinkage", "cpu:0");

/// A session that several threads run concurrently, so that the weights of a model are in memory once.
///
/// `ort` requires `&mut` to run a session, because some execution providers crash otherwise. On the CPU, ONNX Runtime
/// allows more: "Multiple threads are allowed to run this function" (`InferenceSession::Run` in
/// `core/session/inference_session.h`). With other providers, runs take turns.
pub(super) struct SharedSession {
    session: Arc<SharedSessionInner>,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
    /// Locked during a run if runs take turns.
    turns: Option<Mutex<()>>,
    shrinking: RunOptions,
}

/// The outputs of a run, in the order of the session's outputs.
pub(super) struct Outputs<'session> {
    names: &'session [CString],
    /// The session owns their memory, so it stays borrowed.
    values: Vec<DynValue>,
}

impl SharedSession {
    /// Wraps a session. `further` is an input with a default value that is passed last; `is_concurrent` tells whether
    /// the execution providers allow concurrent runs.
    ///
    /// # Errors
    /// If the name of an input or an output contains a zero byte.
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

    /// Runs the graph on one tensor per input, in the order of the session's inputs, then the further one.
    ///
    /// # Errors
    /// Errors of ONNX Runtime, or a wrong number of tensors.
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
        // SAFETY: the session lives as long as `self`, and the names and tensors as long as the call. The counts are
        // right, and each output has room for a pointer. Concurrent calls are allowed: see `SharedSession`.
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
        // SAFETY: the status comes from the call above and is read once.
        unsafe { Error::result_from_status(status) }?;
        let allocator = Allocator::default();
        let values = outputs
            .into_iter()
            .map(|output| {
                let output = NonNull::new(output).ok_or_else(|| Error::new("a run gave no value for an output"))?;
                // SAFETY: a successful run returned a value for each output, which nobody else frees.
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
    /// The output with this name.
    pub fn get(&self, name: &str) -> Option<&DynValue> {
        let at = self
            .names
            .iter()
            .position(|output| output.to_bytes() == name.as_bytes())?;
        self.values.get(at)
    }
}
