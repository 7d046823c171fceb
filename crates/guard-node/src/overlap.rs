//! Finds passages that a text repeats.

use guard_core::rules::overlap::{self, Count, Options};
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_texts};
use crate::spans::{Names, Rows, rows};

/// The unit of passages; see `Count` of guard-core.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum OverlapCount {
    Words,
    Letters,
}

/// Options; see `Options` of guard-core.
#[napi(object)]
pub struct OverlapOptions {
    pub minimum: u32,
    pub count: OverlapCount,
    pub deobfuscate: bool,
}

/// The number of repeated words of another text, and its total number of words.
#[napi(object)]
pub struct RepeatedWords {
    pub words: u32,
    pub of: u32,
}

/// The passages that a text repeats; see `Overlap` of guard-core.
#[napi(object)]
pub struct TextOverlap {
    /// For each passage: the start, the end, the index of the other text, the number of words, and the index of its
    /// view, or -1 for the text itself. See `Passage` of guard-core.
    pub passages: Rows,
    /// The names of the views.
    pub views: Vec<String>,
    pub share: f64,
    pub others: Vec<RepeatedWords>,
}

/// Finds the passages of `text` that repeat `others` and are not in `except`.
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
        let mut views = Names::default();
        let passages = rows(
            text,
            &found.passages,
            |passage| passage.range.clone(),
            |passage| {
                let view = views.index_of(passage.view.as_deref());
                [passage.other as f64, passage.words as f64, view]
            },
        );
        let words = found.others.iter().map(|other| RepeatedWords {
            words: other.words as u32,
            of: other.of as u32,
        });
        Ok(TextOverlap {
            others: words.collect(),
            share: found.share,
            passages,
            views: views.into_list(),
        })
    })
}
