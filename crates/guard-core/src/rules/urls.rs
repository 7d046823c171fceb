//! URLs in a text, as a person or a browser would read them.
//!
//! Found are URLs with a scheme (`https://a.example/b`), hosts with a known top-level domain (`a.com`, `www.b.org/c`) and IPv4
//! addresses with a path or port, or alone, in prose of any script, Markdown, HTML, JSON and code. Forms made to escape such a search
//! are read as what they stand for: defanged schemes and dots (`hxxp`, `a[.]com`, `a(dot)com`, `http[:]//`), full-width
//! letters, backslashes for slashes, invisible characters inside of the host.
//!
//! A found URL is given back parsed and serialized as the [URL standard](https://url.spec.whatwg.org/) says, so all ways to
//! write one host look the same: lower case, punycode (`xn--...`), numeric hosts (decimal, hexadecimal, octal) as dotted
//! quads. What a browser would refuse to parse is not a URL. Top-level domains are those of the
//! [Public Suffix List](https://publicsuffix.org/).

use std::ops::Range;

use url::Url;

use crate::text::invisible::{self, Kind};

/// A URL in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUrl {
    /// Where it stands, in bytes of the text.
    pub range: Range<usize>,
    /// What it stands for. `http` where the text gives no scheme.
    pub url: Url,
}

/// The schemes that are looked for, with what they stand for. `hxxp` and `fxp` are the usual defanged ones.
const SCHEMES: [(&str, &str); 15] = [
    ("https", "https"),
    ("hxxps", "https"),
    ("hxtps", "https"),
    ("htxps", "https"),
    ("h**ps", "https"),
    ("http", "http"),
    ("hxxp", "http"),
    ("hxtp", "http"),
    ("htxp", "http"),
    ("h**p", "http"),
    ("meow", "http"),
    ("ftp", "ftp"),
    ("fxp", "ftp"),
    ("wss", "wss"),
    ("ws", "ws"),
];

/// Ways to write a dot, colon, slash or at sign that a person undoes by eye; the first that fits wins.
const DEFANGED: [(&str, &str); 22] = [
    ("[://]", "://"),
    ("(://)", "://"),
    ("[:]", ":"),
    ("(:)", ":"),
    ("[.]", "."),
    ("(.)", "."),
    ("{.}", "."),
    ("[dot]", "."),
    ("(dot)", "."),
    ("{dot}", "."),
    ("[punkt]", "."),
    ("(punkt)", "."),
    ("[точка]", "."),
    ("(точка)", "."),
    ("[点]", "."),
    ("(点)", "."),
    ("[/]", "/"),
    ("[@]", "@"),
    ("[at]", "@"),
    ("(at)", "@"),
    ("[.", "."),
    ("\\.", "."),
];

/// Top-level domains that are also endings of files: `main.py` is a URL only with a path behind it.
const FILE_ENDINGS: [&str; 19] = [
    "ai", "as", "bat", "cab", "cat", "cc", "eps", "gz", "md", "ml", "mm", "mov", "pl", "ps", "py", "rs", "sh", "so",
    "zip",
];

/// Top-level domains that are also words of prose after a forgotten space (`done.it`) or members in code (`user.name`):
/// a URL only with a path, with a digit or hyphen in the name, or where the text has nothing else.
const WORDS: [&str; 92] = [
    "am", "app", "at", "be", "best", "bid", "bio", "blog", "box", "build", "by", "call", "cam", "camera", "cards",
    "care", "cash", "channel", "chat", "city", "click", "codes", "contact", "cool", "data", "date", "day", "design",
    "do", "domains", "download", "email", "events", "exchange", "fail", "fan", "fish", "fit", "foo", "forum", "fun",
    "game", "games", "global", "group", "host", "how", "id", "in", "inc", "ing", "is", "it", "like", "link", "live",
    "locker", "map", "me", "media", "menu", "name", "network", "new", "news", "no", "now", "one", "open", "page",
    "pay", "photo", "pub", "read", "red", "rest", "run", "safe", "save", "search", "select", "so", "store", "style",
    "support", "to", "top", "us", "video", "watch", "work", "zone",
];

