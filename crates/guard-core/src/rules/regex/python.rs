//! Translates patterns of Python's `re`.

use std::collections::HashMap;

use super::PatternError;
use super::translation::Translation;

/// Rewrites the syntax that Python and the engines read differently:
///
/// * `\Z` is the very end (`\z`);
/// * `\<` and `\>` are literal characters, not the ends of a word, and so is an escaped character outside ASCII;
/// * `\0`, `\012` and `\101` are characters by their octal numbers, also in a class, and `\1` to `\99` refer to groups;
/// * in a class, `[`, `&`, `~` and a doubled `-` are literal, except a POSIX class like `[:alpha:]`, and white space
///   and `#` are literal even in verbose mode;
/// * a `{` that does not start a repetition is literal, and `{,n}` is `{0,n}`;
/// * `a*+`, `a++`, `a?+` and `a{1,2}+` are possessive, and `(?(name)…)` is a condition on a group;
/// * `(?#…)` is a comment.
///
/// Source: the documentation and the behaviour of the module `re` of Python 3.11.
///
/// # Errors
///
/// [`PatternError::Syntax`] for syntax that the engines lack, such as `\N{BULLET}` and `(?a)`, and for syntax that is
/// invalid in Python but means something to an engine: `\h`, `\K`, `(?U)`, `a**`. A pattern never gets a meaning that
/// its author did not intend. `\p{L}`, `\z`, `\x{41}`, `\u{41}`, `(?<name>…)` and `\k<name>`, which Python lacks, are
/// accepted, since they mean the same everywhere.
pub(super) fn translate(index: usize, pattern: &str) -> Result<Translation, PatternError> {
    let mut this = Python {
        pattern,
        at: 0,
        written: Translation::default(),
        outer: Vec::new(),
        groups: 0,
        names: HashMap::new(),
        asked: Vec::new(),
        last: Last::Nothing,
    };
    this.read().map_err(|(message, position)| PatternError::Syntax {
        pattern: index,
        message,
        position: Some(position),
    })?;
    this.written.origin.push(pattern.len());
    Ok(this.written)
}

/// An error message, and its byte offset in the pattern.
type Refusal = (String, usize);

/// The last element, which a repetition would repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing: the start of the pattern, a group or an alternative.
    Nothing,
    Item,
    Repetition,
}

/// The translation of one pattern.
struct Python<'p> {
    pattern: &'p str,
    at: usize,
    written: Translation,
    /// For each open group, whether it is in verbose mode, and its number, if it has one.
    outer: Vec<(bool, Option<u32>)>,
    /// The number of groups so far, and the named ones.
    groups: u32,
    names: HashMap<&'p str, u32>,
    /// The group numbers in conditions, with their offsets.
    asked: Vec<(u32, usize)>,
    last: Last,
}

impl<'p> Python<'p> {
    fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    /// Copies `length` bytes of the pattern.
    fn copy(&mut self, length: usize) {
        self.write(&self.pattern[self.at..self.at + length], length);
    }

    /// Writes `text` for `length` bytes of the pattern.
    fn write(&mut self, text: &str, length: usize) {
        self.written.push(text, self.at);
        self.at += length;
    }

    fn refuse<T>(&self, message: impl Into<String>) -> Result<T, Refusal> {
        Err((message.into(), self.at))
    }

