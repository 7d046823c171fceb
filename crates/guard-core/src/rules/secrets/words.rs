//! Words that tell credentials from names and prose, by their role.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::rules::data;
use crate::rules::error::RuleErrorKind;

/// The lists of `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordLists {
    /// Words between a name and its value in prose.
    pub fillers: HashSet<String>,
    /// First words of a phrase between a name and its value.
    pub prepositions: HashSet<String>,
    /// Last words of such a phrase.
    pub copulas: HashSet<String>,
    /// Words of rules and messages about passwords.
    pub messages: HashSet<String>,
    /// Articles, pronouns and other words that prose consists of.
    pub function_words: HashSet<String>,
    /// Words of names of things.
    pub references: HashSet<String>,
    /// Words of placeholders beside names of things.
    pub placeholder_parts: HashSet<String>,
    /// Words of prose that no seed phrase has.
    pub prose: HashSet<String>,
    /// Parts of words that mean a password.
    pub password_stems: HashSet<String>,
    /// Extensions of file names.
    pub extensions: HashSet<String>,
}

static LISTS: LazyLock<Result<WordLists, RuleErrorKind>> =
    LazyLock::new(|| data::parse("words.toml", include_str!("words.toml")));

/// Parses the lists, once per process.
///
/// # Errors
///
/// An error in `words.toml`.
pub(super) fn load() -> Result<&'static WordLists, RuleErrorKind> {
    LISTS.as_ref().map_err(Clone::clone)
}

/// The lists; empty ones if [`load`] fails, without which no rule is built.
pub(super) fn lists() -> &'static WordLists {
    static NONE: LazyLock<WordLists> = LazyLock::new(WordLists::default);
    LISTS.as_ref().unwrap_or(&NONE)
}

/// The words of prose in lower case, in any script.
pub(super) fn spoken(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text)
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The parts of a value in lower case: runs of letters, split where a capital follows a small letter, and runs of
/// digits.
pub(super) fn parts(value: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(value);
    let mut parts: Vec<String> = Vec::new();
    let mut last = ' ';
    for character in text.chars() {
        let goes_on =
            last.is_alphabetic() && character.is_alphabetic() && !(last.is_lowercase() && character.is_uppercase())
                || last.is_numeric() && character.is_numeric();
        if character.is_alphanumeric() {
            match parts.last_mut() {
                Some(part) if goes_on => part.extend(character.to_lowercase()),
                _ => parts.push(character.to_lowercase().collect()),
            }
        }
        last = character;
    }
    parts
}

/// Whether a name ends with the extension of a file.
pub(super) fn has_extension(name: &[u8]) -> bool {
    let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else {
        return false;
    };
    let extension = String::from_utf8_lossy(&name[dot + 1..]).to_ascii_lowercase();
    lists().extensions.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_lower_case_words() {
        let lists = load().unwrap();
        let all = [
            &lists.fillers,
            &lists.prepositions,
            &lists.copulas,
            &lists.messages,
            &lists.function_words,
            &lists.references,
            &lists.placeholder_parts,
            &lists.prose,
            &lists.password_stems,
            &lists.extensions,
        ];
        for list in all {
            assert!(!list.is_empty());
            assert!(
                list.iter()
                    .all(|word| word.to_lowercase() == **word && !word.contains(' '))
            );
        }
    }

    #[test]
    fn values_consist_of_parts() {
        assert_eq!(parts(b"demo-Rocket9271_keyId"), ["demo", "rocket", "9271", "key", "id"]);
        assert_eq!(spoken("für das WLAN".as_bytes()), ["für", "das", "wlan"]);
    }

    #[test]
    fn files_have_extensions() {
        assert!(has_extension(b"./src/token.TS"));
        assert!(!has_extension(b"db.password"));
        assert!(!has_extension(b"ts"));
    }
}
