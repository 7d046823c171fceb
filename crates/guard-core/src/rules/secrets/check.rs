//! Checks of the structure of credentials.

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;

use super::words::{has_extension, lists, parts};
use super::{phrases, rarity};

/// A condition on a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The last six characters are the CRC-32 of the characters between the prefix and them, in base 62: tokens of
    /// GitHub and npm (<https://github.blog/engineering/behind-githubs-new-authentication-token-formats/>).
    GithubCrc,
    /// Header and payload are JSON objects in base64url, and the header has an algorithm (RFC 7519 and RFC 7515).
    Jwt,
    /// Letters and digits.
    Random,
    /// Letters and digits, or upper and lower case, mixed unlike in words and program names.
    Mixed,
    /// A key without a format of its own: a run of sixteen mixed letters and digits, or a UUID.
    Token,
    /// Like `Mixed`, but neither all digits nor a UUID: those are keys of another kind.
    MixedKey,
    /// An unquoted value in place of a password: no word, and no name or call in a program.
    Password,
    /// A quoted value of a password: no field name, message or template.
    PasswordLiteral,
    /// Like `Password`, and no name of a thing: after an abbreviation that has other meanings.
    StrictPassword,
    /// A quoted value of a password with white space: a passphrase and no prose.
    Passphrase,
    /// A quoted value of a key with other signs than letters and digits.
    SecretLiteral,
    /// Words with a number, of which none names a thing: `violet-moon-9273`.
    Words,
    /// Twelve to twenty-four words from which a wallet is restored (BIP-39).
    SeedPhrase,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The value is a credential.
    Proven,
    /// The value looks like a credential, but its checksum is wrong, so it is not a live one.
    Doubtful,
    /// The value is no credential.
    Refuted,
}

impl Check {
    /// The next position from `start` on of something that every passing value needs; the end of the text if there is
    /// none. `None` for checks without such a requirement.
    pub(super) fn next_needed(self, text: &[u8], start: usize) -> Option<usize> {
        match self {
            Self::Mixed | Self::MixedKey | Self::Token => Some(next_mixing(text, start)),
            Self::Password | Self::StrictPassword => {
                let needed = |byte: &u8| byte.is_ascii_digit() || is_special(byte);
                let found = text[start..].iter().position(needed);
                Some(found.map_or(text.len(), |at| start + at))
            }
            Self::Words => {
                let found = text[start..].iter().position(u8::is_ascii_digit);
                Some(found.map_or(text.len(), |at| start + at))
            }
            _ => None,
        }
    }

    /// The name of the check, by which rules refer to it.
    pub fn name(self) -> &'static str {
        match self {
            Self::GithubCrc => "github-crc",
            Self::Jwt => "jwt",
            Self::Random => "random",
            Self::Mixed => "mixed",
            Self::Token => "token",
            Self::MixedKey => "mixed-key",
            Self::Password => "password",
            Self::PasswordLiteral => "password-literal",
            Self::StrictPassword => "strict-password",
            Self::Passphrase => "passphrase",
            Self::SecretLiteral => "secret-literal",
            Self::Words => "words",
            Self::SeedPhrase => "seed-phrase",
        }
    }

    /// Checks a match.
    pub fn run(self, secret: &[u8]) -> Outcome {
        let holds = match self {
            Self::GithubCrc => {
                return if checksum_fits(secret) {
                    Outcome::Proven
                } else {
                    Outcome::Doubtful
                };
            }
            Self::Jwt => is_jwt(secret),
            Self::Random => secret.iter().any(u8::is_ascii_alphabetic) && secret.iter().any(u8::is_ascii_digit),
            Self::Mixed => is_mixed(secret),
            Self::Token => is_token(secret),
            Self::MixedKey => is_mixed(secret) && !is_uuid(secret) && !secret.iter().all(u8::is_ascii_digit),
            Self::Password => is_password(secret),
            Self::PasswordLiteral => is_password_literal(secret),
            Self::StrictPassword => is_password(secret) && !names_thing(secret),
            Self::Passphrase => phrases::is_passphrase(secret),
            Self::SecretLiteral => is_secret_literal(secret),
            Self::Words => is_words_with_number(secret),
            Self::SeedPhrase => phrases::is_seed_phrase(secret),
        };
        if holds { Outcome::Proven } else { Outcome::Refuted }
    }
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn checksum_fits(token: &[u8]) -> bool {
    let start = token.iter().rposition(|&byte| byte == b'_').map_or(0, |at| at + 1);
    let body = &token[start..];
    body.len() > 6 && body[body.len() - 6..] == checksum(&body[..body.len() - 6])
}

