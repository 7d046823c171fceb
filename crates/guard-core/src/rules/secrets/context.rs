//! Reads the text around a value, such as the name that it is assigned to.

use std::ops::Range;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

use super::rule::BETWEEN;
use super::words::{has_extension, lists, spoken};

/// Parts of names of credentials.
const CREDENTIAL: &[&str] = &[
    "access", "api", "auth", "bearer", "client", "cred", "dsn", "jwt", "key", "license", "pass", "pat", "private",
    "pwd", "secret", "sid", "sign", "token", "webhook",
];
/// Words in names of public values that look as random as a credential.
const PUBLIC: &[&str] = &[
    "blob",
    "boundary",
    "branch",
    "build",
    "checksum",
    "ciphertext",
    "color",
    "colour",
    "commit",
    "correlation",
    "crc",
    "digest",
    "etag",
    "expected",
    "file",
    "filename",
    "fingerprint",
    "folder",
    "gpg",
    "guid",
    "hash",
    "head",
    "image",
    "integrity",
    "kid",
    "md5",
    "nonce",
    "parent",
    "path",
    "pgp",
    "plaintext",
    "pubkey",
    "public",
    "publishable",
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
/// Words in names of properties of a credential, such as `token_count` and `key_id`.
const ABOUT: &[&str] = &[
    "alg",
    "algorithm",
    "arn",
    "at",
    "cache",
    "changed",
    "class",
    "column",
    "content",
    "count",
    "created",
    "date",
    "dir",
    "directory",
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
    "updated",
    "uri",
    "url",
    "usage",
];
/// Last words of names of a service's values that are no credentials.
const LABELS: &[&str] = &[
    "arn", "bucket", "email", "host", "id", "ids", "model", "name", "region", "slug", "title", "uri", "url",
];
/// Words near an unassigned string that show that it is public, or made up for a test or a shop.
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
/// The most bytes of an unassigned string; longer ones are data in base64.
const ALONE_LENGTH: usize = 128;
/// The fewest bytes of an alphabet. A random string of this length has no repeated character in one of 300 cases.
const ALPHABET: usize = 28;
/// Bytes before an unassigned string in which such a word counts; after it, half as many.
const NEAR: usize = 64;
/// The most words of a phrase between a name and its value: "the password for the wifi at home is ...".
const PHRASE: usize = 7;
/// Types between a variable and its value: `token string = "..."`, `token: &str = "..."`.
const TYPES: &[&[u8]] = &[
    b"&'static str",
    b"&str",
    b"String?",
    b"String",
    b"string?",
    b"string",
    b"str | None",
    b"str",
    b"text",
    b"Text",
];
/// Signs that no credential follows, but a name, a path or a template.
const GOES_ON: &[u8] = b"#%@!*^&";

/// Whether the text before a value makes it a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It does.
    Some,
    /// It does not.
    None,
    /// It does not, and neither for any value farther from the name.
    Never,
}

/// Whether the value at the end of `between`, which starts after the name of a service, is a credential of that
/// service. Either it is assigned to a name that starts with the service's name and is not known to be public; or to a
/// credential's name below the service's name (in YAML or JSON); or it follows the service's name.
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

/// Whether the name at the start of `between` identifies a thing and no credential: `project_id`, but not `client_id`.
pub(super) fn is_label(between: &[u8]) -> bool {
    let Assignment { before, name, .. } = assignment(between);
    let named = &between[..before.len() + name.len()];
    let is_label = words(named).last().is_some_and(|word| LABELS.contains(&word.as_str()));
    is_label && !is_credential(named)
}

