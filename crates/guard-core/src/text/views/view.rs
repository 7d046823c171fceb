//! A view, and its mapping back to the original text.

use crate::stop;
use std::ops::Range;

/// The most bytes of one view, as a multiple of the bytes of the text.
pub const MAX_GROWTH: usize = 4;

/// A decoding step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Normalized = 1,
    Hidden,
    Spaced,
    Leetspeak,
    Base64,
    Base32,
    Hex,
    Percent,
    Entity,
    Escape,
    Rot13,
    Reversed,
    Morse,
    Binary,
    UpsideDown,
    Bidi,
    Markup,
    Decimal,
    Octal,
    CodePoint,
    QuotedPrintable,
    Hyphenated,
    Rows,
    Bits,
    Caesar,
    Spelled,
    Separated,
    Base58,
    Base85,
    Uuencode,
    Rot47,
    Atbash,
    Deflate,
}

/// The names of the steps, by number.
const NAMES: [&str; 34] = [
    "",
    "normalized",
    "hidden",
    "spaced",
    "leetspeak",
    "base64",
    "base32",
    "hex",
    "percent",
    "entity",
    "escape",
    "rot13",
    "reversed",
    "morse",
    "binary",
    "upside_down",
    "bidi",
    "markup",
    "decimal",
    "octal",
    "code_point",
    "quoted_printable",
    "hyphenated",
    "rows",
    "bits",
    "caesar",
    "spelled",
    "separated",
    "base58",
    "base85",
    "uuencode",
    "rot47",
    "atbash",
    "deflate",
];

/// Bits per step.
const BITS: u32 = 6;
/// The most steps of a chain.
const MAX_STEPS: u32 = u64::BITS / BITS;
const STEP: u64 = (1 << BITS) - 1;

/// A chain of steps, [`BITS`] bits each, the first in the lowest bits. Copied text has an empty chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Steps(u64);

impl From<Step> for Steps {
    fn from(step: Step) -> Self {
        Self(step as u64)
    }
}

impl Steps {
    /// Appends `next`. Steps beyond [`MAX_STEPS`] are dropped.
    pub(super) fn then(self, next: Self) -> Self {
        let length = self.bits();
        let last = self.last();
        let normalized = Step::Normalized as u64;
        // Normalization takes two passes but is one step.
        let next = if last == normalized && next.0 & STEP == normalized {
            next.0 >> BITS
        } else {
            next.0
        };
        let all = (1 << (MAX_STEPS * BITS)) - 1;
        Self((self.0 | next << length) & all)
    }

    /// The number of the last step.
    fn last(self) -> u64 {
        self.0 >> self.bits().saturating_sub(BITS)
    }

    fn bits(self) -> u32 {
        (u64::BITS - self.0.leading_zeros()).next_multiple_of(BITS)
    }

    /// Whether `longer` starts with these steps and has more.
    fn begin(self, longer: Self) -> bool {
        self != longer && longer.0 & ((1 << self.bits()) - 1) == self.0
    }

    /// The numbers of the steps, the first step first.
    fn numbers(self) -> impl Iterator<Item = u64> {
        let numbers = (0..MAX_STEPS).map(move |index| self.0 >> (index * BITS) & STEP);
        numbers.take_while(|&number| number != 0)
    }

    /// Whether a step decodes what no reader could read.
    fn is_unreadable(self) -> bool {
        let unreadable = [
            Step::Base64,
            Step::Base32,
            Step::Hex,
            Step::Binary,
            Step::Base58,
            Step::Base85,
            Step::Uuencode,
            Step::Rot47,
        ];
        self.numbers()
            .any(|number| unreadable.iter().any(|&step| step as u64 == number))
    }

    fn name(self) -> String {
        let names: Vec<_> = self.numbers().map(|number| NAMES[number as usize]).collect();
        names.join(">")
    }
}

/// A piece of a view. It consists of units of equal length, so that even a long view has few segments.
///
/// A unit has `unit` bytes of the view and comes from `origin_unit` bytes of the source. Both are 1 in copied text. A
/// unit of percent-encoded ASCII has 1 byte and comes from 3. A decoded piece of base64 is a single unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// The start in the view. A segment ends where the next one starts.
    start: usize,
    /// The start in the source.
    origin: usize,
    unit: u32,
    origin_unit: u32,
    steps: Steps,
    /// Whether the units are in reverse order, so that the last one comes from the start of the source.
    mirrored: bool,
}

