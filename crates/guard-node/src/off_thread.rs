//! Work off the event loop.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Result, Task};

use crate::error;

/// Work for a thread of the pool.
pub struct OffThread<T>(Option<Box<dyn FnOnce() -> Result<T> + Send>>);

impl<T: Send + 'static> OffThread<T> {
    /// The promise of what `work` returns.
    pub fn new(work: impl FnOnce() -> Result<T> + Send + 'static) -> AsyncTask<Self>
    where
        T: ToNapiValue + TypeName,
    {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl<T: ToNapiValue + TypeName + Send + 'static> Task for OffThread<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let work = self
            .0
            .take()
            .ok_or_else(|| error("GUARD_PANIC", "the task ran twice"))?;
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(error("GUARD_PANIC", "internal error in a scan")))
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}
