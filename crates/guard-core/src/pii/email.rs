//! Finds e-mail addresses: plain, encoded for URLs, JSON and HTML, with words in brackets to hide from machines, as in
//! `ann [at] example [dot] org`, and at large providers in words: `ann at gmail dot com`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr3};
use regex::Regex;

use super::context::is_unspaced;
use crate::stop;

/// The most bytes after the `@` (RFC 5321, section 4.5.3.1). A local part over 64 octets makes an address invalid, but
/// is still covered: a redacted text must contain no part of a possible address.
const DOMAIN: usize = 320;
/// The bytes after an address that are read: emphasis marks and one character.
const EMPHASIS: usize = 8;

/// `@`, its codes in URLs, JSON and HTML, or a word for it in brackets.
static AT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^(?:@|%40|\\u0040|&#64;|&#x40;|&commat;|[\[({] ?(?:at|собака) ?[\])}] ?)").ok());
/// The domain: labels separated by dots or by bracketed words for them; the last label starts with a letter.
static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Georgian.
    let letters = r"a-z\u{c0}-\u{24f}\u{370}-\u{3ff}\u{400}-\u{4ff}\u{530}-\u{58f}\u{5d0}-\u{5ea}\u{620}-\u{64a}\u{900}-\u{97f}\u{10a0}-\u{10ff}";
    let label = format!("[{letters}0-9](?:[{letters}0-9-]{{0,61}}[{letters}0-9])?");
    let dot = r"(?:\.| ?[\[({] ?(?:dot|точка) ?[\])}] ?)";
    let last = format!("(?:xn--[a-z0-9-]{{2,59}}|[{letters}]{{2,63}})");
    // In scripts without spaces between words, only the known domains show where an address ends (IANA, Root Zone Database).
    let unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}a-z0-9-]{1,30}\.(?:中国|中國|公司|网络|網絡|网址|网站|在线|中文网|集团|商城|香港|台湾|台灣|新加坡|世界|政务|한국|닷컴|みんな|コム)";
    Regex::new(&format!(r"(?i)^(?:(?:{label}{dot}){{1,8}}{last}|{unspaced})")).ok()
});
/// The ends of names of files, none of which is a domain (IANA, Root Zone Database): `image@2x.png`.
#[rustfmt::skip]
const FILES: [&str; 60] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "avif", "bmp", "ico", "heic", "tiff", "tif", "css", "scss", "less", "js", "mjs", "cjs", "jsx", "ts",
    "tsx", "vue", "json", "jsonl", "html", "htm", "xml", "xhtml", "txt", "rst", "csv", "tsv", "yml", "yaml", "toml", "lock", "log", "pdf", "doc",
    "docx", "xlsx", "pptx", "exe", "dll", "tar", "gz", "tgz", "bz", "jar", "dmg", "rpm", "apk", "ttf", "woff", "otf", "eot", "wav", "ogg", "webm", "mkv",
];
/// The users of servers for source code in remotes such as `git@example.org:team/project.git`.
const REMOTES: [&str; 6] = ["git", "hg", "svn", "gitea", "gitlab", "forgejo"];
/// An address in words at a large provider of mailboxes.
static SPOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let providers = "gmail|googlemail|yahoo|ymail|hotmail|outlook|live|msn|icloud|aol|proton|protonmail|gmx|web|posteo|mailbox|fastmail|zoho|yandex|mail|rambler|ukr|qq|foxmail|naver|daum|libero|orange|laposte|free|wanadoo|t-online|freenet|seznam|wp|onet|interia|o2|terra|uol|bol";
    let local = r"[a-z0-9](?:[a-z0-9_+-]|\.| (?:dot|punkt|punto|point|underscore|dash|minus) ){0,40}";
    Regex::new(&format!(
        r"(?i)(?:^|[^a-z0-9@.])({local}) at ((?:{providers}) dot [a-z]{{2,6}}(?: dot [a-z]{{2}})?)(?:[^a-z0-9]|$)"
    ))
    .ok()
});
/// Words before "at gmail dot com" that are no name of a mailbox.
#[rustfmt::skip]
const NO_MAILBOX: [&str; 34] = [
    "me", "him", "her", "us", "them", "it", "you", "is", "are", "was", "am", "be", "work", "works", "worked", "look", "account", "accounts", "mail", "email",
    "mailbox", "address", "inbox", "up", "in", "not", "or", "and", "here", "there", "sign", "login", "people", "users",
];
/// The words for a dot in such addresses, and the bytes before and after them that are read.
static DOTS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [" dot ", " DOT "].map(Finder::new));
const SPOKEN_REACH: usize = 80;
/// The most bytes of a user in a URL, with the scheme before it.
const USER: usize = 80;

