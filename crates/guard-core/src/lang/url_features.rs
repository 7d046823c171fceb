//! Features of URLs, for the classifier of malicious URLs.
//!
//! Features ignore the scheme, `www.` and a trailing slash: these depend on who wrote the URL down, not on where it
//! leads. The registered domain is found with the [Public Suffix List](https://publicsuffix.org/), so that
//! `login.example.co.uk` has the domain `example` and the subdomain `login`.

use serde::Deserialize;
use url::{Host, Url};

/// A part of a URL whose runs of characters are features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The host without `www.`.
    Host,
    /// The path without a slash at its end.
    Path,
    /// The query and the fragment.
    Query,
}

/// The parts of a URL, in lower case.
#[derive(Debug)]
pub struct Parts {
    url: Url,
    host: String,
    /// The registered domain's own label: `example` of `www.example.co.uk`; empty for addresses and public suffixes.
    name: String,
    /// The labels before it.
    subdomain: String,
    suffix: String,
    path: String,
    query: String,
}

impl Parts {
    /// Splits a URL into its parts. The default scheme is `http`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let url = Url::parse(text)
            .ok()
            .filter(Url::has_host)
            .or_else(|| Url::parse(&format!("http://{text}")).ok())?;
        let host = url.host_str()?.to_ascii_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        let is_name = matches!(url.host(), Some(Host::Domain(_)));
        let domain = is_name.then(|| guard_suffixes::domain(&host)).flatten();
        let (name, suffix) = match &domain {
            Some(domain) => {
                let suffix = String::from_utf8_lossy(domain.suffix().as_bytes()).into_owned();
                let whole = domain.as_bytes().len();
                let name = &host[host.len() - whole..host.len() - suffix.len()];
                (name.trim_end_matches('.').to_owned(), suffix)
            }
            None => (String::new(), String::new()),
        };
        let rest = domain.as_ref().map_or(0, |domain| host.len() - domain.as_bytes().len());
        let path = url.path().trim_end_matches('/').to_ascii_lowercase();
        let query = [url.query(), url.fragment()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("#");
        Some(Self {
            subdomain: host[..rest].trim_end_matches('.').to_owned(),
            name,
            suffix,
            path,
            query: query.to_ascii_lowercase(),
            host,
            url,
        })
    }
}

/// The characters of a part, with a mark at each end. All digits are `0`, except in hosts.
pub fn characters(parts: &Parts, part: Part) -> Vec<u64> {
    let (text, digits) = match part {
        Part::Host => (parts.host.as_str(), false),
        Part::Path => (parts.path.as_str(), true),
        Part::Query => (parts.query.as_str(), true),
    };
    if text.is_empty() {
        return Vec::new();
    }
    let inner = text
        .bytes()
        .map(|byte| if digits && byte.is_ascii_digit() { b'0' } else { byte });
    std::iter::once(b'^')
        .chain(inner)
        .chain([b'$'])
        .map(u64::from)
        .collect()
}

/// Passes each word of a URL to `add`, with the part that contains it: `name:paypal` and `subdomain:paypal` are
/// different features.
pub fn words(parts: &Parts, mut add: impl FnMut(&str, &str)) {
    add("suffix", &parts.suffix);
    add("name", &parts.name);
    let segments = parts.path.rsplit_once('/').map_or("", |(folders, _)| folders);
    add("folders", segments);
    add("file", &parts.path[segments.len()..]);
    add("host", &parts.host);
    if let Some((_, ending)) = parts.path[segments.len()..].rsplit_once('.') {
        add("ending", ending);
    }
    // Phishing kits and malware families move to new hosts but keep their layout.
    add("layout", &layout(&parts.path));
    add("keys", &keys(&parts.query));
    for (part, text) in [
        ("name-word", &parts.name),
        ("subdomain", &parts.subdomain),
        ("path", &parts.path),
        ("query", &parts.query),
    ] {
        words_of(text).for_each(|word| add(part, word));
    }
}

