//! The first stage: tokenizes texts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::time::Instant;

use super::backend::Backend;
use super::error::EngineError;
use super::queue::{ToTokenize, TokenizeOutcome};
use super::workers::SharedState;

impl<B: Backend> SharedState<B> {
    /// Tokenizes questions from the queue until the workers close.
    pub fn tokenize_forever(&self) {
        while let Some(next) = self.wait_for_text() {
            self.tokenize_one(next);
        }
    }

    fn wait_for_text(&self) -> Option<ToTokenize<B>> {
        let mut queue = self.lock();
        loop {
            if queue.closing {
                return None;
            }
            if let Some(next) = queue.next_to_tokenize() {
                return Some(next);
            }
            queue = self.tokenize.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tokenize_one(&self, next: ToTokenize<B>) {
        let ToTokenize {
            entry: id,
            backend,
            question,
        } = next;
        let started = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| backend.tokenize(&question)))
            .map_err(EngineError::from_panic)
            .and_then(|rows| rows.map_err(EngineError::from));
        let took = started.elapsed();
        // This may be the last owner of a model. Its sessions must be freed before the queue reports that nothing is
        // processed.
        drop(backend);
        let mut queue = self.lock();
        queue.tokenizing -= 1;
        if queue.closing {
            self.idle.notify_all();
        }
        match result {
            Ok(rows) => match queue.add_rows(id, rows, took) {
                TokenizeOutcome::Finished(finished) => {
                    drop(queue);
                    if let Some(finished) = finished {
                        let (entry, reply) = *finished;
                        entry.answer(&Ok(reply));
                    }
                }
                // Nothing else is processed, so this thread also runs the row: waking another thread takes longer than
                // tokenizing a short prompt.
                TokenizeOutcome::Waiting { rows: 1 } if queue.has_one_to_run() => {
                    let batch = queue.next_batch();
                    drop(queue);
                    if let Some(batch) = batch {
                        self.run_batch(batch);
                    }
                }
                TokenizeOutcome::Waiting { rows: 1 } => self.run.notify_one(),
                TokenizeOutcome::Waiting { .. } => self.run.notify_all(),
            },
            Err(error) => {
                let entry = queue.remove(id);
                drop(queue);
                if let Some(entry) = entry {
                    entry.answer(&Err(error));
                }
            }
        }
    }
}
