//! Targets of the text module.

use guard_core::text::offsets::{Unit, convert, convert_back};
use guard_core::text::repeats::DistinctText;
use guard_core::text::views::{MAX_GROWTH, MAX_VIEWS, MAX_REVEALING};
use guard_core::text::{self, redact::REDACTED};

use crate::steps::{check, linear};

/// Views are bounded in number and length, and every part of a view maps into the text.
pub fn views(text: &str) {
    let views = linear(text, 400, || text::views::views(text));
    assert!(views.len() <= MAX_VIEWS);
    for view in views {
        assert!(view.text().len() <= MAX_GROWTH * text.len().max(1));
        for (at, character) in view.text().char_indices() {
            assert!(text.get(view.original(at..at + character.len_utf8())).is_some());
        }
        assert!(text.get(view.original(0..view.text().len())).is_some());
    }
    assert!(text::views::revealing_views(text).len() <= MAX_REVEALING);
}

/// JSON candidates are in the text, in order and without overlaps, and valid ones are valid.
pub fn json(text: &str) {
    let found = linear(text, 400, || text::json::find(text));
    check(text, found.iter().map(|candidate| &candidate.range), true);
    for candidate in found {
        match candidate.problem {
            Some(problem) => assert!(problem.at <= text.len()),
            None => {
                assert_parses(&text[candidate.range]);
            }
        }
    }
}

/// Panics if JSON can't be parsed. Lone surrogates (`\\ud800`) and numbers that are too large (`1e999`) are valid by the
/// grammar (RFC 8259), but `serde_json` rejects them, so texts with escapes or exponents are not checked.
fn assert_parses(json: &str) {
    let may_be_rejected = json.contains("\\u") || json.contains(['e', 'E']);
    assert!(
        may_be_rejected || serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok(),
        "{json}"
    );
}

/// Repaired JSON can be parsed, and a second repair changes nothing.
pub fn json_repair(text: &str) {
    let Some(repaired) = linear(text, 400, || text::json_repair::repair(text)) else {
        return;
    };
    assert_parses(&repaired);
    assert_eq!(text::json_repair::repair(&repaired).as_deref(), Some(repaired.as_str()));
}

/// Composition is idempotent, and every part of a composed text is from the text.
pub fn canonical(text: &str) {
    let composed = linear(text, 50, || text::canonical::compose(text));
    assert!(!text::canonical::compose(composed.text()).is_changed());
    for (at, character) in composed.text().char_indices() {
        assert!(text.get(composed.original(at..at + character.len_utf8())).is_some());
    }
}

/// Converting offsets back and forth leads to the start of the same character.
pub fn offsets(text: &str) {
    let offsets: Vec<usize> = (0..text.len() + 3).collect();
    for unit in [Unit::Utf16, Unit::CodePoint] {
        let mut there = offsets.clone();
        convert(text, unit, &mut there);
        convert_back(text, unit, &mut there);
        for (offset, back) in offsets.iter().zip(there) {
            assert_eq!(back, text.floor_char_boundary((*offset).min(text.len())));
        }
    }
}

/// Removing all findings leaves nothing to find.
pub fn invisible(text: &str) {
    let found = linear(text, 50, || text::invisible::find(text));
    check(text, found.iter().map(|found| &found.range), true);
    let visible = text::invisible::remove(text, &found);
    assert_eq!(text::invisible::find(&visible), [], "{visible:?} is left");
}

/// Sentences are in order and cover everything except white space.
pub fn sentences(text: &str) {
    let found = linear(text, 50, || text::sentences::split(text));
    check(text, &found, true);
    let mut rest = 0;
    for range in found {
        assert!(!range.is_empty() && text[range.clone()].trim() == &text[range.clone()]);
        assert!(text[rest..range.start].trim().is_empty());
        rest = range.end;
    }
    assert!(text[rest..].trim().is_empty());
}

/// Redacting any spans, including overlapping, cut or reversed ones, hides each of their bytes.
pub fn redact(text: &str) {
    let numbers: Vec<usize> = text.bytes().map(|byte| usize::from(byte) * text.len() / 200).collect();
    let spans: Vec<_> = numbers.chunks_exact(2).take(20).map(|pair| pair[0]..pair[1]).collect();
    let redacted = text::redact::redact(text, &spans, REDACTED);
    let hidden = spans
        .iter()
        .filter(|span| !span.is_empty() && span.start < text.len())
        .count();
    assert!(redacted.matches(REDACTED).count() <= text.matches(REDACTED).count() + hidden);
    assert_eq!(text::redact::redact(text, &[], REDACTED), text);
    assert!(hidden == 0 || redacted.contains(REDACTED));
}

/// The remaining text is in the original, and removing repeats again removes less and less.
pub fn repeats(text: &str) {
    let Some(once) = linear(text, 200, || DistinctText::new(text)) else {
        return;
    };
    assert!(once.text.len() <= text.len());
    for (at, character) in once.text.char_indices() {
        assert!(text.get(once.original(at..at + character.len_utf8())).is_some());
    }
}
