//! Finds URLs in a plain text.

use std::ops::Range;

use url::Url;

use super::characters::{is_mark, is_unspaced, is_word};
use super::words::{ENTITIES, FILE_ENDINGS, PRODUCTS, RECEIVERS, REVERSED, SCHEMES, SITES, WORDS};
use crate::stop;

/// A URL in the plain text.
pub(super) struct PlainUrl {
    pub range: Range<usize>,
    pub url: Url,
}

/// The search of one plain text.
pub(super) struct Search<'a> {
    text: &'a str,
    /// The length of the text without white space at its edges.
    trimmed: usize,
    /// The text before this is done.
    at: usize,
    found: Vec<PlainUrl>,
}

impl<'a> Search<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            trimmed: text.trim().len(),
            at: 0,
            found: Vec::new(),
        }
    }

    /// The URLs, in order.
    pub fn run(mut self) -> Vec<PlainUrl> {
        while let Some(start) = self.text[self.at..].find(|c: char| c.is_alphanumeric() || c == '_') {
            stop::point();
            let start = self.at + start;
            let end = self.end_of(start, is_word);
            let word = &self.text[start..end];
            let next = self.text[end..].chars().next();
            let url = match next {
                Some(':') => self.with_scheme(start, end).or_else(|| self.bare(start, end)),
                // An e-mail address.
                Some('@') => {
                    self.at = self.end_of(end + 1, is_word);
                    continue;
                }
                _ if word.contains('.') => self.bare(start, end),
                _ => None,
            };
            self.at = url.as_ref().map_or(end, |found| found.range.end.max(end));
            self.found.extend(url);
        }
        self.found
    }

    /// The end of the run of characters from `start` on that `belongs` accepts.
    fn end_of(&self, start: usize, belongs: impl Fn(char) -> bool) -> usize {
        self.text[start..]
            .find(|character| !belongs(character))
            .map_or(self.text.len(), |length| start + length)
    }

    /// Parses a URL whose scheme is at the end of the word `start..colon`.
    fn with_scheme(&self, start: usize, colon: usize) -> Option<PlainUrl> {
        let word = &self.text[start..colon];
        let (name, scheme) = SCHEMES.iter().find(|(name, _)| {
            word.len()
                .checked_sub(name.len())
                .is_some_and(|at| word.is_char_boundary(at) && word[at..].eq_ignore_ascii_case(name))
        })?;
        let start = colon - name.len();
        let slashes = self.end_of(colon + 1, |c| matches!(c, '/' | '\\'));
        // Browsers need at most one slash. Prose contains "http:" too, so the host must look like one then.
        let strict = slashes < colon + 3;
        let authority = self.authority(slashes)?;
        let host = authority.rsplit('@').next().unwrap_or(authority);
        if !host.contains(|c: char| c.is_alphanumeric())
            || SCHEMES.iter().any(|(name, _)| *name == host.trim_end_matches(':'))
        {
            return None;
        }
        if strict
            && !(host.contains('.') && has_known_tld(&host.split(':').next().unwrap_or(host).to_ascii_lowercase()))
        {
            return None;
        }
        let name = slashes + authority.len();
        // Only an invalid host makes a URL invalid. The rest is read after this check, so the cost stays linear.
        Url::parse(&format!("{scheme}://{authority}")).ok()?;
        let mut end = self.tail(name, start);
        if end == name {
            end = slashes + authority.trim_end_matches(['.', ':', '-', '_', '%']).len();
        }
        self.parse(scheme, start, slashes, end)
    }

    /// User, host and port from `start` on.
    fn authority(&self, start: usize) -> Option<&str> {
        // User names and passwords may have characters that end a host.
        const LONGEST: usize = 512;
        let is_host = |c: char| is_word(c) && c != '*' || matches!(c, ':' | '%');
        let is_user = |c: char| is_host(c) || matches!(c, '@' | '!' | '$' | '&' | '*' | '+' | ';' | '=' | '~');
        let bound = self.text.floor_char_boundary((start + LONGEST).min(self.text.len()));
        let window = &self.text[start..bound];
        let user = window.find(|c| !is_user(c)).unwrap_or(window.len());
        let host = window[..user].rfind('@').map_or(0, |at| at + 1);
        let rest = &window[host..];
        let mut length = if rest.starts_with('[') {
            let close = rest.find(']')? + 1;
            // A second colon is punctuation.
            let port = rest[close..].strip_prefix(':').map_or(0, |digits| {
                1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())
            });
            close + port
        } else {
            rest.find(|c| !is_host(c)).unwrap_or(rest.len())
        };
        // Browsers read an ideographic full stop as a dot; in prose it ends the sentence.
        if let Some(after) = rest[length..].strip_prefix(['。', '｡']) {
            let label = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
            if !rest[..length].contains('.') && has_known_tld(&format!("a.{}", after[..label].to_ascii_lowercase())) {
                length += '。'.len_utf8() + label;
            }
        }
        // In "https://a.com请看", the name ends where the known domain does.
        let name = &rest[..length];
        if let Some(cut) = unspaced_after_ascii(name)
            && has_known_tld(&name[..cut].to_ascii_lowercase())
        {
            length = cut;
        }
        // In "http://a.comhttp://b.com", a second URL begins.
        if let Some(scheme) = ["http:", "https:"]
            .iter()
            .find_map(|scheme| rest[..length].find(scheme))
        {
            length = scheme;
        }
        Some(&window[..host + length])
    }

    /// Parses a host without a scheme in the word `start..end`.
    fn bare(&self, start: usize, end: usize) -> Option<PlainUrl> {
        let (start, host) = self.bare_host(start, end)?;
        let end = start + host.len();
        if self.text[end..].starts_with('@') {
            return None;
        }
        let port = self.port(end);
        let after = &self.text[port..];
        let has_path = after.starts_with('/');
        let lower = host.to_lowercase();
        // A host that is the whole text is not part of prose or code.
        let is_whole_text = self.trimmed == end - start;
        if is_dotted_quad(&lower) {
            if !has_path && port == end && !is_whole_text || has_path && is_prefix_length(after) {
                return None;
            }
        } else {
            let name = DottedName {
                name: host,
                lower: &lower,
                last: lower.rsplit('.').next()?,
                has_path,
                is_whole_text,
                after,
            };
            if !is_domain(&lower) || !name.is_host() {
                return None;
            }
        }
        Url::parse(&format!("http://{}", &self.text[start..port])).ok()?;
        self.parse("http", start, start, self.tail(port, start))
    }

    /// The part of the word `start..end` that may be a host, and its start.
    fn bare_host(&self, start: usize, end: usize) -> Option<(usize, &'a str)> {
        let word = &self.text[start..end];
        // In "and so on...a.com", the host begins after the dots.
        let offset = word
            .trim_end_matches(['.', '-', '_', '*'])
            .rfind("..")
            .map_or(0, |at| at + 2);
        let untrimmed = word[offset..].trim_end_matches(['.', '-', '_', '*']);
        let mut host = untrimmed.trim_start_matches(['.', '-', '_', '*']);
        let before = self.text[..start + offset].chars().next_back().filter(|_| offset == 0);
        let mut start = start + offset + untrimmed.len() - host.len();
        // Words of scripts without spaces may touch the host on both sides.
        if let Some(cut) = host_after_unspaced(host) {
            start += cut;
            host = &host[cut..];
        } else if !self.may_precede_host(before, start) {
            return None;
        }
        if let Some(cut) = unspaced_after_ascii(host)
            && has_known_tld(&host[..cut].to_ascii_lowercase())
        {
            host = &host[..cut];
        }
        Some((start, host))
    }

    /// Whether a host may begin at `start`, after the character `before`.
    fn may_precede_host(&self, before: Option<char>, start: usize) -> bool {
        match before {
            // "//a.com/b" is a URL without a scheme; "git://a.com" has a scheme that is not searched for.
            Some('/') => {
                let head = self.text[..start].trim_end_matches(['.', '-', '_', '*']);
                let head = head.strip_suffix("//");
                head.is_some_and(|head| !head.ends_with(|c: char| c == ':' || c == '/' || c.is_alphanumeric()))
            }
            Some('@' | '\\' | '$' | '#' | '%') => false,
            _ => true,
        }
    }

    /// The end of a port at `at`; `at` if there is none.
    fn port(&self, at: usize) -> usize {
        let Some(digits) = self.text[at..].strip_prefix(':') else {
            return at;
        };
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let follows = digits[length..].chars().next();
        if (1..=5).contains(&length) && !follows.is_some_and(|c| c.is_alphanumeric()) {
            at + 1 + length
        } else {
            at
        }
    }

    /// The end of path, query and fragment at `at`, in a URL that begins at `start`.
    fn tail(&self, at: usize, start: usize) -> usize {
        let mut end = at;
        if self.text[at..].starts_with(['/', '?', '#']) {
            end = at + self.tail_length(&self.text[at..], self.text[..start].chars().next_back());
        }
        let opener = self.text[..start].chars().next_back();
        // Trailing punctuation belongs to the sentence, but "#!" is a fragment.
        let mut kept = &self.text[at..end];
        while let Some(last) = kept.chars().next_back() {
            let is_mark = matches!(last, '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '*' | '~' | '&')
                || last == '_' && opener == Some('_');
            if !is_mark || kept.ends_with("#!") {
                break;
            }
            kept = kept.strip_suffix("&amp;").unwrap_or(&kept[..kept.len() - 1]);
        }
        at + kept.len()
    }

    fn tail_length(&self, rest: &str, opener: Option<char>) -> usize {
        let mut open: Vec<char> = Vec::new();
        let mut last = '/';
        for (at, character) in rest.char_indices() {
            let after = &rest[at + character.len_utf8()..];
            let belongs = match character {
                '(' | '[' | '{' => {
                    open.push(character);
                    true
                }
                ')' => open.pop() == Some('('),
                ']' => open.pop() == Some('['),
                '}' => open.pop() == Some('{'),
                '\'' => opener != Some('\''),
                // The semicolon of "&amp;" is no separator.
                ',' | ';' => !begins_with_scheme(after) || rest[..at].ends_with("&amp"),
                '&' => !ENTITIES.iter().any(|entity| after.starts_with(entity)),
                '<' | '>' | '"' | '`' | '\\' | '|' | '^' => false,
                _ if character.is_ascii() => character.is_ascii_graphic(),
                // Titles contain dashes and dots: "/wiki/A–B".
                '–' | '·' => after.starts_with(char::is_alphanumeric),
                _ if is_unspaced(character) => !last.is_ascii_alphanumeric(),
                _ => character.is_alphanumeric() || is_mark(character),
            };
            if !belongs {
                return at;
            }
            last = character;
        }
        rest.len()
    }

    /// Parses the URL at `start..end`, whose user or host begins at `authority`.
    fn parse(&self, scheme: &str, start: usize, authority: usize, end: usize) -> Option<PlainUrl> {
        // Texts from web pages have escaped ampersands.
        let rest = self.text[authority..end].replace("&amp;", "&");
        let url = Url::parse(&format!("{scheme}://{rest}")).ok()?;
        (end > authority && url.host().is_some()).then_some(PlainUrl { range: start..end, url })
    }
}

