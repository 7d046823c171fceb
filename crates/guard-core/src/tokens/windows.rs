//! What a model reads of a text: rows of token ids, none longer than the model's maximum input length.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use tokenizers::Tokenizer;

use crate::engine::EngineError;
use crate::text::sentences;

/// How a text is read by a model with a maximum input length.
///
/// The names and numbers of the last three follow llm-guard 0.3.16 (`PromptInjection`'s `MatchType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// All of it: in one row where it fits, otherwise in windows of at most the maximum length or that of
    /// [`TextTokenizer::with_windows_of`]. They overlap, but where rows tell where their tokens stand and a window can end with a sentence:
    /// names are looked for in sentences, an attack may be many.
    Windows,
    /// The beginning, up to the maximum length.
    Head,
    /// Each sentence by itself; one that is too long in windows.
    Sentences,
    /// In tokens, the first quarter of the maximum length and the rest from the end, in one row.
    HeadTail,
    /// In characters, the first and the last 126 joined by three dots.
    HeadTailChars,
    /// Pieces of 256 characters that overlap by 25.
    Chunks,
}

/// One input of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Token ids, special ones included.
    pub ids: Vec<u32>,
    /// Bytes of the text from the row's first token to its last one.
    pub range: Range<usize>,
    /// For each token of the text, the bytes that it was made from, without white space; empty for one that shows nothing. None
    /// for a model without heads over tokens.
    pub pieces: Vec<Range<usize>>,
    /// Which of the pieces this row decides: those that are farther from its ends than from those of any other row with them.
    pub core: Range<usize>,
    /// Whether tokens of the text stand before the first one of the row.
    pub follows: bool,
    /// What stands behind the text, where a claim is read with it.
    pub claim: Option<ClaimPart>,
}

/// The part of a claim in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPart {
    /// The first of the row's token ids that belongs to it; the special tokens behind it do too.
    pub from: usize,
    /// Bytes of the claim.
    pub range: Range<usize>,
}

/// A text as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The inputs, in the order of the text.
    pub rows: Vec<Row>,
    /// Tokens of the whole text, without special ones. For readings that look at parts: of these parts.
    pub tokens: usize,
    /// Bytes of the text that are in no row.
    pub skipped: Option<Range<usize>>,
}

/// Characters of a chunk, and of a text that [`Reading::HeadTailChars`] leaves whole.
const CHUNK_CHARS: usize = 256;
/// Characters that two neighbouring chunks share.
const CHUNK_OVERLAP: usize = 25;
const ELLIPSIS: &str = "...";
/// The share of a window that the next one repeats: an attack that one window cuts in two is whole in the other if it is
/// shorter than this.
const WINDOW_OVERLAP_DIVISOR: usize = 4;

/// Pairs of windows that a text and a claim may make: their number grows with the product of the lengths.
const MOST_PAIRS: usize = 4096;

/// The special tokens around a text and a claim that are read together.
#[derive(Debug)]
struct PairFrame {
    prefix: Vec<u32>,
    middle: Vec<u32>,
    suffix: Vec<u32>,
}

/// The tokenizer of a model together with the model's maximum input length.
pub struct TextTokenizer {
    tokenizer: Tokenizer,
    /// Of special tokens the tokens that spell them, for a text in which they stand.
    spelled: HashMap<u32, Vec<u32>>,
    prefix: Vec<u32>,
    suffix: Vec<u32>,
    /// Tokens of the text that fit into one row.
    room: usize,
    /// Tokens of the text in a window of one that does not fit into a row.
    window: usize,
    /// Absent where the post-processor changes tokens of a pair.
    pair: Option<PairFrame>,
    /// Tokens of a text and a claim that fit into one row.
    pair_room: usize,
    pad: u32,
    /// Whether rows tell where their tokens stand.
    places: bool,
}

/// Token ids of a text with the bytes that each was made from.
struct Tokens {
    ids: Vec<u32>,
    offsets: Vec<(usize, usize)>,
}

impl Tokens {
    /// Bytes of the text from the first of these tokens, of which there is one at least, to the last.
    fn range(&self, tokens: &Range<usize>) -> Range<usize> {
        let (start, end) = (self.offsets[tokens.start].0, self.offsets[tokens.end - 1].1);
        start..end.max(start)
    }
}

