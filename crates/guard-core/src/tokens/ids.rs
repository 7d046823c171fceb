//! Shared token ids of a row.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// The token ids of one row: pieces of shared lists.
///
/// The windows of a text overlap, and every claim is read with every window of its premise. Copies would take many
/// times the memory of the tokens. An `Ids` keeps a few dozen bytes per piece.
///
/// ```
/// use guard_core::tokens::Ids;
/// use std::sync::Arc;
///
/// let tokens: Arc<[u32]> = Arc::from([10, 11, 12, 13]);
/// let mut ids = Ids::default();
/// ids.push(&Arc::from([0]), 0..1);
/// ids.push(&tokens, 1..3);
/// assert_eq!(ids.len(), 3);
/// assert_eq!(ids.to_vec(), [0, 11, 12]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ids {
    pieces: Vec<(Arc<[u32]>, Range<usize>)>,
    length: usize,
}

impl Ids {
    /// Appends a range of a list.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn push(&mut self, list: &Arc<[u32]>, range: Range<usize>) {
        assert!(
            range.start <= range.end && range.end <= list.len(),
            "a range of the list"
        );
        if range.is_empty() {
            return;
        }
        self.length += range.len();
        self.pieces.push((Arc::clone(list), range));
    }

    /// Appends a whole list.
    pub(super) fn push_all(&mut self, list: &Arc<[u32]>) {
        self.push(list, 0..list.len());
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.pieces
            .iter()
            .flat_map(|(list, range)| list[range.clone()].iter().copied())
    }

    /// Copies the ids to a list.
    pub fn to_vec(&self) -> Vec<u32> {
        self.iter().collect()
    }
}

impl From<Vec<u32>> for Ids {
    fn from(list: Vec<u32>) -> Self {
        let mut ids = Self::default();
        ids.push_all(&list.into());
        ids
    }
}

impl PartialEq for Ids {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

impl Eq for Ids {}

impl Hash for Ids {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.length.hash(state);
        self.iter().for_each(|id| id.hash(state));
    }
}
