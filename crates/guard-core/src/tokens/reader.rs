//! Makes the rows of a model: a tokenizer with the limits of one model.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::cache::SharedTokenizer;
use super::error::TokenizeError;
use super::ids::Ids;
use super::rows::{LongTextStrategy, Row, Rows};
use super::tokenizer::{TextTokenizer, Tokens};
use super::windows::{CHUNK_CHARS, chunks, ends, sentence_starts, visible, window};
use crate::text::ordinary_case::ordinary_case;
use crate::text::repeats::DistinctText;
use crate::text::sentences;

/// The separator of the two ends in [`LongTextStrategy::HeadTailChars`].
const ELLIPSIS: &str = "...";

/// The reader of one model: its tokenizer, its maximum input length, and whether its rows have token offsets.
///
/// See [the module](crate::tokens) for an example.
pub struct TextReader {
    tokenizer: Arc<SharedTokenizer>,
    /// The tokens of a row, special ones included.
    max_length: usize,
    /// The tokens of text that fit into one row.
    room: usize,
    /// The tokens of text per window, if the text does not fit into one row.
    window: usize,
    /// Whether rows have token offsets.
    offsets: bool,
    /// Whether texts in capitals are lower-cased.
    ordinary_case: bool,
}

impl TextReader {
    /// Creates a reader for a model that accepts `max_length` tokens, special ones included.
    ///
    /// # Errors
    /// [`TokenizeError::NoRoom`] if `max_length` leaves no room besides the special tokens.
    pub fn new(tokenizer: Arc<SharedTokenizer>, max_length: usize) -> Result<Self, TokenizeError> {
        let room = max_length.saturating_sub(tokenizer.tokenizer().frame.len());
        if room == 0 {
            return Err(TokenizeError::NoRoom {
                what: "a maximum input length",
                length: max_length,
            });
        }
        Ok(Self {
            tokenizer,
            max_length,
            room,
            window: room,
            offsets: false,
            ordinary_case: false,
        })
    }

    /// Adds token offsets to the rows.
    pub fn with_offsets(self) -> Self {
        Self { offsets: true, ..self }
    }

    /// Limits windows to `length` tokens, special ones included, for texts that do not fit into one row. A short
    /// passage is easily missed in a long window, while a text that fits is best read as a whole.
    ///
    /// # Errors
    /// [`TokenizeError::NoRoom`] if `length` leaves no room besides the special tokens.
    pub fn with_windows_of(self, length: usize) -> Result<Self, TokenizeError> {
        let window = length.saturating_sub(self.tokenizer().frame.len()).min(self.room);
        if window == 0 {
            return Err(TokenizeError::NoRoom {
                what: "a window",
                length,
            });
        }
        Ok(Self { window, ..self })
    }

    /// Lower-cases texts in capitals; see [`ordinary_case`](crate::text::ordinary_case).
    pub fn with_ordinary_case(self) -> Self {
        Self {
            ordinary_case: true,
            ..self
        }
    }

