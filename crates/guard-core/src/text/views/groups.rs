//! Decodes base64 and hexadecimal digits in groups: `aWdu b3Jl IGFs bA==` and `6967 6e6f 7265`.

use std::ops::Range;

/// The fewest decoded bytes.
const LEAST: usize = 8;
/// The most bytes of a group. Longer lines belong to files and mail.
const LONGEST: usize = 40;

/// How many words of the same length as the groups may precede them.
const SKIPPED: usize = 2;

/// The encoding of the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digits {
    Base64,
    Hex,
}

/// The groups of a row, all but the last of them of the same length.
pub(super) struct Row {
    groups: Vec<Range<usize>>,
    /// The end of the row.
    pub(super) end: usize,
}

/// The row of groups that begins with `first` and ends at a blank. Returns `None` for fewer than three groups, or fewer
/// than two of eight digits or more.
pub(super) fn row(bytes: &[u8], first: Range<usize>, is_digit: impl Fn(u8) -> bool) -> Option<Row> {
    let size = first.len();
    if !(4..=LONGEST).contains(&size) || !size.is_multiple_of(4) {
        return None;
    }
    let next = |end: usize| {
        let gap = bytes[end..]
            .iter()
            .take(3)
            .take_while(|byte| matches!(byte, b' ' | b'\r' | b'\n' | b'\t'))
            .count();
        let start = end + gap;
        let digits = bytes[start..].iter().take(size + 1).take_while(|&&byte| is_digit(byte));
        let length = digits.count();
        ((1..=2).contains(&gap) && (1..=size).contains(&length)).then(|| start..start + length)
    };
    // Most words differ in length from the word before them.
    let second = next(first.end).filter(|second| second.len() == size || size >= 8)?;
    let mut groups = vec![first, second];
    while let Some(last) = groups.last().filter(|last| last.len() == size)
        && let Some(group) = next(last.end)
    {
        groups.push(group);
    }
    let end = groups.last()?.end;
    (groups.len() >= if size < 8 { 3 } else { 2 }).then_some(Row { groups, end })
}

impl Row {
    /// Decodes the parts of the row that contain text. `bytes` is the whole text.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        digits: Digits,
        decode: impl Fn(&[u8]) -> Option<Vec<u8>>,
        readable: impl Fn(Vec<u8>) -> Option<String>,
    ) -> Vec<(Range<usize>, String)> {
        let mut found = Vec::new();
        // Most rows are words of the same length.
        let may_say = |group: &Range<usize>| match digits {
            Digits::Base64 => is_mixed(&bytes[group.clone()]),
            Digits::Hex => bytes[group.clone()].iter().all(u8::is_ascii_hexdigit),
        };
        if !self.groups.iter().any(may_say) {
            return found;
        }
        let mut said: Vec<u8> = Vec::new();
        let mut from = 0;
        for index in 0..=self.groups.len() {
            let group = self.groups.get(index).map(|group| &bytes[group.clone()]);
            let decoded = group.and_then(&decode);
            // A word between two groups nearly always decodes to control characters or invalid UTF-8.
            let fits = decoded.filter(|decoded| decoded.iter().all(|&byte| is_text(byte) || byte == 0));
            match fits {
                Some(decoded) => {
                    if said.is_empty() {
                        from = index;
                    }
                    said.extend(decoded);
                }
                None => {
                    self.close(
                        bytes,
                        digits,
                        from..index,
                        std::mem::take(&mut said),
                        &readable,
                        &mut found,
                    );
                }
            }
        }
        found
    }

    fn close(
        &self,
        bytes: &[u8],
        digits: Digits,
        groups: Range<usize>,
        said: Vec<u8>,
        readable: impl Fn(Vec<u8>) -> Option<String>,
        found: &mut Vec<(Range<usize>, String)>,
    ) {
        if said.len() < LEAST {
            return;
        }
        let groups = &self.groups[groups];
        let mixed = groups.iter().filter(|group| is_mixed(&bytes[(*group).clone()]));
        if digits == Digits::Base64 && mixed.count() * 3 < groups.len() {
            return;
        }
        let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
            return;
        };
        // A word of the same length before the groups may look like a group.
        for (skipped, group) in groups.iter().enumerate().take(SKIPPED + 1) {
            let size = match digits {
                Digits::Base64 => first.len() / 4 * 3,
                Digits::Hex => first.len() / 2,
            };
            let rest = said.get(skipped * size..).filter(|rest| rest.len() >= LEAST);
            if let Some(text) = rest.and_then(|rest| readable(rest.to_vec())) {
                found.push((group.start..last.end, text));
                return;
            }
        }
    }
}

/// Whether a group has capitals after small letters or digits, as in base64 but not in words.
fn is_mixed(group: &[u8]) -> bool {
    group.iter().skip(1).any(u8::is_ascii_uppercase) && group.iter().any(|byte| !byte.is_ascii_uppercase())
}

/// Whether a byte can be part of UTF-8 text.
fn is_text(byte: u8) -> bool {
    !(byte.is_ascii_control() && !byte.is_ascii_whitespace() || matches!(byte, 0xC0 | 0xC1 | 0xF5..=0xFF))
}
