//! What stands before a value: the name that it is assigned to.

use std::ops::Range;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

use super::rule::BETWEEN;

/// Parts of names that are given to credentials.
const CREDENTIAL: &[&str] = &[
    "access", "api", "auth", "bearer", "client", "cred", "dsn", "jwt", "key", "license", "pass", "pat", "private",
    "pwd", "secret", "sid", "sign", "token", "webhook",
];
/// Words in names of values that look as random as a credential and are public.
const PUBLIC: &[&str] = &[
    "blob",
    "boundary",
    "branch",
    "build",
    "checksum",
    "color",
    "colour",
    "commit",
    "correlation",
    "crc",
    "digest",
    "etag",
    "file",
    "filename",
    "fingerprint",
    "folder",
    "guid",
    "hash",
    "head",
    "image",
    "integrity",
    "md5",
    "nonce",
    "parent",
    "path",
    "public",
    "ref",
    "reference",
    "request",
    "rev",
    "revision",
    "sha",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "span",
    "sum",
    "sums",
    "timestamp",
    "trace",
    "tree",
    "uuid",
    "version",
];
/// Words in names of things about a credential, such as `token_count` and `key_id`.
const ABOUT: &[&str] = &[
    "alg",
    "algorithm",
    "arn",
    "cache",
    "class",
    "column",
    "count",
    "endpoint",
    "error",
    "event",
    "expires",
    "expiry",
    "field",
    "foreign",
    "format",
    "header",
    "hint",
    "host",
    "icon",
    "id",
    "idempotency",
    "ids",
    "index",
    "label",
    "len",
    "length",
    "limit",
    "max",
    "message",
    "method",
    "min",
    "mode",
    "model",
    "msg",
    "name",
    "names",
    "object",
    "page",
    "param",
    "partition",
    "pattern",
    "placeholder",
    "policy",
    "prefix",
    "primary",
    "regex",
    "region",
    "reset",
    "role",
    "route",
    "row",
    "scope",
    "size",
    "sort",
    "suffix",
    "text",
    "title",
    "translation",
    "ttl",
    "type",
    "types",
    "uri",
    "url",
    "usage",
];
/// Words near a string that tell what it is, where it is assigned to nothing: something public, or something that a test or a shop
/// made up.
const ALONE: &[&str] = &[
    "address",
    "base64",
    "cid",
    "class",
    "contract",
    "decode",
    "decoded",
    "decodes",
    "decoding",
    "encode",
    "encoded",
    "encoding",
    "etag",
    "id",
    "identifier",
    "import",
    "invoice",
    "model",
    "order",
    "playlist",
    "product",
    "require",
    "selector",
    "serial",
    "sku",
    "slug",
    "test",
    "tracking",
    "tx",
    "txid",
    "video",
    "wallet",
    "watch",
    "youtube",
];
/// Bytes before a string that stands alone in which such a word counts; behind it, half as many.
const NEAR: usize = 64;
/// Words that may stand between a name and its value in prose: "the password is ...".
const FILLER: &[&str] = &["a", "are", "is", "it", "now", "the", "to", "value", "was"];

/// Whether a value is a credential because of what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It is.
    Some,
    /// It is not.
    None,
    /// It is not, and no value that stands farther from the name is either.
    Never,
}

/// Whether the value at the end of `between`, which starts after the name of a service, is a credential of that service:
/// it is assigned to a name that starts with the service's and is not known to hold something public, it is assigned to a
/// credential's name below the service's (in YAML or JSON), or it follows the service's name.
pub(super) fn links(between: &[u8]) -> Link {
    let Assignment { before, name, operator } = match read(between) {
        Ok(assignment) => assignment,
        Err(link) => return link,
    };
    let named = &between[..before.len() + name.len()];
    let linked = if before.iter().any(|byte| b"=:,{\n>/?&".contains(byte)) {
        is_credential(name) && !is_public(name)
    } else {
        !is_public(named) && (operator || is_credential(named) || is_filler(named))
    };
    if linked { Link::Some } else { Link::None }
}

/// The same for a value at the end of `between`, which starts after a word for a credential; `prefix` is the part of the
/// name before that word. The value must be assigned to that very name or follow it, and the name must not be that of
/// something about a credential.
///
/// A longer `between` has all the words of a shorter one, so most of what speaks against one value speaks against all behind it.
pub(super) fn names(prefix: &[u8], between: &[u8]) -> Link {
    let Assignment { before, name, operator } = match read(between) {
        Ok(assignment) => assignment,
        Err(link) => return link,
    };
    let named = &between[..before.len() + name.len()];
    let other = |word: String| !FILLER.contains(&word.as_str()) && !CREDENTIAL.contains(&word.as_str());
    // What goes on without a space is part of the name.
    let rest = named
        .iter()
        .position(|byte| b" \t\n".contains(byte))
        .unwrap_or(named.len());
    let never = between.first() == Some(&b'@')
        || named.iter().any(|byte| b"=:,{(>|/".contains(byte))
        || !is_whole(between)
        || about(prefix)
        || about(named)
        || words(&named[rest..]).any(other);
    match operator || !between.contains(&b'\n') {
        _ if never => Link::Never,
        true => Link::Some,
        false => Link::None,
    }
}

