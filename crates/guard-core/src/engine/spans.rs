//! Joins the spans of rows to spans of the text.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

use super::tags::RowSpan;

/// A span of a text that a token head found, such as a name.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySpan {
    /// The index of the head.
    pub head: usize,
    /// The index of its kind in the head.
    pub kind: usize,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// The confidence: the mean probability of its tokens.
    pub score: f64,
}

/// The maximum characters of a word. A longer run is not a word, so a name in it is not extended.
const LONGEST_WORD: usize = 64;
/// The maximum letters of an abbreviation with a full stop: "Inc.", "Corp.", "St.".
const LONGEST_ABBREVIATION: usize = 4;
/// The maximum bytes of a span whose brackets and quotation marks are completed to pairs.
const LONGEST_PAIR: usize = 512;
/// Pairs of brackets and quotation marks.
const PAIRS: [(char, char); 14] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('"', '"'),
    ('\'', '\''),
    ('«', '»'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('（', '）'),
    ('《', '》'),
    ('「', '」'),
    ('『', '』'),
    ('【', '】'),
];

/// Joins the spans of the rows of a text, in the order of the rows.
///
/// In scripts with spaces between words, a span covers whole words: `Petr` in `Petrov` becomes `Petrov`. White space
/// and punctuation around it are removed, except the full stop of an abbreviation (`Foo Inc.`) and a bracket or
/// quotation mark whose other half is inside (`Bank (Europe)`). The spans of each head are in order and without
/// overlaps: a word in two spans goes to the first.
pub(super) fn join(text: &str, parts: impl IntoIterator<Item = RowSpan>) -> Vec<EntitySpan> {
    let mut by_head: Vec<Vec<RowSpan>> = Vec::new();
    for part in parts {
        if by_head.len() <= part.head {
            by_head.resize_with(part.head + 1, Vec::new);
        }
        let spans = &mut by_head[part.head];
        match spans.last_mut() {
            Some(last)
                if part.continues && last.kind == part.kind && is_blank(text, last.range.end..part.range.start) =>
            {
                unite(last, &part);
            }
            _ => spans.push(part),
        }
    }
    let mut all: Vec<EntitySpan> = by_head.into_iter().flat_map(|spans| in_words(text, spans)).collect();
    all.sort_by_key(|span| (span.range.start, span.range.end, span.head));
    all
}

fn unite(span: &mut RowSpan, other: &RowSpan) {
    span.range.end = span.range.end.max(other.range.end);
    span.sum += other.sum;
    span.tokens += other.tokens;
}

/// Whether a range is empty, or has only white space and control characters.
fn is_blank(text: &str, range: Range<usize>) -> bool {
    range.is_empty()
        || text
            .get(range)
            .is_some_and(|gap| gap.chars().all(|c| c.is_whitespace() || c.is_control()))
}

/// Extends the spans of one head to whole words, without overlaps.
fn in_words(text: &str, spans: Vec<RowSpan>) -> impl Iterator<Item = EntitySpan> {
    let mut kept: Vec<RowSpan> = Vec::with_capacity(spans.len());
    for mut span in spans {
        let Some(range) = trim(text, span.range.clone()) else {
            continue;
        };
        span.range = extend_to_words(text, range);
        match kept.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                if last.kind == span.kind {
                    unite(last, &span);
                } else if let Some(rest) = (last.range.end < span.range.end)
                    .then(|| trim(text, last.range.end..span.range.end))
                    .flatten()
                {
                    span.range = rest;
                    kept.push(span);
                }
            }
            _ => kept.push(span),
        }
    }
    kept.into_iter().map(|span| EntitySpan {
        head: span.head,
        kind: span.kind,
        range: span.range,
        score: (span.sum / span.tokens as f64).min(1.0),
    })
}

