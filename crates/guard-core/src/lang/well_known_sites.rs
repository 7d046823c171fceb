//! Well-known sites: their names and ordinary words on their pages make a classifier take them for imitations.
//!
//! The list is data. A link to such a site needs no classifier, unless it may show or lead to something that others put
//! there: pages of visitors, another address within the link, or a folder of a hacked site.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;
use url::{Host, Url};

use super::url_features::{BRANDS, names};

const DATA: &str = include_str!("data/well_known_sites.toml");

#[derive(Deserialize)]
struct Data {
    sites: BTreeMap<String, String>,
    published_by_visitors: Hosts,
    institutions: Institutions,
    pages: Pages,
    project_platforms: Platforms,
    brand_domains: Names,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read the examples"))]
    examples: Examples,
}

#[derive(Deserialize)]
struct Hosts {
    hosts: String,
}

#[derive(Deserialize)]
struct Institutions {
    domains: String,
    labels: String,
    suffixes: String,
}

#[derive(Deserialize)]
struct Pages {
    prefixes: String,
}

#[derive(Deserialize)]
struct Platforms {
    suffixes: String,
}

#[derive(Deserialize)]
struct Names {
    names: String,
}

#[derive(Deserialize)]
#[cfg_attr(not(test), expect(dead_code, reason = "the tests read the examples"))]
struct Examples {
    known: Vec<String>,
    unknown: Vec<String>,
}

struct Sites {
    domains: HashSet<String>,
    visitors: HashSet<String>,
    /// Top-level domains of institutions, their labels below the domains of countries, and other suffixes.
    institutions: [HashSet<String>; 3],
    /// Hosts and paths.
    pages: HashSet<String>,
    platforms: HashSet<String>,
    brands: HashSet<String>,
}

static SITES: LazyLock<Sites> = LazyLock::new(|| {
    let data: Data = toml::from_str(DATA).expect("the list of well-known sites is valid");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<HashSet<_>>();
    Sites {
        domains: data.sites.values().flat_map(|text| words(text)).collect(),
        visitors: words(&data.published_by_visitors.hosts),
        institutions: [
            words(&data.institutions.domains),
            words(&data.institutions.labels),
            words(&data.institutions.suffixes),
        ],
        pages: words(&data.pages.prefixes),
        platforms: words(&data.project_platforms.suffixes),
        brands: words(&data.brand_domains.names),
    }
});

/// Folders that attackers fill on hacked sites, and personal pages.
const OPEN_FOLDERS: [&str; 5] = ["/wp-content/", "/wp-includes/", "/wp-admin/", "/~", "/."];

/// Whether a URL leads to a well-known site, and shows only what the site itself puts there.
pub(super) fn is_well_known(url: &Url) -> bool {
    let Some(Host::Domain(host)) = url.host() else {
        return false;
    };
    let path = url.path();
    let is_open = OPEN_FOLDERS.iter().any(|folder| path.contains(folder));
    let is_sites_own = || !is_open && (is_known_host(host) || is_institution(host) && !imitates(url));
    let is_page = || {
        let pages = &SITES.pages;
        pages
            .iter()
            .any(|page| page.strip_prefix(host).is_some_and(|prefix| path.starts_with(prefix)))
    };
    has_plain_authority(url) && (is_sites_own() || is_page()) && !leads_elsewhere(url)
}

/// Whether a URL has no user, no password and no port.
pub(super) fn has_plain_authority(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none() && url.port().is_none()
}

/// Whether a host belongs to a well-known site, and visitors can't publish on it.
fn is_known_host(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    // Below such a suffix, everybody can register a name, as below "cloudapp.azure.com".
    if guard_suffixes::suffix(host).is_some_and(|suffix| suffix.typ() == Some(guard_suffixes::Type::Private)) {
        return false;
    }
    let sites = &*SITES;
    let mut is_known = false;
    let mut rest = Some(host);
    while let Some(name) = rest {
        if sites.visitors.contains(name) {
            return false;
        }
        is_known |= sites.domains.contains(name);
        rest = name.split_once('.').map(|(_, parent)| parent);
        is_known |= rest.is_none() && name != host && sites.brands.contains(name);
    }
    is_known
}

/// Whether a host belongs to an authority, a school or armed forces.
fn is_institution(host: &str) -> bool {
    let [domains, labels, suffixes] = &SITES.institutions;
    let Some((rest, last)) = host.trim_end_matches('.').rsplit_once('.') else {
        return false;
    };
    let Some((_, label)) = rest.rsplit_once('.') else {
        return domains.contains(last);
    };
    domains.contains(last) || last.len() == 2 && labels.contains(label) || suffixes.contains(&format!("{label}.{last}"))
}

