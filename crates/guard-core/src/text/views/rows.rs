//! Tables of numbers, of which only the rows that say something are left.

use super::view::{Step, View, Writer};
use crate::stop;

/// A text with fewer rows of numbers has no such view: a reader, and a model, overlook nothing there.
const LEAST_ROWS: usize = 3;
/// What is left must have so many letters together.
const LEAST_LETTERS: usize = 12;

/// The text without its rows of numbers, where these are at least half of its lines.
///
/// A sentence between many numbers is a small part of what a classifier reads at once. A row of numbers is a line with a digit and, blanks
/// aside, fewer letters than other characters.
pub(super) fn without_numbers(text: &str) -> Option<View> {
    // Nearly all texts have fewer lines, and need no look at their letters.
    if text.bytes().filter(|&byte| byte == b'\n').take(LEAST_ROWS).count() < LEAST_ROWS {
        return None;
    }
    let (mut rows, mut others, mut letters) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        stop::point();
        match Line::of(line) {
            Line::Blank => {}
            Line::Numbers => rows += 1,
            Line::Words(of_line) => {
                others += 1;
                letters += of_line;
            }
        }
    }
    if rows < LEAST_ROWS || rows < others || letters < LEAST_LETTERS {
        return None;
    }
    let mut writer = Writer::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        stop::point();
        let end = start + line.len();
        if matches!(Line::of(line), Line::Numbers) {
            writer.replace(start..end, "", Step::Rows);
        }
        start = end;
    }
    writer.finish()
}

/// What a line consists of.
enum Line {
    Blank,
    Numbers,
    /// So many letters, and not more of anything else.
    Words(usize),
}

impl Line {
    fn of(line: &str) -> Self {
        let (mut letters, mut digits, mut all) = (0, 0, 0);
        for c in line.chars().filter(|c| !c.is_whitespace()) {
            all += 1;
            letters += usize::from(c.is_alphabetic());
            digits += usize::from(c.is_numeric());
        }
        match (all, digits) {
            (0, _) => Self::Blank,
            (_, 1..) if 2 * letters < all => Self::Numbers,
            _ => Self::Words(letters),
        }
    }
}