/// Finds the URLs of a text, in order; they do not overlap. Linear in the length of the text.
pub fn find(text: &str) -> Vec<FoundUrl> {
    let plain = Plain::of(text);
    let mut search = Search {
        text: &plain.text,
        trimmed: plain.text.trim().len(),
        at: 0,
        found: Vec::new(),
    };
    search.run();
    search
        .found
        .into_iter()
        .map(|found| FoundUrl {
            range: plain.original(found.range),
            url: found.url,
        })
        .collect()
}

/// The text as it is searched: disguises undone, with the way back to the original.
struct Plain {
    text: String,
    /// Where the two texts stop to run in parallel, ascending.
    jumps: Vec<Jump>,
}

/// From `plain` on, the text continues at `original`; what stands before `plain` ends at `ended`.
struct Jump {
    plain: usize,
    original: usize,
    ended: usize,
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Self {
            text: String::with_capacity(text.len()),
            jumps: Vec::new(),
        };
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = character.len_utf8();
            if let Some((taken, meaning)) = defanged(rest, &plain.text) {
                // "example [.] com": the spaces belong to the disguise.
                let end = at + taken;
                plain.replace(meaning, at, end);
                at = end;
            } else if let Some(meaning) = narrow(rest, character) {
                plain.replace(meaning.encode_utf8(&mut [0; 4]), at, at + length);
                at += length;
            } else if is_invisible(character) {
                plain.replace("", at, at + length);
                at += length;
            } else {
                plain.text.push(character);
                at += length;
            }
        }
        plain
    }

    /// Appends `meaning` for `start..end` of the original.
    fn replace(&mut self, meaning: &str, start: usize, end: usize) {
        let before = self.text.len();
        self.text.push_str(meaning);
        let after = self.text.len();
        if after == before {
            match self.jumps.last_mut() {
                // The piece before still ends where it ended.
                Some(last) if last.plain == before => last.original = end,
                _ => self.jumps.push(Jump {
                    plain: before,
                    original: end,
                    ended: start,
                }),
            }
        } else if after - before != end - start {
            self.jumps.push(Jump {
                plain: after,
                original: end,
                ended: end,
            });
        }
    }

    /// The range of the original that `range` stands for.
    fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.jumps.partition_point(|jump| jump.plain <= range.start);
        let end = self.jumps.partition_point(|jump| jump.plain < range.end);
        let from = |index: usize, at: usize| match index.checked_sub(1).map(|last| &self.jumps[last]) {
            Some(jump) => jump.original + (at - jump.plain),
            None => at,
        };
        let stop = match self.jumps.get(end) {
            Some(jump) if jump.plain == range.end => jump.ended,
            _ => from(end, range.end),
        };
        from(start, range.start)..stop
    }
}

/// The disguise that `rest` begins with: its length and what it stands for. `before` is the plain text so far.
fn defanged(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let first = *rest.as_bytes().first()?;
    if !matches!(first, b'[' | b'(' | b'{' | b'\\' | b' ') || !before.ends_with(is_label_or_colon) {
        return None;
    }
    let inner = if first == b' ' { &rest[1..] } else { rest };
    if first == b' ' && !inner.starts_with(['[', '(', '{']) {
        return None;
    }
    // JSON escapes slashes.
    if inner.starts_with("\\/") {
        return Some((2, "/"));
    }
    let (disguise, meaning) = DEFANGED.iter().find(|(disguise, _)| {
        inner.len() >= disguise.len()
            && inner.is_char_boundary(disguise.len())
            && inner[..disguise.len()].to_lowercase() == **disguise
    })?;
    let mut taken = rest.len() - inner.len() + disguise.len();
    if rest[taken..].starts_with(' ') && first == b' ' {
        taken += 1;
    }
    // Something has to follow: "(.)" at the end of a line is not a dot.
    let follows = rest[taken..].chars().next()?;
    (follows.is_alphanumeric() || matches!(meaning, &":" | &"://" | &"/")).then_some((taken, meaning))
}

