//! Decides about URLs before a model classifies them.
//!
//! A URL model is trained on ASCII names of the public web. Internal addresses belong to nobody else, an address alone
//! says nothing about its owner, and international names are encoded for machines.
//!
//! ```
//! use guard_core::lang::url_triage::{UrlTriage, triage};
//!
//! assert_eq!(triage("http://localhost:3000/"), UrlTriage::Harmless);
//! assert_eq!(triage("http://xn--pypal-4ve.com/"), UrlTriage::Homograph);
//! let model_text = "https://www.example.com/a".to_owned();
//! assert_eq!(triage("https://www.xn--mller-kva.de/a"), UrlTriage::Undecided { model_text });
//! ```

use std::net::{Ipv4Addr, Ipv6Addr};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};
use url::{Host, Url};

use super::url_features::{BRANDS, LURES, is_free_host, is_nearly, names};
use super::well_known_sites::{has_plain_authority, has_project_name, is_well_known};
use crate::text::views::latin_double;

/// The decision about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlTriage {
    /// It leads to this machine or network or to a well-known site, or is only an address.
    Harmless,
    /// Its name uses letters of another script, or accents, to look like another name.
    Homograph,
    /// A model must classify it.
    Undecided {
        /// The URL for the model: without its international name, or unchanged.
        model_text: String,
    },
}

/// Names that only denote local hosts, or none: RFC 6761 (`localhost`, `test`, `invalid`, `example`), RFC 6762
/// (`local`, and in appendix G `intranet`, `internal`, `private`, `corp`, `home`, `lan`) and RFC 8375 (`home.arpa`).
const INTERNAL: [&str; 12] = [
    "localhost",
    "localdomain",
    "test",
    "invalid",
    "example",
    "local",
    "intranet",
    "internal",
    "private",
    "corp",
    "home",
    "lan",
];

/// Replaces a name that means nothing to a model, and the suffix after it.
const PLAIN_NAME: &str = "example";
const PLAIN_SUFFIX: &str = "com";

/// Endings of files that no server or computer runs as a program: pages, images, fonts and plain text.
const STATIC: [&str; 13] = [
    "", "html", "htm", "css", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "woff2", "txt",
];

/// Genuine words that become a brand without their accents.
const GENUINE: [&str; 5] = ["crédit-agricole", "impôts", "itaú", "orangé", "äpple"];

/// Decides about a URL that is serialized by the URL standard. Other texts are left to the model.
pub fn triage(url: &str) -> UrlTriage {
    let undecided = |model_text: String| UrlTriage::Undecided { model_text };
    let Ok(parsed) = Url::parse(url) else {
        return undecided(url.to_owned());
    };
    let is_alone = matches!(parsed.path(), "" | "/")
        && parsed.query().is_none()
        && parsed.username().is_empty()
        && parsed.password().is_none();
    match parsed.host() {
        Some(Host::Ipv4(address)) if is_alone || is_internal_v4(address) => UrlTriage::Harmless,
        Some(Host::Ipv6(address)) if is_alone || is_internal_v6(address) => UrlTriage::Harmless,
        Some(Host::Domain(name)) if is_internal_name(name) => UrlTriage::Harmless,
        Some(Host::Domain(name)) if name.split('.').any(|label| label.starts_with("xn--")) => {
            international(&parsed, name)
        }
        Some(Host::Domain(_)) if is_well_known(&parsed) => UrlTriage::Harmless,
        Some(Host::Domain(name)) if is_ordinary_project(&parsed, name) => {
            undecided(with_host(&parsed, &format!("{PLAIN_NAME}.{PLAIN_SUFFIX}")))
        }
        // Jira serves its pages from a folder whose name is a lure elsewhere.
        Some(Host::Domain(_)) if parsed.path().ends_with(".jspa") => undecided(url.replacen("/secure/", "/", 1)),
        _ => undecided(url.to_owned()),
    }
}

/// Whether a URL is a project with an ordinary name on a platform where everybody can publish, and has no sign of phishing
/// or malware: no brand, no lure, no parameters and no program. Many malicious URLs are on such platforms, so the model
/// takes every URL there for malicious.
fn is_ordinary_project(url: &Url, name: &str) -> bool {
    let written = url[url::Position::BeforeHost..].to_ascii_lowercase();
    let file = url.path().rsplit('/').next().unwrap_or_default();
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_nearly_brand = || {
        let mut words = name.split(['-', '.']);
        words.any(|word| BRANDS.iter().any(|brand| is_nearly(word, brand)))
    };
    has_plain_authority(url)
        && url.query().is_none()
        && has_project_name(name)
        && STATIC.contains(&ending)
        && !BRANDS.iter().any(|brand| names(&written, brand))
        && !LURES.iter().any(|lure| written.contains(lure))
        && !is_nearly_brand()
}

