//! Decodes lines of uuencode.

use std::ops::Range;

use super::payload::Payload;
use super::view::{Step, View, Writer};
use crate::stop;

/// The fewest bytes of the lines together.
const LEAST: usize = 12;
/// The most bytes of a line (POSIX.1-2017, uuencode).
const MOST: usize = 45;
/// The most spaces at the end of a line that were removed in transfer.
const TRIMMED: usize = 3;
/// The most starts of data that are tried in a line of other text.
const TRIED: usize = 4;

/// Decodes lines in the historical format of uuencode (POSIX.1-2017): a character for the number of bytes, and four
/// characters for each three bytes. Data may also begin in a line behind a colon and a space, or in quotes.
pub(super) fn decode(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        stop::point();
        let at = start;
        start += line.len();
        let line = line.trim_end_matches(['\r', '\n']);
        let data = match lines.is_empty() {
            true => starts(line).find_map(|from| {
                let data = data_of(&line.as_bytes()[from..])?;
                Some((at + from..at + line.len(), data))
            }),
            false => data_of(line.as_bytes()).map(|data| (at..at + line.len(), data)),
        };
        match data {
            Some((range, data)) => {
                lines.push(range);
                bytes.extend(data);
            }
            None => write(&mut lines, &mut bytes, &mut writer),
        }
    }
    write(&mut lines, &mut bytes, &mut writer);
    writer.finish()
}

/// The places of a line at which data may start.
fn starts(line: &str) -> impl Iterator<Item = usize> {
    let behind = line.match_indices([':', '"', '`']).filter_map(|(at, sign)| match sign {
        ":" => line[at + 1..].starts_with(' ').then_some(at + 2),
        _ => Some(at + 1),
    });
    std::iter::once(0).chain(behind.take(TRIED))
}

/// The bytes of a line, which ends with its data or with a quote behind it.
fn data_of(line: &[u8]) -> Option<Vec<u8>> {
    let length = usize::from(value(*line.first()?)?);
    let digits = length.div_ceil(3) * 4;
    let rest = &line[1..];
    if !(1..=MOST).contains(&length) || rest.len() + TRIMMED < digits {
        return None;
    }
    let (data, behind) = rest.split_at(digits.min(rest.len()));
    if !matches!(behind, [] | [b'"' | b'`', ..] | [b' ' | b'\t', ..]) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits);
    for group in data.chunks(4) {
        let mut number = 0;
        for place in 0..4 {
            number = number << 6 | u32::from(group.get(place).map_or(Some(0), |&byte| value(byte))?);
        }
        bytes.extend(&number.to_be_bytes()[1..]);
    }
    bytes.truncate(length);
    Some(bytes)
}

/// The value of a digit. Many programs write a grave accent in place of a space.
fn value(digit: u8) -> Option<u8> {
    matches!(digit, b' '..=b'`').then(|| (digit - b' ') & 0x3F)
}

fn write(lines: &mut Vec<Range<usize>>, bytes: &mut Vec<u8>, writer: &mut Writer) {
    let bytes = std::mem::take(bytes);
    let lines = std::mem::take(lines);
    if bytes.len() >= LEAST
        && let (Some(first), Some(last)) = (lines.first(), lines.last())
        && let Some(payload) = Payload::read_words(bytes, Step::Uuencode)
    {
        payload.write(first.start..last.end, writer);
    }
}
