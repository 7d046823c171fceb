//! Sentences, invisible characters, views and names.

use std::sync::Arc;

use guard_core::text::invisible::{self, Kind};
use guard_core::text::names;
use guard_core::text::sentences;
use guard_core::text::views::{self, RevealingView, View};
use napi::bindgen_prelude::Uint32Array;
use napi::{JsString, Result};
use napi_derive::napi;

use crate::answer::{Answer, Cost, on_text};
use crate::error::{Code, Failure};
use crate::spans::{Names, Rows, Span, byte_ranges, rows, spans, with_spans};

/// The sentences of a text in order, without white space between them: the start and the end of each.
///
/// The result is numbers, because Node-API creates objects on the event loop, and 1 MB of text has about 50,000
/// sentences.
#[napi]
pub fn split_sentences(text: JsString<'_>) -> Result<Answer<'_, Uint32Array>> {
    on_text(Cost(5), text, |text| {
        let offsets = offsets_of(spans(text, sentences::split(text)));
        Ok(offsets.into())
    })
}

fn offsets_of(spans: Vec<Span>) -> Vec<u32> {
    spans.iter().flat_map(|&Span { start, end }| [start, end]).collect()
}

/// The invisible characters of a text that are not part of correct writing.
#[napi(object)]
pub struct InvisibleScan {
    /// For each run of characters of one kind: the start, the end and the index of the kind.
    pub runs: Rows,
    /// The kinds in snake case, such as `zero_width_spaces`.
    pub kinds: Vec<String>,
}

/// Finds invisible characters that are not part of correct writing, of all kinds except those in `allow`.
#[napi]
pub fn scan_invisible(text: JsString<'_>, allow: Vec<String>) -> Result<Answer<'_, InvisibleScan>> {
    on_text(Cost(100), text, move |text| {
        let kind = |name: &String| {
            Kind::from_name(name).ok_or_else(|| Failure::new(Code::Validation, "no kind of invisible characters"))
        };
        let allowed = allow.iter().map(kind).collect::<std::result::Result<Vec<_>, _>>()?;
        let mut found = invisible::find(text);
        found.retain(|run| !allowed.contains(&run.kind));
        let mut kinds = Names::default();
        let runs = rows(
            text,
            &found,
            |run| run.range.clone(),
            |run| [kinds.index(run.kind.as_str())],
        );
        let kinds = kinds.into_list();
        Ok(InvisibleScan { runs, kinds })
    })
}

/// A view of a text with new words.
#[napi]
pub struct TextView {
    original: Arc<str>,
    view: View,
    replaces_text: bool,
    encoded: Vec<u32>,
}

/// The part of the original text that is the source of a part of a view.
#[napi(object)]
pub struct SourceSpan {
    pub start: u32,
    pub end: u32,
    /// The name of the view, such as `base64>rot13`.
    pub view: String,
}

#[napi]
impl TextView {
    /// The decoded text.
    #[napi(getter)]
    pub fn text(&self) -> &str {
        self.view.text()
    }

    /// Whether it may replace the text; see `RevealingView` of guard-core.
    #[napi(getter)]
    pub fn replaces_text(&self) -> bool {
        self.replaces_text
    }

    /// The start and the end of each encoded part of the original text; see `View::encoded` of guard-core.
    #[napi(getter)]
    pub fn encoded(&self) -> Uint32Array {
        self.encoded.clone().into()
    }

    /// Maps spans of the view to the original text, in the same order.
    #[napi]
    pub fn locate(&self, spans: Vec<Span>) -> Vec<SourceSpan> {
        let parts = byte_ranges(self.view.text(), spans);
        with_spans(
            &self.original,
            parts,
            |part| self.view.original(part.clone()),
            |part, Span { start, end }| {
                let name = self.view.name_of(part);
                SourceSpan {
                    start,
                    end,
                    // A copied part means something else because of removed text around it, so it gets the name of the
                    // whole view.
                    view: if name.is_empty() { self.view.name() } else { name },
                }
            },
        )
    }
}

/// The views that a classifier should read besides the text; see `revealing_views` of guard-core.
#[napi]
pub fn revealing_views(text: JsString<'_>) -> Result<Answer<'_, Vec<TextView>>> {
    on_text(Cost(120), text, |text| {
        let views = views::revealing_views(text);
        if views.is_empty() {
            return Ok(Vec::new());
        }
        let original: Arc<str> = text.into();
        let view = |RevealingView { view, replaces_text }| TextView {
            original: Arc::clone(&original),
            encoded: offsets_of(spans(text, view.encoded())),
            view,
            replaces_text,
        };
        Ok(views.into_iter().map(view).collect())
    })
}

/// A name as readers perceive it.
#[napi(object)]
pub struct PerceivedName {
    /// The name without differences that readers overlook: names with the same skeleton look alike.
    pub skeleton: String,
    /// Whether letters of another script replace Latin ones in it.
    pub disguised: bool,
}

/// How readers perceive each of these names; see `names` of guard-core.
#[napi]
pub fn perceive_names(names: Vec<String>) -> Vec<PerceivedName> {
    let perceive = |name: &String| PerceivedName {
        skeleton: names::skeleton(name),
        disguised: names::is_disguised(name),
    };
    names.iter().map(perceive).collect()
}