fn is_label_or_colon(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '/' | '\\' | ']')
}

/// The ordinary form of a full-width character that a URL can have.
fn narrow(rest: &str, character: char) -> Option<char> {
    let plain = match character {
        '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => character as u32 - 0xFEE0,
        '\u{FF0D}'..='\u{FF0F}' => character as u32 - 0xFEE0,
        // Elsewhere a full-width colon is punctuation.
        '\u{FF1A}' if rest[3..].starts_with(['/', '\u{FF0F}']) => u32::from(':'),
        _ => return None,
    };
    char::from_u32(plain)
}

/// Characters that a reader does not see, and that can stand inside of a host.
fn is_invisible(character: char) -> bool {
    !character.is_ascii()
        && invisible::classify(character).is_some_and(|kind| !matches!(kind, Kind::PrivateUse | Kind::Unassigned))
}

/// Characters of a host's labels, before it is looked at closely.
fn is_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '*')
    } else {
        character.is_alphanumeric() || is_mark(character)
    }
}

/// Combining marks: Indic vowel signs, accents.
fn is_mark(character: char) -> bool {
    use unicode_general_category::{GeneralCategory::*, get_general_category};
    matches!(get_general_category(character), NonspacingMark | SpacingMark)
}

/// Letters of scripts that are written without spaces: a URL in ASCII can touch the words around it.
fn is_unspaced(character: char) -> bool {
    matches!(character as u32,
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F | 0x1780..=0x17FF // Myanmar, Khmer
        | 0x1100..=0x11FF | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul: particles follow words
        | 0x2E80..=0x2FFF | 0x3005..=0x30FF | 0x3100..=0x31FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Whether the last label of a host is a known top-level domain.
fn has_known_tld(host: &str) -> bool {
    psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known())
}

struct FoundPlain {
    range: Range<usize>,
    url: Url,
}

struct Search<'a> {
    text: &'a str,
    /// The length of the text without the white space around it.
    trimmed: usize,
    /// What stands before is done with.
    at: usize,
    found: Vec<FoundPlain>,
}