fn read(between: &[u8]) -> Result<Assignment<'_>, Link> {
    let newlines = between.iter().filter(|&&byte| byte == b'\n').count();
    let ends_in_word = between
        .last()
        .is_none_or(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if between.len() > BETWEEN || newlines > 2 || between.contains(&b';') {
        return Err(Link::Never);
    }
    if ends_in_word {
        Err(Link::None)
    } else {
        Ok(assignment(between))
    }
}

/// Whether the string in quotes that starts at `start` is assigned to a name that is not known to hold something public.
pub(super) fn may_hold_credential(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(BETWEEN)..start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let Assignment { before, name, operator } = assignment(line);
    // The bar of a table assigns nothing, unless the cell before it says so.
    let in_table = line.trim_ascii_start().starts_with(b"|") && !is_credential(name);
    operator && !in_table && !about(name) && !is_public(&line[..before.len() + name.len()])
}

/// Whether the string in quotes at `range` may be a credential although it is assigned to nothing: a text or an element of a
/// list by itself, or what a word such as `use` or `return` stands before. What is public looks as random, and no name tells it
/// apart here; so hashes, keys that are public by their form, texts in base64, and what a word near it names are left out.
pub(super) fn stands_alone(text: &[u8], range: Range<usize>) -> bool {
    let value = &text[range.clone()];
    let before = &text[range.start.saturating_sub(NEAR)..range.start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let after = &text[range.end..text.len().min(range.end + NEAR / 2)];
    let behind = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // A quotation mark that stands directly behind a letter or a digit closes a string.
    let opens = before
        .iter()
        .rev()
        .nth(1)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let other = |word: String| ALONE.contains(&word.as_str());
    let hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    opens
        && !hex
        && !about(line)
        && !is_public(behind)
        && !words(line).chain(words(behind)).any(other)
        && !is_known_form(value)
        && !is_readable(value)
}

/// Whether a value begins as keys do that are public (an SSH key, RFC 4253, section 6.6; DER, ITU-T X.690), as minified source maps,
/// or is the id of a list or a channel of YouTube; or consists of words.
fn is_known_form(value: &[u8]) -> bool {
    let youtube = [(&b"PL"[..], 34), (b"UC", 24), (b"UU", 24), (b"OL", 41)];
    let starts = |prefix: &&[u8]| value.starts_with(prefix);
    [&b"AAAA"[..], b"MII", b"MFk", b"MCow"].iter().any(starts)
        || youtube
            .iter()
            .any(|(prefix, length)| value.len() == *length && value.starts_with(prefix))
        || is_words(value)
}

/// Whether most parts of a value between its signs are words or numbers: a path, a slug, a name.
fn is_words(value: &[u8]) -> bool {
    let parts = value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    let is_word = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let case = part
            .windows(2)
            .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        digits == part.len() || digits <= 2 && case.count() * 4 <= part.len()
    };
    let (words, others): (Vec<&[u8]>, Vec<&[u8]>) = parts.partition(|part| is_word(part));
    let length = |parts: &[&[u8]]| parts.iter().map(|part| part.len()).sum::<usize>();
    words.len() >= 3 && length(&words) > 2 * length(&others)
}

/// Whether a value is a text, or an image, in base64: what comes out is characters, or begins as files of images do.
fn is_readable(value: &[u8]) -> bool {
    let images = [&b"iVBORw0KGgo"[..], b"R0lGOD", b"/9j/", b"UklGR", b"PHN2Zy"];
    let end = value.iter().rposition(|&byte| byte != b'=').map_or(0, |at| at + 1);
    let digits = &value[..end - usize::from(end % 4 == 1)];
    let decoded = BASE64_NOPAD.decode(digits).or_else(|_| BASE64URL_NOPAD.decode(digits));
    let is_text = |decoded: Vec<u8>| {
        let control = |character: char| character.is_control() && !character.is_whitespace();
        String::from_utf8(decoded).is_ok_and(|text| !text.chars().any(control))
    };
    images.iter().any(|image| value.starts_with(image)) || decoded.is_ok_and(is_text)
}