/// The words of a part of a URL; `0` for each that is a number.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(|word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { "0" } else { word }
    })
}

/// Passes pairs of properties to `add`, with the kind of the pair: neighbouring words of the path, the suffix with the
/// path's form, parameter names with the form of their values. Full host names are left out: attackers change hosts
/// often, but the next one is built and filled like the last.
pub fn pairs(parts: &Parts, mut add: impl FnMut(&str, &str, &str)) {
    let (name, suffix, subdomain) = (&parts.name, &parts.suffix, &parts.subdomain);
    let segments: Vec<&str> = parts.path.split('/').filter(|segment| !segment.is_empty()).collect();
    let forms: Vec<String> = segments.iter().map(|segment| layout(segment)).collect();
    let file = segments.last().copied().unwrap_or_default();
    let file_form = forms.last().map_or("", String::as_str);
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let folder = segments.len().checked_sub(2).map_or("", |at| segments[at]);
    let length = |text: &str| ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+"][(text.len() / 3).min(10)];
    let depth = ["0", "1", "2", "3", "4", "5", "6", "+"][segments.len().min(7)];
    let form = layout(&parts.path);
    let host_form = layout(&parts.host);
    let parameters = keys(&parts.query);

    add("suffix and depth", suffix, depth);
    add("suffix and ending", suffix, ending);
    add("suffix and form", suffix, &form);
    add("suffix and length", suffix, length(name));
    add("suffix and subdomain", suffix, subdomain);
    add("host", &host_form, if parts.path.is_empty() { "alone" } else { "" });
    add("host and length", &host_form, length(name));
    add(
        "subdomain",
        &layout(subdomain),
        subdomain.split('.').next().unwrap_or_default(),
    );
    add(
        "first folder and ending",
        segments.first().copied().unwrap_or_default(),
        ending,
    );
    add("last folder and ending", folder, ending);
    add("last folder and file", folder, file_form);
    add("ending and depth", ending, depth);
    add("ending and parameters", ending, &parameters);
    add("form and parameters", &form, &parameters);
    add("file", stem, ending);
    add("file and length", file_form, length(stem));
    for (segment, form) in segments.iter().zip(&forms) {
        add("segment", form, length(segment));
    }
    for (pair, form) in segments.windows(2).zip(forms.windows(2)) {
        add("segments", pair[0], &form[1]);
        add("forms", &form[0], &form[1]);
    }
    let mut before = "";
    for word in words_of(&parts.path) {
        add("path", before, word);
        before = word;
    }
    add("path", before, "");
    for parameter in parts.query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        add("parameter", key, &layout(value));
        add("parameter and file", key, file);
    }
}

/// The sequence of character kinds: `/wp-content/a1.php` becomes `/a-a/a0.a`.
fn layout(path: &str) -> String {
    let mut kinds: Vec<char> = path
        .chars()
        .map(|c| match c {
            '0'..='9' => '0',
            c if c.is_ascii_alphabetic() => 'a',
            c => c,
        })
        .collect();
    kinds.dedup_by(|a, b| a == b && matches!(a, 'a' | '0'));
    kinds.into_iter().collect()
}

/// The parameter names of a query, in order.
fn keys(query: &str) -> String {
    let names: Vec<&str> = query
        .split('&')
        .map(|parameter| parameter.split('=').next().unwrap_or_default())
        .collect();
    names.join("&")
}

