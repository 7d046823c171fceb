//! Finds e-mail addresses: plain, or with words in brackets to hide from machines, as in `ann [at] example [dot] org`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::context::is_unspaced;
use crate::stop;

/// The most bytes after the `@` (RFC 5321, section 4.5.3.1). A local part over 64 octets makes an address invalid, but
/// is still covered: a redacted text must contain no part of a possible address.
const DOMAIN: usize = 320;
/// The bytes after an address that are read: emphasis marks and one character.
const EMPHASIS: usize = 8;

/// `@`, or a word for it in brackets.
static AT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)@| ?[\[({] ?(?:at|собака) ?[\])}] ?").ok());
/// The domain: labels separated by dots or by bracketed words for them; the last label starts with a letter.
static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let label = r"[a-z0-9\u{c0}-\u{24f}\u{400}-\u{4ff}](?:[a-z0-9\u{c0}-\u{24f}\u{400}-\u{4ff}-]{0,61}[a-z0-9\u{c0}-\u{24f}\u{400}-\u{4ff}])?";
    let dot = r"(?:\.| ?[\[({] ?(?:dot|точка) ?[\])}] ?)";
    let last = r"(?:xn--[a-z0-9-]{2,59}|[a-z\u{c0}-\u{24f}\u{400}-\u{4ff}]{2,63})";
    Regex::new(&format!(r"(?i)^(?:{label}{dot}){{1,8}}{last}")).ok()
});
/// A bracketed word for a dot at the end of a text.
static DOTTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i) ?[\[({] ?(?:dot|точка) ?[\])}] ?$").ok());

/// The addresses in `text`, in order. The time is linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let (Some(at), Some(after)) = (AT.as_ref(), AFTER.as_ref()) else {
        return Vec::new();
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for sign in at.find_iter(text) {
        stop::point();
        let rest = &text[sign.end()..text.floor_char_boundary(sign.end() + DOMAIN)];
        let Some(domain) = after.find(rest) else { continue };
        let end = sign.end() + domain.end();
        // "a.com1" and "a.com_x" continue after the pattern; "_a@b.com_" is emphasis of Markdown.
        let behind = &text[end..text.floor_char_boundary(end + EMPHASIS)];
        let beyond = behind.trim_start_matches('_');
        let next = beyond.chars().next();
        if next.is_some_and(|next| next.is_alphanumeric() && !is_unspaced(next)) || behind.starts_with('@') {
            continue;
        }
        let floor = found.last().map_or(0, |last| last.end);
        let start = local_part(text, floor, sign.start());
        let marks = text[start..sign.start()].bytes().take_while(|&byte| byte == b'_');
        let start = start + marks.take(behind.len() - beyond.len()).count();
        if start < sign.start() {
            found.push(start..end);
        }
    }
    found
}

/// The start of the local part that ends at `end`, not before `floor`: dot-atom text of RFC 5322, section 3.2.3, except
/// signs around addresses in prose and code, and letters of RFC 6531 in scripts with spaces between words.
fn local_part(text: &str, floor: usize, end: usize) -> usize {
    let mut start = end;
    let is_part = |character: char| {
        character.is_alphanumeric() && !is_unspaced(character)
            || matches!(character, '.' | '_' | '%' | '+' | '-' | '\'')
    };
    loop {
        let before = &text[floor..start];
        let Some(character) = before.chars().next_back() else {
            break;
        };
        if is_part(character) {
            start -= character.len_utf8();
        } else if let Some(dot) = matches!(character, ']' | ')' | '}' | ' ')
            .then(|| dot_before(before))
            .flatten()
        {
            start = floor + dot;
        } else {
            break;
        }
    }
    // An address starts with a letter, a digit or an underscore.
    let begins = |character: char| character.is_alphanumeric() || character == '_';
    end - text[start..end]
        .trim_start_matches(|character| !begins(character))
        .len()
}

/// The start of a bracketed word for a dot at the end of `before`.
fn dot_before(before: &str) -> Option<usize> {
    // " [ точка ] " in bytes.
    let from = before.floor_char_boundary(before.len().saturating_sub(16));
    let found = DOTTED.as_ref()?.find(&before[from..])?;
    let start = from + found.start();
    before[..start]
        .ends_with(|character: char| character.is_alphanumeric())
        .then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn plain_addresses() {
        assert_eq!(
            found("Write to jane.doe+x@mail.example.co.uk."),
            ["jane.doe+x@mail.example.co.uk"]
        );
        assert_eq!(
            found("<a@b.de>,'c@d.org';mailto:e_f@g.io"),
            ["a@b.de", "c@d.org", "e_f@g.io"]
        );
        assert_eq!(found("邮箱是wang@example.cn请联系"), ["wang@example.cn"]);
        assert_eq!(found("hong@example.com으로 보내세요"), ["hong@example.com"]);
        assert_eq!(found("Write to __john@example.com__."), ["john@example.com"]);
        assert_eq!(
            found("почта иван@почта.рф, jörg@müller.de"),
            ["иван@почта.рф", "jörg@müller.de"]
        );
    }

    #[test]
    fn a_long_beginning_does_not_stay() {
        let address = format!("first.last{}@example.com", "a".repeat(300));
        assert_eq!(found(&format!("to {address}, please")), [address.as_str()]);
        let many = format!("{}@example.com ", "a.".repeat(5)).repeat(20_000);
        assert_eq!(find(&many).len(), 20_000);
    }

    #[test]
    fn addresses_in_disguise() {
        assert_eq!(
            found("john.doe[AT]protectai[DOT]com"),
            ["john.doe[AT]protectai[DOT]com"]
        );
        assert_eq!(
            found("john [dot] doe (at) example (dot) com!"),
            ["john [dot] doe (at) example (dot) com"]
        );
        assert_eq!(found("john.doe@protectai[DOT]com"), ["john.doe@protectai[DOT]com"]);
    }

    #[test]
    fn no_addresses() {
        for text in [
            "@handle",
            "npm i left-pad@1.3.0",
            "a@b",
            "@@@@",
            "me@",
            "at [at] work",
            "@a.com",
            "x@y.z9",
            "a@b.com_x",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