/// A range without white space and punctuation at its ends; `None` if it has no letter or digit.
fn trim(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let is_kept = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let mut part = text.get(range.clone())?;
    if !part.contains(char::is_alphanumeric) {
        return None;
    }
    let mut start = range.start;
    loop {
        let (first, last) = (part.chars().next()?, part.chars().next_back()?);
        if !is_kept(first) && !has_closing(first, part) {
            start += first.len_utf8();
            part = &part[first.len_utf8()..];
        } else if !(is_kept(last) || has_opening(last, part) || last == '.' && is_abbreviation(part)) {
            part = &part[..part.len() - last.len_utf8()];
        } else {
            return Some(start..start + part.len());
        }
    }
}

/// Whether `part` begins with an opening mark whose closing mark is inside, but not at the end.
fn has_closing(first: char, part: &str) -> bool {
    let inside = &part[first.len_utf8()..];
    let inside = inside.char_indices().next_back().map_or("", |(at, _)| &inside[..at]);
    part.len() <= LONGEST_PAIR
        && PAIRS
            .iter()
            .any(|(open, close)| *open == first && inside.contains(*close))
}

/// Whether `part` ends with a closing mark whose opening mark is inside, but not at the start.
fn has_opening(last: char, part: &str) -> bool {
    let inside = &part[..part.len() - last.len_utf8()];
    let inside = inside.chars().next().map_or("", |first| &inside[first.len_utf8()..]);
    part.len() <= LONGEST_PAIR
        && PAIRS
            .iter()
            .any(|(open, close)| *close == last && inside.contains(*open))
}

/// Whether the last word of `part`, which ends with a full stop, is short or contains another full stop: "Inc.",
/// "U.S.", "А.С.".
fn is_abbreviation(part: &str) -> bool {
    let word = part[..part.len() - 1].chars().rev();
    let mut letters = 0;
    for c in word.take_while(|c| !c.is_whitespace()) {
        match c {
            '.' => return letters > 0,
            _ if c.is_alphanumeric() => letters += 1,
            _ => break,
        }
        if letters > LONGEST_ABBREVIATION {
            return false;
        }
    }
    letters > 0
}

/// Extends a range to the whole words at its ends.
fn extend_to_words(text: &str, range: Range<usize>) -> Range<usize> {
    let word_length = |part: &mut dyn Iterator<Item = char>| {
        let mut length = 0;
        for (count, c) in part.take_while(|&c| is_of_word(c)).enumerate() {
            if count == LONGEST_WORD {
                return 0;
            }
            length += c.len_utf8();
        }
        length
    };
    let inside = &text[range.clone()];
    let begins = inside.chars().next().is_some_and(is_of_word);
    let ends = inside.chars().next_back().is_some_and(is_of_word);
    let before = if begins {
        word_length(&mut text[..range.start].chars().rev())
    } else {
        0
    };
    let behind = if ends {
        word_length(&mut text[range.end..].chars())
    } else {
        0
    };
    range.start - before..range.end + behind
}