/// The brands that phishing pages imitate most often, including those of the yearly reports of the Anti-Phishing
/// Working Group and of Check Point's Brand Phishing Report (2023, 2024).
pub(super) const BRANDS: [&str; 64] = [
    "adobe",
    "aliexpress",
    "amazon",
    "americanexpress",
    "apple",
    "appleid",
    "banco",
    "bankofamerica",
    "barclays",
    "binance",
    "blockchain",
    "chase",
    "citibank",
    "coinbase",
    "credit-agricole",
    "dhl",
    "docusign",
    "dropbox",
    "ebay",
    "facebook",
    "fedex",
    "gmail",
    "google",
    "hmrc",
    "hsbc",
    "icloud",
    "impots",
    "instagram",
    "irs",
    "itau",
    "itunes",
    "linkedin",
    "lloyds",
    "mastercard",
    "metamask",
    "microsoft",
    "netflix",
    "natwest",
    "office365",
    "onedrive",
    "orange",
    "outlook",
    "paypal",
    "postbank",
    "roblox",
    "runescape",
    "santander",
    "sharepoint",
    "sparkasse",
    "spotify",
    "steam",
    "swisscom",
    "telegram",
    "tiktok",
    "twitter",
    "unicredit",
    "ups",
    "usps",
    "visa",
    "wellsfargo",
    "whatsapp",
    "yahoo",
    "yandex",
    "youtube",
];

/// Words that phishing pages use to ask for something.
pub(super) const LURES: [&str; 30] = [
    "account", "alert", "auth", "banking", "billing", "bonus", "cgi-bin", "confirm", "customer", "free", "gift",
    "invoice", "limited", "log-in", "login", "logon", "password", "recover", "refund", "reward", "secure", "security",
    "sign-in", "signin", "support", "suspend", "unlock", "update", "verif", "webscr",
];

/// Extensions of files that run when opened, or that contain such files.
const EXECUTABLE: [&str; 22] = [
    "apk", "bat", "bin", "cab", "cmd", "dll", "dmg", "elf", "exe", "hta", "iso", "jar", "js", "jse", "lnk", "msi",
    "ps1", "rar", "scr", "vbs", "wsf", "zip",
];

/// Whether anyone can register a name under this suffix immediately and for free.
pub(super) fn is_free_host(host: &str, suffix: &str) -> bool {
    guard_suffixes::suffix(host).is_some_and(|found| found.typ() == Some(guard_suffixes::Type::Private))
        || matches!(suffix, "tk" | "ml" | "ga" | "cf" | "gq")
}

/// Passes properties of the whole URL to `add`, by name. Numbers are rounded to steps.
pub fn shape(parts: &Parts, mut add: impl FnMut(&str, u64)) {
    add("bias", 0);
    add_measures(parts, &mut add);
    add_signs(parts, &mut add);
    add_lures(parts, &mut add);
    add_brands(parts, &mut add);
}

/// Lengths, counts and shares.
fn add_measures(parts: &Parts, add: &mut impl FnMut(&str, u64)) {
    let Parts {
        host,
        name,
        subdomain,
        suffix,
        path,
        query,
        ..
    } = parts;
    let step = |number: usize| (usize::BITS - number.leading_zeros()) as u64;
    let tenths = |part: usize, whole: usize| (part * 10 / whole.max(1)) as u64;
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let labels = subdomain.split('.').filter(|label| !label.is_empty()).count();
    let parameters = if query.is_empty() {
        0
    } else {
        1 + count(query, b'&').min(8)
    };

    add("host length", (host.len() / 4).min(16) as u64);
    add("name length", (name.len() / 3).min(12) as u64);
    add("path length", step(path.len()));
    add("query length", step(query.len()));
    add("depth", count(path, b'/').min(9) as u64);
    add("labels", labels.min(5) as u64);
    add("host digits", tenths(digits(host), host.len()));
    add("path digits", tenths(digits(path), path.len()));
    add("name entropy", entropy(name));
    add("path entropy", entropy(path));
    add("hyphens in host", count(host, b'-').min(4) as u64);
    add("consonants", longest_without_vowel(name).min(9) as u64);
    add("percent signs", step(count(path, b'%') + count(query, b'%')));
    add("parameters", parameters as u64);
    add("bare host", u64::from(path.is_empty() && query.is_empty()));
    add("suffix length", suffix.len().min(9) as u64);
}

