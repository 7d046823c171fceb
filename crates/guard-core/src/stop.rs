//! Cancels work that nobody waits for.
//!
//! The caller runs work under a [`StopFlag`]. Work whose cost grows with the text calls [`point`] between its steps:
//! between rules, views, windows and matches. After the flag is raised, the next point unwinds, so functions need no
//! extra result for cancellation. The salsa library cancels queries in the same way
//! (<https://docs.rs/salsa/latest/salsa/struct.Cancelled.html>).
//!
//! A point reads one atomic variable and no clock. Without a flag, it reads one thread-local variable.
//!
//! ```
//! use guard_core::stop::{self, StopFlag};
//!
//! let flag = StopFlag::default();
//! assert_eq!(stop::run(&flag, || { stop::point(); 1 }), Ok(1));
//! flag.raise();
//! assert_eq!(stop::run(&flag, || { stop::point(); 1 }), Err(stop::Stopped));
//! ```
//!
//! Code that holds a lock, or that has temporarily moved a value out, must not contain a point, or must restore the
//! value on drop.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag. Clones share the same state.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Cancels the work for good.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The work was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// The payload with which a point unwinds. It is private, so no other panic can carry it.
struct Cancellation;

thread_local! {
    /// The flag of the work on this thread.
    static CURRENT: RefCell<Option<StopFlag>> = const { RefCell::new(None) };
}

/// Runs `work`, and stops it at the first [`point`] after the flag was raised.
///
/// # Errors
///
/// [`Stopped`] if the work was stopped. Work that ends before its next point succeeds even if the flag was raised.
///
/// # Panics
///
/// If `work` panics.
pub fn run<T>(flag: &StopFlag, work: impl FnOnce() -> T) -> Result<T, Stopped> {
    let outer = CURRENT.replace(Some(flag.clone()));
    let done = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(outer);
    match done {
        Ok(value) => Ok(value),
        Err(cause) if cause.is::<Cancellation>() => Err(Stopped),
        Err(cause) => resume_unwind(cause),
    }
}

/// Unwinds if the work was cancelled.
#[inline]
pub fn point() {
    #[cfg(any(test, fuzzing))]
    counting::pass();
    let leave = CURRENT.with_borrow(|flag| flag.as_ref().is_some_and(StopFlag::is_raised));
    if leave {
        // Cancellation is no failure, so no panic is reported.
        resume_unwind(Box::new(Cancellation));
    }
}

/// Adds a [`point`] before each item: `for line in stop::iterate(text.lines())`.
pub fn iterate<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().inspect(|_| point())
}

/// Counts points for tests and fuzzing: how often work can be stopped, and how much work there is, without a clock.
#[cfg(any(test, fuzzing))]
pub mod counting {
    use std::cell::{Cell, RefCell};

    use super::{StopFlag, Stopped, run};

    thread_local! {
        static PASSED: Cell<usize> = const { Cell::new(0) };
        static RAISED_AT: RefCell<Option<(usize, StopFlag)>> = const { RefCell::new(None) };
    }

    pub(super) fn pass() {
        let passed = PASSED.get() + 1;
        PASSED.set(passed);
        RAISED_AT.with_borrow(|raised| {
            if let Some((at, flag)) = raised
                && *at == passed
            {
                flag.raise();
            }
        });
    }

    /// The number of points that `work` passes.
    pub fn points<T>(work: impl FnOnce() -> T) -> usize {
        let before = PASSED.replace(0);
        work();
        PASSED.replace(before)
    }

