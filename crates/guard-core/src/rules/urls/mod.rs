//! Finds the URLs in a text that a person or a browser would recognize.
//!
//! It finds URLs with a scheme (`https://a.example/b`), hosts with a known top-level domain (`a.com`, `www.b.org/c`),
//! and IPv4 addresses alone or with a path or port, in prose of any script, Markdown, HTML, JSON and code. It also
//! decodes forms that evade such a search: defanged schemes and dots (`hxxp`, `a[.]com`, `a(dot)com`, `http[:]//`),
//! full-width letters, backslashes for slashes, and invisible characters within a host.
//!
//! A URL is parsed and serialized by the [URL standard](https://url.spec.whatwg.org/), so all ways to write a host look
//! the same: lower case, punycode (`xn--...`), numeric hosts (decimal, hexadecimal, octal) as dotted quads. Text that a
//! browser would not parse is no URL. Top-level domains are those of the [Public Suffix
//! List](https://publicsuffix.org/).
//!
//! ```
//! use guard_core::rules::urls;
//!
//! let text = "It is at hxxps://Evil[.]com/login, they say.";
//! let found = urls::find(text);
//! assert_eq!(found[0].url.as_str(), "https://evil.com/login");
//! assert_eq!(&text[found[0].range.clone()], "hxxps://Evil[.]com/login");
//! assert!(urls::find("see main.py and user.name").is_empty());
//! ```

mod characters;
mod plain_text;
mod prefilter;
mod search;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use url::Url;

use plain_text::PlainText;
pub use prefilter::has_no_url;
use search::Search;

/// A URL in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUrl {
    /// The UTF-8 byte range in the text, disguises included.
    pub range: Range<usize>,
    /// The URL; its scheme is `http` if the text has none.
    pub url: Url,
}

/// Finds the URLs of a text, in order and without overlaps, in linear time.
pub fn find(text: &str) -> Vec<FoundUrl> {
    if has_no_url(text) {
        return Vec::new();
    }
    search(text)
}

fn search(text: &str) -> Vec<FoundUrl> {
    let plain = PlainText::new(text);
    let found = Search::new(&plain.text).run();
    found
        .into_iter()
        .map(|found| FoundUrl {
            range: plain.original(found.range),
            url: found.url,
        })
        .collect()
}

/// The registrable domain of a host, by the Public Suffix List: `example.co.uk` for `www.example.co.uk`, and
/// `a.github.io` for itself, since its siblings have other owners. A host without one (an address, `localhost`) is
/// returned unchanged.
///
/// `host` must be lower-case ASCII, as in a parsed URL.
pub fn registrable_domain(host: &str) -> &str {
    let is_name = host.parse::<std::net::IpAddr>().is_err() && !host.starts_with('[');
    let domain = is_name.then(|| guard_suffixes::domain_text(host)).flatten();
    domain.unwrap_or(host)
}