/// A bracketed word for a dot at the end of a text.
static DOTTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i) ?[\[({] ?(?:dot|точка) ?[\])}] ?$").ok());

/// The addresses in `text`, in order. The time is linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let (Some(at), Some(after)) = (AT.as_ref(), AFTER.as_ref()) else {
        return Vec::new();
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for sign in signs(text, at) {
        let rest = &text[sign.end..text.floor_char_boundary(sign.end + DOMAIN)];
        let Some(domain) = after.find(rest) else { continue };
        let end = sign.end + domain.end();
        // "a.com1" and "a.com_x" continue after the pattern; "_a@b.com_" is emphasis of Markdown.
        let behind = &text[end..text.floor_char_boundary(end + EMPHASIS)];
        let beyond = behind.trim_start_matches('_');
        let next = beyond.chars().next();
        if next.is_some_and(|next| next.is_alphanumeric() && !is_unspaced(next)) || behind.starts_with('@') {
            continue;
        }
        let floor = found.last().map_or(0, |last| last.end);
        let is_unspaced_name = domain.as_str().starts_with(is_unspaced);
        let start = local_part(text, floor, sign.start, is_unspaced_name);
        let marks = text[start..sign.start].bytes().take_while(|&byte| byte == b'_');
        let start = start + marks.take(behind.len() - beyond.len()).count();
        if start < sign.start && !is_something_else(text, start..sign.start, domain.as_str(), end) {
            found.push(start..end);
        }
    }
    let spoken = spoken(text);
    if !spoken.is_empty() {
        found.extend(spoken);
        found.sort_by_key(|range| (range.start, range.end));
        found.dedup_by(|next, last| next.start < last.end);
    }
    found
}

/// Finds the first of some bytes.
type FindFirst = fn(&[u8]) -> Option<usize>;

/// The matches of [`AT`] in `text`, in order, each with a space before a bracket. Their first bytes are searched for with
/// SIMD: few texts have many of these.
fn signs(text: &str, sign: &Regex) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let firsts: [FindFirst; 3] = [
        |rest| memchr3(b'@', b'%', b'&', rest),
        |rest| memchr3(b'[', b'(', b'{', rest),
        |rest| memchr(b'\\', rest),
    ];
    let next = move |set: usize, from: usize| firsts[set](&bytes[from..]).map_or(usize::MAX, |at| from + at);
    let mut heads = [0, 1, 2].map(|set| next(set, 0));
    let mut end = 0;
    std::iter::from_fn(move || {
        loop {
            stop::point();
            let set = if heads[0] < heads[1].min(heads[2]) {
                0
            } else {
                1 + usize::from(heads[2] < heads[1])
            };
            let at = heads[set];
            if at == usize::MAX {
                return None;
            }
            heads[set] = next(set, at + 1);
            if at < end || !may_be_sign(&bytes[at..]) {
                continue;
            }
            if let Some(found) = sign.find(&text[at..]) {
                let has_space = set == 1 && at > end && bytes[at - 1] == b' ';
                end = at + found.end();
                return Some(at - usize::from(has_space)..end);
            }
        }
    })
}

/// Whether the first two bytes are those of a match of [`AT`].
fn may_be_sign(bytes: &[u8]) -> bool {
    match bytes {
        [b'@', ..] | [b'%', b'4', ..] | [b'\\', b'u' | b'U', ..] | [b'&', b'#' | b'c' | b'C', ..] => true,
        [b'[' | b'(' | b'{', rest @ ..] => {
            let word = rest.strip_prefix(b" ").unwrap_or(rest);
            // The last three begin the forms of a Russian letter.
            matches!(word, [b'a' | b'A' | 0xD0 | 0xD1 | 0xE1, ..])
        }
        _ => false,
    }
}