/// The URL with another host.
fn with_host(url: &Url, host: &str) -> String {
    let mut changed = url.clone();
    // A host that can't be replaced stays.
    let _ = changed.set_host(Some(host));
    changed.into()
}

/// Whether an address is loopback, private (RFC 1918), link-local (RFC 3927), shared (RFC 6598) or unspecified.
fn is_internal_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || first == 100 && (64..128).contains(&second)
}

/// Whether an address is loopback, unique local (RFC 4193), link-local (RFC 4291) or unspecified, or contains such an
/// IPv4 address.
fn is_internal_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4_mapped().is_some_and(is_internal_v4)
}

/// Whether a name has a single label, which only the local network knows, or is reserved for such networks.
fn is_internal_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    let last = name.rsplit('.').next().unwrap_or(name);
    !name.contains('.') || INTERNAL.contains(&last) || name.ends_with(".home.arpa")
}

/// Decides about a URL with an international name.
///
/// A label that spells a brand or a phishing word is replaced by plain letters. Other international names are unknown
/// to the model, which would call them all malicious. They are replaced by an ordinary name, so that the rest of the
/// URL is classified.
fn international(url: &Url, name: &str) -> UrlTriage {
    let decoded = url::quirks::domain_to_unicode(name);
    let labels: Vec<&str> = decoded.split('.').collect();
    if labels.iter().any(|label| is_homograph(label)) {
        return UrlTriage::Homograph;
    }
    let suffix = guard_suffixes::suffix_text(name).unwrap_or_default();
    let (before, suffixes) = labels.split_at(labels.len().saturating_sub(suffix.split('.').count()));
    let mut ascii: Vec<String> = before
        .iter()
        .map(|label| match ascii_label(label) {
            Some(plain) if label.is_ascii() || means_something(label, &plain) => plain,
            _ => PLAIN_NAME.to_owned(),
        })
        .collect();
    if ascii.is_empty() {
        // "ålesund.no" is a suffix itself.
        ascii.push(PLAIN_NAME.to_owned());
    }
    let is_plain = ascii.last().is_some_and(|name| name == PLAIN_NAME) && !is_free_host(name, suffix);
    if is_plain || suffixes.iter().any(|label| !label.is_ascii()) {
        ascii.push(PLAIN_SUFFIX.to_owned());
    } else {
        ascii.push(suffix.to_owned());
    }
    UrlTriage::Undecided {
        model_text: with_host(url, &ascii.join(".")),
    }
}

/// Whether the spelling of a label means something to the model.
fn means_something(label: &str, plain: &str) -> bool {
    let is_genuine = GENUINE.contains(&label) || label.split('-').any(|word| GENUINE.contains(&word));
    !is_genuine && (BRANDS.iter().any(|brand| names(plain, brand)) || LURES.iter().any(|lure| plain.contains(lure)))
}

/// Whether a label imitates another one:
///
/// - A word that mixes Latin letters with look-alikes (`pаypal` with a Cyrillic "а"). Browsers don't show such names in
///   letters either (UTS #39, section 5.2, restriction levels). Chinese, Japanese and Korean next to Latin is ordinary.
/// - A word of another script, or with accents, that spells one of the most imitated brands (`аррӏе`, `páypal`).
fn is_homograph(label: &str) -> bool {
    if label.is_ascii() || GENUINE.contains(&label) {
        return false;
    }
    label.split('-').filter(|word| !word.is_ascii()).any(|word| {
        let is_other = |c: &char| !c.is_ascii() && c.is_alphabetic() && c.script() != Script::Latin;
        let has_latin = word.chars().any(|c| c.is_alphabetic() && c.script() == Script::Latin);
        let mut others = word.chars().filter(is_other).peekable();
        let has_others = others.peek().is_some();
        let look_latin = others.all(|c| is_alphabet(c.script()) && latin_double(c).is_some());
        if has_latin && has_others && look_latin {
            return true;
        }
        let spelled = spell(word, |c| latin_double(c).map(String::from));
        !GENUINE.contains(&word)
            && spelled.is_some_and(|spelled| {
                BRANDS.contains(&spelled.as_str())
                    || has_others && BRANDS.iter().any(|brand| is_nearly(&spelled, brand))
            })
    })
}

/// Whether a script has letters that look Latin.
fn is_alphabet(script: Script) -> bool {
    matches!(
        script,
        Script::Greek | Script::Cyrillic | Script::Armenian | Script::Cherokee | Script::Coptic
    )
}

