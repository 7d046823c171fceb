//! Patterns in the syntax of Python's `re`.

use super::translated::Translated;

/// Rewrites what Python and the `regex` crate read differently in a pattern of Python:
///
/// * `\Z` is the very end (`\z`);
/// * `\<` and `\>` are literal characters, not the ends of a word, and so is an escaped character outside ASCII;
/// * in a class, `[`, `&`, `~` and a doubled `-` are literal, except a POSIX class like `[:alpha:]`, and white space
///   and `#` are literal even in verbose mode;
/// * a `{` that does not start a repetition is literal, and `{,n}` is `{0,n}`;
/// * `(?#…)` is a comment.
pub(super) fn translate(pattern: &str) -> Translated {
    let mut this = Translated::default();
    let mut outer: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(c) = pattern[at..].chars().next() {
        let rest = &pattern[at..];
        let mut used = c.len_utf8();
        match c {
            '\\' => used = escape(&mut this, rest, at),
            '[' => used = class(&mut this, rest, at),
            '#' if this.verbose => used = rest.find('\n').unwrap_or(rest.len()),
            '(' => {
                if rest.starts_with("(?#") {
                    used = rest.find(')').map_or(rest.len(), |end| end + 1);
                } else {
                    let (flags, verbose) = flags(rest, this.verbose);
                    if !rest[..flags].ends_with(')') {
                        outer.push(this.verbose);
                    }
                    this.verbose = verbose;
                    used = flags;
                    this.push(&rest[..used], at);
                }
            }
            ')' => {
                this.verbose = outer.pop().unwrap_or(this.verbose);
                this.push(")", at);
            }
            '{' => match repetition(rest) {
                Some(length) => {
                    let written = &rest[..length];
                    let open = written.starts_with("{,");
                    this.push(if open { "{0" } else { "{" }, at);
                    this.push(&written[1..], at + 1);
                    used = length;
                }
                None => this.push("\\{", at),
            },
            _ => {
                this.dollar |= c == '$';
                this.push(&rest[..used], at);
            }
        }
        at += used;
    }
    this.origin.push(pattern.len());
    this
}

/// Copies an escape outside a class and returns its length.
fn escape(written: &mut Translated, rest: &str, at: usize) -> usize {
    let Some(escaped) = rest.chars().nth(1) else {
        written.push("\\", at);
        return 1;
    };
    let mut length = 1 + escaped.len_utf8();
    match escaped {
        'Z' => written.push("\\z", at),
        '<' => written.push("\\x3C", at),
        '>' => written.push("\\x3E", at),
        _ if !escaped.is_ascii() => written.push(&rest[1..length], at),
        _ => {
            // The braces of `\p{L}` and the like are no repetition.
            if matches!(escaped, 'p' | 'P' | 'x' | 'u' | 'U' | 'N') && rest[length..].starts_with('{') {
                length = rest.find('}').map_or(rest.len(), |end| end + 1);
            }
            written.push(&rest[..length], at);
        }
    }
    length
}

/// Copies a bracketed class and returns its length.
fn class(written: &mut Translated, rest: &str, start: usize) -> usize {
    written.push("[", start);
    let mut at = 1;
    if rest[at..].starts_with('^') {
        written.push("^", start + at);
        at += 1;
    }
    let first = at;
    while let Some(c) = rest[at..].chars().next() {
        let here = start + at;
        match c {
            ']' if at > first => {
                written.push("]", here);
                return at + 1;
            }
            ']' => written.push("\\]", here),
            '\\' => {
                at += escape(written, &rest[at..], here);
                continue;
            }
            '[' => {
                let posix = rest[at..].starts_with("[:").then(|| rest[at..].find(":]")).flatten();
                let name = posix.map(|end| &rest[at + 2..at + end]);
                if let Some(name) = name.filter(|n| n.trim_start_matches('^').chars().all(|c| c.is_ascii_lowercase())) {
                    let length = name.len() + 4;
                    written.push(&rest[at..at + length], here);
                    at += length;
                    continue;
                }
                written.push("\\[", here);
            }
            '-' if at == first && rest[at..].starts_with("--") || at > first && rest[..at].ends_with('-') => {
                written.push("\\-", here);
            }
            '&' | '~' | '#' => {
                written.push("\\", here);
                written.push(&rest[at..=at], here);
            }
            ' ' => written.push("\\x20", here),
            '\n' => written.push("\\n", here),
            '\t' => written.push("\\t", here),
            _ => written.push(&rest[at..at + c.len_utf8()], here),
        }
        at += c.len_utf8();
    }
    at
}

/// The length of what opens the group at the start of `rest`, with its flags, and whether they leave verbose mode on.
fn flags(rest: &str, verbose: bool) -> (usize, bool) {
    let Some(after) = rest.strip_prefix("(?") else {
        return (1, verbose);
    };
    let length = after
        .bytes()
        .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
        .count();
    if !matches!(after.as_bytes().get(length), Some(b':' | b')')) {
        return (2, verbose);
    }
    let (on, off) = after[..length].split_once('-').unwrap_or((&after[..length], ""));
    (length + 3, (verbose || on.contains('x')) && !off.contains('x'))
}

/// The length of the repetition `{m}`, `{m,}`, `{,n}`, `{,}` or `{m,n}` at the start of `rest`, if it is one.
pub(super) fn repetition(rest: &str) -> Option<usize> {
    let inner = &rest[1..rest.find('}')?];
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!inner.is_empty() && digits(low) && digits(high)).then_some(inner.len() + 2)
}