/// A name with dots and a known top-level domain, which may be a host or something else.
struct DottedName<'a> {
    name: &'a str,
    /// The name in lower case.
    lower: &'a str,
    /// The last label, in lower case.
    last: &'a str,
    has_path: bool,
    is_whole_text: bool,
    /// The text after the name and its port.
    after: &'a str,
}

impl DottedName<'_> {
    /// Whether it is a host, and not a file, a member of an object, the name of a package, or a missing space.
    fn is_host(&self) -> bool {
        let &Self {
            name: host,
            lower,
            last,
            has_path,
            is_whole_text: alone,
            after: behind,
        } = self;
        if lower.starts_with("www.") {
            return true;
        }
        let mut labels = lower.split('.');
        let first = labels.next().unwrap_or_default();
        let is_file = FILE_ENDINGS.contains(&last);
        let is_word = WORDS.contains(&last);
        let is_site = SITES.contains(&last);
        let is_receiver = RECEIVERS.contains(&first) && !is_site;
        if has_path {
            // "README.md/LICENSE" and "user.name/user.email" are alternatives or folders.
            let is_upper = host.chars().any(char::is_uppercase);
            let next = behind.trim_start_matches('/').split('.').next().unwrap_or_default();
            return !(is_file && is_upper || is_receiver && RECEIVERS.contains(&next));
        }
        // A suffix of several labels, as in "so.co.in", is never the end of a sentence.
        if guard_suffixes::suffix_text(lower).is_some_and(|suffix| suffix.contains('.')) {
            return true;
        }
        let count = labels.count() + 1;
        let shown = host.rsplit('.').next().unwrap_or_default();
        let odd_case = shown != last && shown.to_uppercase() != shown;
        let has_mark = lower[..lower.len() - last.len()].contains(|c: char| c == '-' || c.is_ascii_digit());
        let name = lower.rsplit('.').nth(1).unwrap_or_default();
        let is_letter = name.len() == 1;
        !(odd_case && !is_site
            || is_file
            || is_word && !has_mark && !alone
            || is_receiver
            || is_letter && !is_site && !alone
            || is_camel_case(host) && !is_site
            || count > 2 && REVERSED.contains(&first) && !is_site
            || PRODUCTS.contains(&lower)
            || is_used(behind))
    }
}