/// The checksum of a token without its prefix.
pub(super) fn checksum(body: &[u8]) -> [u8; 6] {
    let mut rest = crc32(body) as usize;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits
}

/// CRC-32 as in gzip (RFC 1952, section 8).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

fn is_jwt(token: &[u8]) -> bool {
    let mut parts = token.split(|&byte| byte == b'.');
    let mut object = || -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&BASE64URL_NOPAD.decode(parts.next()?).ok()?).ok()
    };
    let header = object();
    // The payload of an encrypted token (five parts, RFC 7516) is not JSON, and may be empty.
    header.is_some_and(|header| header.contains_key("alg"))
        && (token.split(|&b| b == b'.').count() == 5 || object().is_some())
}

/// Whether a part of `value` mixes letters and digits, or cases, unlike words and names.
fn is_mixed(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    !is_path(value) && !is_pinned(value) && parts.any(mixes)
}

/// Whether a value is a name with the revision of a repository: `driver@4c8170f...`.
fn is_pinned(value: &[u8]) -> bool {
    let at = value.iter().rposition(|&byte| byte == b'@');
    at.is_some_and(|at| {
        let (name, revision) = (&value[..at], &value[at + 1..]);
        (7..=64).contains(&revision.len())
            && revision.iter().all(u8::is_ascii_hexdigit)
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(byte))
            && !name.split(|byte| !byte.is_ascii_alphanumeric()).any(mixes)
    })
}

/// Whether the value after `between` is the revision of a repository, whatever name is before it: `action@<40 digits>`,
/// or `a commit (<40 digits>)`.
pub(super) fn is_revision(between: &[u8], value: &[u8]) -> bool {
    let digits = value
        .iter()
        .take(65)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    match between {
        [.., b'@'] => matches!(digits, 7..=64),
        [.., b' ', b'('] => matches!(digits, 40 | 64),
        _ => false,
    }
}

