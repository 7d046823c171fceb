//! Removes rows of numbers from tables.

use super::view::{Step, View, Writer};
use crate::stop;

/// The fewest rows of numbers. Models overlook nothing between fewer rows.
const LEAST_ROWS: usize = 3;
/// The fewest letters of the remaining text.
const LEAST_LETTERS: usize = 12;

/// Removes rows of numbers, if these are at least half of the lines.
///
/// A sentence between many numbers is a small part of a classifier's window. A row of numbers is a line with a digit
/// and, apart from blanks, fewer letters than other characters.
pub(super) fn without_numbers(text: &str) -> Option<View> {
    // Nearly all texts have fewer lines.
    if text.bytes().filter(|&byte| byte == b'\n').take(LEAST_ROWS).count() < LEAST_ROWS {
        return None;
    }
    let (mut rows, mut others, mut letters) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        stop::point();
        match Line::new(line) {
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
        if matches!(Line::new(line), Line::Numbers) {
            writer.replace(start..end, "", Step::Rows);
        }
        start = end;
    }
    writer.finish()
}

/// The content of a line.
enum Line {
    Blank,
    Numbers,
    /// The number of letters, which are at least half of it.
    Words(usize),
}

impl Line {
    fn new(line: &str) -> Self {
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