impl Segment {
    /// The source bytes of the bytes `range` of the view. `end` is the end of the segment.
    fn origin(&self, range: Range<usize>, end: usize) -> Range<usize> {
        let (unit, origin_unit) = (self.unit as usize, self.origin_unit as usize);
        let first = (range.start - self.start) / unit;
        let last = (range.end - self.start).div_ceil(unit);
        if self.mirrored {
            let units = (end - self.start) / unit;
            self.origin + (units - last) * origin_unit..self.origin + (units - first) * origin_unit
        } else {
            self.origin + first * origin_unit..self.origin + last * origin_unit
        }
    }
}

/// A decoded form of a text that maps back to the original.
#[derive(Debug, Clone)]
pub struct View {
    text: String,
    segments: Vec<Segment>,
    /// The step that removed something.
    removed: Steps,
}

impl View {
    /// The decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the view: `normalized`, or `base64>rot13` if base64 was decoded first and then rot13. If pieces of
    /// the view were decoded in different ways, their names are joined with `+`, as in `base64+hex`.
    pub fn name(&self) -> String {
        let name = self.name_of(0..self.text.len());
        if name.is_empty() { self.removed.name() } else { name }
    }

    /// The name of the bytes `range` of the view, like [`View::name`]; empty for copied text.
    pub fn name_of(&self, range: Range<usize>) -> String {
        let mut seen: Vec<Steps> = Vec::new();
        // The first pieces are enough. A view of a million pieces would make every match slow.
        for (index, _) in self.pieces(range).take(256) {
            let steps = self.segments[index].steps;
            if steps != Steps::default() && seen.len() < 4 && !seen.contains(&steps) {
                seen.push(steps);
            }
        }
        // `base64` is dropped next to `base64>rot13`, which begins with it.
        let longest = seen
            .iter()
            .filter(|steps| !seen.iter().any(|other| steps.begin(*other)));
        let names: Vec<_> = longest.map(|steps| steps.name()).collect();
        names.join("+")
    }