/// Whether a character belongs to a word in a script with spaces between words. Korean has spaces, but appends endings
/// and particles to names, so it is excluded.
fn is_of_word(c: char) -> bool {
    let has_no_spaces = || {
        use Script::{Bopomofo, Han, Hangul, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai, Tibetan};
        matches!(
            c.script(),
            Han | Hangul | Hiragana | Katakana | Bopomofo | Thai | Lao | Khmer | Myanmar | Tibetan
        ) || matches!(c, '\u{FF70}' | '\u{30FC}' | '\u{3005}'..='\u{3007}')
    };
    (c.is_alphanumeric() || is_combining_mark(c)) && (c.is_ascii() || !has_no_spaces())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(kind: usize, range: Range<usize>, continues: bool) -> RowSpan {
        RowSpan {
            head: 0,
            kind,
            range,
            sum: 0.5,
            tokens: 1,
            continues,
        }
    }

    /// The result of a span over `found` in `text`.
    fn cut<'a>(text: &'a str, found: &str) -> Vec<&'a str> {
        let start = text.find(found).unwrap();
        let spans = join(text, [part(0, start..start + found.len(), false)]);
        spans.into_iter().map(|span| &text[span.range]).collect()
    }

    #[test]
    fn whole_words_without_what_is_around_them() {
        for (text, found, expected) in [
            ("I met Petrov.", "Petr", "Petrov"),
            ("I met Petrov.", "rov", "Petrov"),
            ("I met (Petrov), twice", " (Petrov),", "Petrov"),
            ("in the U.S. today", "U.S.", "U.S."),
            ("Foo Inc. said", "Foo Inc.", "Foo Inc."),
            ("А.С. Пушкин. Он", "А.С. Пушкин.", "А.С. Пушкин"),
            ("in London.", "London.", "London"),
            ("the «Газпром» of", "«Газпром»", "Газпром"),
            ("ООО «Ромашка» и", "ООО «Ромашка»", "ООО «Ромашка»"),
            ("Bank (Europe), a", "Bank (Europe),", "Bank (Europe)"),
            ("O'Brien", "Brien", "Brien"),
            ("我在北京工作", "北京", "北京"),
            ("김철수는 갔다", "김철수", "김철수"),
            ("東京タワーに", "東京", "東京"),
            ("iPhone用户", "iPho", "iPhone"),
            ("दिल्ली में", "दिल्", "दिल्ली"),
            ("Москве́ и", "Моск", "Москве́"),
        ] {
            assert_eq!(cut(text, found), [expected], "{found} in {text}");
        }
        assert!(cut("a — b", " — ").is_empty());
        // No language has such words.
        let blob = "x".repeat(100);
        assert_eq!(cut(&format!("{blob}Petrov{blob}"), "Petrov"), ["Petrov"]);
    }

    #[test]
    fn parts_become_one() {
        let text = "Ann Lee Bob";
        let spans = join(text, [part(0, 0..3, false), part(0, 4..7, true), part(0, 8..11, false)]);
        let ranges: Vec<_> = spans.iter().map(|span| (span.range.clone(), span.score)).collect();
        assert_eq!(ranges, [(0..7, 0.5), (8..11, 0.5)]);
        // A continuation of nothing in the previous row is a span of its own.
        let spans = join(text, [part(1, 0..3, false), part(0, 4..7, true), part(0, 8..11, true)]);
        assert_eq!(spans.iter().map(|span| span.kind).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(spans[1].range, 4..11);
        // Not across a gap.
        let spans = join("Ann, Lee", [part(0, 0..3, false), part(0, 5..8, true)]);
        assert_eq!(spans.len(), 2);
    }

    #[test]
    fn a_word_goes_to_its_first_span() {
        let text = "Petrov Moscow";
        let spans = join(text, [part(0, 0..3, false), part(1, 3..13, false)]);
        let ranges: Vec<_> = spans.iter().map(|span| (span.kind, span.range.clone())).collect();
        assert_eq!(ranges, [(0, 0..6), (1, 7..13)]);
        let spans = join(text, [part(0, 0..3, false), part(0, 3..6, false)]);
        assert_eq!(spans.len(), 1);
    }

    #[test]
    fn heads_do_not_meet() {
        let other = RowSpan {
            head: 1,
            ..part(0, 0..3, false)
        };
        assert_eq!(join("Ann Lee", [part(0, 0..3, false), other]).len(), 2);
    }

    proptest! {
        #[test]
        fn any_text(text in "(\\PC|\\s|[ .«»()\"]|[а-я]|[一-龥]|[ก-๛]|[😀-🙏]|\u{301}){0,80}", cuts in prop::collection::vec((0_usize..300, 0_usize..3, any::<bool>()), 0..20)) {
            let mut offsets: Vec<usize> = cuts.iter().map(|(at, ..)| text.floor_char_boundary(*at)).collect();
            offsets.sort_unstable();
            let parts: Vec<RowSpan> = offsets
                .windows(2)
                .zip(&cuts)
                .filter(|(pair, _)| pair[0] < pair[1])
                .map(|(pair, (_, kind, continues))| part(*kind, pair[0]..pair[1], *continues))
                .collect();
            let mut end = 0;
            for span in join(&text, parts) {
                let found = text.get(span.range.clone());
                prop_assert!(found.is_some_and(|found| found.contains(char::is_alphanumeric)));
                prop_assert!(end <= span.range.start);
                prop_assert!((0.0..=1.0).contains(&span.score));
                end = span.range.end;
            }
        }
    }
}
