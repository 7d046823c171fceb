//! Named parts of patterns.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::rules::error::RuleErrorKind;

/// The greatest nesting depth of abbreviations.
const DEPTH: usize = 4;

/// Parts of patterns by name. Parts may contain names.
///
/// In a pattern, a name in braces stands for its part: with `sp = "[ \u00a0]"`, the pattern `\d{sp}\d` is `\d(?:[
/// \u00a0])\d`. Names are in lower case, so they differ from repetitions such as `{2,3}` and from Unicode classes such
/// as `\p{Lu}`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Abbreviations(BTreeMap<String, Part>);

/// The value of an abbreviation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Part {
    Pattern(String),
    /// Alternatives: one of these patterns must match. Earlier ones are preferred.
    Alternatives(Vec<String>),
}

impl Part {
    fn pattern(&self) -> String {
        match self {
            Self::Pattern(pattern) => pattern.clone(),
            Self::Alternatives(patterns) => patterns.join("|"),
        }
    }
}

impl Abbreviations {
    /// Replaces all names in a pattern.
    ///
    /// # Errors
    ///
    /// The unknown name, or the pattern if names are nested too deeply.
    pub(crate) fn expand(&self, pattern: &str) -> Result<String, RuleErrorKind> {
        let mut expanded = pattern.to_owned();
        for _ in 0..DEPTH {
            let once = self.expand_once(&expanded)?;
            if once == expanded {
                return Ok(once);
            }
            expanded = once;
        }
        Err(RuleErrorKind::Nesting(pattern.to_owned()))
    }

    fn expand_once(&self, pattern: &str) -> Result<String, RuleErrorKind> {
        let mut expanded = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            expanded.push_str(before);
            match name(before, after) {
                Some(name) => {
                    let part = self.0.get(name).ok_or_else(|| RuleErrorKind::UnknownAbbreviation {
                        name: name.to_owned(),
                        known: self.0.keys().cloned().collect(),
                    })?;
                    expanded.push_str("(?:");
                    expanded.push_str(&part.pattern());
                    expanded.push(')');
                    rest = &after[name.len() + 1..];
                }
                None => {
                    expanded.push('{');
                    rest = after;
                }
            }
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

/// The name at the start of `after`, up to a closing brace. `before` is the text before the opening brace: after `\p`,
/// `\x` or a backslash, braces belong to an escape.
fn name<'p>(before: &str, after: &'p str) -> Option<&'p str> {
    let (name, _) = after.split_once('}')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_escape = [r"\p", r"\P", r"\x", r"\u", "\\"]
        .iter()
        .any(|escape| before.ends_with(escape));
    (is_name && !is_escape).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abbreviations(toml: &str) -> Abbreviations {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn names_in_braces_are_replaced() {
        let known = abbreviations("digit = '[0-9]'\nnumber = '{digit}{2,3}'\nverb = ['go', 'run']");
        assert_eq!(
            known.expand(r"a{number}\p{Lu}{2}").unwrap(),
            r"a(?:(?:[0-9]){2,3})\p{Lu}{2}"
        );
        assert_eq!(known.expand(r"\b{verb}\{x}").unwrap(), r"\b(?:go|run)\{x}");
    }

    #[test]
    fn unknown_names_and_circles_are_errors() {
        let known = abbreviations("a = '{b}'\nb = '{a}'");
        assert_eq!(
            known.expand("{c}").unwrap_err().to_string(),
            "unknown abbreviation {c}; known are: a, b"
        );
        assert!(matches!(known.expand("{a}"), Err(RuleErrorKind::Nesting(_))));
    }
}
