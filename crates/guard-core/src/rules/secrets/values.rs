//! The candidate values of a rule.

use std::collections::VecDeque;
use std::ops::Range;

/// The values of one rule in the last part of a text. Adjacent names share the values, each of which is searched and
/// checked once.
#[derive(Default)]
pub(super) struct Values {
    /// Before this offset, all values are known.
    pub until: usize,
    /// The values, in order.
    pub found: VecDeque<Value>,
    /// The next position of something that a value needs to pass its check; 0 before the first look.
    pub needed: usize,
}

impl Values {
    /// Drops the values that start at or before an offset.
    pub fn drop_until(&mut self, end: usize) {
        while self.found.front().is_some_and(|value| value.range.start <= end) {
            self.found.pop_front();
        }
    }
}

/// A value that is a credential if its name is one.
#[derive(Clone)]
pub(super) struct Value {
    /// The secret.
    pub range: Range<usize>,
    /// Whether it continues after the part that its pattern reads.
    pub is_long: bool,
}