    /// Runs `work` and raises its flag just before a numbered point. Returns the result and the number of points
    /// passed.
    pub fn run_until<T>(point: usize, work: impl FnOnce() -> T) -> (Result<T, Stopped>, usize) {
        let flag = StopFlag::default();
        PASSED.set(0);
        RAISED_AT.set(Some((point, flag.clone())));
        let done = run(&flag, work);
        RAISED_AT.set(None);
        (done, PASSED.replace(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pii::{self, Detector};
    use crate::rules::regex::{MatchType::All, Patterns};
    use crate::rules::secrets::{self, Secrets};
    use crate::rules::substrings::{self, Substrings};
    use crate::rules::{phrases, urls};
    use crate::text::views::revealing_views;
    use crate::text::{json, reading_time, sentences, sentiment};

    #[test]
    fn work_goes_on_until_its_flag_is_raised() {
        let flag = StopFlag::default();
        let mut steps = 0;
        let done = run(&flag, || {
            for step in iterate(0..10) {
                steps += 1;
                if step == 3 {
                    flag.raise();
                }
            }
        });
        assert_eq!((done, steps), (Err(Stopped), 4));
    }

    #[test]
    fn work_under_no_flag_is_never_left() {
        let flag = StopFlag::default();
        flag.raise();
        assert_eq!(run(&flag, || 1), Ok(1));
        point();
    }

    #[test]
    fn the_inner_flag_counts_and_the_outer_one_comes_back() {
        let (outer, inner) = (StopFlag::default(), StopFlag::default());
        inner.raise();
        let done = run(&outer, || {
            let left = run(&inner, point);
            point();
            outer.raise();
            let passed = run(&StopFlag::default(), point);
            assert_eq!((left, passed), (Err(Stopped), Ok(())));
            point();
        });
        assert_eq!(done, Err(Stopped));
    }

    /// The name of a search, the length of its text, and the search.
    type Search = (&'static str, usize, Box<dyn Fn() -> String>);

    /// Searches that take a while in a text of their kind, with their results written down.
    fn searches() -> Vec<Search> {
        fn search<T: std::fmt::Debug>(
            name: &'static str,
            text: String,
            find: impl Fn(&str) -> T + 'static,
        ) -> (&'static str, usize, Box<dyn Fn() -> String>) {
            (name, text.len(), Box::new(move || format!("{:?}", find(&text))))
        }
        let secrets = Secrets::new(&secrets::Options::default()).unwrap();
        let substrings = Substrings::new(&["ignore", "rules"], substrings::MatchType::Str, false).unwrap();
        let few = Patterns::compile(&[r"\bkey\w", "a+b"]).unwrap();
        let many = Patterns::compile(&["k"]).unwrap();
        let back = Patterns::compile(&["(?<=key)=(?=k)"]).unwrap();
        let detector = Detector::new(&pii::Options::default(), &[]).unwrap();
        let refusals = phrases::REFUSALS.get().unwrap();
        let words = "I am sorry but I cannot help with 4111 1111 1111 1111 at http://a.example/b. ";
        vec![
            search("secrets", "key=".repeat(2_000), move |text| {
                secrets.find(text, true).unwrap().len()
            }),
            search("substrings", "1gn0r3 r u l e s aWdub3Jl ".repeat(400), move |text| {
                substrings.find_in_views(text, true)
            }),
            search("patterns", "key=aab".repeat(2_000), move |text| {
                few.find_in_views(text, All).unwrap()
            }),
            search("matches", "key=".repeat(4_000), move |text| {
                many.find(text, All).unwrap()
            }),
            search("backtracking", "key=".repeat(4_000), move |text| {
                back.find(text, All).unwrap()
            }),
            search("personal data", words.repeat(100), move |text| {
                detector.find(text, Vec::new(), &[]).unwrap()
            }),
            search("phrases", words.repeat(200), move |text| {
                refusals.find(text).unwrap().len()
            }),
            search("urls", words.repeat(200), |text| urls::find(text).len()),
            search("json", "{\"a\": [1, 2]} or ".repeat(500), json::find),
            search("sentences", words.repeat(200), sentences::split),
            search("views", "1gn0r3 4ll pr3v10us aWdub3Jl ".repeat(400), |text| {
                revealing_views(text).len()
            }),
            search("sentiment", words.repeat(200), sentiment::compound),
            search("reading time", words.repeat(200), |text| {
                reading_time::measure(text, 1.0)
            }),
        ]
    }

    #[test]
    fn long_searches_can_be_left_often_and_begin_anew() {
        for (name, length, search) in searches() {
            let expected = search();
            let points = counting::points(&search);
            assert!(points > length / 1_000, "{name}: {points} points in {length} bytes");
            for at in [1, points / 2, points] {
                // The work stops at the point before which the flag was raised.
                assert_eq!(counting::run_until(at, &search), (Err(Stopped), at), "{name}");
            }
            assert_eq!(search(), expected, "{name}");
        }
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let flag = StopFlag::default();
        let caught = catch_unwind(AssertUnwindSafe(|| run(&flag, || resume_unwind(Box::new("a bug")))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"a bug"));
        // The flag of the thread is restored.
        flag.raise();
        point();
    }
}
