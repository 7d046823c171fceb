//! Finds bare host names: `example.org`, without a scheme, a path or other parts of a URL.

use std::ops::Range;

use crate::rules::urls;

/// The prefix of names of web pages.
const PAGE: &str = "www.";

/// The names in `text`, in order. The time is linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let found = urls::find(text).into_iter().map(|found| found.range);
    found.filter(|range| is_name(&text[range.clone()])).collect()
}

/// Whether a URL is only a name of letters (RFC 1123, section 2.1, and RFC 5890).
fn is_name(url: &str) -> bool {
    let is_page = url
        .get(..PAGE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(PAGE));
    let last = url.rsplit('.').next().unwrap_or_default();
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-');
    !is_page && last.chars().any(char::is_alphabetic) && url.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names() {
        let text = "acme.com, www.acme.com, https://acme.org, acme.net/a, 10.0.0.1, ann@acme.com, mail.acme.co.uk.";
        let found: Vec<&str> = find(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["acme.com", "mail.acme.co.uk"]);
    }
}