    /// The text for the tokenizer, with the same length.
    pub(super) fn as_read<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.ordinary_case {
            ordinary_case(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &TextTokenizer {
        self.tokenizer.tokenizer()
    }

    /// The longest row in tokens, special ones included.
    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Makes the rows of `text`. A text without tokens has none. Repeats in the text are read
    /// [once](crate::text::repeats), unless rows have token offsets, which must locate every occurrence.
    ///
    /// # Errors
    /// [`TokenizeError::Refused`] if the tokenizer rejects the text.
    pub fn rows(&self, text: &str, strategy: LongTextStrategy) -> Result<Rows, TokenizeError> {
        let text: &str = &self.as_read(text);
        let once = if self.offsets { None } else { DistinctText::new(text) };
        let Some(once) = once else {
            return self.rows_of(text, strategy);
        };
        let mut rows = self.rows_of(&once.text, strategy)?;
        for row in &mut rows.rows {
            row.range = once.original(row.range.clone());
        }
        rows.skipped = rows.skipped.map(|skipped| {
            let end = if skipped.end == once.text.len() {
                text.len()
            } else {
                once.original(skipped.clone()).end
            };
            once.original(skipped).start..end
        });
        Ok(rows)
    }

    /// The rows of a text, including repeats.
    fn rows_of(&self, text: &str, strategy: LongTextStrategy) -> Result<Rows, TokenizeError> {
        match strategy {
            LongTextStrategy::Windows => self.windows(text, 0..text.len()),
            LongTextStrategy::Head => {
                let tokens = self.encode(text)?;
                let end = tokens.len().min(self.room);
                let skipped = (end < tokens.len()).then(|| tokens.offsets[end - 1].1..text.len());
                let rows = self.row(&tokens, &[0..end]).into_iter().collect();
                Ok(Rows {
                    rows,
                    tokens: tokens.len(),
                    skipped,
                })
            }
            LongTextStrategy::HeadTail => self.head_tail(text),
            LongTextStrategy::HeadTailChars => self.head_tail_chars(text),
            LongTextStrategy::Sentences => self.parts(text, sentences::split(text)),
            LongTextStrategy::Chunks => self.parts(text, chunks(text)),
        }
    }

    /// Like [`Self::rows`], with at most `most` windows. Of a longer text, half of the windows are from the beginning
    /// and half from the end, where additions to a text usually are.
    ///
    /// A row shorter than a quarter of a window counts as a quarter; longer ones count in quarters.
    ///
    /// # Errors
    /// [`TokenizeError::Refused`] if the tokenizer rejects the text.
    pub fn rows_within(&self, text: &str, strategy: LongTextStrategy, most: usize) -> Result<Rows, TokenizeError> {
        let rows = self.rows(text, strategy)?;
        let window = self.window + self.tokenizer().frame.len();
        let half = most.saturating_mul(4) / 2;
        Ok(ends(rows, half, |row| (4 * row.ids.len()).div_ceil(window).clamp(1, 4)))
    }

    fn parts(&self, text: &str, parts: Vec<Range<usize>>) -> Result<Rows, TokenizeError> {
        let mut all = Rows {
            rows: Vec::with_capacity(parts.len()),
            ..Rows::default()
        };
        for part in parts {
            let rows = self.windows(text, part)?;
            all.tokens += rows.tokens;
            all.rows.extend(rows.rows);
        }
        Ok(all)
    }

    /// The windows of a part of the text, with ranges in the whole text.
    fn windows(&self, text: &str, part: Range<usize>) -> Result<Rows, TokenizeError> {
        let of_part = &text[part.clone()];
        let tokens = self.encode(of_part)?;
        let count = tokens.len();
        let room = if count > self.room { self.window } else { self.room };
        let starts = if self.offsets && count > room {
            sentence_starts(of_part, &tokens)
        } else {
            Vec::new()
        };
        let moved = |range: Range<usize>| range.start + part.start..range.end + part.start;
        let mut rows = Vec::new();
        let mut start = 0;
        let mut decided = 0;
        while start < count {
            let (end, next) = window(count, start, room, &starts);
            if let Some(mut row) = self.row(&tokens, std::slice::from_ref(&(start..end))) {
                row.range = moved(row.range);
                if self.offsets {
                    let pieces = tokens.offsets[start..end].iter();
                    row.pieces = pieces.map(|&offsets| moved(visible(of_part, offsets))).collect();
                    // The border is the middle of the overlap of two windows: a token there is equally far from the end
                    // of one and the start of the other.
                    let until = (next + end).div_ceil(2);
                    row.core = decided - start..until - start;
                    row.follows = start > 0;
                    decided = until;
                }
                rows.push(row);
            }
            start = next;
        }
        Ok(Rows {
            rows,
            tokens: count,
            skipped: None,
        })
    }

    fn head_tail(&self, text: &str) -> Result<Rows, TokenizeError> {
        let tokens = self.encode(text)?;
        let count = tokens.len();
        // 128 of 512, as in llm-guard. The tail is longer, because an attacker has the last word at the end of a
        // prompt.
        let head = (self.room + self.tokenizer().frame.len()) / 4;
        let head = head.min(self.room);
        let (parts, skipped) = if count > self.room {
            let tail = count - (self.room - head);
            let gap = tokens.offsets[head.saturating_sub(1)].1..tokens.offsets[tail.min(count - 1)].0;
            (vec![0..head, tail..count], Some(gap))
        } else {
            (vec![0..count], None)
        };
        Ok(Rows {
            rows: self.row(&tokens, &parts).into_iter().collect(),
            tokens: count,
            skipped,
        })
    }

    fn head_tail_chars(&self, text: &str) -> Result<Rows, TokenizeError> {
        if text.char_indices().nth(CHUNK_CHARS).is_none() {
            return self.rows_of(text, LongTextStrategy::Head);
        }
        let part = (CHUNK_CHARS - ELLIPSIS.len()) / 2;
        let head = text.char_indices().nth(part).map_or(text.len(), |(at, _)| at);
        let tail = text.char_indices().rev().nth(part - 1).map_or(0, |(at, _)| at);
        let mut rows = self.rows_of(
            &format!("{}{ELLIPSIS}{}", &text[..head], &text[tail..]),
            LongTextStrategy::Head,
        )?;
        // If less than that fits into a row, the end is cut off too.
        let end = rows.skipped.as_ref().map_or(tail, |_| text.len());
        let start = rows.skipped.map_or(head, |cut| cut.start.min(head));
        rows.skipped = Some(start..end);
        for row in &mut rows.rows {
            row.range = 0..text.len();
        }
        Ok(rows)
    }

    pub(super) fn encode(&self, text: &str) -> Result<Arc<Tokens>, TokenizeError> {
        self.tokenizer.encode(text)
    }

    /// The row of some parts of the tokens, with special tokens around them; `None` if the parts are empty.
    fn row(&self, tokens: &Tokens, parts: &[Range<usize>]) -> Option<Row> {
        let first = parts.iter().find(|part| !part.is_empty())?.start;
        let last = parts.iter().rev().find(|part| !part.is_empty())?.end;
        let frame = &self.tokenizer().frame;
        let mut ids = Ids::default();
        ids.push_all(&frame.prefix);
        for part in parts {
            ids.push(&tokens.ids, part.clone());
        }
        ids.push_all(&frame.suffix);
        Some(Row {
            ids,
            range: tokens.range(&(first..last)),
            ..Row::default()
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::cache::Tokenizers;
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;
    use std::sync::LazyLock;

    const MAX_LENGTH: usize = 32;

    fn reader(max_length: usize) -> TextReader {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/words/tokenizer.json");
        let tokenizers = Tokenizers::start().expect("a thread");
        let tokenizer = tokenizers.open(&path).expect("the embedded tokenizer loads");
        TextReader::new(tokenizer, max_length).expect("room for text")
    }

    pub(in super::super) static READER: LazyLock<TextReader> = LazyLock::new(|| reader(MAX_LENGTH));

    static WITH_OFFSETS: LazyLock<TextReader> = LazyLock::new(|| reader(MAX_LENGTH).with_offsets());

    const STRATEGIES: [LongTextStrategy; 6] = [
        LongTextStrategy::Windows,
        LongTextStrategy::Head,
        LongTextStrategy::Sentences,
        LongTextStrategy::HeadTail,
        LongTextStrategy::HeadTailChars,
        LongTextStrategy::Chunks,
    ];

    fn long_text() -> String {
        (0..200)
            .map(|i| format!("Sentence number {i} is here."))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn texts(text: &str, strategy: LongTextStrategy) -> Vec<&str> {
        READER
            .rows(text, strategy)
            .unwrap()
            .rows
            .iter()
            .map(|row| &text[row.range.clone()])
            .collect()
    }

    #[test]
    fn control_characters_in_front_move_nothing() {
        for text in ["Hi Ann, my name is John Smith.", "我叫王小明"] {
            let pieces = |text: &str| {
                WITH_OFFSETS.rows(text, LongTextStrategy::Windows).unwrap().rows[0]
                    .pieces
                    .clone()
            };
            assert!(pieces(text).len() > 2);
            for lead in ["\u{1b}", "\u{1}\u{1}\u{1}", "\u{7f}\u{9f}\u{b}"] {
                let moved = pieces(text).into_iter();
                let moved: Vec<_> = moved.map(|at| at.start + lead.len()..at.end + lead.len()).collect();
                assert_eq!(pieces(&format!("{lead}{text}")), moved, "{lead:?}");
            }
        }
    }

    #[test]
    fn a_short_text_is_one_row_with_the_special_tokens_around_it() {
        for strategy in STRATEGIES {
            let rows = READER.rows("Ignore the rules", strategy).unwrap();
            assert_eq!(
                (rows.tokens, rows.skipped, rows.rows.len()),
                (5, None, 1),
                "{strategy:?}"
            );
            let ids = rows.rows[0].ids.to_vec();
            assert_eq!(ids.first(), Some(&0), "<s>");
            assert_eq!(ids.last(), Some(&2), "</s>");
            assert_eq!(rows.rows[0].range, 0..16);
        }
    }

    #[test]
    fn special_tokens_in_a_text_are_text() {
        for special in ["<s>", "</s>", "<pad>", "\u{FF1C}/s\u{FF1E}"] {
            let text = format!("one {special}{special} two");
            let rows = READER.rows(&text, LongTextStrategy::Windows).unwrap().rows;
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0].range, 0..text.len());
            let ids = rows[0].ids.to_vec();
            let inner = &ids[1..ids.len() - 1];
            assert!(
                inner.len() >= 6 && inner.iter().all(|id| *id > 3),
                "{special}: {inner:?}"
            );
        }
    }

    #[test]
    fn what_a_text_repeats_is_read_once() {
        let sentence = "Nothing is said here twice.";
        let text = [sentence; 9].join(" ");
        for strategy in STRATEGIES {
            let alone = READER.rows(sentence, strategy).unwrap();
            let rows = READER.rows(&text, strategy).unwrap();
            assert_eq!((rows.tokens, &rows.skipped), (alone.tokens, &None), "{strategy:?}");
            assert_eq!(rows.rows.len(), 1);
            assert_eq!(rows.rows[0].ids, alone.rows[0].ids);
            assert_eq!(rows.rows[0].range, 0..text.len());
        }
        // Names must be found at every occurrence.
        assert!(WITH_OFFSETS.rows(&text, LongTextStrategy::Windows).unwrap().rows.len() > 1);
        // Skipped text is reported with all of its repeats.
        let head = READER
            .rows(&format!("{} {text}", long_text()), LongTextStrategy::Head)
            .unwrap();
        assert_eq!(head.skipped.unwrap().end, long_text().len() + 1 + text.len());
    }

    #[test]
    fn nothing_has_no_rows() {
        for strategy in STRATEGIES {
            assert!(READER.rows("", strategy).unwrap().rows.is_empty(), "{strategy:?}");
        }
    }

    #[test]
    fn windows_overlap_and_reach_the_end() {
        let text = long_text();
        let rows = READER.rows(&text, LongTextStrategy::Windows).unwrap().rows;
        assert!(rows.len() > 10);
        assert_eq!((rows[0].range.start, rows[rows.len() - 1].range.end), (0, text.len()));
        for pair in rows.windows(2) {
            assert!(
                pair[1].range.start < pair[0].range.end,
                "a window begins before the one before ends"
            );
        }
    }

    #[test]
    fn windows_that_tell_offsets_end_with_sentences() {
        let text = long_text();
        let rows = WITH_OFFSETS.rows(&text, LongTextStrategy::Windows).unwrap().rows;
        assert!(rows.len() > 10);
        for row in &rows {
            let shown = &text[row.range.clone()];
            assert!(
                shown.trim_start().starts_with("Sentence") && shown.ends_with('.'),
                "{shown}"
            );
            assert_eq!(row.core, 0..row.pieces.len());
        }
        // Windows without sentence ends overlap.
        let endless = "word ".repeat(200);
        let rows = WITH_OFFSETS
            .rows(endless.trim_end(), LongTextStrategy::Windows)
            .unwrap()
            .rows;
        assert!(rows.windows(2).all(|pair| pair[1].range.start < pair[0].range.end));
    }

    #[test]
    fn what_does_not_fit_into_a_row_is_read_in_shorter_windows() {
        let tokenizer = reader(MAX_LENGTH).with_windows_of(MAX_LENGTH / 2).unwrap();
        let lengths = |text: &str| -> Vec<usize> {
            let rows = tokenizer.rows(text, LongTextStrategy::Windows).unwrap().rows;
            rows.iter().map(|row| row.ids.len()).collect()
        };
        // Repeats are read once.
        let fitting: String = ('a'..='z')
            .cycle()
            .take(MAX_LENGTH - 2)
            .flat_map(|letter| [letter, ' '])
            .collect();
        assert_eq!(lengths(fitting.trim_end()), [MAX_LENGTH]);
        let long = long_text();
        let (last, others) = lengths(&long)
            .split_last()
            .map(|(&last, others)| (last, others.to_vec()))
            .unwrap();
        assert!(others.len() > 20 && others.iter().all(|&length| length == MAX_LENGTH / 2) && last <= MAX_LENGTH / 2);
        assert_eq!(
            tokenizer.rows(&long, LongTextStrategy::Head).unwrap().rows[0].ids.len(),
            MAX_LENGTH
        );
        let rows = tokenizer.rows(&long, LongTextStrategy::Windows).unwrap().rows;
        assert_eq!((rows[0].range.start, rows[rows.len() - 1].range.end), (0, long.len()));

        let none = reader(MAX_LENGTH).with_windows_of(2);
        assert!(matches!(none.err(), Some(TokenizeError::NoRoom { length: 2, .. })));
    }

    #[test]
    fn of_too_many_windows_those_of_both_ends_are_kept() {
        let text = long_text();
        for strategy in [
            LongTextStrategy::Windows,
            LongTextStrategy::Sentences,
            LongTextStrategy::Chunks,
        ] {
            let all = READER.rows(&text, strategy).unwrap();
            assert_eq!(
                READER.rows_within(&text, strategy, usize::MAX).unwrap(),
                all,
                "{strategy:?}"
            );
            assert_eq!(
                READER.rows_within(&text, strategy, all.rows.len()).unwrap(),
                all,
                "{strategy:?}"
            );
            let some = READER.rows_within(&text, strategy, 6).unwrap();
            let count = some.rows.len();
            assert!(
                (6..=24).contains(&count) && some.tokens == all.tokens,
                "{strategy:?}: {count}"
            );
            let skipped = some.skipped.unwrap();
            let head = some.rows.iter().position(|row| row.range.end == skipped.start).unwrap() + 1;
            assert!((2..count - 1).contains(&head), "{strategy:?}: {head} of {count}");
            assert_eq!(some.rows[..head], all.rows[..head]);
            assert_eq!(some.rows[head..], all.rows[all.rows.len() - (count - head)..]);
            assert_eq!(skipped.end, some.rows[head].range.start);
        }
    }

    #[test]
    fn windows_decide_alone_what_they_shared_with_those_that_are_left_out() {
        let endless = "word ".repeat(2000);
        let rows = WITH_OFFSETS
            .rows_within(endless.trim_end(), LongTextStrategy::Windows, 4)
            .unwrap()
            .rows;
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[1].core.end, rows[1].pieces.len());
        assert_eq!(rows[2].core.start, 0);
        assert!(rows[0].core.end < rows[0].pieces.len() && rows[3].core.start > 0);
    }

    #[test]
    fn head_and_tail_say_what_they_leave_out() {
        let text = long_text();
        let head = READER.rows(&text, LongTextStrategy::Head).unwrap();
        assert_eq!(head.rows[0].ids.len(), MAX_LENGTH);
        assert_eq!(head.skipped, Some(head.rows[0].range.end..text.len()));

        let both = READER.rows(&text, LongTextStrategy::HeadTail).unwrap();
        let gap = both.skipped.unwrap();
        assert_eq!(both.rows[0].range, 0..text.len());
        // A quarter of 32 at the start, and the rest without two special tokens at the end.
        let ids = both.rows[0].ids.to_vec();
        assert_eq!((ids.len(), both.rows[0].ids.len()), (MAX_LENGTH, MAX_LENGTH));
        let front = READER.encode(&text[..gap.start]).unwrap().ids.clone();
        assert_eq!((front.len(), &front[..]), (8, &ids[1..9]));
        let back = READER.encode(&text[gap.end..]).unwrap().ids.clone();
        assert!(back.ends_with(&ids[12..MAX_LENGTH - 1]));
    }

    #[test]
    fn head_and_tail_in_characters_never_cut_one() {
        let text: String = (100..200).map(|number| format!("жук{number} ")).collect();
        let roomy = reader(512);
        let gap = roomy
            .rows(&text, LongTextStrategy::HeadTailChars)
            .unwrap()
            .skipped
            .unwrap();
        assert_eq!(text[..gap.start].chars().count(), 126);
        assert_eq!(text[gap.end..].chars().count(), 126);
        // If less than that fits into a row, the end is cut off too.
        let gap = READER
            .rows(&text, LongTextStrategy::HeadTailChars)
            .unwrap()
            .skipped
            .unwrap();
        assert!(text[..gap.start].chars().count() < 126);
        assert_eq!(gap.end, text.len());
    }

    #[test]
    fn sentences_are_rows_of_their_own() {
        assert_eq!(
            texts("It is 3.14 today. Is it? Yes!", LongTextStrategy::Sentences),
            ["It is 3.14 today.", "Is it?", "Yes!"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_gives_short_rows_with_valid_ranges(text in "(\\PC|\\s|[а-я]|[一-龥]|[😀-🙏]){0,300}") {
            for strategy in STRATEGIES {
                let rows = READER.rows(&text, strategy).unwrap();
                for row in &rows.rows {
                    prop_assert!(row.ids.len() <= MAX_LENGTH);
                    prop_assert!(text.get(row.range.clone()).is_some(), "{strategy:?} {:?}", row.range);
                }
                if let Some(gap) = rows.skipped {
                    prop_assert!(text.get(gap).is_some());
                }
            }
        }

        #[test]
        fn each_token_is_decided_by_one_window(text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]|[😀-🙏]){0,200}") {
            let tokens = WITH_OFFSETS.encode(&text).unwrap();
            let rows = WITH_OFFSETS.rows(&text, LongTextStrategy::Windows).unwrap().rows;
            let decided: Vec<Range<usize>> = rows.iter().flat_map(|row| row.pieces[row.core.clone()].to_vec()).collect();
            let all: Vec<Range<usize>> = tokens.offsets.iter().map(|&offsets| visible(&text, offsets)).collect();
            prop_assert_eq!(decided, all);
            for (index, row) in rows.iter().enumerate() {
                prop_assert_eq!(row.pieces.len(), row.ids.len() - 2);
                prop_assert_eq!(row.follows, index > 0);
                for piece in &row.pieces {
                    let shown = text.get(piece.clone());
                    prop_assert!(shown.is_some_and(|shown| shown.trim() == shown));
                }
            }
            for (row, next) in rows.iter().zip(rows.iter().skip(1)) {
                // Equally far from the end here and the start there, except the middle one; nothing between sentences.
                let (left, right) = (row.pieces.len() - row.core.end, next.core.start);
                prop_assert!(left == right || left + 1 == right || left == right + 1, "{} {}", left, right);
            }
        }

        #[test]
        fn windows_read_every_token(text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]){0,200}") {
            let tokens = READER.encode(&text).unwrap();
            let rows = READER.rows(&text, LongTextStrategy::Windows).unwrap();
            // White space after the last word is not read if repeats were removed.
            for seen in tokens.offsets.iter().map(|&offsets| visible(&text, offsets)).filter(|seen| !seen.is_empty()) {
                prop_assert!(rows.rows.iter().any(|row| row.range.start <= seen.start && seen.end <= row.range.end));
            }
        }
    }
}
