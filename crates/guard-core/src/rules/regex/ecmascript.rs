//! Translates patterns of ECMA-262, as in JSON Schema.

use super::PatternError;
use super::python::repetition;
use super::translation::Translation;

/// `\d`, `\w` and `\s` of ECMA-262 (CharacterClassEscape; WhiteSpace and LineTerminator), as classes of the `regex`
/// crate.
const DIGIT: &str = "[0-9]";
const WORD: &str = "[0-9A-Za-z_]";
const SPACE: &str =
    "[\\t-\\r\\x{20}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}]";

/// Translates the pattern with this index in its list.
///
/// # Errors
///
/// [`PatternError::Syntax`] for an invalid pattern, or for one that may take too long.
pub(super) fn translate(index: usize, pattern: &str) -> Result<Translation, PatternError> {
    let mut this = Ecmascript {
        pattern,
        at: 0,
        written: Translation::default(),
    };
    this.read().map_err(|(message, position)| PatternError::Syntax {
        pattern: index,
        message: message.to_owned(),
        position: Some(position),
    })?;
    this.written.origin.push(pattern.len());
    Ok(this.written)
}

/// An error message, and its byte offset in the pattern.
type Refusal = (&'static str, usize);

/// A part of a pattern that matches one character.
#[derive(Clone, Copy)]
enum Atom<'p> {
    Character(char),
    /// A class in the syntax of the `regex` crate, which may be nested.
    OneOf(&'p str),
    NoneOf(&'p str),
}

/// The translation of one pattern.
///
/// Anything that the `regex` crate may read differently is written unambiguously, and anything unknown is an error: a
/// pattern never gets a meaning that its author did not intend.
struct Ecmascript<'p> {
    pattern: &'p str,
    /// The pattern is translated up to here.
    at: usize,
    written: Translation,
}

impl<'p> Ecmascript<'p> {
    /// Translates the rest of the pattern.
    fn read(&mut self) -> Result<(), Refusal> {
        // Whether a quantifier may follow.
        let mut repeatable = false;
        while let Some(c) = self.rest().chars().next() {
            let (rest, at) = (self.rest(), self.at);
            repeatable = match c {
                '*' | '+' | '?' | '{' => {
                    let length = quantifier(rest).map_err(|message| (message, at))?;
                    if !repeatable {
                        return Err(("nothing to repeat", at));
                    }
                    self.take(length, &rest[..length]);
                    false
                }
                '|' | '^' => {
                    self.take(1, &rest[..1]);
                    false
                }
                '$' => {
                    self.take(1, "\\z");
                    false
                }
                '\\' if rest.starts_with("\\b") => {
                    self.take(2, "(?-u:\\b)");
                    false
                }
                '\\' if rest.starts_with("\\B") => {
                    self.take(2, "(?-u:\\B)");
                    false
                }
                '(' => {
                    self.open()?;
                    false
                }
                ')' => {
                    self.take(1, ")");
                    true
                }
                '.' => {
                    self.take(1, "[^\\n\\r\\x{2028}\\x{2029}]");
                    true
                }
                '[' => {
                    self.class()?;
                    true
                }
                ']' | '}' => return Err(("a bracket that closes nothing has to be escaped", at)),
                _ => {
                    let atom = self.atom(false)?;
                    self.write(atom, at);
                    true
                }
            };
        }
        Ok(())
    }

    fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    /// Writes `text` for the next `length` bytes of the pattern.
    fn take(&mut self, length: usize, text: &str) {
        self.written.push(text, self.at);
        self.at += length;
    }

    fn write(&mut self, atom: Atom<'_>, at: usize) {
        match atom {
            Atom::Character(c) if c.is_alphanumeric() => self.written.push(c.encode_utf8(&mut [0; 4]), at),
            // Any other character may be engine syntax, alone or with its neighbours.
            Atom::Character(c) => self.written.push(&format!("\\x{{{:X}}}", u32::from(c)), at),
            Atom::OneOf(class) => self.written.push(class, at),
            Atom::NoneOf(class) => self.written.push(&format!("[^{class}]"), at),
        }
    }

    /// Copies the opening of a group, without its name, which only references would need.
    fn open(&mut self) -> Result<(), Refusal> {
        let (rest, at) = (self.rest(), self.at);
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| rest.starts_with(look)) {
            return Err(("look-around is not supported: it can take too long", at));
        }
        if let Some(named) = rest.strip_prefix("(?<") {
            let name = named.split_once('>').map_or("", |(name, _)| name);
            let sound = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(sound) {
                return Err(("bad name of a group", at));
            }
            self.take("(?<>".len() + name.len(), "(");
        } else if rest.starts_with("(?:") {
            self.take(3, "(?:");
        } else if rest.starts_with("(?") {
            return Err(("unknown kind of group", at));
        } else {
            self.take(1, "(");
        }
        Ok(())
    }

    /// Copies a bracketed class.
    fn class(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.rest().starts_with("[]") {
            self.take(2, "[^\\x{0}-\\x{10FFFF}]");
            return Ok(());
        }
        if self.rest().starts_with("[^]") {
            self.take(3, "[\\x{0}-\\x{10FFFF}]");
            return Ok(());
        }
        let open = if self.rest().starts_with("[^") { "[^" } else { "[" };
        self.take(open.len(), open);
        while !self.rest().starts_with(']') {
            let unclosed = ("unclosed character class", start);
            if self.rest().is_empty() {
                return Err(unclosed);
            }
            let at = self.at;
            let first = self.atom(true)?;
            if !self.rest().starts_with('-') || self.rest().starts_with("-]") {
                self.write(first, at);
                continue;
            }
            self.at += 1;
            if self.rest().is_empty() {
                return Err(unclosed);
            }
            let last = self.atom(true)?;
            match (first, last) {
                (Atom::Character(low), Atom::Character(high)) if low <= high => {
                    self.write(first, at);
                    self.written.push("-", at);
                    self.write(last, at);
                }
                _ => return Err(("a range has to ascend from one character to another", at)),
            }
        }
        self.take(1, "]");
        Ok(())
    }

    /// Reads one character of the pattern, or one escape.
    fn atom(&mut self, in_class: bool) -> Result<Atom<'p>, Refusal> {
        let start = self.at;
        let mut characters = self.rest().chars();
        let c = match (characters.next(), characters.next()) {
            (Some('\\'), Some(c)) => c,
            (Some(c), _) if c != '\\' => {
                self.at += c.len_utf8();
                return Ok(Atom::Character(c));
            }
            _ => return Err(("nothing to escape", start)),
        };
        self.at += 1 + c.len_utf8();
        let character = match c {
            'd' => return Ok(Atom::OneOf(DIGIT)),
            'D' => return Ok(Atom::NoneOf(DIGIT)),
            'w' => return Ok(Atom::OneOf(WORD)),
            'W' => return Ok(Atom::NoneOf(WORD)),
            's' => return Ok(Atom::OneOf(SPACE)),
            'S' => return Ok(Atom::NoneOf(SPACE)),
            'p' | 'P' => return self.property(start),
            '1'..='9' | 'k' if !in_class => {
                return Err(("back-references are not supported: they can take too long", start));
            }
            't' => Some('\t'),
            'n' => Some('\n'),
            'v' => Some('\u{B}'),
            'f' => Some('\u{C}'),
            'r' => Some('\r'),
            'b' if in_class => Some('\u{8}'),
            '0' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => Some('\0'),
            'c' => self.control(),
            'x' => self.hex(2).and_then(char::from_u32),
            'u' => self.code_point().and_then(char::from_u32),
            _ => c.is_ascii_punctuation().then_some(c),
        };
        character
            .map(Atom::Character)
            .ok_or(("an escape that stands for no character", start))
    }

    /// Reads the name after `\p`. The `regex` crate checks it.
    fn property(&mut self, start: usize) -> Result<Atom<'p>, Refusal> {
        let braced = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '=';
        match braced {
            Some((name, _)) if !name.is_empty() && name.chars().all(sound) => {
                self.at += name.len() + 2;
                Ok(Atom::OneOf(&self.pattern[start..self.at]))
            }
            _ => Err(("expected the name of a property in braces", start)),
        }
    }

    /// Reads the letter after `\c`.
    fn control(&mut self) -> Option<char> {
        let letter = self.rest().chars().next().filter(char::is_ascii_alphabetic)?;
        self.at += 1;
        char::from_u32(u32::from(letter) % 32)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let number = hex(self.rest().get(..digits)?)?;
        self.at += digits;
        Some(number)
    }

    /// Reads the digits after `\u`. A surrogate pair is one character; a single surrogate is invalid in UTF-8.
    fn code_point(&mut self) -> Option<u32> {
        if let Some(braced) = self.rest().strip_prefix('{') {
            let (digits, _) = braced.split_once('}')?;
            self.at += digits.len() + 2;
            return hex(digits);
        }
        let first = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&first) || !self.rest().starts_with("\\u") {
            return Some(first);
        }
        self.at += 2;
        let second = self.hex(4).filter(|half| (0xDC00..0xE000).contains(half))?;
        Some(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }
}

fn hex(digits: &str) -> Option<u32> {
    let sound = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| sound)
}

/// The length of the quantifier at the start of `rest`, or an error message.
fn quantifier(rest: &str) -> Result<usize, &'static str> {
    let mut length = 1;
    if rest.starts_with('{') {
        length = repetition(rest)
            .filter(|_| !rest.starts_with("{,"))
            .ok_or("a { that begins no repetition has to be escaped")?;
        let (low, high) = rest[1..length - 1].split_once(',').unwrap_or_default();
        if let (Ok(low), Ok(high)) = (low.parse::<u32>(), high.parse::<u32>())
            && low > high
        {
            return Err("the numbers of a repetition must ascend");
        }
    }
    Ok(length + usize::from(rest[length..].starts_with('?')))
}
