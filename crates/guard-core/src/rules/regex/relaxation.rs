//! A fast check that rules out most matches.

use regex_syntax::hir::{Hir, HirKind, Look};

/// Returns a pattern that matches at least wherever `source` matches, or `None` if it would be no faster.
///
/// The lazy DFA of the `regex` crate gives up at a Unicode word boundary if a text has a non-ASCII character, and its
/// fallback is about 20 times slower (see "Unicode can impact memory usage and search speed" in its documentation).
/// Without boundaries a pattern matches at more positions, never at fewer. A text in which it finds nothing needs no
/// second search.
pub(super) fn without_boundaries(source: &str) -> Option<String> {
    let hir = regex_syntax::Parser::new().parse(source).ok()?;
    let bounded = hir.properties().look_set().contains_word_unicode();
    bounded.then(|| relax(&hir).to_string())
}

fn relax(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(look) if is_boundary(*look) => Hir::empty(),
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(relax(&repetition.sub))),
        // Groups are not needed, only their content.
        HirKind::Capture(capture) => relax(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(relax).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(relax).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

fn is_boundary(look: Look) -> bool {
    matches!(
        look,
        Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_boundaries_go() {
        assert_eq!(without_boundaries(r"^a(b|c)*?$"), None);
        assert_eq!(without_boundaries(r"(?-u:\b)a"), None);
        for (pattern, text) in [
            (r"\ba\b", "éaé"),
            (r"(?i)x\B(?:a|\bb){2}$", "éXaB"),
            (r"\b{start}é{2}\b", "ééé"),
        ] {
            let relaxed = without_boundaries(pattern).unwrap();
            assert!(regex::Regex::new(&relaxed).unwrap().is_match(text), "{relaxed}");
        }
        assert!(
            !regex::Regex::new(&without_boundaries(r"\ba\b").unwrap())
                .unwrap()
                .is_match("é")
        );
    }

    proptest! {
        #[test]
        fn nothing_is_missed(
            pattern in prop::collection::vec(
                prop::sample::select(vec![r"\b", r"\B", "a", "é", "(b|a)", "+", "?", "{0,2}", "^", r"\w", "|", r"\d", "(?:a|", ")"]),
                1..8,
            ),
            text in "[aébÉ 1_-]{0,12}",
        ) {
            let pattern = pattern.concat();
            if let Ok(regex) = regex::Regex::new(&pattern)
                && let Some(relaxed) = without_boundaries(&pattern)
            {
                let relaxed = regex::Regex::new(&relaxed).unwrap();
                prop_assert!(relaxed.is_match(&text) || !regex.is_match(&text), "{pattern} {relaxed} {text}");
            }
        }
    }
}