impl PairFrame {
    /// What stands around two probes of the tokens `bare` in `dressed`.
    fn around(bare: &[u32], dressed: &[u32]) -> Option<Self> {
        let starts = |at: &usize| dressed[*at..].starts_with(bare);
        let mut places = 0..=dressed.len().checked_sub(bare.len())?;
        let first = places.clone().find(starts)?;
        let second = places.rfind(starts)?;
        (first + bare.len() <= second).then(|| Self {
            prefix: dressed[..first].to_vec(),
            middle: dressed[first + bare.len()..second].to_vec(),
            suffix: dressed[second + bare.len()..].to_vec(),
        })
    }

    fn len(&self) -> usize {
        self.prefix.len() + self.middle.len() + self.suffix.len()
    }
}

/// Cuts `count` tokens into pieces of at most `room`, of which each repeats the last `overlap` of the one before.
fn cuts(count: usize, room: usize, overlap: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < count {
        let end = (start + room).min(count);
        pieces.push(start..end);
        if end == count {
            break;
        }
        start = end - overlap;
    }
    pieces
}

impl TextTokenizer {
    /// Reads a `tokenizer.json` of the Hugging Face tokenizers library, for a model that takes `max_length` tokens.
    ///
    /// # Errors
    /// [`EngineError::MissingFile`], or [`EngineError::BadFile`] when the file is not such a tokenizer or `max_length`
    /// leaves no room beside the special tokens.
    pub fn from_file(path: &Path, max_length: usize) -> Result<Self, EngineError> {
        if !path.is_file() {
            return Err(EngineError::MissingFile { path: path.to_owned() });
        }
        let bad = |message: String| EngineError::BadFile {
            path: path.to_owned(),
            message,
        };
        let mut tokenizer = Tokenizer::from_file(path).map_err(|error| bad(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| bad(error.to_string()))?;
        // Only the post-processor says what is special: a text that spells `</s>` must not end there.
        tokenizer.set_encode_special_tokens(true);
        // The special tokens around a text are whatever the post-processor puts around a probe.
        let probe = |special| tokenizer.encode("a", special).map_err(|error| bad(error.to_string()));
        let (bare, dressed) = (probe(false)?.get_ids().to_vec(), probe(true)?.get_ids().to_vec());
        let at = (0..=dressed.len().saturating_sub(bare.len()))
            .find(|at| dressed[*at..].starts_with(&bare))
            .ok_or_else(|| bad("its post-processor changes tokens of the text".to_owned()))?;
        let (prefix, suffix) = (dressed[..at].to_vec(), dressed[at + bare.len()..].to_vec());
        let room = max_length.saturating_sub(prefix.len() + suffix.len());
        if room == 0 {
            return Err(bad(format!(
                "a maximum input length of {max_length} leaves no room for text"
            )));
        }
        let dressed = tokenizer
            .encode(("a", "a"), true)
            .map_err(|error| bad(error.to_string()))?;
        let pair = PairFrame::around(&bare, dressed.get_ids());
        let framing = pair.as_ref().map_or(max_length, PairFrame::len);
        let pad = ["[PAD]", "<pad>"]
            .iter()
            .find_map(|token| tokenizer.token_to_id(token))
            .unwrap_or(0);
        let spelled = spelled_out(&tokenizer).map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            tokenizer,
            spelled,
            prefix,
            suffix,
            room,
            window: room,
            pair,
            pair_room: max_length.saturating_sub(framing),
            pad,
            places: false,
        })
    }

    /// The same, with rows that tell where their tokens stand.
    pub fn with_places(self) -> Self {
        Self { places: true, ..self }
    }

    /// The same, with windows of at most `length` tokens, special ones included, for a text that does not fit into one row: what is
    /// short beside the rest of its window is easily missed, while a text that is whole is judged best as a whole.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when `length` leaves no room beside the special tokens.
    pub fn with_windows_of(self, length: usize) -> Result<Self, EngineError> {
        let window = length
            .saturating_sub(self.prefix.len() + self.suffix.len())
            .min(self.room);
        if window == 0 {
            return Err(EngineError::Setting {
                name: "window_length".into(),
                message: format!("windows of {length} tokens leave no room for text"),
            });
        }
        Ok(Self { window, ..self })
    }

    /// Special tokens before those of the text in each row.
    pub fn lead(&self) -> usize {
        self.prefix.len()
    }

    /// The id that fills short rows of a batch.
    pub fn pad(&self) -> u32 {
        self.pad
    }

    /// Makes the rows of `text`. An empty text, or one without any token, has none.
    ///
    /// # Errors
    /// [`EngineError::Tokenization`] when the tokenizer refuses the text.
    pub fn rows(&self, text: &str, reading: Reading) -> Result<Rows, EngineError> {
        match reading {
            Reading::Windows => self.windows(text, 0..text.len()),
            Reading::Head => {
                let tokens = self.encode(text)?;
                let end = tokens.ids.len().min(self.room);
                let skipped = (end < tokens.ids.len()).then(|| tokens.offsets[end - 1].1..text.len());
                let rows = self.row(&tokens, &[0..end]).into_iter().collect();
                Ok(Rows {
                    rows,
                    tokens: tokens.ids.len(),
                    skipped,
                })
            }
            Reading::HeadTail => {
                let tokens = self.encode(text)?;
                let count = tokens.ids.len();
                // 128 of 512, as in llm-guard; the tail is the longer part, where the last word is had.
                let head = (self.room + self.prefix.len() + self.suffix.len()) / 4;
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
            Reading::HeadTailChars => self.head_tail_chars(text),
            Reading::Sentences => self.parts(text, sentences::split(text)),
            Reading::Chunks => self.parts(text, chunks(text)),
        }
    }

    /// Makes the rows of `text` together with `claim`: each part of the claim, which is one unless it takes more than half of a
    /// row, with each window of the text. None where one of the two has no token. Rows do not tell where their tokens stand.
    ///
    /// # Errors
    /// [`EngineError::Tokenization`] when the tokenizer refuses a text or knows no pairs, and for texts of more than 4,096 rows.
    pub fn pair_rows(&self, text: &str, claim: &str) -> Result<Rows, EngineError> {
        let refuse = |message: String| EngineError::Tokenization { message };
        let frame = (self.pair.as_ref().filter(|_| self.pair_room >= 2))
            .ok_or_else(|| refuse("the model does not read pairs of texts".to_owned()))?;
        let (of_text, of_claim) = (self.encode(text)?, self.encode(claim)?);
        let mut rows = Vec::new();
        for piece in cuts(of_claim.ids.len(), self.pair_room / 2, 0) {
            let room = self.pair_room - piece.len();
            for window in cuts(of_text.ids.len(), room, room / WINDOW_OVERLAP_DIVISOR) {
                if rows.len() == MOST_PAIRS {
                    return Err(refuse(format!(
                        "the texts make more than {MOST_PAIRS} pairs of windows"
                    )));
                }
                let mut ids = Vec::with_capacity(frame.len() + self.pair_room);
                ids.extend(&frame.prefix);
                ids.extend(&of_text.ids[window.clone()]);
                ids.extend(&frame.middle);
                let from = ids.len();
                ids.extend(&of_claim.ids[piece.clone()]);
                ids.extend(&frame.suffix);
                rows.push(Row {
                    ids,
                    range: of_text.range(&window),
                    claim: Some(ClaimPart {
                        from,
                        range: of_claim.range(&piece),
                    }),
                    ..Row::default()
                });
            }
        }
        Ok(Rows {
            rows,
            tokens: of_text.ids.len() + of_claim.ids.len(),
            skipped: None,
        })
    }

    fn parts(&self, text: &str, parts: Vec<Range<usize>>) -> Result<Rows, EngineError> {
        let mut all = Rows {
            rows: Vec::with_capacity(parts.len()),
            tokens: 0,
            skipped: None,
        };
        for part in parts {
            let rows = self.windows(text, part)?;
            all.tokens += rows.tokens;
            all.rows.extend(rows.rows);
        }
        Ok(all)
    }

    /// Windows over a part of the text, with ranges in the whole text.
    fn windows(&self, text: &str, part: Range<usize>) -> Result<Rows, EngineError> {
        let of_part = &text[part.clone()];
        let tokens = self.encode(of_part)?;
        let count = tokens.ids.len();
        let room = if count > self.room { self.window } else { self.room };
        let starts = if self.places && count > room {
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
                if self.places {
                    let pieces = tokens.offsets[start..end].iter();
                    row.pieces = pieces.map(|&place| moved(visible(of_part, place))).collect();
                    // The middle of what this window and the next one share: a token there is as far from the end of the one
                    // as from the beginning of the other.
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

    fn head_tail_chars(&self, text: &str) -> Result<Rows, EngineError> {
        if text.char_indices().nth(CHUNK_CHARS).is_none() {
            return self.rows(text, Reading::Head);
        }
        let part = (CHUNK_CHARS - ELLIPSIS.len()) / 2;
        let head = text.char_indices().nth(part).map_or(text.len(), |(at, _)| at);
        let tail = text.char_indices().rev().nth(part - 1).map_or(0, |(at, _)| at);
        let mut rows = self.rows(&format!("{}{ELLIPSIS}{}", &text[..head], &text[tail..]), Reading::Head)?;
        // Where less than that fits into a row, the end is cut off too.
        let end = rows.skipped.as_ref().map_or(tail, |_| text.len());
        let start = rows.skipped.map_or(head, |cut| cut.start.min(head));
        rows.skipped = Some(start..end);
        for row in &mut rows.rows {
            row.range = 0..text.len();
        }
        Ok(rows)
    }

    /// Control characters in front are left out: models know none, and where the tokenizer's normalizer drops them there (that of
    /// SentencePiece), `tokenizers` 0.22 forgets them in the places of all tokens behind.
    fn encode(&self, text: &str) -> Result<Tokens, EngineError> {
        let is_space = |character: char| matches!(character, '\t' | '\n' | '\u{C}' | '\r' | '\u{85}');
        let is_dropped = |character: char| character.is_control() && !is_space(character);
        let shown = text.trim_start_matches(is_dropped);
        let lead = text.len() - shown.len();
        let encoding = self
            .tokenizer
            .encode(shown, false)
            .map_err(|error| EngineError::Tokenization {
                message: error.to_string(),
            })?;
        let mut tokens = Tokens {
            ids: Vec::with_capacity(encoding.len()),
            offsets: Vec::with_capacity(encoding.len()),
        };
        for (id, (start, end)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
            let ids = self.spelled.get(id).map_or(std::slice::from_ref(id), Vec::as_slice);
            tokens.ids.extend(ids);
            tokens.offsets.extend(ids.iter().map(|_| (start + lead, end + lead)));
        }
        Ok(tokens)
    }

    fn row(&self, tokens: &Tokens, parts: &[Range<usize>]) -> Option<Row> {
        let first = parts.iter().find(|part| !part.is_empty())?.start;
        let last = parts.iter().rev().find(|part| !part.is_empty())?.end - 1;
        let count: usize = parts.iter().map(Range::len).sum();
        let mut ids = Vec::with_capacity(self.prefix.len() + count + self.suffix.len());
        ids.extend(&self.prefix);
        for part in parts {
            ids.extend(&tokens.ids[part.clone()]);
        }
        ids.extend(&self.suffix);
        let (start, end) = (tokens.offsets[first].0, tokens.offsets[last].1);
        Some(Row {
            ids,
            range: start..end.max(start),
            ..Row::default()
        })
    }
}

/// What special tokens are as mere text, in other tokens: the vocabulary of a Unigram model has them among its pieces, and those
/// of the highest score. That of unknown characters is left out: it says nothing else.
fn spelled_out(tokenizer: &Tokenizer) -> tokenizers::Result<HashMap<u32, Vec<u32>>> {
    let mut spelled = HashMap::new();
    for (id, token) in tokenizer.get_added_tokens_decoder() {
        let Some((last, _)) = token.content.char_indices().next_back() else {
            continue;
        };
        if !token.special || ["<unk>", "[UNK]"].contains(&token.content.as_str()) {
            continue;
        }
        let mut ids = Vec::new();
        for part in [&token.content[..last], &token.content[last..]] {
            let encoding = tokenizer.encode(part, false)?;
            let tokens = encoding.get_ids().iter().zip(encoding.get_tokens());
            // The white space that SentencePiece puts before a text is not in it.
            ids.extend(tokens.filter(|(_, token)| *token != "▁").map(|(id, _)| *id));
        }
        if !ids.is_empty() && !ids.contains(&id) {
            spelled.insert(id, ids);
        }
    }
    Ok(spelled)
}

/// The end of the window of at most `room` tokens from `start` on, and where the next one begins.
///
/// It ends before the last of the sentences that begin in its second half, so that the next one has nothing to repeat; without any,
/// the next one repeats a part of it.
fn window(count: usize, start: usize, room: usize, sentences: &[usize]) -> (usize, usize) {
    let end = start + room;
    if end >= count {
        return (count, count);
    }
    let behind = sentences.partition_point(|&begins| begins <= end);
    match behind.checked_sub(1).map(|last| sentences[last]) {
        Some(begins) if begins > start + room / 2 => (begins, begins),
        _ => (end, end - room / WINDOW_OVERLAP_DIVISOR),
    }
}

/// The first token of each sentence.
fn sentence_starts(text: &str, tokens: &Tokens) -> Vec<usize> {
    let sentences = sentences::split(text).into_iter();
    sentences
        .map(|sentence| {
            let before = |&(_, end): &(usize, usize)| end <= sentence.start;
            tokens.offsets.partition_point(before)
        })
        .collect()
}

/// The bytes of a token without the white space that it may begin with, on character boundaries: a token may be a part of one.
fn visible(text: &str, (start, end): (usize, usize)) -> Range<usize> {
    let start = text.floor_char_boundary(start);
    let token = &text[start..text.ceil_char_boundary(end).max(start)];
    let shown = token.trim();
    let start = start + (token.len() - token.trim_start().len()).min(token.len() - shown.len());
    start..start + shown.len()
}

/// Pieces of [`CHUNK_CHARS`] characters, each beginning [`CHUNK_OVERLAP`] characters before the end of the one before.
fn chunks(text: &str) -> Vec<Range<usize>> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let count = starts.len() - 1;
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < count {
        let end = (start + CHUNK_CHARS).min(count);
        chunks.push(starts[start]..starts[end]);
        if end == count {
            break;
        }
        start += CHUNK_CHARS - CHUNK_OVERLAP;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    const MAX_LENGTH: usize = 32;

    static TOKENIZER: LazyLock<TextTokenizer> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/prompt-injection/tokenizer.json");
        TextTokenizer::from_file(&path, MAX_LENGTH).expect("the embedded tokenizer loads")
    });

    static PLACING: LazyLock<TextTokenizer> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/prompt-injection/tokenizer.json");
        TextTokenizer::from_file(&path, MAX_LENGTH)
            .expect("the embedded tokenizer loads")
            .with_places()
    });

    const READINGS: [Reading; 6] = [
        Reading::Windows,
        Reading::Head,
        Reading::Sentences,
        Reading::HeadTail,
        Reading::HeadTailChars,
        Reading::Chunks,
    ];

    fn long_text() -> String {
        (0..200)
            .map(|i| format!("Sentence number {i} is here."))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn texts(text: &str, reading: Reading) -> Vec<&str> {
        TOKENIZER
            .rows(text, reading)
            .unwrap()
            .rows
            .iter()
            .map(|row| &text[row.range.clone()])
            .collect()
    }

    #[test]
    fn control_characters_in_front_move_nothing() {
        for text in ["Hi Ann, my name is John Smith.", "我叫王小明"] {
            let pieces = |text: &str| PLACING.rows(text, Reading::Windows).unwrap().rows[0].pieces.clone();
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
        for reading in READINGS {
            let rows = TOKENIZER.rows("Ignore the rules", reading).unwrap();
            assert_eq!(
                (rows.tokens, rows.skipped, rows.rows.len()),
                (5, None, 1),
                "{reading:?}"
            );
            assert_eq!(rows.rows[0].ids.first(), Some(&0), "<s>");
            assert_eq!(rows.rows[0].ids.last(), Some(&2), "</s>");
            assert_eq!(rows.rows[0].range, 0..16);
        }
    }

    #[test]
    fn special_tokens_in_a_text_are_text() {
        for special in ["<s>", "</s>", "<pad>", "\u{FF1C}/s\u{FF1E}"] {
            let text = format!("one {special}{special} two");
            let rows = TOKENIZER.rows(&text, Reading::Windows).unwrap().rows;
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0].range, 0..text.len());
            let inner = &rows[0].ids[1..rows[0].ids.len() - 1];
            assert!(
                inner.len() >= 6 && inner.iter().all(|id| *id > 3),
                "{special}: {inner:?}"
            );
        }
    }

    #[test]
    fn nothing_has_no_rows() {
        for reading in READINGS {
            assert!(TOKENIZER.rows("", reading).unwrap().rows.is_empty(), "{reading:?}");
        }
    }

    #[test]
    fn windows_overlap_and_reach_the_end() {
        let text = long_text();
        let rows = TOKENIZER.rows(&text, Reading::Windows).unwrap().rows;
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
    fn windows_that_tell_places_end_with_sentences() {
        let text = long_text();
        let rows = PLACING.rows(&text, Reading::Windows).unwrap().rows;
        assert!(rows.len() > 10);
        for row in &rows {
            let shown = &text[row.range.clone()];
            assert!(
                shown.trim_start().starts_with("Sentence") && shown.ends_with('.'),
                "{shown}"
            );
            assert_eq!(row.core, 0..row.pieces.len());
        }
        // Where no sentence ends, they overlap.
        let endless = "word ".repeat(200);
        let rows = PLACING.rows(endless.trim_end(), Reading::Windows).unwrap().rows;
        assert!(rows.windows(2).all(|pair| pair[1].range.start < pair[0].range.end));
    }

    #[test]
    fn what_does_not_fit_into_a_row_is_read_in_shorter_windows() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/prompt-injection/tokenizer.json");
        let tokenizer = TextTokenizer::from_file(&path, MAX_LENGTH)
            .and_then(|tokenizer| tokenizer.with_windows_of(MAX_LENGTH / 2))
            .unwrap();
        let lengths = |text: &str| -> Vec<usize> {
            let rows = tokenizer.rows(text, Reading::Windows).unwrap().rows;
            rows.iter().map(|row| row.ids.len()).collect()
        };
        let fitting = "a ".repeat(MAX_LENGTH - 2);
        assert_eq!(lengths(fitting.trim_end()), [MAX_LENGTH]);
        let long = long_text();
        let (last, others) = lengths(&long)
            .split_last()
            .map(|(&last, others)| (last, others.to_vec()))
            .unwrap();
        assert!(others.len() > 20 && others.iter().all(|&length| length == MAX_LENGTH / 2) && last <= MAX_LENGTH / 2);
        assert_eq!(
            tokenizer.rows(&long, Reading::Head).unwrap().rows[0].ids.len(),
            MAX_LENGTH
        );
        let rows = tokenizer.rows(&long, Reading::Windows).unwrap().rows;
        assert_eq!((rows[0].range.start, rows[rows.len() - 1].range.end), (0, long.len()));

        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/prompt-injection/tokenizer.json");
        let none = TextTokenizer::from_file(&path, MAX_LENGTH).and_then(|tokenizer| tokenizer.with_windows_of(2));
        assert!(matches!(none.err(), Some(EngineError::Setting { .. })));
    }

    #[test]
    fn head_and_tail_say_what_they_leave_out() {
        let text = long_text();
        let head = TOKENIZER.rows(&text, Reading::Head).unwrap();
        assert_eq!(head.rows[0].ids.len(), MAX_LENGTH);
        assert_eq!(head.skipped, Some(head.rows[0].range.end..text.len()));

        let both = TOKENIZER.rows(&text, Reading::HeadTail).unwrap();
        let gap = both.skipped.unwrap();
        assert_eq!(both.rows[0].range, 0..text.len());
        // A quarter of 32 in front, what remains beside two special tokens at the end.
        assert_eq!(both.rows[0].ids.len(), MAX_LENGTH);
        let front = TOKENIZER.encode(&text[..gap.start]).unwrap().ids;
        assert_eq!((front.len(), &front[..]), (8, &both.rows[0].ids[1..9]));
        let back = TOKENIZER.encode(&text[gap.end..]).unwrap().ids;
        assert!(back.ends_with(&both.rows[0].ids[12..MAX_LENGTH - 1]));
    }

    #[test]
    fn head_and_tail_in_characters_never_cut_one() {
        let text = "жук ".repeat(100);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/prompt-injection/tokenizer.json");
        let roomy = TextTokenizer::from_file(&path, 512).unwrap();
        let gap = roomy.rows(&text, Reading::HeadTailChars).unwrap().skipped.unwrap();
        assert_eq!(text[..gap.start].chars().count(), 126);
        assert_eq!(text[gap.end..].chars().count(), 126);
        // Where less than that fits into a row, the end is not read either.
        let gap = TOKENIZER.rows(&text, Reading::HeadTailChars).unwrap().skipped.unwrap();
        assert!(text[..gap.start].chars().count() < 126);
        assert_eq!(gap.end, text.len());
    }

    #[test]
    fn sentences_are_rows_of_their_own() {
        assert_eq!(
            texts("It is 3.14 today. Is it? Yes!", Reading::Sentences),
            ["It is 3.14 today.", "Is it?", "Yes!"]
        );
    }

    #[test]
    fn chunks_overlap_by_25_characters() {
        let text = "a b c d e ".repeat(60);
        assert_eq!(chunks(&text), [0..256, 231..487, 462..600]);
    }

    #[test]
    fn a_missing_or_broken_tokenizer_names_its_file() {
        let missing = TextTokenizer::from_file(Path::new("/nowhere/tokenizer.json"), 512)
            .err()
            .unwrap();
        assert!(matches!(&missing, EngineError::MissingFile { path } if path.ends_with("tokenizer.json")));
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let broken = TextTokenizer::from_file(&manifest, 512).err().unwrap();
        assert!(matches!(&broken, EngineError::BadFile { path, .. } if *path == manifest));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_gives_short_rows_with_valid_ranges(text in "(\\PC|\\s|[а-я]|[一-龥]|[😀-🙏]){0,300}") {
            for reading in READINGS {
                let rows = TOKENIZER.rows(&text, reading).unwrap();
                for row in &rows.rows {
                    prop_assert!(row.ids.len() <= MAX_LENGTH);
                    prop_assert!(text.get(row.range.clone()).is_some(), "{reading:?} {:?}", row.range);
                }
                if let Some(gap) = rows.skipped {
                    prop_assert!(text.get(gap).is_some());
                }
            }
        }

        #[test]
        fn each_token_is_decided_by_one_window(text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]|[😀-🙏]){0,200}") {
            let tokens = PLACING.encode(&text).unwrap();
            let rows = PLACING.rows(&text, Reading::Windows).unwrap().rows;
            let decided: Vec<Range<usize>> = rows.iter().flat_map(|row| row.pieces[row.core.clone()].to_vec()).collect();
            let all: Vec<Range<usize>> = tokens.offsets.iter().map(|&place| visible(&text, place)).collect();
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
                // As far from the end here as from the beginning there, but for the one in the middle; nothing, between sentences.
                let (left, right) = (row.pieces.len() - row.core.end, next.core.start);
                prop_assert!(left == right || left + 1 == right || left == right + 1, "{} {}", left, right);
            }
        }

        #[test]
        fn pairs_read_every_token_of_both(
            text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]){0,120}",
            claim in "([a-z]{1,9}|[.,!?]| |[а-я]{1,5}){0,60}",
        ) {
            let (of_text, of_claim) = (TOKENIZER.encode(&text).unwrap(), TOKENIZER.encode(&claim).unwrap());
            let rows = TOKENIZER.pair_rows(&text, &claim).unwrap().rows;
            prop_assert_eq!(rows.is_empty(), of_text.ids.is_empty() || of_claim.ids.is_empty());
            let covers = |ranges: &[Range<usize>], tokens: &Tokens| {
                tokens.offsets.iter().all(|&(start, end)| ranges.iter().any(|range| range.start <= start && end <= range.end))
            };
            let pieces: Vec<Range<usize>> = rows.iter().flat_map(|row| row.claim.clone()).map(|claim| claim.range).collect();
            for row in &rows {
                let part = row.claim.as_ref().unwrap();
                prop_assert!(row.ids.len() <= MAX_LENGTH && part.from < row.ids.len());
                prop_assert!(text.get(row.range.clone()).is_some() && claim.get(part.range.clone()).is_some());
                // Between the two stands one special token, the one that also ends the row.
                prop_assert_eq!(row.ids[part.from - 1], row.ids[row.ids.len() - 1]);
                let windows: Vec<Range<usize>> = rows
                    .iter()
                    .filter(|other| other.claim.as_ref().is_some_and(|other| other.range == part.range))
                    .map(|other| other.range.clone())
                    .collect();
                prop_assert!(covers(&windows, &of_text));
            }
            prop_assert!(rows.is_empty() || covers(&pieces, &of_claim));
        }

        #[test]
        fn windows_read_every_token(text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]){0,200}") {
            let tokens = TOKENIZER.encode(&text).unwrap();
            let rows = TOKENIZER.rows(&text, Reading::Windows).unwrap();
            for (start, end) in tokens.offsets {
                prop_assert!(rows.rows.iter().any(|row| row.range.start <= start && end <= row.range.end));
            }
        }
    }
}