    /// Maps the bytes `range` of the view to their source range in the original text.
    ///
    /// The source of decoded text is the whole encoded piece. The result is on character boundaries of the original, and
    /// covers the result for any smaller range. A range that cuts a character covers the whole character. A range
    /// beyond the end is cut off.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text.floor_char_boundary(range.start);
        let end = self.text.ceil_char_boundary(range.end).max(start);
        if start == end {
            let at = self.original_position(start);
            return at..at;
        }
        let origins = self
            .pieces(start..end)
            .map(|(index, piece)| self.segments[index].origin(piece, self.end_of(index)));
        origins
            .reduce(|found, origin| found.start.min(origin.start)..found.end.max(origin.end))
            .unwrap_or(0..0)
    }

    /// Maps a byte offset of the view to the original.
    fn original_position(&self, at: usize) -> usize {
        let next = self.text[at..].chars().next();
        let last = self.text[..at].chars().next_back();
        match (next, last) {
            (Some(next), _) => self.original(at..at + next.len_utf8()).start,
            (None, Some(last)) => self.original(at - last.len_utf8()..at).end,
            (None, None) => 0,
        }
    }

    /// Returns a view of the parts `ranges`, separated by line breaks. The ranges must be on character boundaries,
    /// ascend, and not overlap.
    pub(super) fn excerpt(&self, ranges: &[Range<usize>]) -> View {
        let mut writer = Writer::new(&self.text);
        let mut end = 0;
        for (index, range) in ranges.iter().enumerate() {
            if end < range.start {
                writer.replace(end..range.start, if index == 0 { "" } else { "\n" }, Steps::default());
            }
            end = range.end;
        }
        if end < self.text.len() {
            writer.replace(end..self.text.len(), "", Steps::default());
        }
        match writer.finish() {
            Some(excerpt) => excerpt.compose(self),
            None => self.clone(),
        }
    }

    /// The ranges of the original text that are encoded so that no reader or model could read them, such as base64, in
    /// order. Neighbouring ranges are joined.
    pub fn encoded(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, segment) in self
            .segments
            .iter()
            .enumerate()
            .filter(|(_, segment)| segment.steps.is_unreadable())
        {
            let end = self.end_of(index);
            ranges.push(segment.origin(segment.start..end, end));
        }
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let joins = next.start <= last.end;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        ranges
    }

    /// Whether a part of `range` is a guess. Leetspeak, rot13 and reversed writing as the last step are guesses, because
    /// they apply to any text. Joined words at the ends of lines are guesses, because many documents have them. Decoded
    /// text is not a guess.
    pub(super) fn is_guessed(&self, range: Range<usize>) -> bool {
        let guesses = [
            Step::Leetspeak,
            Step::Rot13,
            Step::Caesar,
            Step::Atbash,
            Step::Rot47,
            Step::Reversed,
            Step::Hyphenated,
        ]
        .map(|step| step as u64);
        self.pieces(range)
            .any(|(index, _)| guesses.contains(&self.segments[index].steps.last()))
    }

    /// Whether the only step of a part of `range` joined the halves of a word at the end of a line.
    pub(super) fn is_hyphenated(&self, range: Range<usize>) -> bool {
        let hyphenated = Steps::from(Step::Hyphenated);
        self.pieces(range)
            .any(|(index, _)| self.segments[index].steps == hyphenated)
    }

    /// Whether the view only joins words at the ends of lines.
    pub(super) fn is_only_hyphenated(&self) -> bool {
        let hyphenated = Steps::from(Step::Hyphenated);
        let copied = Steps::default();
        self.removed == copied
            && self
                .segments
                .iter()
                .all(|part| part.steps == hyphenated || part.steps == copied)
    }

    /// The ranges of the view that were not copied, in order. Neighbouring ranges are joined.
    pub(super) fn changed_ranges(&self) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (index, segment) in self.segments.iter().enumerate() {
            if segment.steps == Steps::default() {
                continue;
            }
            let end = self.end_of(index);
            match parts.last_mut() {
                Some(last) if last.end == segment.start => last.end = end,
                _ => parts.push(segment.start..end),
            }
        }
        parts
    }

    /// The ranges of the original text that are the source of no part of the view. `length` is its length in bytes.
    pub(super) fn left_out(&self, length: usize) -> Vec<Range<usize>> {
        let mut gaps: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        for (index, segment) in self.segments.iter().enumerate() {
            let end = self.end_of(index);
            let origin = segment.origin(segment.start..end, end);
            if at < origin.start {
                gaps.push(at..origin.start);
            }
            at = at.max(origin.end);
        }
        if at < length {
            gaps.push(at..length);
        }
        gaps
    }

    /// The index of each segment in `range`, and the part of `range` in it.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = self
            .segments
            .partition_point(|segment| segment.start <= range.start)
            .saturating_sub(1);
        (first..self.segments.len())
            .map(move |index| {
                let piece = self.segments[index].start.max(range.start)..self.end_of(index).min(range.end);
                (index, piece)
            })
            .take_while(|(_, piece)| !piece.is_empty())
    }

    fn end_of(&self, segment: usize) -> usize {
        self.segments
            .get(segment + 1)
            .map_or(self.text.len(), |next| next.start)
    }

    /// Converts a view of `earlier` into a view of the original text of `earlier`.
    pub(super) fn compose(self, earlier: &View) -> View {
        let mut segments = Segments::default();
        for (index, segment) in self.segments.iter().enumerate() {
            let end = self.end_of(index);
            let source = segment.origin(segment.start..end, end);
            if segment.unit == 1 && segment.origin_unit == 1 {
                segments.copy(earlier, segment, source);
                continue;
            }
            let unit = segment.unit as usize;
            for at in (segment.start..end).step_by(unit) {
                let source = segment.origin(at..at + unit, end);
                let (origin, steps) = earlier.made_from(source);
                segments.push(unit, unit, origin, steps.then(segment.steps), false);
            }
        }
        View {
            text: self.text,
            segments: segments.list,
            removed: earlier.removed.then(self.removed),
        }
    }

    /// The source of a range, and the steps of its first part that is not copied.
    fn made_from(&self, range: Range<usize>) -> (Range<usize>, Steps) {
        let steps = self
            .pieces(range.clone())
            .take(16)
            .map(|(index, _)| self.segments[index].steps);
        let steps = steps.reduce(|first, next| if first == Steps::default() { next } else { first });
        (self.original(range), steps.unwrap_or_default())
    }
}

/// The most segments of a view, plus one for each [`BYTES_PER_SEGMENT`] bytes. Beyond that, neighbours share a segment,
/// and [`View::original`] covers some extra bytes. That takes a text of 100 kB in which every other character differs.
const SEGMENTS: usize = 1 << 16;
const BYTES_PER_SEGMENT: usize = 16;

/// The segments of a view under construction. New text extends the last segment if possible.
#[derive(Default)]
struct Segments {
    list: Vec<Segment>,
    end: usize,
}

