//! Checks linear time by counting steps instead of time: how often work passes [`guard_core::stop::point`].

use guard_core::stop::counting::points;

/// Runs `work` on a text.
///
/// # Panics
///
/// If it passes more than `each` points per byte.
pub fn linear<T>(text: &str, each: usize, work: impl FnOnce() -> T) -> T {
    let mut result = None;
    let passed = points(|| result = Some(work()));
    let most = each * (text.len() + 64);
    assert!(passed <= most, "{passed} steps for {} bytes", text.len());
    result.expect("the work was done")
}

/// Panics unless ranges are on character boundaries and, with `apart`, ascend without overlaps.
pub fn check<'a>(text: &str, ranges: impl IntoIterator<Item = &'a std::ops::Range<usize>>, apart: bool) {
    let mut end = 0;
    for range in ranges {
        assert!(text.get(range.clone()).is_some(), "{range:?} is no part of the text");
        assert!(!apart || range.start >= end, "{range:?} overlaps what ends at {end}");
        end = range.end;
    }
}