/// Whether a page may be an imitation on a hacked site: a program of PHP, or a page that names a brand.
fn imitates(url: &Url) -> bool {
    let written = url[url::Position::BeforePath..].to_ascii_lowercase();
    url.path().ends_with(".php") || BRANDS.iter().any(|brand| names(&written, brand))
}

/// Whether a host is a project of one to three ordinary words on a platform of developers (`stone-garden.vercel.app`), or
/// a distribution of CloudFront, whose names Amazon draws (`d111111abcdef8.cloudfront.net`). Attackers rarely use such
/// names: of 17,446 malicious URLs of two open feeds, 12 have one and nothing else that is odd.
pub(super) fn has_project_name(host: &str) -> bool {
    let Some((name, suffix)) = host.split_once('.') else {
        return false;
    };
    if suffix == "cloudfront.net" {
        return name.starts_with('d')
            && matches!(name.len(), 13..=15)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    let is_vowel = |c: char| "aeiouy".contains(c);
    let is_word = |word: &str| {
        matches!(word.len(), 2..=12)
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && word.contains(is_vowel)
            && word.split(is_vowel).all(|consonants| consonants.len() < 5)
    };
    SITES.platforms.contains(suffix) && name.len() <= 24 && name.split('-').count() <= 3 && name.split('-').all(is_word)
}

/// Whether a URL contains the address of a site that is not well known, as redirections do.
fn leads_elsewhere(url: &Url) -> bool {
    let written = &url[url::Position::BeforePath..];
    // "http" in base64.
    if written.contains("aHR0c") {
        return true;
    }
    let twice = percent_decoded(&percent_decoded(written)).to_ascii_lowercase();
    let mut places = twice.match_indices("//").map(|(at, _)| &twice[at + 2..]);
    places.any(|rest| {
        let host = rest
            .split(['/', '?', '#', '&', ':', '"', '\''])
            .next()
            .unwrap_or_default();
        !is_known_host(host)
    }) || names_domain(&twice)
}

/// A text with its percent-encoded ASCII characters decoded. Others do not matter for addresses.
fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            None => {
                decoded.push('%');
                decoded.push_str(part);
            }
        }
    }
    decoded
}

/// Whether a folder or a value is the name of a site, as in `/amp/evil.com/page` or `?to=evil.com`.
fn names_domain(written: &str) -> bool {
    let mut parts = written.split(['/', '?', '&', '=', '#']);
    parts.any(|part| {
        [".com", ".net", ".org"].iter().any(|suffix| part.ends_with(suffix))
            && !part.contains('@')
            && !is_known_host(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Data {
        toml::from_str(DATA).unwrap()
    }

    #[test]
    fn the_examples_are_known_or_not() {
        let examples = data().examples;
        for url in &examples.known {
            assert!(is_well_known(&Url::parse(url).unwrap()), "{url}");
        }
        for url in &examples.unknown {
            assert!(!is_well_known(&Url::parse(url).unwrap()), "{url}");
        }
    }

    #[test]
    fn the_list_has_registrable_domains_and_no_platform() {
        let data = data();
        for site in data.sites.values().flat_map(|sites| sites.split_whitespace()) {
            assert!(
                Url::parse(&format!("https://{site}/")).is_ok_and(|url| url.host_str() == Some(site)),
                "{site}"
            );
            let is_platform = guard_suffixes::suffix(site).is_some_and(|suffix| {
                suffix.typ() == Some(guard_suffixes::Type::Private) && suffix.as_bytes() == site.as_bytes()
            });
            assert!(!is_platform, "anyone can publish below {site}");
        }
    }

    #[test]
    fn addresses_within_a_link_count() {
        for (url, expected) in [
            (
                "https://www.chase.com/redirect?to=https%3A%2F%2Fchase.com%2Flogin",
                true,
            ),
            (
                "https://www.chase.com/redirect?to=https%3A%2F%2Fevil.example.net%2Flogin",
                false,
            ),
            (
                "https://www.chase.com/redirect?to=https%253A%252F%252Fevil.example.net",
                false,
            ),
            ("https://www.chase.com/redirect?to=//evil.example.net", false),
            ("https://www.google.com/amp/evil.com/login", false),
            ("https://www.google.com/search?q=how+to+cook", true),
            ("https://www.uni-heidelberg.de/~someone/login.html", false),
            ("https://www.uni-heidelberg.de/wp-content/uploads/a.exe", false),
            ("https://chase.com.evil.net/", false),
            ("https://notchase.com/", false),
            ("https://barclays/", false),
        ] {
            assert_eq!(is_well_known(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