/// A label in ASCII letters without accents; `None` if its letters are not Latin.
fn ascii_label(label: &str) -> Option<String> {
    spell(label, |_| None)
}

/// A word in ASCII letters without accents. `other` maps letters that are not Latin.
fn spell(word: &str, other: impl Fn(char) -> Option<String>) -> Option<String> {
    let mut spelled = String::with_capacity(word.len());
    for character in word.nfd().filter(|&c| !is_combining_mark(c)) {
        match character {
            _ if character.is_ascii() => spelled.push(character),
            'ß' => spelled.push_str("ss"),
            'æ' => spelled.push_str("ae"),
            'œ' => spelled.push_str("oe"),
            'þ' => spelled.push_str("th"),
            'ð' | 'đ' | 'ɖ' => spelled.push('d'),
            'ø' => spelled.push('o'),
            'ł' => spelled.push('l'),
            'ħ' => spelled.push('h'),
            'ŧ' => spelled.push('t'),
            'ŋ' => spelled.push('n'),
            'ə' | 'ǝ' | 'ɛ' => spelled.push('e'),
            'ı' => spelled.push('i'),
            'ɔ' => spelled.push('o'),
            'ĸ' | 'ƙ' => spelled.push('k'),
            'ɓ' => spelled.push('b'),
            'ŀ' => spelled.push('l'),
            '·' => {}
            'ʻ' | 'ʼ' => {}
            _ => spelled.push_str(&other(character)?),
        }
    }
    Some(spelled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::urls;

    fn of(text: &str) -> UrlTriage {
        triage(urls::find(text)[0].url.as_str())
    }

    fn model_text(text: &str) -> String {
        match of(text) {
            UrlTriage::Undecided { model_text } => model_text,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_is_inside_of_a_network_is_harmless() {
        for url in [
            "http://localhost:3000",
            "http://app.localhost/login",
            "http://[::1]/",
            "http://[fe80::1]/x",
            "http://[fd12:3456::1]:8080/x",
            "http://[::ffff:10.0.0.1]/x",
            "http://127.0.0.1:8000/docs",
            "http://0.0.0.0:8080/x",
            "http://192.168.0.10:8080/admin",
            "http://10.1.2.3/login.php",
            "http://172.16.0.1/setup.exe",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.64.0.1/x",
            "http://api:8080/v1",
            "http://wiki/paypal/login",
            "http://db.default.svc.cluster.local:5432/x",
            "http://git.corp/login",
            "http://printer.home.arpa/x",
        ] {
            assert_eq!(of(url), UrlTriage::Harmless, "{url}");
        }
    }

    #[test]
    fn an_address_alone_is_harmless() {
        for url in [
            "https://8.8.8.8/",
            "http://1.1.1.1",
            "http://[2001:4860:4860::8888]/",
            "http://8.8.8.8:53",
        ] {
            assert_eq!(of(url), UrlTriage::Harmless, "{url}");
        }
        for url in [
            "http://185.234.12.9/bins/mirai.x86",
            "http://google.com@8.8.8.8/",
            "http://8.8.8.8/?paypal",
        ] {
            assert!(model_text(url).starts_with("http://"), "{url}");
        }
    }

    #[test]
    fn well_known_sites_are_harmless() {
        for url in [
            "https://www.commerzbank.de/kunden/anmeldung?step=2",
            "https://download.libreoffice.org/stable/win/LibreOffice.msi",
            "https://www.chiark.greenend.org.uk/~sgtatham/putty/0.81/putty.exe",
            "https://online.bnpparibas/compte",
        ] {
            assert_eq!(of(url), UrlTriage::Harmless, "{url}");
        }
        for url in [
            "https://docs.google.com/forms/d/e/1/viewform",
            "https://www.google.com/url?q=https://evil.example.net",
            "https://commerzbank-kunden.de/anmeldung",
            "https://www.commerzbank.de.kunden.top/anmeldung",
        ] {
            assert_eq!(model_text(url), of_url(url), "{url}");
        }
    }

    #[test]
    fn plain_names_on_platforms_count_for_nothing() {
        for (url, expected) in [
            ("https://stone-garden.vercel.app/about", "https://example.com/about"),
            (
                "https://d3kx81mzp0a7qq.cloudfront.net/img/a.png",
                "https://example.com/img/a.png",
            ),
        ] {
            assert_eq!(model_text(url), expected, "{url}");
        }
        for url in [
            "https://paypal-help.web.app/",
            "https://paypa1.web.app/",
            "https://secure-area.github.io/",
            "https://x1y2.github.io/netflix/index.html",
            "https://stone.pages.dev/setup.exe",
            "https://stone.pages.dev/?id=5",
            "https://stone.pages.dev/a.php",
            "http://stone.tk/",
            "http://stone.ddns.net/",
            "https://stone-garden-4f81c2.netlify.app/",
            "https://xkqwrtzp.vercel.app/",
        ] {
            assert_eq!(model_text(url), of_url(url), "{url}");
        }
        assert_eq!(
            model_text("https://jira.stone.org/secure/Board.jspa"),
            "https://jira.stone.org/Board.jspa"
        );
    }

    fn of_url(text: &str) -> String {
        urls::find(text)[0].url.as_str().to_owned()
    }

    #[test]
    fn international_names_are_judged_by_what_they_spell() {
        for (url, expected) in [
            ("https://www.müller.de/", "https://www.example.com/"),
            ("https://bücher.evil.tk/ä?b#c", "https://example.evil.tk/%C3%A4?b#c"),
            (
                "https://konto-bestätigung-login.de",
                "https://konto-bestatigung-login.de/",
            ),
            ("https://paypal-prüfung.com/x", "https://paypal-prufung.com/x"),
            ("https://президент.рф", "https://example.com/"),
            ("https://日本語.jp:8080/a", "https://example.com:8080/a"),
            ("https://shop.例え.テスト", "https://shop.example.com/"),
            ("http://user@кириллица.tk/", "http://user@example.tk/"),
            ("https://ålesund.no", "https://example.com/"),
        ] {
            assert_eq!(model_text(url), expected, "{url}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_homographs() {
        for url in [
            "http://раураl.com",
            "http://pаypal.com/signin",
            "http://xn--pypal-4ve.com/signin",
            "http://xn--80ak6aa92e.com/login",
            "http://login.gооgle.com/",
            "http://аррӏе.com",
            "http://раура1.com",
            "http://páypal.com",
            "http://páypal-login.com",
            "http://micrоsoft.com",
            "http://fаcebook-help.com",
            "http://ɡooglе.com",
        ] {
            assert_eq!(of(url), UrlTriage::Homograph, "{url}");
        }
    }

    #[test]
    fn ordinary_international_names_are_no_homographs() {
        for name in [
            "müller.de",
            "bücher.de",
            "straße.de",
            "köln.de",
            "zürich.ch",
            "österreich.at",
            "français.fr",
            "élysée.fr",
            "çığköfte.com.tr",
            "ışık.com.tr",
            "łódź.pl",
            "gdańsk.pl",
            "žluťoučký.cz",
            "győr.hu",
            "smørrebrød.dk",
            "københavn.dk",
            "malmö.se",
            "äpple.se",
            "ålesund.no",
            "þingvellir.is",
            "são-paulo.com.br",
            "amazônia.com.br",
            "españa.es",
            "niño.mx",
            "română.ro",
            "việt-nam.vn",
            "президент.рф",
            "кремль.рф",
            "почта.рф",
            "москва.com",
            "сахар.com",
            "роса.рф",
            "україна.укр",
            "българия.бг",
            "ελλάδα.ελ",
            "αθήνα.gr",
            "հայաստան.հայ",
            "საქართველო.გე",
            "ישראל.קום",
            "שלום.co.il",
            "مصر.مصر",
            "موقع.وزارة-الاتصالات.مصر",
            "ایران.com",
            "हिन्दी.भारत",
            "বাংলা.বাংলা",
            "தமிழ்.இந்தியா",
            "ไทย.ไทย",
            "日本語.jp",
            "東京タワー.jp",
            "docomoショップ.jp",
            "中文.中国",
            "清华大学.cn",
            "香港.hk",
            "한국.한국",
            "삼성.com",
            "k-팝.com",
            "banco-açores.pt",
            "crédit-agricole.fr",
            "itaú.com.br",
            "itaú-unibanco.com",
            "интернет-shop.com",
            "webмастер.com",
            "côte-d-azur.fr",
            "ørsted.com",
            "nestlé.com",
        ] {
            let url = format!("https://{name}/");
            assert!(matches!(of(&url), UrlTriage::Undecided { .. }), "{url}");
            assert!(
                model_text(&url).is_ascii() && !model_text(&url).contains("xn--"),
                "{}",
                model_text(&url)
            );
        }
    }

    proptest! {
        #[test]
        fn every_url_gets_a_decision(text in "\\PC*|https?://[a-zа-яéλ日.0-9\\[\\]:@/-]{0,30}") {
            match triage(&text) {
                UrlTriage::Undecided { model_text } => prop_assert!(!model_text.is_empty() || text.is_empty()),
                UrlTriage::Harmless | UrlTriage::Homograph => prop_assert!(Url::parse(&text).is_ok()),
            }
        }
    }
}
