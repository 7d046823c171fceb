//! URLs in a text, as a person or a browser would read them.
//!
//! Found are URLs with a scheme (`https://a.example/b`), hosts with a known top-level domain (`a.com`, `www.b.org/c`), and
//! IPv4 addresses with a path or port, or alone; in prose of any script, in Markdown, HTML, JSON and code. Forms that are made
//! to escape such a search are read as what they stand for: defanged schemes and dots (`hxxp`, `a[.]com`, `a(dot)com`,
//! `http[:]//`), full-width letters, backslashes for slashes, and invisible characters inside of the host.
//!
//! A found URL is given back parsed and serialized as the [URL standard](https://url.spec.whatwg.org/) says, so all ways to
//! write one host look the same: lower case, punycode (`xn--...`), numeric hosts (decimal, hexadecimal, octal) as dotted
//! quads. What a browser would refuse to parse is no URL. Top-level domains are those of the
//! [Public Suffix List](https://publicsuffix.org/).
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
mod glance;
mod plain;
mod search;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use url::Url;

pub use glance::shows_none;
use plain::Plain;
use search::Search;

/// A URL in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUrl {
    /// The UTF-8 byte range in the text, disguises included.
    pub range: Range<usize>,
    /// What it stands for. `http` where the text gives no scheme.
    pub url: Url,
}

/// Finds the URLs of a text, in order; they do not overlap. Linear in the length of the text.
pub fn find(text: &str) -> Vec<FoundUrl> {
    if shows_none(text) {
        return Vec::new();
    }
    search(text)
}

fn search(text: &str) -> Vec<FoundUrl> {
    let plain = Plain::of(text);
    let found = Search::new(&plain.text).run();
    found
        .into_iter()
        .map(|found| FoundUrl {
            range: plain.original(found.range),
            url: found.url,
        })
        .collect()
}

/// The name that a registrar gave to whoever owns a host, by the Public Suffix List: `example.co.uk` for `www.example.co.uk`, and
/// `a.github.io` for itself, since others own its neighbours. A host that has none (an address, `localhost`) is its own.
///
/// `host` is in lower case and in ASCII, as in a parsed URL.
pub fn registrable_domain(host: &str) -> &str {
    let is_name = host.parse::<std::net::IpAddr>().is_err() && !host.starts_with('[');
    let domain = is_name.then(|| guard_suffixes::domain_text(host)).flatten();
    domain.unwrap_or(host)
}
