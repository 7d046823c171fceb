//! Estimates how many minutes a person needs to read a text silently.
//!
//! Words between white space count at 200 per minute, as in llm-guard 0.3.16. (Adults read 238 words of English per
//! minute: Brysbaert 2019, "How many words do we read per minute?", Journal of Memory and Language 109.)
//!
//! Scripts without spaces count in characters: 255 per minute for Chinese and 357 for Japanese (Trauzettel-Klosinski
//! and Dietz 2012, "Standardized assessment of reading performance: the new international reading speed texts IReST",
//! Investigative Ophthalmology & Visual Science 53(9), table 2). That study has no Thai, Lao, Khmer or Burmese. These
//! count at 200 words per minute, with the mean word length of 3.0 to 3.2 grapheme clusters that ICU's dictionaries
//! give for the first articles of the Universal Declaration of Human Rights.
//!
//! ```
//! use guard_core::text::reading_time::measure;
//!
//! let text = "one two three four";
//! let time = measure(text, 0.01);
//! assert_eq!(time.minutes, 4.0 / 200.0);
//! assert_eq!(&text[..time.end], "one two");
//! ```

use crate::stop;
use unicode_segmentation::UnicodeSegmentation;

const WORDS_PER_MINUTE: f64 = 200.0;
const CHINESE_PER_MINUTE: f64 = 255.0;
const JAPANESE_PER_MINUTE: f64 = 357.0;
/// Grapheme clusters per minute: 200 words of 3.1 clusters.
const SOUTH_EAST_ASIAN_PER_MINUTE: f64 = 620.0;

/// The first character of the scripts without spaces.
const FIRST_COUNTED: char = '\u{E00}';

/// The result of [`measure`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadingTime {
    /// Minutes for the whole text.
    pub minutes: f64,
    /// The byte offset of the longest prefix that fits the limit. It ends with a whole word or, in a script without
    /// spaces, with a grapheme cluster.
    pub end: usize,
}

/// The counts so far.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    words: usize,
    han: usize,
    kana: usize,
    south_east_asian: usize,
}

/// The unit in which a script is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Spaced,
    Han,
    Kana,
    SouthEastAsian,
    /// Punctuation and other signs, which take no time.
    None,
}

/// Measures a text against a limit in minutes.
pub fn measure(text: &str, limit: f64) -> ReadingTime {
    // A text with any kana is Japanese, and its Kanji are read at that pace.
    let is_kana = |c: char| c >= FIRST_COUNTED && script(c) == Script::Kana;
    let han = match !text.is_ascii() && text.chars().any(is_kana) {
        true => JAPANESE_PER_MINUTE,
        false => CHINESE_PER_MINUTE,
    };
    let minutes = |count: &Count| {
        count.words as f64 / WORDS_PER_MINUTE
            + count.han as f64 / han
            + count.kana as f64 / JAPANESE_PER_MINUTE
            + count.south_east_asian as f64 / SOUTH_EAST_ASIAN_PER_MINUTE
    };
    let all = minutes(&count(text, |_, _| true));
    let mut end = 0;
    if all <= limit {
        // The whole text fits, including signs at its end that belong to no script.
        end = text.trim_end_matches(is_space).len();
    } else {
        // Only a text over the limit needs a second pass for its end.
        count(text, |count, at| {
            let fits = minutes(count) <= limit;
            end = if fits { at } else { end };
            fits
        });
    }
    ReadingTime { minutes: all, end }
}