impl Segments {
    /// Adds `length` bytes in units of `unit` bytes, which come from `origin`.
    fn push(&mut self, length: usize, unit: usize, origin: Range<usize>, steps: Steps, mirrored: bool) {
        stop::point();
        let units = length / unit;
        let mirrored = mirrored && units > 1;
        let (unit, origin_unit) = (unit as u32, (origin.len() / units) as u32);
        let start = self.end;
        self.end += length;
        if let Some(last) = self.list.last() {
            let known = (start - last.start) / last.unit as usize * last.origin_unit as usize;
            let alike = (last.unit, last.origin_unit, last.steps) == (unit, origin_unit, steps);
            if alike && !last.mirrored && !mirrored && last.origin + known == origin.start {
                return;
            }
        }
        let full = self.list.len() > SEGMENTS + start / BYTES_PER_SEGMENT;
        if let Some(last) = self.list.last_mut().filter(|_| full) {
            let covered = last.origin(last.start..start, start);
            let origin = covered.start.min(origin.start)..covered.end.max(origin.end);
            *last = Segment {
                start: last.start,
                origin: origin.start,
                unit: (self.end - last.start) as u32,
                origin_unit: origin.len() as u32,
                steps: if last.steps == Steps::default() {
                    steps
                } else {
                    last.steps
                },
                mirrored: false,
            };
            return;
        }
        self.list.push(Segment {
            start,
            origin: origin.start,
            unit,
            origin_unit,
            steps,
            mirrored,
        });
    }

    /// Adds the bytes `source` of `earlier`, in the order that `segment` has.
    fn copy(&mut self, earlier: &View, segment: &Segment, source: Range<usize>) {
        let mut pieces: Vec<_> = earlier.pieces(source).collect();
        if segment.mirrored {
            pieces.reverse();
        }
        for (index, piece) in pieces {
            let made = &earlier.segments[index];
            let (end, unit) = (earlier.end_of(index), made.unit as usize);
            let steps = made.steps.then(segment.steps);
            let mirrored = made.mirrored != segment.mirrored;
            // A cut unit still comes from its whole source.
            let first = made.start + (piece.start - made.start).next_multiple_of(unit);
            let last = made.start + (piece.end - made.start) / unit * unit;
            let mut parts = if first < last {
                vec![
                    (piece.start..first, false),
                    (first..last, true),
                    (last..piece.end, false),
                ]
            } else {
                vec![
                    (piece.start..first.min(piece.end), false),
                    (first.min(piece.end)..piece.end, false),
                ]
            };
            if segment.mirrored {
                parts.reverse();
            }
            for (part, whole) in parts.into_iter().filter(|(part, _)| !part.is_empty()) {
                let unit = if whole { unit } else { part.len() };
                self.push(part.len(), unit, made.origin(part, end), steps, mirrored && whole);
            }
        }
    }
}

/// Writes a view of a text from left to right.
pub(super) struct Writer<'a> {
    source: &'a str,
    /// The byte offset up to which the source is written or removed.
    at: usize,
    text: String,
    segments: Segments,
    removed: Steps,
    changed: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            text: String::new(),
            segments: Segments::default(),
            removed: Steps::default(),
            changed: false,
        }
    }

    /// Copies the source up to `end`.
    fn copy_to(&mut self, end: usize) {
        if self.at < end {
            self.text.push_str(&self.source[self.at..end]);
            self.segments
                .push(end - self.at, 1, self.at..end, Steps::default(), false);
            self.at = end;
        }
    }

    /// Replaces `range` of the source with `text`. Ranges must ascend, and the text between them is copied. An empty
    /// `text` removes the range. A range of 4 GiB or more is copied.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str, steps: impl Into<Steps>) {
        if range.len().max(text.len()) > u32::MAX as usize {
            return;
        }
        self.copy_to(range.start);
        self.changed = true;
        self.at = range.end;
        if text.is_empty() {
            self.removed = steps.into();
        } else {
            self.text.push_str(text);
            self.segments.push(text.len(), text.len(), range, steps.into(), false);
        }
    }

    /// Replaces `range` of the source with `text` of the same length, byte by byte.
    pub(super) fn exchange(&mut self, range: Range<usize>, text: &str, steps: impl Into<Steps>) {
        self.replace_bytes(range, text, steps.into(), false);
    }

    /// Replaces `range` of the source with `text`, which has the characters of the range in reverse order. A character
    /// of one byte may differ from the original, if the new one has one byte too.
    pub(super) fn mirror(&mut self, range: Range<usize>, text: &str, steps: impl Into<Steps>) {
        self.replace_bytes(range, text, steps.into(), true);
    }

    /// Replaces `range` of the source with `text` of the same length, in the same or the reverse order.
    fn replace_bytes(&mut self, range: Range<usize>, text: &str, steps: Steps, is_reversed: bool) {
        debug_assert_eq!(range.len(), text.len());
        self.copy_to(range.start);
        self.changed = true;
        self.at = range.end;
        self.text.push_str(text);
        self.segments.push(text.len(), 1, range, steps, is_reversed);
    }

    /// Returns the view if it differs from the source.
    pub(super) fn finish(mut self) -> Option<View> {
        if !self.changed {
            return None;
        }
        self.copy_to(self.source.len());
        (self.text != self.source).then_some(View {
            text: self.text,
            segments: self.segments.list,
            removed: self.removed,
        })
    }
}
