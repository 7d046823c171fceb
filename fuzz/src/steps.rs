//! Linear time, told by a count of steps and not by a clock: work that passes [`guard_core::stop::point`] so often.

use guard_core::stop::counting::points;

/// Does `work` on a text, and panics if it passed more points than `each` for a byte allows.
///
/// # Panics
///
/// When it took too many steps.
pub fn linear<T>(text: &str, each: usize, work: impl FnOnce() -> T) -> T {
    let mut result = None;
    let passed = points(|| result = Some(work()));
    let most = each * (text.len() + 64);
    assert!(passed <= most, "{passed} steps for {} bytes", text.len());
    result.expect("the work was done")
}

/// Panics unless ranges lie on the borders of characters, and, where they are `apart`, ascend without overlaps.
pub fn check<'a>(text: &str, ranges: impl IntoIterator<Item = &'a std::ops::Range<usize>>, apart: bool) {
    let mut end = 0;
    for range in ranges {
        assert!(text.get(range.clone()).is_some(), "{range:?} is no part of the text");
        assert!(!apart || range.start >= end, "{range:?} overlaps what ends at {end}");
        end = range.end;
    }
}