/// Counts the units of a text. Wherever a prefix may end, it passes the counts to `goes_on`, and stops when that
/// returns false.
fn count(text: &str, mut goes_on: impl FnMut(&Count, usize) -> bool) -> Count {
    let mut count = Count::default();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        stop::point();
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        if word.is_ascii() || !word.chars().any(is_counted) {
            count.words += 1;
            if !goes_on(&count, start + word.len()) {
                break;
            }
            continue;
        }
        let mut in_word = false;
        let mut begun = false;
        for (offset, cluster) in word.grapheme_indices(true) {
            let script = cluster.chars().next().map_or(Script::None, script);
            match script {
                Script::Han => count.han += 1,
                Script::Kana => count.kana += 1,
                Script::SouthEastAsian => count.south_east_asian += 1,
                Script::Spaced if !in_word => count.words += 1,
                Script::Spaced | Script::None => {}
            }
            in_word = script == Script::Spaced;
            // A prefix of nothing but punctuation is skipped: by itself, it would count as a word.
            begun |= script != Script::None;
            // A Latin word within Chinese text, as in "用GPT4做", is not cut.
            let next = word[offset + cluster.len()..]
                .chars()
                .next()
                .map_or(Script::None, self::script);
            if begun && !(in_word && next == Script::Spaced) && !goes_on(&count, start + offset + cluster.len()) {
                return count;
            }
        }
    }
    count
}

/// Whether a character counts by itself, as in scripts without spaces.
fn is_counted(c: char) -> bool {
    c >= FIRST_COUNTED && !matches!(script(c), Script::Spaced | Script::None)
}

/// White space as Python's `str.split` understands it.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r' | '\u{1C}'..='\u{1F}') || !c.is_ascii() && c.is_whitespace()
}

fn script(c: char) -> Script {
    match c {
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Script::Han,
        '\u{3041}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}' => {
            Script::Kana
        }
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => Script::SouthEastAsian,
        _ if c.is_alphanumeric() => Script::Spaced,
        _ => Script::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn beginning(text: &str, limit: f64) -> &str {
        &text[..measure(text, limit).end]
    }

    #[test]
    fn marks_alone_take_no_time() {
        assert_eq!(beginning("-\u{E49} ", 0.0), "-\u{E49}");
    }

    #[test]
    fn counts_words_between_white_space() {
        let text = "one  two\r\n\tthree — four";
        assert_eq!(measure(text, 1.0).minutes, 5.0 / 200.0);
        assert_eq!(beginning(text, 0.01), "one  two");
        assert_eq!(beginning(text, 0.0), "");
        assert_eq!(beginning(text, 1.0), text);
        assert_eq!(measure(" \n ", 1.0), ReadingTime { minutes: 0.0, end: 0 });
        assert_eq!(measure("안녕하세요 여러분", 1.0).minutes, 0.01);
        assert_eq!(measure("a\u{1F}b", 1.0).minutes, 0.01);
    }

    #[test]
    fn counts_characters_of_scripts_without_spaces() {
        assert_eq!(measure(&"汉".repeat(255), 9.0).minutes, 1.0);
        assert_eq!(measure("日本語です。", 9.0).minutes, 3.0 / 357.0 + 2.0 / 357.0);
        assert_eq!(measure("ภาษาไทย", 9.0).minutes, 7.0 / 620.0);
        assert_eq!(measure("用GPT4做", 9.0).minutes, 2.0 / 255.0 + 1.0 / 200.0);
    }

    #[test]
    fn cuts_no_character_and_no_word() {
        assert_eq!(beginning("汉字汉字", 2.5 / 255.0), "汉字");
        assert_eq!(beginning("用GPT4做", 1.5 / 255.0), "用");
        assert_eq!(beginning("用GPT4做", 1.0 / 255.0 + 1.0 / 200.0), "用GPT4");
        assert_eq!(beginning("นี้นี้", 1.0 / 620.0), "นี้");
    }

    proptest! {
        #[test]
        fn the_beginning_keeps_to_the_limit(text in "([a-z]{1,3}|[ \n汉の字นี้😀é-]){0,60}", limit in 0.0f64..0.2) {
            let ReadingTime { minutes, end } = measure(&text, limit);
            let cut = text.get(..end).expect("a character boundary");
            // Without kana, Japanese text counts as Chinese, whose pace is slower.
            prop_assert!(text.contains('の') || measure(cut, limit).minutes <= minutes.min(limit) + 1e-9);
            prop_assert!(minutes > limit || end == text.trim_end_matches(is_space).len());
        }
    }
}