/// What a value is assigned to.
struct Assignment<'a> {
    /// What stands before the name.
    before: &'a [u8],
    /// The name.
    name: &'a [u8],
    /// Whether an operator stands between the name and the value.
    operator: bool,
}

/// Reads `text`, which ends where a value starts, from its end.
fn assignment(text: &[u8]) -> Assignment<'_> {
    let rest = trim_end(text, b" \t\r\n\"'`\\([{<@");
    let named = trim_end(rest, b"=:>,|?~+ \t");
    let operator = named.len() < rest.len() || text[rest.len()..].contains(&b'(');
    let named = trim_end(named, b" \t\r\n\"'`\\)]}");
    let start = named
        .iter()
        .rposition(|&byte| !(byte.is_ascii_alphanumeric() || b"_.-$".contains(&byte)))
        .map_or(0, |at| at + 1);
    let (before, name) = named.split_at(start);
    Assignment { before, name, operator }
}

fn trim_end<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let length = text
        .iter()
        .rposition(|byte| !bytes.contains(byte))
        .map_or(0, |at| at + 1);
    &text[..length]
}

fn is_credential(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL
        .iter()
        .any(|part| name.windows(part.len()).any(|window| window == part.as_bytes()))
}

/// Whether the word for a credential before `between` ends there: "token", "tokens", "secretkey", and not "author".
fn is_whole(between: &[u8]) -> bool {
    let rest = words(between)
        .next()
        .filter(|_| between[0].is_ascii_lowercase() || between[0].is_ascii_uppercase());
    rest.is_none_or(|rest| {
        let ends = [
            "s",
            "es",
            "ential",
            "entials",
            "orization",
            "entication",
            "e",
            "word",
            "phrase",
            "code",
        ];
        ends.contains(&rest.as_str()) || CREDENTIAL.iter().any(|part| rest.starts_with(part))
    })
}

fn about(text: &[u8]) -> bool {
    is_public(text) || words(text).any(|word| ABOUT.contains(&word.as_str()))
}

fn is_filler(text: &[u8]) -> bool {
    words(text).all(|word| FILLER.contains(&word.as_str()))
}

fn is_public(name: &[u8]) -> bool {
    let hash = |word: &str| {
        ["sha1", "sha2", "sha3", "sha5", "md5"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    words(name).any(|word| hash(&word) || PUBLIC.contains(&word.as_str()))
}

/// The words of names and prose in lower case: `requestId` and `REQUEST_ID` are "request" and "id".
fn words(text: &[u8]) -> impl Iterator<Item = String> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() && !text[at].is_ascii_alphanumeric() {
            at += 1;
        }
        let start = at;
        while at < text.len()
            && text[at].is_ascii_alphanumeric()
            && !(at > start && text[at].is_ascii_uppercase() && text[at - 1].is_ascii_lowercase())
        {
            at += 1;
        }
        (start < at).then(|| String::from_utf8_lossy(&text[start..at]).to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_the_service_named_before_it() {
        for between in [
            "=",
            " = \"",
            "_api_key='",
            "ApiKey: ",
            " KEY ",
            " ",
            "KEY-",
            "_key.access.",
            " API key is ",
            "\": {\"api_key\": \"",
            ":\n  token: ",
            "_token=>\"",
            " -H 'Authorization: Bearer ",
            "_SECRET\", \"",
            "(\"",
        ] {
            assert_eq!(links(between.as_bytes()), Link::Some, "{between:?}");
        }
        for between in [
            "",
            "key",
            " commit ",
            "_trace_id=",
            " is a service whose logo ",
            "_site=us5 build=",
            ":\n  site: ",
            "RequestId: ",
            "_key_hash=",
            " key = 1; x = ",
        ] {
            assert_ne!(links(between.as_bytes()), Link::Some, "{between:?}");
        }
    }

    #[test]
    fn a_value_belongs_to_the_credential_named_before_it() {
        for between in ["=", ": \"", "\": \"", " is ", " key = ", "_PROD='", " "] {
            assert_eq!(names(b"db_", between.as_bytes()), Link::Some, "{between:?}");
        }
        for (prefix, between) in [
            ("", "_length = "),
            ("cache_", "="),
            ("", " static final String X = "),
            ("", "(x) { return "),
            ("", ": str, y="),
        ] {
            assert_ne!(
                names(prefix.as_bytes(), between.as_bytes()),
                Link::Some,
                "{prefix} {between:?}"
            );
        }
    }

    #[test]
    fn words_end_where_the_case_rises() {
        let found: Vec<String> = words(b"requestId REQUEST_ID sha256-sum").collect();
        assert_eq!(found, ["request", "id", "request", "id", "sha256", "sum"]);
    }
}