/// Properties that a URL has or lacks.
fn add_signs(parts: &Parts, add: &mut impl FnMut(&str, u64)) {
    let Parts {
        url,
        host,
        subdomain,
        suffix,
        path,
        query,
        ..
    } = parts;
    let has_any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    for (name, holds) in [
        ("address", !matches!(url.host(), Some(Host::Domain(_)))),
        ("user", !url.username().is_empty() || url.password().is_some()),
        ("port", url.port().is_some()),
        ("punycode", host.contains("xn--")),
        ("free host", is_free_host(host, suffix)),
        ("home folder", path.contains("/~")),
        (
            "content folder",
            has_any(path, &["wp-content", "wp-includes", "wp-admin"]),
        ),
        ("double slash", path.contains("//")),
        ("url in url", path.contains("http") || query.contains("http")),
        ("mail in url", path.contains('@') || query.contains('@')),
        ("domain in path", has_any(path, &[".com", ".net", ".org"])),
        (
            "domain in subdomain",
            has_any(subdomain, &[".com", "-com", "www", "https"]),
        ),
    ] {
        if holds {
            add(name, 1);
        }
    }
    if let Some((_, ending)) = path.rsplit('/').next().and_then(|file| file.rsplit_once('.')) {
        add("executable", u64::from(EXECUTABLE.contains(&ending)));
    }
}

/// Words that ask for something.
fn add_lures(parts: &Parts, add: &mut impl FnMut(&str, u64)) {
    let mut lures = 0;
    for lure in LURES {
        for (part, text) in [("host", &parts.host), ("path", &parts.path), ("query", &parts.query)] {
            if text.contains(lure) {
                lures += 1;
                add(&format!("lure in {part}"), 1);
            }
        }
    }
    add("lures", lures.min(5));
    if has_lure(&parts.name) {
        add("words beside lure in name", count(&parts.name, b'-').min(4) as u64);
    }
}

fn add_brands(parts: &Parts, add: &mut impl FnMut(&str, u64)) {
    let Parts {
        name, subdomain, path, ..
    } = parts;
    let has_lure = has_lure(name);
    for brand in BRANDS {
        if name == brand {
            add("brand's own", 1);
        } else if names(name, brand) {
            add("brand in name", 1);
            if has_lure {
                add("brand and lure in name", 1);
            }
        }
        if names(subdomain, brand) && name != brand {
            add("brand in subdomain", 1);
        }
        if path.contains(brand) && !name.contains(brand) {
            add("brand in path", 1);
        }
        if is_nearly(name, brand) {
            add("nearly a brand", 1);
        }
    }
}

fn count(text: &str, byte: u8) -> usize {
    text.bytes().filter(|found| *found == byte).count()
}

fn has_lure(name: &str) -> bool {
    LURES.iter().any(|lure| name.contains(lure))
}

/// Whether `text` contains a brand. A brand of up to four letters must be a whole word, since ordinary words contain it
/// too.
pub(super) fn names(text: &str, brand: &str) -> bool {
    if brand.len() > 4 {
        text.contains(brand)
    } else {
        text.split(['-', '.']).any(|word| word == brand)
    }
}

/// Shannon's entropy in half bits per character.
fn entropy(text: &str) -> u64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len().max(1) as f32;
    let bits: f32 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f32 / length;
            -share * share.log2()
        })
        .sum();
    (bits * 2.0).round() as u64
}

