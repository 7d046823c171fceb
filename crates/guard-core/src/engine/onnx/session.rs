//! An ONNX Runtime session that several threads share.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use ort::memory::Allocator;
use ort::session::{RunOptions, Session, SharedSessionInner};
use ort::sys::{OrtRunOptions, OrtStatusPtr, OrtValue};
use ort::value::DynValue;
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

/// The number of current runs of all sessions. They share the cores of the process.
static CURRENT_RUNS: AtomicUsize = AtomicUsize::new(0);

/// A session that several threads run concurrently, so that the weights of a model are in memory once.
///
/// `ort` requires `&mut` to run a session, because some execution providers crash otherwise. On the CPU, ONNX Runtime
/// allows more: "Multiple threads are allowed to run this function" (`InferenceSession::Run` in
/// `core/session/inference_session.h`). With other providers, runs take turns.
///
/// A session has a pool of threads. A run that is alone uses its caller's thread and the whole pool. A further run takes
/// a thread of the pool while its caller waits, so concurrent runs of a session need no more threads than one run.
pub(super) struct SharedSession {
    session: Arc<SharedSessionInner>,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
    /// Locked during a run if runs take turns.
    turns: Option<Mutex<()>>,
    shrinking: RunOptions,
    /// The number of threads of the pool that can execute whole runs.
    pool_threads: usize,
    /// The number of current runs on threads of the pool.
    runs_in_pool: AtomicUsize,
}

/// The thread that executes a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunThread {
    /// The caller's thread.
    Caller,
    /// A thread of the pool.
    Pool,
}

/// The arguments of a run.
struct Arguments<'run> {
    options: *const OrtRunOptions,
    input_names: &'run [*const c_char],
    inputs: &'run [*const OrtValue],
    output_names: &'run [*const c_char],
}

/// The outputs of a run, in the order of the session's outputs.
pub(super) struct Outputs<'session> {
    names: &'session [CString],
    /// The session owns their memory, so it stays borrowed.
    values: Vec<DynValue>,
}

impl SharedSession {
    /// Wraps a session. `further` is an input with a default value that is passed last; `is_concurrent` tells whether
    /// the execution providers allow concurrent runs; `threads` is the number of threads of a run that is alone.
    ///
    /// # Errors
    /// If the name of an input or an output contains a zero byte.
    pub fn new(session: &Session, further: Option<&str>, is_concurrent: bool, threads: usize) -> Result<Self, Error> {
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
            // The caller's thread is one of `threads`.
            pool_threads: if is_concurrent { threads - 1 } else { 0 },
            runs_in_pool: AtomicUsize::new(0),
            session: session.inner(),
        })
    }

    /// Runs the graph on one tensor per input, in the order of the session's inputs, then the further one.
    ///
    /// # Errors
    /// Errors of ONNX Runtime, or a wrong number of tensors.
    pub fn run(&self, tensors: &[&dyn AsPointer<Sys = OrtValue>], memory: Memory) -> Result<Outputs<'_>, Error> {
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
        let arguments = Arguments {
            options,
            input_names: &input_names,
            inputs: &inputs,
            output_names: &output_names,
        };
        let thread = self.begin_run();
        let result = match thread {
            RunThread::Caller => self.run_here(&arguments, &mut outputs),
            RunThread::Pool => self.run_in_pool(&arguments, &mut outputs),
        };
        self.end_run(thread);
        drop(turn);
        result?;
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

    /// Counts a run, and chooses its thread.
    fn begin_run(&self) -> RunThread {
        let is_alone = CURRENT_RUNS.fetch_add(1, Ordering::Relaxed) == 0;
        let add_one = |count: usize| (count < self.pool_threads).then_some(count + 1);
        let relaxed = Ordering::Relaxed;
        if !is_alone && self.runs_in_pool.fetch_update(relaxed, relaxed, add_one).is_ok() {
            RunThread::Pool
        } else {
            RunThread::Caller
        }
    }

    fn end_run(&self, thread: RunThread) {
        if thread == RunThread::Pool {
            self.runs_in_pool.fetch_sub(1, Ordering::Relaxed);
        }
        CURRENT_RUNS.fetch_sub(1, Ordering::Relaxed);
    }

    fn run_here(&self, arguments: &Arguments, outputs: &mut [*mut OrtValue]) -> Result<(), Error> {
        // SAFETY: the session lives as long as `self`, and the names and tensors as long as the call. The counts are
        // right, and each output has room for a pointer. Concurrent calls are allowed: see `SharedSession`.
        let status = unsafe {
            (ort::api().Run)(
                self.session.ptr().cast_mut(),
                arguments.options,
                arguments.input_names.as_ptr(),
                arguments.inputs.as_ptr(),
                arguments.inputs.len(),
                arguments.output_names.as_ptr(),
                arguments.output_names.len(),
                outputs.as_mut_ptr(),
            )
        };
        // SAFETY: the status comes from the call above and is read once.
        unsafe { Error::result_from_status(status) }
    }

    /// Runs the graph on a thread of the pool, and waits for the end of the run.
    fn run_in_pool(&self, arguments: &Arguments, outputs: &mut [*mut OrtValue]) -> Result<(), Error> {
        let (send, receive) = mpsc::channel();
        let on_end: *mut Sender<Result<(), Error>> = Box::into_raw(Box::new(send));
        // SAFETY: as in `run_here`, because this function returns only after the run has ended. `on_end` is a pointer
        // as `end_of_pool_run` requires.
        let status = unsafe {
            (ort::api().RunAsync)(
                self.session.ptr().cast_mut(),
                arguments.options,
                arguments.input_names.as_ptr(),
                arguments.inputs.as_ptr(),
                arguments.inputs.len(),
                arguments.output_names.as_ptr(),
                arguments.output_names.len(),
                outputs.as_mut_ptr(),
                Some(end_of_pool_run),
                on_end.cast(),
            )
        };
        // SAFETY: the status comes from the call above and is read once.
        if let Err(error) = unsafe { Error::result_from_status(status) } {
            // SAFETY: ONNX Runtime doesn't call `end_of_pool_run` for a run that it refuses.
            drop(unsafe { Box::from_raw(on_end) });
            return Err(error);
        }
        receive
            .recv()
            .unwrap_or_else(|_| Err(Error::new("ONNX Runtime ended a run without a result")))
    }
}

/// Sends the result of a run to the caller that waits for it. `on_end` is a leaked box with the sender.
unsafe extern "C" fn end_of_pool_run(on_end: *mut c_void, _: *mut *mut OrtValue, _: usize, status: OrtStatusPtr) {
    // SAFETY: `run_in_pool` leaked this box for one call.
    let on_end = unsafe { Box::from_raw(on_end.cast::<Sender<Result<(), Error>>>()) };
    // SAFETY: the status is read once.
    let result = unsafe { Error::result_from_status(status) };
    // The caller waits, so it receives the result.
    let _ = on_end.send(result);
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
