//! What a text repeats of other texts.

use guard_core::rules::overlap::{self, Count, Options, Passage};
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_texts};
use crate::spans::{Span, with_spans};

/// What passages are counted in; see `Count` of guard-core.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum OverlapCount {
    Words,
    Letters,
}

/// What to look for; see `Options` of guard-core.
#[napi(object)]
pub struct OverlapOptions {
    pub minimum: u32,
    pub count: OverlapCount,
    pub deobfuscate: bool,
}

/// A passage that repeats another text; see `Passage` of guard-core.
#[napi(object)]
pub struct RepeatedPassage {
    pub start: u32,
    pub end: u32,
    /// The index of the other text.
    pub other: u32,
    pub words: u32,
    /// The view of the text that it was found in; absent where the text has it as it is written.
    pub view: Option<String>,
}

/// How many words of another text are repeated, and how many it has.
#[napi(object)]
pub struct RepeatedWords {
    pub words: u32,
    pub of: u32,
}

/// What a text repeats; see `Overlap` of guard-core.
#[napi(object)]
pub struct TextOverlap {
    pub passages: Vec<RepeatedPassage>,
    pub share: f64,
    pub others: Vec<RepeatedWords>,
}

/// Finds what `text` repeats of `others`, and what stands in none of `except`.
#[napi]
pub fn overlap(
    env: &Env,
    text: String,
    others: Vec<String>,
    except: Vec<String>,
    options: OverlapOptions,
) -> Result<Answer<'_, TextOverlap>> {
    let known = others.len();
    let mut texts = vec![text];
    texts.extend(others);
    texts.extend(except);
    on_texts(env, Cost(150), texts, move |texts| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (text, others) = (texts[0], &texts[1..]);
        let found = overlap::overlap(
            text,
            &others[..known],
            &Options {
                minimum: options.minimum as usize,
                count: match options.count {
                    OverlapCount::Words => Count::Words,
                    OverlapCount::Letters => Count::Letters,
                },
                except: &others[known..],
                deobfuscate: options.deobfuscate,
            },
        );
        let passage = |passage: Passage, Span { start, end }| RepeatedPassage {
            start,
            end,
            other: passage.other as u32,
            words: passage.words as u32,
            view: passage.view,
        };
        let words = found.others.iter().map(|other| RepeatedWords {
            words: other.words as u32,
            of: other.of as u32,
        });
        Ok(TextOverlap {
            others: words.collect(),
            share: found.share,
            passages: with_spans(text, found.passages, |passage| passage.range.clone(), passage),
        })
    })
}