impl Search<'_> {
    fn run(&mut self) {
        while let Some(start) = self.text[self.at..].find(|c: char| c.is_alphanumeric() || c == '_') {
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
    }

    /// Where the run of characters from `start` on ends that `belongs` accepts.
    fn end_of(&self, start: usize, belongs: impl Fn(char) -> bool) -> usize {
        self.text[start..]
            .find(|character| !belongs(character))
            .map_or(self.text.len(), |length| start + length)
    }

    /// A URL whose scheme ends the word `start..colon`.
    fn with_scheme(&self, start: usize, colon: usize) -> Option<FoundPlain> {
        let word = &self.text[start..colon];
        let (name, scheme) = SCHEMES.iter().find(|(name, _)| {
            word.len()
                .checked_sub(name.len())
                .is_some_and(|at| word.is_char_boundary(at) && word[at..].eq_ignore_ascii_case(name))
        })?;
        let start = colon - name.len();
        let slashes = self.end_of(colon + 1, |c| matches!(c, '/' | '\\'));
        // Browsers need only one slash, or none; prose has "http:" too, so the host has to look like one then.
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
        // Only a host can make a URL wrong. What follows it is not read before that is known, or the cost would not be linear.
        Url::parse(&format!("{scheme}://{authority}")).ok()?;
        let mut end = self.tail(name, start);
        if end == name {
            end = slashes + authority.trim_end_matches(['.', ':', '-', '_', '%']).len();
        }
        self.parsed(scheme, start, slashes, end)
    }

    /// User, host and port from `start` on.
    fn authority(&self, start: usize) -> Option<&str> {
        // User names and passwords may have characters that would otherwise end a host.
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
            // A second colon is the sentence's.
            let port = rest[close..].strip_prefix(':').map_or(0, |digits| {
                1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())
            });
            close + port
        } else {
            rest.find(|c| !is_host(c)).unwrap_or(rest.len())
        };
        // An ideographic full stop is a dot to browsers; in prose it ends the sentence.
        if let Some(after) = rest[length..].strip_prefix(['。', '｡']) {
            let label = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
            if !rest[..length].contains('.') && has_known_tld(&format!("a.{}", after[..label].to_ascii_lowercase())) {
                length += '。'.len_utf8() + label;
            }
        }
        // "https://a.com请看": the name ends where the known domain does.
        let name = &rest[..length];
        if let Some(cut) = unspaced_after_ascii(name)
            && has_known_tld(&name[..cut].to_ascii_lowercase())
        {
            length = cut;
        }
        // "http://a.comhttp://b.com"
        if let Some(scheme) = ["http:", "https:"]
            .iter()
            .find_map(|scheme| rest[..length].find(scheme))
        {
            length = scheme;
        }
        Some(&window[..host + length])
    }

    /// A host without a scheme in the word `start..end`.
    fn bare(&self, start: usize, end: usize) -> Option<FoundPlain> {
        let word = &self.text[start..end];
        // "and so on...a.com"
        let offset = word
            .trim_end_matches(['.', '-', '_', '*'])
            .rfind("..")
            .map_or(0, |at| at + 2);
        let before = self.text[..start + offset].chars().next_back();
        let mut host = word[offset..].trim_end_matches(['.', '-', '_', '*']);
        let trimmed = host.trim_start_matches(['.', '-', '_', '*']);
        let mut start = start + offset + host.len() - trimmed.len();
        host = trimmed;
        // Words of scripts without spaces may touch the host on both sides.
        if let Some(cut) = host_after_unspaced(host) {
            start += cut;
            host = &host[cut..];
        } else {
            let before = if offset > 0 { None } else { before };
            match before {
                // "//a.com/b", a URL without a scheme; "git://a.com" has one that is not looked for.
                Some('/') => {
                    let head = self.text[..start].trim_end_matches(['.', '-', '_', '*']);
                    let head = head.strip_suffix("//")?;
                    if head.ends_with(|c: char| c == ':' || c == '/' || c.is_alphanumeric()) {
                        return None;
                    }
                }
                Some('@' | '\\' | '$' | '#' | '%') => return None,
                _ => {}
            }
        }
        if let Some(cut) = unspaced_after_ascii(host)
            && has_known_tld(&host[..cut].to_ascii_lowercase())
        {
            host = &host[..cut];
        }
        let end = start + host.len();
        let next = self.text[end..].chars().next();
        if next == Some('@') {
            return None;
        }
        let port = self.port(end);
        let has_path = self.text[port..].starts_with('/');
        let lower = host.to_lowercase();
        let last = lower.rsplit('.').next()?;
        // In a text that has nothing else there is no prose and no code for it to be part of.
        let alone = self.trimmed == end - start;
        if is_dotted_quad(&lower) {
            if !has_path && port == end && !alone {
                return None;
            }
        } else {
            if lower.split('.').any(|label| label.is_empty() || label.len() > 63)
                || !lower.contains('.')
                || lower.contains('*')
                || lower.rsplit('.').take(2).any(|label| label.contains('_'))
                || !last.starts_with(char::is_alphabetic)
                || !has_known_tld(&lower)
            {
                return None;
            }
            let is_www = lower.starts_with("www.");
            let shown = host.rsplit('.').next()?;
            // Nobody writes "so.co.in" for the end of a sentence.
            let is_registry = psl::suffix_str(&lower).is_some_and(|suffix| suffix.contains('.'));
            if !is_www && !has_path && !is_registry {
                let odd_case = shown != last && shown.to_uppercase() != shown;
                let is_common = matches!(last, "com" | "net" | "org");
                let has_mark = lower[..lower.len() - last.len()].contains(|c: char| c == '-' || c.is_ascii_digit());
                if odd_case && !is_common
                    || FILE_ENDINGS.contains(&last)
                    || WORDS.contains(&last) && !has_mark && !alone
                    || next == Some('(')
                {
                    return None;
                }
            }
        }
        Url::parse(&format!("http://{}", &self.text[start..port])).ok()?;
        self.parsed("http", start, start, self.tail(port, start))
    }

    /// Where a port ends that begins at `at`; `at` where there is none.
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

    /// Where path, query and fragment end that begin at `at`, in a URL that begins at `start`.
    fn tail(&self, at: usize, start: usize) -> usize {
        let mut end = at;
        if self.text[at..].starts_with(['/', '?', '#']) {
            end = at + self.tail_length(&self.text[at..], self.text[..start].chars().next_back());
        }
        let opener = self.text[..start].chars().next_back();
        // Punctuation at the end belongs to the sentence; "#!" is a fragment.
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
                // Dashes and dots stand in titles: "/wiki/A–B".
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

    /// The URL of `start..end`, whose user or host begins at `authority`.
    fn parsed(&self, scheme: &str, start: usize, authority: usize, end: usize) -> Option<FoundPlain> {
        // Texts that come from web pages have their ampersands escaped.
        let rest = self.text[authority..end].replace("&amp;", "&");
        let url = Url::parse(&format!("{scheme}://{rest}")).ok()?;
        (end > authority && url.host().is_some()).then_some(FoundPlain { range: start..end, url })
    }
}

