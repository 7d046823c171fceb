//! The values that names may be assigned.

use std::collections::VecDeque;
use std::ops::Range;

/// The values of one rule in the part of a text that was last looked at. Names that follow each other closely see the same values,
/// each of which is searched for and checked once.
#[derive(Default)]
pub(super) struct Values {
    /// Whether a value starts is known before this offset.
    pub until: usize,
    /// The values, in order.
    pub found: VecDeque<Value>,
    /// Where the next thing stands that a value needs to pass its check; 0 before it was first looked for.
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

/// A value that is a credential if it is assigned to one.
#[derive(Clone)]
pub(super) struct Value {
    /// The secret.
    pub range: Range<usize>,
    /// Whether it goes on behind what its pattern reads.
    pub is_long: bool,
}
