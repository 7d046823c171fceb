//! What stands before a value: the name that it is assigned to.

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
/// Words that may stand between a name and its value in prose: "the password is ...".
const FILLER: &[&str] = &["a", "are", "is", "it", "now", "the", "to", "value", "was"];

/// Whether the value at the end of `between`, which starts after the name of a service, is a credential of that service:
/// it is assigned to a name that starts with the service's and is not known to hold something public, it is assigned to a
/// credential's name below the service's (in YAML or JSON), or it follows the service's name.
pub(super) fn links(between: &[u8]) -> bool {
    let Some(Assignment { before, name, operator }) = read(between) else {
        return false;
    };
    if before.iter().any(|byte| b"=:,{\n>/?&".contains(byte)) {
        return is_credential(name) && !is_public(name);
    }
    let named = &between[..before.len() + name.len()];
    !is_public(named) && (operator || is_credential(named) || is_filler(named))
}

/// The same for a value at the end of `between`, which starts after a word for a credential; `prefix` is the part of the
/// name before that word. The value must be assigned to that very name or follow it, and the name must not be that of
/// something about a credential.
pub(super) fn names(prefix: &[u8], between: &[u8]) -> bool {
    let Some(Assignment { before, name, operator }) = read(between) else {
        return false;
    };
    let named = &between[..before.len() + name.len()];
    let other = |word: String| !FILLER.contains(&word.as_str()) && !CREDENTIAL.contains(&word.as_str());
    // What goes on without a space is part of the name.
    let rest = named
        .iter()
        .position(|byte| b" \t\n".contains(byte))
        .unwrap_or(named.len());
    (operator || !between.contains(&b'\n'))
        && between.first() != Some(&b'@')
        && is_whole(between)
        && !about(prefix)
        && !about(named)
        && !named.iter().any(|byte| b"=:,{(>|/".contains(byte))
        && !words(&named[rest..]).any(other)
}

fn read(between: &[u8]) -> Option<Assignment<'_>> {
    let newlines = between.iter().filter(|&&byte| byte == b'\n').count();
    let ends_in_word = between
        .last()
        .is_none_or(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let readable = between.len() <= BETWEEN && !ends_in_word && newlines <= 2 && !between.contains(&b';');
    readable.then(|| assignment(between))
}

/// Whether the string in quotes that starts at `start` is assigned to a name, or stands alone, and is not known to be public.
pub(super) fn may_hold_credential(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(BETWEEN)..start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let Assignment { before, name, operator } = assignment(line);
    operator && !about(name) && !is_public(&line[..before.len() + name.len()])
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
            assert!(links(between.as_bytes()), "{between:?}");
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
            assert!(!links(between.as_bytes()), "{between:?}");
        }
    }

    #[test]
    fn a_value_belongs_to_the_credential_named_before_it() {
        for between in ["=", ": \"", "\": \"", " is ", " key = ", "_PROD='", " "] {
            assert!(names(b"db_", between.as_bytes()), "{between:?}");
        }
        for (prefix, between) in [
            ("", "_length = "),
            ("cache_", "="),
            ("", " static final String X = "),
            ("", "(x) { return "),
            ("", ": str, y="),
        ] {
            assert!(!names(prefix.as_bytes(), between.as_bytes()), "{prefix} {between:?}");
        }
    }

    #[test]
    fn words_end_where_the_case_rises() {
        let found: Vec<String> = words(b"requestId REQUEST_ID sha256-sum").collect();
        assert_eq!(found, ["request", "id", "request", "id", "sha256", "sum"]);
    }
}