/// The length of the further parameters of a query behind a value: `tulip92&user=bob` has 9.
pub(super) fn following_parameters(value: &[u8]) -> usize {
    let mut from = 1;
    while let Some(at) = memchr::memchr(b'&', value.get(from..).unwrap_or_default()).map(|at| from + at) {
        let name = value[at + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.%~+".contains(byte))
            .count();
        if name > 0 && value.get(at + 1 + name) == Some(&b'=') {
            return value.len() - at;
        }
        from = at + 1;
    }
    0
}

fn is_token(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    is_uuid(value) || parts.any(|part| part.len() >= 16 && mixes(part))
}

fn mixes(part: &[u8]) -> bool {
    let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == part.len() {
        return digits >= 20;
    }
    let letters = part.len() - digits;
    let switches = |kind: fn(&u8) -> bool| part.windows(2).filter(|pair| kind(&pair[0]) != kind(&pair[1])).count();
    if part.len() < 6 {
        return false;
    }
    // "version2024" switches once from letters to digits; a random text of this length switches more often.
    digits >= 3 && (letters >= 3 || digits >= 6) && (switches(u8::is_ascii_digit) >= 2 || digits >= 4)
        || digits >= 2 && switches(u8::is_ascii_digit) >= 3
        || part.len() >= 20 && switches(u8::is_ascii_uppercase) * 5 >= part.len() * 2 && !is_camel(part)
}

/// Whether letters form a name such as `wrapRangeInTextNode`, in which single capitals start words.
fn is_camel(part: &[u8]) -> bool {
    let capitals = part
        .windows(2)
        .filter(|pair| pair.iter().all(u8::is_ascii_uppercase))
        .count();
    capitals == 0 && part.iter().all(u8::is_ascii_alphabetic)
}

/// Whether a value is a name in a program: words that begin with capitals, and at most one digit.
pub(super) fn is_name(value: &[u8]) -> bool {
    let letters: Vec<u8> = value.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    let has = |kind: fn(&u8) -> bool| letters.iter().any(kind);
    letters.len() + 1 >= value.len()
        && letters.len() >= 20
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && is_camel(&letters)
}

/// The next run of letters and digits from `start` on that may mix them, as [`Check::Mixed`] requires; the end of the
/// text if there is none.
fn next_mixing(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < text.len() {
        let run = text[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let digits = text[at..at + run].iter().filter(|byte| byte.is_ascii_digit()).count();
        if run >= 20 || run >= 6 && digits >= 2 {
            return at;
        }
        at += run + 1;
    }
    text.len()
}

/// Whether `value` is a name with dots (`user1.password`), or ends like a file name.
fn is_path(value: &[u8]) -> bool {
    if has_extension(value) {
        return true;
    }
    let parts: Vec<&[u8]> = value.split(|&byte| byte == b'.').collect();
    let name = |part: &&[u8]| {
        part.len() < 24
            && part
                .first()
                .is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    parts.len() > 1 && parts.iter().all(name)
}

fn is_uuid(value: &[u8]) -> bool {
    let at = |index: usize| matches!(index, 8 | 13 | 18 | 23);
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| {
            if at(index) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

fn is_password(value: &[u8]) -> bool {
    let end = value
        .iter()
        .rposition(|byte| !b"?!.,:;".contains(byte))
        .map_or(0, |at| at + 1);
    if !(5..=64).contains(&end) {
        return false;
    }
    let (value, url) = (&value[..end], value.windows(3).any(|part| part == b"://"));
    let query = value.contains(&b'=') && value.contains(&b'?');
    // A name before an equals sign is the next assignment: `dim=-1`.
    let name = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte == b'-')
        .count();
    let assigns = name > 0 && name + 1 < value.len() && value[name] == b'=' && value[name + 1] != b'=';
    if url || query || assigns || phrases::is_requirement(value) || is_storage_path(value) {
        return false;
    }
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    if value.iter().all(u8::is_ascii_digit) {
        return value.len() >= 6;
    }
    let letters = if value.is_ascii() {
        has(u8::is_ascii_alphabetic)
    } else {
        phrases::is_spelled(value)
    };
    letters && (has(u8::is_ascii_digit) || has(is_special)) && !is_path(value)
}

/// Whether a value without special signs has a word that names a thing, or is a name in a program with a digit.
fn names_thing(value: &[u8]) -> bool {
    let parts = parts(value);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    !value.iter().any(is_special) && (parts.iter().any(|part| is_thing(part)) || digits < 2 && parts.len() > 2)
}

/// Whether a word names a thing, or belongs to a message about passwords.
fn is_thing(word: &str) -> bool {
    lists().references.contains(word) || lists().messages.contains(word)
}

/// Whether a value is the path of a credential in a store: `secret/data/prod/db#password`.
fn is_storage_path(value: &[u8]) -> bool {
    let name = |part: &[u8]| {
        !part.is_empty()
            && part[0].is_ascii_lowercase()
            && part
                .iter()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-#.".contains(byte))
            && !part.split(|byte| !byte.is_ascii_alphanumeric()).any(mixes)
    };
    value.iter().filter(|&&byte| byte == b'/').count() >= 2 && value.split(|&byte| byte == b'/').all(name)
}

/// The most bytes per token of a key that people or programs made up.
const RARE: f64 = 2.5;

/// Whether a quoted value has letters, digits and other signs, unlike text, code and templates.
fn is_secret_literal(value: &[u8]) -> bool {
    let count = |kind: fn(&u8) -> bool| value.iter().filter(|byte| kind(byte)).count();
    let is_sign = |byte: &u8| b"$#~^&*!@%?+=|;:,<>(){}[]".contains(byte);
    let signs: Vec<u8> = value.iter().copied().filter(|byte| is_sign(byte)).collect();
    // Selectors, patterns, calls and templates begin and end with their signs.
    let is_code = b"#.^@/*<([{%&$:~=".contains(&value[0])
        && !signs.iter().skip(1).any(|byte| is_special(byte) && *byte != value[0])
        || value.windows(2).any(|pair| {
            matches!(
                pair,
                b"\\w"
                    | b"\\d"
                    | b"[^"
                    | b"a-"
                    | b"0-"
                    | b"A-"
                    | b"=>"
                    | b"()"
                    | b"${"
                    | b"{{"
                    | b"::"
                    | b"//"
                    | b"%s"
                    | b"%d"
            )
        });
    signs.iter().any(is_special)
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_alphabetic) >= 3
        && !is_code
        && !is_path(value)
        && !is_pinned(value)
        && following_parameters(value) == 0
        && rarity::bytes_per_token(value) <= RARE
}

/// Whether a value consists of words and a number, of which no word names a thing.
fn is_words_with_number(value: &[u8]) -> bool {
    let parts = parts(value);
    let digits = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
    let (numbers, names): (Vec<&String>, Vec<&String>) = parts.iter().partition(|part| digits(part));
    let is_year = |number: &String| number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    let has_number = numbers
        .iter()
        .any(|number| (2..=6).contains(&number.len()) && !is_year(number));
    has_number
        && numbers.len() <= 2
        && names.iter().map(|name| name.len()).sum::<usize>() >= 5
        && names.iter().any(|name| name.len() >= 4)
        && !names.iter().any(|name| is_thing(name))
        && !is_path(value)
}

/// Whether a byte is a sign that passwords contain and words do not.
fn is_special(byte: &u8) -> bool {
    b"!@#%^&*?~$".contains(byte)
}

fn is_password_literal(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let named = ["pass", "pwd", "secret", "user", "field", "input"];
    let has_name = named
        .iter()
        .any(|name| lower.windows(name.len()).any(|part| part == name.as_bytes()));
    !is_path(value) && !phrases::is_requirement(value) && (!has_name || value.iter().any(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(check: Check, values: &[&str]) -> Vec<bool> {
        let run = |value: &&str| check.run(value.as_bytes()) != Outcome::Refuted;
        values.iter().map(run).collect()
    }

    #[test]
    fn checksums_of_github_tokens_are_verified() {
        // The body is invented; its checksum was computed with zlib's crc32.
        let body = "a".repeat(30);
        let token = format!("ghp_{body}{}", String::from_utf8_lossy(&checksum(body.as_bytes())));
        assert_eq!(Check::GithubCrc.run(token.as_bytes()), Outcome::Proven);
        assert_eq!(Check::GithubCrc.run(token.to_uppercase().as_bytes()), Outcome::Doubtful);
        assert_eq!(Check::GithubCrc.run(b"ghp_"), Outcome::Doubtful);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn tokens_are_json_objects() {
        let jwt = passes(
            Check::Jwt,
            &[
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x",
                "eyJhbGciOiJub25lIn0.e30.",
                "eyJhbGciOiJIUzI1NiJ9.x.x",
                "e30.e30.x",
                "eyJhbGciOiJkaXIifQ..a.b.c",
                "",
            ],
        );
        assert_eq!(jwt, [true, true, false, false, true, false]);
    }

    #[test]
    fn names_and_words_are_not_mixed() {
        let mixed = [
            "a1b2c3d4e5",
            "9f86d081884c",
            "1234567890abcdef",
            "sk_abcdef123456",
            "kLmNopQrsTuVwXyZaBcDEfG",
        ];
        assert_eq!(passes(Check::Mixed, &mixed), [true; 5]);
        let names = [
            "next_page_token2",
            "my-app-v2",
            "user1.password",
            "2024-01-12T10:00:00",
            "internationalization",
            "us-east-1",
            "getElementById",
            "utf8_general_ci",
        ];
        assert_eq!(passes(Check::Mixed, &names), [false; 8]);
    }

    #[test]
    fn names_in_programs_are_no_keys() {
        assert_eq!(passes(Check::Mixed, &["fileSecKeysMngrGetKey"]), [false]);
        assert!(is_name(b"Mistral3ForConditionalGeneration"));
        assert!(!is_name(b"kLmNopQrsTuVwXyZaBcDEfG"));
        let tokens = [
            "q7Rt2Wx9Zp4Lm6Nb8Vc1",
            "3f292041-51d2-4005-8e48-f39df3585d44",
            "prod-0000000000a7",
        ];
        assert_eq!(passes(Check::Token, &tokens), [true, true, false]);
    }

    #[test]
    fn passwords_are_not_words_or_names() {
        assert_eq!(
            passes(
                Check::Password,
                &["hunter2", "P@ssword", "123456", "swordfish", "self.pass1", "12345"]
            ),
            [true, true, true, false, false, false]
        );
        assert_eq!(
            passes(
                Check::PasswordLiteral,
                &["swordfish", "userPassword", "pass1234", "form.password"]
            ),
            [true, false, true, false]
        );
    }
}
