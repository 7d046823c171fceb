//! What a text repeats of other texts.

use guard_core::rules::overlap::{self, Count, Options};
use napi::{Env, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_texts};
use crate::spans::{Names, Rows, rows};

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

/// How many words of another text are repeated, and how many it has.
#[napi(object)]
pub struct RepeatedWords {
    pub words: u32,
    pub of: u32,
}

/// What a text repeats; see `Overlap` of guard-core.
#[napi(object)]
pub struct TextOverlap {
    /// The passages: the start and the end of each, the index of the other text, the words, and the index of the view that it was
    /// found in, or -1 where the text has it as it is written. See `Passage` of guard-core.
    pub passages: Rows,
    /// The views that there are.
    pub views: Vec<String>,
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