/// HTML entities that end a URL in an escaped text.
const ENTITIES: [&str; 8] = ["quot;", "lt;", "gt;", "apos;", "nbsp;", "#39;", "#34;", "#x27;"];

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

/// Where words of a script without spaces begin behind an ASCII host.
fn unspaced_after_ascii(host: &str) -> Option<usize> {
    let cut = host.find(is_unspaced)?;
    let label = host[..cut].rsplit('.').next()?;
    (host[..cut].contains('.') && !label.is_empty() && host[..cut].is_ascii()).then_some(cut)
}

/// Where a host begins behind words of a script without spaces.
fn host_after_unspaced(host: &str) -> Option<usize> {
    let (at, last) = host.char_indices().rfind(|&(at, c)| {
        is_unspaced(c) && host[at + c.len_utf8()..].starts_with(|c: char| c.is_alphanumeric() && !is_unspaced(c))
    })?;
    let cut = at + last.len_utf8();
    (host[cut..].contains('.') && !host[..at].contains('.')).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is found in a text, as written and as understood.
    fn found(text: &str) -> Vec<(&str, String)> {
        find(text)
            .into_iter()
            .map(|found| (&text[found.range], found.url.into()))
            .collect()
    }

    fn urls(text: &str) -> Vec<String> {
        found(text).into_iter().map(|(_, url)| url).collect()
    }

    #[test]
    fn reads_urls_in_prose() {
        for (text, expected) in [
            ("See https://example.com/a?b=c#d.", "https://example.com/a?b=c#d"),
            (
                "(https://en.wikipedia.org/wiki/Rust_(language))",
                "https://en.wikipedia.org/wiki/Rust_(language)",
            ),
            (
                "[docs](https://docs.rs/url/latest/url/).",
                "https://docs.rs/url/latest/url/",
            ),
            ("<a href='http://a.com/b'>x</a>", "http://a.com/b"),
            ("<https://example.com>", "https://example.com/"),
            ("**https://example.com/x**", "https://example.com/x"),
            ("_https://example.com/x_", "https://example.com/x"),
            (
                "&lt;a href=&quot;https://a.com/?x=1&amp;y=2&quot;&gt;",
                "https://a.com/?x=1&y=2",
            ),
            (r#"{"url":"https:\/\/a.com\/b"}"#, "https://a.com/b"),
            (r#""https://a.com/b\nnext""#, "https://a.com/b"),
            ("Visit www.example.com, now", "http://www.example.com/"),
            ("on example.com/path. Then", "http://example.com/path"),
            ("example.org", "http://example.org/"),
            ("src=//cdn.example.net/x.js", "http://cdn.example.net/x.js"),
            ("HTTPS://EXAMPLE.COM/Path", "https://example.com/Path"),
            ("localhost at http://localhost:3000/x", "http://localhost:3000/x"),
            ("ftp://files.example.com/a.iso", "ftp://files.example.com/a.iso"),
            (
                "http://user:p!ss@example.com:8080/",
                "http://user:p!ss@example.com:8080/",
            ),
            ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
            ("call 10.0.0.1:8080/status", "http://10.0.0.1:8080/status"),
            ("see ...example.com", "http://example.com/"),
            ("https://example.com/it's", "https://example.com/it's"),
            ("https://example.com...", "https://example.com/"),
            ("https://example.com/#!", "https://example.com/#!"),
            ("https://example.com/#!, then", "https://example.com/#!"),
            ("https://example.com/?a=1&amp;", "https://example.com/?a=1"),
            (
                "https://a.com/?a=1&amp;http://b.com/",
                "https://a.com/?a=1&http://b.com/",
            ),
            ("a shop at cashcase.co.in since May", "http://cashcase.co.in/"),
            (" cashcase.in\n", "http://cashcase.in/"),
            ("192.0.2.7", "http://192.0.2.7/"),
        ] {
            assert_eq!(urls(text), [expected], "{text}");
        }
    }

    #[test]
    fn reads_urls_beside_other_scripts() {
        for (text, expected) in [
            (
                "请访问https://example.com/路径。谢谢",
                "https://example.com/%E8%B7%AF%E5%BE%84",
            ),
            ("打开https://example.com/abc查看", "https://example.com/abc"),
            ("见https://example.com请看", "https://example.com/"),
            ("见example.com吧", "http://example.com/"),
            ("（https://example.com/a）", "https://example.com/a"),
            ("「https://example.com」", "https://example.com/"),
            ("https://example.com/a，然后", "https://example.com/a"),
            (
                "Сайт https://пример.рф/страница, да",
                "https://xn--e1afmkfd.xn--p1ai/%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0",
            ),
            ("на сайте пример.рф есть", "http://xn--e1afmkfd.xn--p1ai/"),
            ("https://bücher.de/ä", "https://xn--bcher-kva.de/%C3%A4"),
        ] {
            assert_eq!(urls(text), [expected], "{text}");
        }
    }

    #[test]
    fn undoes_disguises() {
        for (text, expected) in [
            ("hxxp://evil[.]com/a", "http://evil.com/a"),
            ("hXXps[:]//evil(dot)com", "https://evil.com/"),
            ("http[://]evil{.}com/x", "http://evil.com/x"),
            ("evil[.]com", "http://evil.com/"),
            ("evil [.] com/login", "http://evil.com/login"),
            ("evil [dot] com", "http://evil.com/"),
            ("h**p://evil.com", "http://evil.com/"),
            ("http:\\\\evil.com\\x", "http://evil.com/"),
            ("http:/evil.com/x", "http://evil.com/x"),
            ("https:///evil.com/x", "https://evil.com/x"),
            ("http://ev\u{200B}il.com/x", "http://evil.com/x"),
            ("ev\u{AD}il.com", "http://evil.com/"),
            ("ｈｔｔｐｓ：／／ｅｖｉｌ．ｃｏｍ", "https://evil.com/"),
            ("http://evil。com/x", "http://evil.com/x"),
            ("http://3232235777/x", "http://192.168.1.1/x"),
            ("http://0xC0A80101/", "http://192.168.1.1/"),
            ("http://0300.0250.1.1/", "http://192.168.1.1/"),
            ("https://google.com@evil.com/x", "https://google.com@evil.com/x"),
            ("https://google.com:443@evil.com/x", "https://google.com:443@evil.com/x"),
            ("192[.]168[.]1[.]1/x", "http://192.168.1.1/x"),
        ] {
            assert_eq!(urls(text), [expected], "{text}");
        }
    }

    #[test]
    fn gives_the_place_as_written() {
        assert_eq!(found("go to hxxp://evil[.]com/a, now")[0].0, "hxxp://evil[.]com/a");
        assert_eq!(found("x ev\u{200B}il.com\u{200B} y")[0].0, "ev\u{200B}il.com");
        assert_eq!(found("é evil [.] com ü")[0].0, "evil [.] com");
        assert_eq!(found("请看ｅｖｉｌ．ｃｏｍ吧")[0].0, "ｅｖｉｌ．ｃｏｍ");
    }

    #[test]
    fn an_ipv6_host_keeps_its_port_at_the_end_of_a_text() {
        for after in ["", " x", ".", ":", ": x", "\n", ")"] {
            assert_eq!(
                found(&format!("see http://[2001:db8::1]:8080{after}")),
                [("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/".to_owned())],
                "{after:?}"
            );
        }
        let hit = &find("see http://[2001:db8::1]:8080")[0];
        assert_eq!((hit.range.clone(), hit.url.port()), (4..29, Some(8080)));
        assert_eq!(found("http://[::1]:")[0], ("http://[::1]", "http://[::1]/".to_owned()));
        assert_eq!(found("http://[::1]")[0], ("http://[::1]", "http://[::1]/".to_owned()));
    }

    #[test]
    fn finds_several() {
        assert_eq!(
            urls("a.com, b.org;http://c.net"),
            ["http://a.com/", "http://b.org/", "http://c.net/"]
        );
        assert_eq!(
            urls("https://a.com,https://b.com"),
            ["https://a.com/", "https://b.com/"]
        );
        assert_eq!(
            urls("https://a.com/x,https://b.com/y"),
            ["https://a.com/x", "https://b.com/y"]
        );
        assert_eq!(urls("http://a.comhttp://b.com"), ["http://a.com/", "http://b.com/"]);
        assert_eq!(urls("http://https://b.com"), ["https://b.com/"]);
        assert_eq!(
            urls("[a](http://a.com)[b](http://b.com)"),
            ["http://a.com/", "http://b.com/"]
        );
    }

    #[test]
    fn leaves_other_texts_alone() {
        for text in [
            "mail me@example.com or a.b@example.co.uk",
            "version 1.2.3.4 of main.py and README.md, lib.rs, run.sh, Node.js, data.zip",
            "self.name = user.email; items.map(f); obj.id, this.app",
            "Done.It was fine.Then e.g. this, i.e. that, U.S. and a.m.",
            "3.14, 1,000.50, 10.0.0.1",
            "git://github.com/x and postgres://db.example.com/x",
            "https:// http:, https://${HOST}/x, http://%s/y",
            "and/or ./src/foo.com C:\\example.com",
            "console.log, string.format, np.random.rand(3)",
            "this.user.name = other.name",
            "main.py",
            "he said (.)(.) [.]",
            "",
        ] {
            assert_eq!(urls(text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_fine(text in "\\PC*|([a-z.:/\\[\\]()@\\\\ \u{200B}。ｈ中é]|http://|\\[\\.\\]|\\.com|hxxp|www\\.){0,40}") {
            let mut last = 0;
            for found in find(&text) {
                prop_assert!(found.range.start >= last && found.range.start < found.range.end);
                prop_assert!(text.is_char_boundary(found.range.start) && text.is_char_boundary(found.range.end));
                last = found.range.end;
                prop_assert!(Url::parse(found.url.as_str()).as_ref() == Ok(&found.url));
            }
        }

        #[test]
        fn finds_a_url_in_any_prose(before in "[\\p{L} ]{0,20}", after in "[\\p{L} ]{0,20}", disguise in 0..4_usize) {
            let url = ["https://evil.com/a/b", "hxxps://evil.com/a/b", "https://evil[.]com/a/b", "https[:]//ev\u{200B}il.com/a/b"][disguise];
            let text = format!("{before} {url} {after}");
            let found = find(&text);
            let hit = found.iter().find(|found| found.range.start == before.len() + 1);
            prop_assert_eq!(hit.map(|found| (found.url.as_str(), &text[found.range.clone()])), Some(("https://evil.com/a/b", url)));
        }
    }
}
