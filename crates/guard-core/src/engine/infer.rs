//! The second stage: threads that run batches of rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use super::backend::{Backend, Lane};
use super::error::EngineError;
use super::queue::Batch;
use super::workers::Shared;
use crate::tokens::Row;

impl<B: Backend> Shared<B> {
    /// Takes batch after batch from the queue, until the workers close. `worker` is the index of this thread.
    pub fn infer_forever(&self, worker: usize) {
        while let Some(batch) = self.wait_for_batch() {
            self.run_batch(batch, worker);
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
            queue = self.run.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs a batch that was taken from the queue, and answers the questions that are complete with it.
    pub fn run_batch(&self, batch: Batch<B>, worker: usize) {
        let Batch {
            backend,
            items,
            is_alone,
        } = batch;
        let lane = if is_alone { Lane::Wide } else { Lane::Worker(worker) };
        let rows: Vec<&Row> = items.iter().map(|item| &item.rows.rows[item.index]).collect();
        let result = catch_unwind(AssertUnwindSafe(|| backend.run(lane, &rows)))
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
        // This may be the last owner of a model, whose sessions are freed then: before the queue says that nothing runs.
        drop(backend);
        let mut queue = self.lock();
        let finished = queue.finished(items, result);
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
