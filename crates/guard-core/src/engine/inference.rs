//! The second stage: runs batches of rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::backend::Backend;
use super::error::EngineError;
use super::queue::{Batch, Queue};
use super::workers::SharedState;
use crate::memory;
use crate::tokens::Row;

impl<B: Backend> SharedState<B> {
    /// Runs batches from the queue until the workers close. In between, it releases memory that only runs need.
    pub fn infer_forever(&self) {
        while let Some(batch) = self.wait_for_batch() {
            self.run_batch(batch);
        }
    }

    fn wait_for_batch(&self) -> Option<Batch<B>> {
        let mut queue = self.lock();
        loop {
            if queue.closing {
                return None;
            }
            if let Some(batch) = queue.next_batch() {
                return Some(batch);
            }
            queue = match queue.rest_after(Instant::now()) {
                None => self.run.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => self.rest(queue),
                Some(later) => {
                    let waited = self.run.wait_timeout(queue, later);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Lets the models that ran since the last call release memory, without holding the lock. They count as running
    /// meanwhile, because the end of the process waits for runs.
    fn rest<'queue>(&'queue self, mut queue: MutexGuard<'queue, Queue<B>>) -> MutexGuard<'queue, Queue<B>> {
        let used = queue.take_run_models();
        queue.running += 1;
        drop(queue);
        for backend in used.iter().filter_map(Weak::upgrade) {
            // An error here occurs again, and is reported, when the model runs.
            let _ = catch_unwind(AssertUnwindSafe(|| backend.rest()));
        }
        memory::give_back();
        let mut queue = self.lock();
        queue.end_release();
        if queue.closing {
            self.idle.notify_all();
        }
        queue
    }

    /// Runs a batch, and answers the questions that it completes.
    pub fn run_batch(&self, batch: Batch<B>) {
        let Batch { backend, items } = batch;
        let rows: Vec<&Row> = items.iter().map(|item| &item.rows.rows[item.index]).collect();
        let result = catch_unwind(AssertUnwindSafe(|| backend.run(&rows)))
            .unwrap_or_else(|panic| Err(EngineError::from_panic(panic)))
            .and_then(|scores| {
                if scores.len() == rows.len() {
                    Ok(scores)
                } else {
                    Err(EngineError::Inference {
                        message: format!("the model gave {} results for {} rows", scores.len(), rows.len()),
                    })
                }
            });
        // This may be the last owner of a model. Its sessions must be freed before the queue reports that nothing runs.
        let used = Arc::downgrade(&backend);
        drop(backend);
        let mut queue = self.lock();
        let finished = queue.finish(items, result);
        if queue.record_run(used) {
            // A thread that sleeps without a timeout must learn the time of the next release.
            self.run.notify_one();
        }
        if queue.closing {
            self.idle.notify_all();
        }
        drop(queue);
        for (mut entry, result) in finished {
            let reply = result.and_then(|()| {
                catch_unwind(AssertUnwindSafe(|| entry.take_reply()))
                    .map_err(EngineError::from_panic)?
                    .map(Arc::new)
                    .ok_or(EngineError::Closed)
            });
            entry.answer(&reply);
        }
    }
}
