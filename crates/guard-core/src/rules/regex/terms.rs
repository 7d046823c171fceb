//! Patterns that consist of words.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The most terms of a pattern, and the most bytes of a term.
const MAX_TERMS: usize = 64;
const LONGEST: usize = 256;

/// The texts that a pattern matches, in lower case, if it consists of a few words and phrases, as in
/// `(?i)\\b(?:project|plan) falcon\\b`; otherwise none. A run of white space is one space.
pub(super) fn literal_terms(pattern: &str) -> Vec<String> {
    let parsed = regex_syntax::parse(pattern).ok();
    parsed.and_then(|hir| texts(&hir)).unwrap_or_default()
}

fn texts(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Empty => Some(vec![String::new()]),
        HirKind::Literal(literal) => Some(vec![std::str::from_utf8(&literal.0).ok()?.to_lowercase()]),
        HirKind::Class(class) => Some(vec![one(class)?.to_string()]),
        HirKind::Look(look) => {
            let is_border = !matches!(
                look,
                Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF
            );
            is_border.then(|| vec![String::new()])
        }
        HirKind::Repetition(repetition) => match repetition.sub.kind() {
            HirKind::Class(class) if one(class)? == ' ' => Some(vec![" ".to_owned()]),
            HirKind::Literal(literal) if &*literal.0 == b" " => Some(vec![" ".to_owned()]),
            _ => None,
        },
        HirKind::Capture(capture) => texts(&capture.sub),
        HirKind::Concat(parts) => parts.iter().try_fold(vec![String::new()], |known, part| {
            let next = texts(part)?;
            let fits = known.len() * next.len() <= MAX_TERMS && known.iter().all(|text| text.len() <= LONGEST);
            let joined = known
                .iter()
                .flat_map(|text| next.iter().map(move |next| format!("{text}{next}")));
            fits.then(|| joined.collect())
        }),
        HirKind::Alternation(parts) => {
            let all: Option<Vec<Vec<String>>> = parts.iter().map(texts).collect();
            Some(all?.concat()).filter(|all| all.len() <= MAX_TERMS)
        }
    }
}

/// The letter if a class has exactly its cases, or a space for white space.
fn one(class: &Class) -> Option<char> {
    let characters: Vec<char> = match class {
        Class::Unicode(class) => class
            .iter()
            .flat_map(|range| (range.start()..=range.end()).take(MAX_TERMS))
            .take(MAX_TERMS)
            .collect(),
        Class::Bytes(class) => class
            .iter()
            .flat_map(|range| range.start()..=range.end())
            .take(MAX_TERMS)
            .map(char::from)
            .collect(),
    };
    if characters.contains(&' ') && characters.iter().all(|c| c.is_whitespace()) {
        return Some(' ');
    }
    let is_cased = |c: &char| c.is_alphabetic() && characters.len() <= 4;
    let first = characters
        .iter()
        .copied()
        .filter(is_cased)
        .find_map(|c| c.to_lowercase().next())?;
    let same = |c: &char| {
        let lower = c.to_lowercase().next() == Some(first);
        lower || c.to_uppercase().next() == first.to_uppercase().next()
    };
    characters.iter().all(same).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::literal_terms;

    #[test]
    fn patterns_of_words_have_texts() {
        assert_eq!(literal_terms("(?i)\\bproject\\s+falcon\\b"), ["project falcon"]);
        assert_eq!(literal_terms("(?:red|green) (light)"), ["red light", "green light"]);
        for pattern in ["\\d{4}", "a.c", "[ab]c", "^start", "ab*"] {
            assert!(literal_terms(pattern).is_empty(), "{pattern}");
        }
    }
}