/// Whether the text after a name calls it, indexes it or assigns to it.
fn is_used(behind: &str) -> bool {
    let next = behind.trim_start_matches(' ');
    let spaces = behind.len() - next.len();
    match next.as_bytes() {
        [b'(' | b'[', ..] => spaces == 0,
        [b'=', ..] => true,
        [b'+' | b'-' | b'*' | b'!' | b'<' | b'>', b'=', ..] => true,
        [b':', b':', ..] | [b'-', b'>', ..] => spaces == 0,
        _ => false,
    }
}

/// Whether a capital follows a small letter, as in `userName`.
fn is_camel_case(host: &str) -> bool {
    host.as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Whether this is the length of a network's prefix, as in `10.0.1.40/27` (RFC 4632), and not a path.
fn is_prefix_length(path: &str) -> bool {
    let digits = path[1..].bytes().take_while(u8::is_ascii_digit).count();
    let behind = path[1 + digits..].trim_start_matches(['.', ',', ':', ';', '!', '?']);
    (1..=2).contains(&digits)
        && !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '=' | '&' | '%'))
}

/// Whether the last label of a host is a known top-level domain.
fn has_known_tld(host: &str) -> bool {
    guard_suffixes::suffix(host).is_some_and(|suffix| suffix.is_known())
}