/// Like [`links`], for a value at the end of `between`, which starts after a word for a credential. `prefix` is the
/// part of the name before that word. The value must be assigned to that name or follow it, and the name must not be a
/// property of a credential.
///
/// A longer `between` contains all words of a shorter one, so most reasons against one value apply to all later values.
///
/// `outside` is the text before the name.
pub(super) fn names(outside: &[u8], prefix: &[u8], between: &[u8]) -> Link {
    if prefix.is_empty() && is_qualified(outside, between) {
        return Link::Never;
    }
    let between = without_type(between);
    let Assignment { before, name, operator } = match read(between) {
        Ok(assignment) => assignment,
        Err(link) => return link,
    };
    let named = &between[..before.len() + name.len()];
    // Text without a space before it is part of the name.
    let rest = named
        .iter()
        .position(|byte| b" \t\n".contains(byte))
        .unwrap_or(named.len());
    // A name that ends with one of these is itself a placeholder: `%PASSWORD%`, `%(PASSWORD)s`, and
    // `your_password@host` in a URL.
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let behind = between.iter().position(|byte| !is_part(byte)).map(|at| &between[at..]);
    let is_placeholder = behind.is_some_and(|behind| match behind {
        [b'@' | b'%' | b'$', ..] => true,
        // Text directly after the bracket continues the name, unless it assigns: `%(PASSWORD)s@`, but not
        // `(password)=`.
        [b')'] => true,
        [b')', next, ..] => !b" \t\r\n=:>,|\"'`".contains(next),
        _ => false,
    });
    // A name that a bracket closes at the end of a line is a placeholder too: `<password>`.
    let is_closed = between.first() == Some(&b'>') && between.contains(&b'\n');
    let is_opened = |bytes: &[u8]| matches!(bytes, [.., b'$' | b'#' | b'%', b'{' | b'(']);
    let never = is_placeholder
        || is_closed
        || named.iter().any(|byte| b"=:,{(>|/".contains(byte))
        || !is_whole(between)
        || is_file(between)
        || about(prefix)
        || about(&named[..rest]);
    if never {
        return Link::Never;
    }
    // In calls, a comma separates a name and its value, and both are quoted.
    let value = trim_end(between, b" \t\"'`\\");
    let is_list = value.last() == Some(&b',') && value.len() == between.trim_ascii_end().len();
    let goes_on = between.last().is_some_and(|last| GOES_ON.contains(last));
    match phrase(&named[rest..], operator && ends_name(between)) {
        Phrase::Other => Link::Never,
        Phrase::Open => Link::None,
        Phrase::Linked if is_list || goes_on || is_opened(between) => Link::None,
        Phrase::Linked if operator || !between.contains(&b'\n') => Link::Some,
        Phrase::Linked => Link::None,
    }
}

/// The words between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phrase {
    /// They link the name and the value: "password is now ...", "password for the wifi is ...".
    Linked,
    /// They say what the credential is for, and its value may follow: "password for the wifi".
    Open,
    /// The name is part of another statement.
    Other,
}

/// Parses the words between a name and a value. `is_assigned` is whether an operator follows them.
fn phrase(text: &[u8], is_assigned: bool) -> Phrase {
    // Most names and values have no word between them.
    if text.iter().all(|byte| !byte.is_ascii_alphanumeric() && byte.is_ascii()) {
        return Phrase::Linked;
    }
    let spoken = spoken(text);
    let is_filler = |word: &String| lists().fillers.contains(word) || CREDENTIAL.contains(&word.as_str());
    let Some(first) = spoken.iter().position(|word| !is_filler(word)) else {
        return Phrase::Linked;
    };
    // Some prepositions are fillers of other languages.
    let preposition = spoken[..=first]
        .iter()
        .position(|word| lists().prepositions.contains(word));
    let is_plain = text
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b" \t'_.-".contains(byte));
    let Some(preposition) = preposition.filter(|_| spoken.len() <= PHRASE && is_plain && !is_public(text)) else {
        return Phrase::Other;
    };
    let is_copula = spoken.last().is_some_and(|word| lists().copulas.contains(word));
    let has_object = preposition + 2 < spoken.len();
    let is_dashed = text.trim_ascii_end().ends_with("—".as_bytes()) || text.trim_ascii_end().ends_with("–".as_bytes());
    match is_assigned || is_dashed || is_copula && has_object {
        true => Phrase::Linked,
        false => Phrase::Open,
    }
}

/// Whether an equals sign or a colon ends the name of a value at the end of `between`.
pub(super) fn ends_name(between: &[u8]) -> bool {
    let name = trim_end(between, b" \t\"'`\\");
    matches!(name, [.., b'=' | b':']) && !name.ends_with(b"::")
}

/// Whether a word for a credential before `between` is part of the name of a file: `token.ts`, `secret-1.0.tgz`.
fn is_file(between: &[u8]) -> bool {
    let end = between
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"._-+".contains(byte)));
    let end = end.unwrap_or(between.len());
    has_extension(&between[..end])
}