fn longest_without_vowel(name: &str) -> usize {
    name.split(|c: char| "aeiouy-".contains(c))
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// Whether one letter is changed, added, missing or swapped with its neighbour: `paypa1`, `gooogle`, `facebok`.
pub(super) fn is_nearly(name: &str, brand: &str) -> bool {
    let (a, b) = (name.as_bytes(), brand.as_bytes());
    if a == b || b.len() < 5 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end = a[start..]
        .iter()
        .rev()
        .zip(b[start..].iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (changed, right) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    changed.len().max(right.len()) <= 1 || matches!((changed, right), ([a, b], [c, d]) if a == d && b == c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape_of(url: &str) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        shape(&Parts::parse(url).unwrap(), |name, value| {
            found.push((name.to_owned(), value))
        });
        found
    }

    fn has(url: &str, name: &str) -> bool {
        shape_of(url).contains(&(name.to_owned(), 1))
    }

    #[test]
    fn who_wrote_a_url_down_does_not_matter() {
        for other in [
            "https://www.example.com/a/b/",
            "http://example.com/a/b",
            "example.com/a/b",
            "EXAMPLE.com/a/b/",
        ] {
            assert_eq!(shape_of(other), shape_of("http://example.com/a/b"), "{other}");
            for part in [Part::Host, Part::Path, Part::Query] {
                let of = |url| characters(&Parts::parse(url).unwrap(), part);
                assert_eq!(of(other), of("http://example.com/a/b"), "{other}");
            }
        }
    }

    fn pairs_of(url: &str) -> Vec<String> {
        let mut found = Vec::new();
        pairs(&Parts::parse(url).unwrap(), |kind, one, two| {
            found.push(format!("{kind}: {one} {two}"))
        });
        found
    }

    #[test]
    fn pairs_tell_how_a_url_is_built() {
        let found = pairs_of("http://login.paypal.evil.co.uk/wp-content/x1/index.php?id=5&q=abc");
        for expected in [
            "suffix and depth: co.uk 3",
            "suffix and ending: co.uk php",
            "suffix and subdomain: co.uk login.paypal",
            "last folder and ending: x1 php",
            "path: wp content",
            "path: content x1",
            "path: php ",
            "ending and parameters: php id&q",
            "parameter: id 0",
            "parameter: q a",
        ] {
            assert!(found.iter().any(|pair| pair == expected), "{expected} in {found:?}");
        }
    }

    #[test]
    fn pairs_are_the_same_for_another_name_of_the_same_form() {
        let one = pairs_of("http://abcdef.com/a/login.php?id=1");
        assert_eq!(one, pairs_of("https://www.ghijkl.com/a/login.php?id=23"));
        assert_ne!(one, pairs_of("http://abc-def.com/a/login.php?id=1"));
        assert!(Parts::parse("").is_none());
    }

    #[test]
    fn words_know_their_part() {
        let mut found = Vec::new();
        let parts = Parts::parse("http://login.paypal.evil.co.uk/a/index.php?id=5").unwrap();
        words(&parts, |part, word| found.push(format!("{part}:{word}")));
        for expected in [
            "suffix:co.uk",
            "name:evil",
            "subdomain:paypal",
            "folders:/a",
            "file:/index.php",
            "ending:php",
            "layout:/a/a.a",
            "keys:id",
            "query:id",
            "query:0",
        ] {
            assert!(found.iter().any(|word| word == expected), "{expected} in {found:?}");
        }
    }

    #[test]
    fn sees_what_is_odd() {
        assert!(has("http://185.1.2.3/x", "address"));
        assert!(has("http://google.com@185.1.2.3/x", "user"));
        assert!(has("http://xn--pypal-4ve.com/", "punycode"));
        assert!(has("http://paypa1.com/", "nearly a brand"));
        assert!(has("http://gogole.com/", "nearly a brand"));
        assert!(!has("http://google.com/", "nearly a brand"));
        assert!(has("http://google.com/", "brand's own"));
        assert!(has("http://paypal.evil.com/", "brand in subdomain"));
        assert!(has("http://evil.com/paypal", "brand in path"));
        assert!(has("http://irs-refund.com/", "brand and lure in name"));
        assert!(!has("http://first-refund.com/", "brand in name"));
        assert!(has("http://x.github.io/", "free host"));
        assert!(has("http://x.com/a.exe", "executable"));
    }

    proptest! {
        #[test]
        fn any_text_is_fine(text in "\\PC*|https?://\\PC*|[a-z.:/?@#%0-9]{0,60}") {
            if let Some(parts) = Parts::parse(&text) {
                shape(&parts, |_, _| ());
                words(&parts, |_, _| ());
                pairs(&parts, |_, _, _| ());
                for part in [Part::Host, Part::Path, Part::Query] {
                    characters(&parts, part);
                }
            }
        }
    }
}