    fn read(&mut self) -> Result<(), Refusal> {
        while let Some(c) = self.rest().chars().next() {
            let mut next = Last::Item;
            match c {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '#' if self.written.verbose => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    next = self.last;
                }
                _ if self.written.verbose && c.is_ascii_whitespace() => {
                    self.copy(1);
                    next = self.last;
                }
                '(' => next = self.open()?,
                ')' => {
                    self.written.verbose = self.outer.pop().map_or(self.written.verbose, |(verbose, _)| verbose);
                    self.copy(1);
                }
                '|' => {
                    self.copy(1);
                    next = Last::Nothing;
                }
                '*' | '+' | '?' => next = self.repeat(1)?,
                '{' => match repetition(self.rest()) {
                    Some(length) => next = self.repeat(length)?,
                    None => self.write("\\{", 1),
                },
                _ => {
                    self.written.dollar |= c == '$';
                    self.copy(c.len_utf8());
                }
            }
            self.last = next;
        }
        let missing = self.asked.iter().find(|(number, _)| *number > self.groups);
        match missing {
            Some(&(number, at)) => Err((format!("there is no group {number}"), at)),
            None => Ok(()),
        }
    }

    /// Copies a repetition of `length` bytes, and the sign after it that makes it lazy or possessive.
    fn repeat(&mut self, length: usize) -> Result<Last, Refusal> {
        let written = &self.rest()[..length];
        match self.last {
            Last::Nothing => return self.refuse("nothing to repeat"),
            Last::Repetition => return self.refuse("multiple repeat"),
            Last::Item => {}
        }
        if let Some((low, high)) = written.trim_matches(['{', '}']).split_once(',')
            && let (Ok(low), Ok(high)) = (low.parse::<u64>(), high.parse::<u64>())
            && low > high
        {
            return self.refuse("the least number of repetitions is greater than the highest");
        }
        if written.starts_with("{,") {
            self.write("{0", 1);
            self.copy(length - 1);
        } else {
            self.copy(length);
        }
        if self.rest().starts_with(['?', '+']) {
            self.written.backtracks |= self.rest().starts_with('+');
            self.copy(1);
        }
        Ok(Last::Repetition)
    }

    /// Copies the opening of a group, or a whole group without a body.
    fn open(&mut self) -> Result<Last, Refusal> {
        let rest = self.rest();
        let verbose = self.written.verbose;
        let Some(after) = rest.strip_prefix("(?") else {
            self.groups += 1;
            self.outer.push((verbose, Some(self.groups)));
            self.copy(1);
            return Ok(Last::Nothing);
        };
        if let Some(comment) = after.strip_prefix('#') {
            let Some(end) = end_of_comment(comment) else {
                return self.refuse("the comment does not end");
            };
            self.at += "(?#".len() + end + 1;
            return Ok(self.last);
        }
        if let Some(name) = after.strip_prefix("P=") {
            let Some((name, _)) = name.split_once(')') else {
                return self.refuse("unclosed group");
            };
            if !self.names.contains_key(name) {
                return self.refuse(format!("there is no group {name} yet"));
            }
            self.copy("(?P=)".len() + name.len());
            return Ok(Last::Item);
        }
        if let Some(condition) = after.strip_prefix('(') {
            return self.condition(condition);
        }
        let plain = [":", "=", "!", "<=", "<!", ">"]
            .iter()
            .find(|mark| after.starts_with(**mark));
        if let Some(mark) = plain {
            self.outer.push((verbose, None));
            self.copy("(?".len() + mark.len());
            return Ok(Last::Nothing);
        }
        let named = after.strip_prefix("P<").or_else(|| after.strip_prefix('<'));
        if let Some((name, _)) = named.and_then(|named| named.split_once('>')) {
            self.groups += 1;
            if self.names.insert(name, self.groups).is_some() {
                return self.refuse(format!("there are two groups {name}"));
            }
            self.outer.push((verbose, Some(self.groups)));
            self.copy(rest.find('>').map_or(rest.len(), |end| end + 1));
            return Ok(Last::Nothing);
        }
        self.flags(after)
    }

    /// Copies a conditional group up to the end of its condition, which follows `(?(`.
    fn condition(&mut self, condition: &'p str) -> Result<Last, Refusal> {
        let Some((group, _)) = condition.split_once(')') else {
            return self.refuse("unclosed group");
        };
        let number = match (group.parse::<u32>(), self.names.get(group)) {
            (Ok(number), _) => number,
            (Err(_), Some(&number)) => number,
            (Err(_), None) => return self.refuse(format!("there is no group {group}")),
        };
        if number == 0 {
            return self.refuse("there is no group 0");
        }
        self.asked.push((number, self.at));
        self.outer.push((self.written.verbose, None));
        self.write(&format!("(?({number})"), "(?()".len() + group.len());
        Ok(Last::Nothing)
    }

    /// Copies flags of a group or of the whole pattern. `after` follows `(?`.
    fn flags(&mut self, after: &str) -> Result<Last, Refusal> {
        let length = after
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
            .count();
        let flags = &after[..length];
        let of_all = after[length..].starts_with(')');
        if !(of_all || after[length..].starts_with(':')) {
            return self.refuse("unknown extension of a group");
        }
        match flags
            .chars()
            .find(|flag| !matches!(flag, 'i' | 'm' | 's' | 'x' | 'u' | '-'))
        {
            Some(flag @ ('a' | 'L')) => {
                let instead = "write classes such as [0-9] and [A-Za-z0-9_] for \\d and \\w of ASCII";
                return self.refuse(format!("the flag {flag} is not supported; {instead}"));
            }
            Some(flag) => return self.refuse(format!("unknown flag {flag}")),
            None => {}
        }
        if of_all && (self.last != Last::Nothing || !self.outer.is_empty() || self.written.text.contains('|')) {
            return self.refuse("flags of the whole pattern stand at its beginning; (?i:…) is for a part of it");
        }
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        if !of_all {
            self.outer.push((self.written.verbose, None));
        }
        self.written.verbose = (self.written.verbose || on.contains('x')) && !off.contains('x');
        self.copy("(?".len() + length + 1);
        Ok(Last::Nothing)
    }

    /// Copies an escape, in a class or outside one.
    fn escape(&mut self, in_class: bool) -> Result<(), Refusal> {
        let rest = self.rest();
        let Some(escaped) = rest.chars().nth(1) else {
            return self.refuse("a backslash ends the pattern");
        };
        let length = 1 + escaped.len_utf8();
        match escaped {
            '0'..='9' => return self.number(in_class),
            'Z' if !in_class => self.write("\\z", length),
            'b' if in_class => self.write("\\x08", length),
            '<' => self.write("\\x3C", length),
            '>' => self.write("\\x3E", length),
            'N' => {
                let instead = "write the character itself, or its number, such as \\u2022 for a bullet";
                return self.refuse(format!("names of characters are not supported; {instead}"));
            }
            // The braces of `\p{L}` are no repetition.
            'p' | 'P' | 'x' | 'u' | 'U' if rest[length..].starts_with('{') => {
                self.copy(rest.find('}').map_or(rest.len(), |end| end + 1));
            }
            'k' if !in_class && rest[length..].starts_with('<') => {
                self.copy(rest.find('>').map_or(rest.len(), |end| end + 1));
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P' | 'x' | 'u' | 'U' | 'n' | 'r' | 't' | 'f' | 'v' | 'a' => {
                self.copy(length);
            }
            'A' | 'b' | 'B' | 'z' if !in_class => self.copy(length),
            _ if escaped.is_ascii_alphabetic() => return self.refuse(format!("unknown escape \\{escaped}")),
            _ if !escaped.is_ascii() => self.write(&rest[1..length], length),
            _ => self.copy(length),
        }
        Ok(())
    }

    /// Writes a character with an octal number, or copies a reference to a group.
    fn number(&mut self, in_class: bool) -> Result<(), Refusal> {
        let digits = self.rest()[1..].bytes().take_while(u8::is_ascii_digit).count();
        let octal = self.rest()[1..]
            .bytes()
            .take(3)
            .take_while(|byte| (b'0'..b'8').contains(byte))
            .count();
        let is_character = in_class && octal > 0 || octal == 3 || self.rest()[1..].starts_with('0');
        if is_character {
            let number = u32::from_str_radix(&self.rest()[1..=octal], 8).unwrap_or(u32::MAX);
            if number > 0o377 {
                return self.refuse("an octal number of a character is at most \\377");
            }
            self.write(&format!("\\x{number:02X}"), 1 + octal);
            return Ok(());
        }
        let length = digits.min(2);
        let number = self.rest()[1..=length].parse::<u32>().unwrap_or(u32::MAX);
        let is_open = self.outer.iter().any(|(_, open)| *open == Some(number));
        if in_class || number > self.groups || is_open {
            return self.refuse(format!("there is no group {number} yet"));
        }
        self.copy(1 + length);
        // A digit after it is a separate character.
        if digits > length {
            self.write("(?:)", 0);
        }
        Ok(())
    }

    /// Copies a bracketed class.
    fn class(&mut self) -> Result<(), Refusal> {
        self.copy(1);
        if self.rest().starts_with('^') {
            self.copy(1);
        }
        let first = self.at;
        while let Some(c) = self.rest().chars().next() {
            let (rest, at) = (self.rest(), self.at);
            match c {
                ']' if at > first => {
                    self.copy(1);
                    return Ok(());
                }
                ']' => self.write("\\]", 1),
                '\\' => self.escape(true)?,
                '[' => {
                    let posix = rest.starts_with("[:").then(|| rest.find(":]")).flatten();
                    let name = posix.and_then(|end| rest.get(2..end));
                    match name.filter(|n| n.trim_start_matches('^').chars().all(|c| c.is_ascii_lowercase())) {
                        Some(name) => self.copy(name.len() + 4),
                        None => self.write("\\[", 1),
                    }
                }
                '-' if at == first && rest.starts_with("--") || at > first && self.pattern[..at].ends_with('-') => {
                    self.write("\\-", 1);
                }
                '&' => self.write("\\&", 1),
                '~' => self.write("\\~", 1),
                '#' => self.write("\\#", 1),
                ' ' => self.write("\\x20", 1),
                '\n' => self.write("\\n", 1),
                '\t' => self.write("\\t", 1),
                _ => self.copy(c.len_utf8()),
            }
        }
        Ok(())
    }
}

/// The end of a comment: the first parenthesis that is not escaped.
fn end_of_comment(comment: &str) -> Option<usize> {
    let mut escaped = false;
    let mut bytes = comment.bytes();
    bytes.position(|byte| {
        let ends = byte == b')' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The length of the repetition `{m}`, `{m,}`, `{,n}`, `{,}` or `{m,n}` at the start of `rest`, if there is one.
pub(super) fn repetition(rest: &str) -> Option<usize> {
    let inner = &rest[1..rest.find('}')?];
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!inner.is_empty() && digits(low) && digits(high)).then_some(inner.len() + 2)
}