/// Whether a word for a credential belongs to something else: to a path or identifier (`arn:aws:...:secret:name`,
/// `wiki/Password`), or to a name whose separate first word marks it as public (`GPG key`, `public key`).
fn is_qualified(outside: &[u8], between: &[u8]) -> bool {
    let [rest @ .., last] = outside else {
        return false;
    };
    // The tokens of coverage badges are public.
    if outside.ends_with(b".svg?") {
        return true;
    }
    let is_joined = rest.last().is_some_and(u8::is_ascii_alphanumeric);
    let word = rest
        .rsplit(|byte| !byte.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    match last {
        b':' => is_joined && between.first() == Some(&b':'),
        b' ' => [&b"gpg"[..], b"pgp", b"public", b"publishable"]
            .iter()
            .any(|public| word.eq_ignore_ascii_case(public)),
        _ => false,
    }
}

/// The text between a name and its value, without the type of the name.
fn without_type(between: &[u8]) -> &[u8] {
    let rest = between.strip_prefix(b":").unwrap_or(between).trim_ascii_start();
    let declared = TYPES.iter().filter(|_| rest.len() < between.len());
    let assigned = declared
        .filter_map(|name| rest.strip_prefix(*name))
        .map(<[u8]>::trim_ascii_start)
        .find(|rest| rest.first() == Some(&b'='));
    assigned.unwrap_or(between)
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

/// Whether the quoted string at `start` is assigned to a name that is not known to be public.
pub(super) fn may_hold_credential(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(BETWEEN)..start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let Assignment { before, name, operator } = assignment(line);
    // The bar of a table assigns nothing, unless the previous cell names a credential.
    let in_table = line.trim_ascii_start().starts_with(b"|") && !is_credential(name);
    operator && !in_table && !about(name) && !has_extension(name) && !is_public(&line[..before.len() + name.len()])
}

/// Whether the quoted string at `range` may be a credential without an assignment: as a whole text, as a list element,
/// or after a word such as `use` or `return`. Public values look as random, and no name identifies them here, so
/// hashes, public keys, texts in base64, and values near a word of [`ALONE`] are excluded.
pub(super) fn stands_alone(text: &[u8], range: Range<usize>) -> bool {
    let value = &text[range.clone()];
    let before = &text[range.start.saturating_sub(NEAR)..range.start];
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let after = &text[range.end..text.len().min(range.end + NEAR / 2)];
    let behind = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // A quotation mark directly after a letter or digit closes a string.
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
        && value.len() <= ALONE_LENGTH
        && !is_known_form(value)
        && !is_readable(value)
}

/// Whether a value has a known public form: an SSH key (RFC 4253, section 6.6), DER (ITU-T X.690), a minified source
/// map, an id of a YouTube list or channel, words, a row of zeros as in base64 numbers, or an object id of a word and a
/// number that begins with the time.
fn is_known_form(value: &[u8]) -> bool {
    let youtube = [(&b"PL"[..], 34), (b"UC", 24), (b"UU", 24), (b"OL", 41)];
    let starts = |prefix: &&[u8]| value.starts_with(prefix);
    [&b"AAAA"[..], b"MII", b"MFk", b"MCow"].iter().any(starts)
        || youtube
            .iter()
            .any(|(prefix, length)| value.len() == *length && value.starts_with(prefix))
        || value.windows(4).any(|part| part == b"AAAA")
        || is_object_id(value)
        || is_words(value)
}

/// Whether most parts of a value between signs are words or numbers: a path, a slug, a name.
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

/// Whether the form of a quoted string makes it public, whatever its name: an image in base64, an alphabet without
/// repeated characters, or a number.
pub(super) fn is_public_form(value: &[u8]) -> bool {
    let images = [&b"iVBORw0KGgo"[..], b"R0lGOD", b"/9j/", b"UklGR", b"PHN2Zy"];
    let mut seen = [false; 256];
    let is_new = |byte: &u8| !std::mem::replace(&mut seen[usize::from(*byte)], true);
    images.iter().any(|image| value.starts_with(image))
        || value.iter().all(u8::is_ascii_digit)
        || value.len() >= ALPHABET && value.iter().all(is_new)
}

/// Whether a value is a text in base64.
fn is_readable(value: &[u8]) -> bool {
    let end = value.iter().rposition(|&byte| byte != b'=').map_or(0, |at| at + 1);
    let digits = &value[..end - usize::from(end % 4 == 1)];
    let decoded = BASE64_NOPAD.decode(digits).or_else(|_| BASE64URL_NOPAD.decode(digits));
    let is_text = |decoded: Vec<u8>| {
        let control = |character: char| character.is_control() && !character.is_whitespace();
        String::from_utf8(decoded).is_ok_and(|text| !text.chars().any(control))
    };
    decoded.is_ok_and(is_text)
}

/// The name that a value is assigned to.
struct Assignment<'a> {
    /// The text before the name.
    before: &'a [u8],
    /// The name.
    name: &'a [u8],
    /// Whether an operator separates the name and the value.
    operator: bool,
}

/// Whether a value is a type name with a ULID, whose first digits are the time (<https://github.com/ulid/spec>), or
/// with a similar number: `session_01HZX...`.
fn is_object_id(value: &[u8]) -> bool {
    let mut parts = value.splitn(2, |&byte| byte == b'_');
    let (kind, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    kind.iter().all(u8::is_ascii_lowercase)
        && number.starts_with(b"01")
        && (24..=28).contains(&number.len())
        && number.iter().all(u8::is_ascii_alphanumeric)
}

/// Parses `text`, which ends where a value starts, backwards.
fn assignment(text: &[u8]) -> Assignment<'_> {
    let opened = trim_end(text, b" \t\r\n\"'`\\([{<@");
    // The prefix of a string: f"...", b"...", $"...".
    let kind = match opened {
        [.., before, b'$' | b'b' | b'f' | b'r' | b'u' | b'L'] if opened.len() < text.len() => {
            !(before.is_ascii_alphanumeric() || *before == b'_') && b"\"'`".contains(&text[opened.len()])
        }
        _ => false,
    };
    let rest = trim_end(&opened[..opened.len() - usize::from(kind)], b" \t\r\n\"'`\\([{<@");
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

/// Whether the word for a credential before `between` is complete: "token", "tokens", "secretkey", but not "author".
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
    spoken(text).iter().all(|word| lists().fillers.contains(word))
}

fn is_public(name: &[u8]) -> bool {
    let hash = |word: &str| {
        ["sha1", "sha2", "sha3", "sha5", "md5"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    words(name).any(|word| hash(&word) || PUBLIC.contains(&word.as_str()))
}

/// The lower-cased words of names and prose: `requestId` and `REQUEST_ID` are "request" and "id".
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
            assert_eq!(names(b"", b"db_", between.as_bytes()), Link::Some, "{between:?}");
        }
        for (prefix, between) in [
            ("", "_length = "),
            ("cache_", "="),
            ("", " static final String X = "),
            ("", "(x) { return "),
            ("", ": str, y="),
        ] {
            assert_ne!(
                names(b"", prefix.as_bytes(), between.as_bytes()),
                Link::Some,
                "{prefix} {between:?}"
            );
        }
    }

    #[test]
    fn a_value_belongs_to_no_placeholder_and_no_path() {
        for (outside, prefix, between) in [
            ("", "your_", "@"),
            ("%", "", "% "),
            ("<", "", ">\n"),
            ("%(", "DB_", ")"),
            ("%(", "DB_", ")s@"),
            ("%(", "DB", "word)s@"),
            ("", "q_", "], "),
            ("${", "", "${"),
            ("secretsmanager:1234:", "", ":"),
            ("release GPG ", "", ": "),
        ] {
            let link = names(outside.as_bytes(), prefix.as_bytes(), between.as_bytes());
            assert_ne!(link, Link::Some, "{outside} {prefix} {between:?}");
        }
        for between in [" string = \"", ": &str = \"", ": String = \"", " = $\"", "\", \""] {
            assert_eq!(names(b"", b"acme", between.as_bytes()), Link::Some, "{between:?}");
        }
    }

    #[test]
    fn names_of_things_are_labels() {
        let labels = ["_project_id=", "_url = \"", "_client_id=", "_key: "].map(|between| is_label(between.as_bytes()));
        assert_eq!(labels, [true, true, false, false]);
    }

    #[test]
    fn words_end_where_the_case_rises() {
        let found: Vec<String> = words(b"requestId REQUEST_ID sha256-sum").collect();
        assert_eq!(found, ["request", "id", "request", "id", "sha256", "sum"]);
    }
}