/// Whether a name has valid labels and a known top-level domain.
fn is_domain(lower: &str) -> bool {
    lower.split('.').all(|label| !label.is_empty() && label.len() <= 63)
        && lower.contains('.')
        && !lower.contains('*')
        && !lower.rsplit('.').take(2).any(|label| label.contains('_'))
        && lower
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(char::is_alphabetic))
        && has_known_tld(lower)
}

fn begins_with_scheme(text: &str) -> bool {
    ["http://", "https://", "hxxp://", "hxxps://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

fn is_dotted_quad(host: &str) -> bool {
    host.split('.').count() == 4
        && host
            .split('.')
            .all(|part| part.len() <= 3 && part.parse::<u8>().is_ok())
}

/// The start of words in a script without spaces after an ASCII host.
fn unspaced_after_ascii(host: &str) -> Option<usize> {
    let cut = host.find(is_unspaced)?;
    let label = host[..cut].rsplit('.').next()?;
    (host[..cut].contains('.') && !label.is_empty() && host[..cut].is_ascii()).then_some(cut)
}

/// The start of a host after words in a script without spaces.
fn host_after_unspaced(host: &str) -> Option<usize> {
    let (at, last) = host.char_indices().rfind(|&(at, c)| {
        is_unspaced(c) && host[at + c.len_utf8()..].starts_with(|c: char| c.is_alphanumeric() && !is_unspaced(c))
    })?;
    let cut = at + last.len_utf8();
    (host[cut..].contains('.') && !host[..at].contains('.')).then_some(cut)
}