/// Whether a text in the form of an address is the name of a file or of a version of a package, or a remote for source
/// code.
fn is_something_else(text: &str, local: Range<usize>, domain: &str, end: usize) -> bool {
    let lower = domain.to_lowercase();
    let mut labels = lower.split('.');
    let is_number = |label: Option<&str>| label.is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    let is_version = is_number(labels.next()) && is_number(labels.next());
    let is_file = lower.rsplit('.').next().is_some_and(|last| FILES.contains(&last));
    let behind = &text[end..];
    let is_path = behind.starts_with(['/', ':'])
        && behind[1..].starts_with(|next: char| next.is_alphanumeric() || matches!(next, '~' | '/' | '.' | '_'));
    let is_password = follows_user(&text[text.ceil_char_boundary(local.start.saturating_sub(USER))..local.start]);
    let is_remote = is_path && REMOTES.contains(&&text[local]);
    let is_call = behind.starts_with("(") && !guard_suffixes::suffix(&lower).is_some_and(|suffix| suffix.is_known());
    is_version || is_file || is_remote || is_call || is_password
}

/// Whether a text ends within a URL after its user and a colon: "https://user:" (RFC 3986, section 3.2.1).
fn follows_user(before: &str) -> bool {
    let user = before.strip_suffix(':').and_then(|before| before.rsplit_once("://"));
    user.is_some_and(|(_, user)| !user.contains(|sign: char| sign.is_whitespace() || "/@?#".contains(sign)))
}

/// The addresses in words.
fn spoken(text: &str) -> Vec<Range<usize>> {
    let Some(pattern) = SPOKEN.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    let dots = DOTS.iter().flat_map(|word| word.find_iter(text.as_bytes()));
    for dot in dots {
        stop::point();
        let from = text.ceil_char_boundary(dot.saturating_sub(SPOKEN_REACH));
        let to = text.floor_char_boundary(text.len().min(dot + SPOKEN_REACH / 2));
        let Some((local, domain)) = pattern
            .captures(&text[from..to])
            .and_then(|found| Some((found.get(1)?, found.get(2)?)))
        else {
            continue;
        };
        if !NO_MAILBOX.contains(&&*local.as_str().to_lowercase()) {
            found.push(from + local.start()..from + domain.end());
        }
    }
    found.sort_by_key(|range| (range.start, range.end));
    found.dedup_by(|next, last| next.start < last.end);
    found
}

/// The start of the local part that ends at `end`, not before `floor`: dot-atom text of RFC 5322, section 3.2.3, except
/// signs around addresses in prose and code, and letters of RFC 6531 in scripts with spaces between words; before a domain
/// in a script without spaces, in that script too.
fn local_part(text: &str, floor: usize, end: usize, is_unspaced_domain: bool) -> usize {
    let mut start = end;
    let is_part = |character: char| {
        character.is_alphanumeric() && (is_unspaced_domain || !is_unspaced(character))
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
    fn encoded_addresses() {
        for (text, expected) in [
            (
                "https://example.net/?to=lea.roth%40example.org&page=2",
                "lea.roth%40example.org",
            ),
            (r#"{"to":"lea\u0040example.org"}"#, r"lea\u0040example.org"),
            ("lea&#64;example.org, please", "lea&#64;example.org"),
            ("&lt;lea&commat;example.org&gt;", "lea&commat;example.org"),
            (
                "write to lea dot roth at gmail dot com today",
                "lea dot roth at gmail dot com",
            ),
            ("λέα@δοκιμή.ευ, γεια", "λέα@δοκιμή.ευ"),
            ("lea@דוגמה.ישראל", "lea@דוגמה.ישראל"),
            ("信箱：李雷@示例.公司，谢谢", "李雷@示例.公司"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn no_addresses() {
        for text in [
            "icon@2x.svg",
            "banner@1.5x.jpg",
            "photo@home.jpeg",
            "git@code.example.org:team/project.git",
            "ssh://git@code.example.org/team/project.git",
            "https://user:pw@example.com/x",
            "postgres://app:s3cret@db.example.com:5432/app",
            "left-pad@1.3.0-beta.rc",
            "npm i vue@3.4.next",
            "self@obj.method()",
            "meet me at gmail dot com",
            "the account at outlook dot com",
            "look at the dot com boom",
            "/%40scope%2Fname.js",
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
