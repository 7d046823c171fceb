//! Normalizes look-alike characters, and removes invisible ones.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

use super::view::{Step, View, Writer};

/// The most bytes of a replacement for each byte of the character. The few characters that would grow more (a Basmala,
/// old units in one cell) stay, so that a view is never much longer than its text.
const GROWTH: usize = 3;

/// Converts text to Unicode's compatibility composition (NFKC, UAX #15), removes invisible characters, and replaces
/// letters that only look Latin with Latin ones (by the skeletons of UTS #39).
///
/// Letters of another script stay in a word that has a letter without a Latin look-alike, and next to such a word. So
/// "рaypal" with a Cyrillic "р" becomes "paypal", but "сор" in a Russian sentence stays. Combining marks are removed
/// from ASCII characters that do not compose with them, as in struck-through text, and from words in which nearly every
/// letter has one.
pub(super) fn normalize(text: &str) -> Option<View> {
    if text.is_ascii() {
        return None;
    }
    let bare = remove_marks(text);
    let folded = match &bare {
        Some(bare) => Some(fold(bare.text()).map_or_else(|| bare.clone(), |folded| folded.compose(bare))),
        None => fold(text),
    };
    match folded {
        Some(folded) => Some(match latinize(folded.text()) {
            Some(latin) => latin.compose(&folded),
            None => folded,
        }),
        None => latinize(text),
    }
}

/// Applies NFKC, and removes invisible characters and stray marks.
fn fold(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut at = 0;
    // Only non-ASCII characters can change, together with the character before them.
    while let Some(other) = find_non_ascii(text, at) {
        let start = if at < other { other - 1 } else { other };
        let mut characters = text[start..].chars().peekable();
        let character = characters.next().unwrap_or_default();
        let mut end = start + character.len_utf8();
        at = end;
        if is_plain(character) && characters.peek().copied().is_none_or(is_plain) {
            continue;
        }
        if is_invisible(character) {
            writer.replace(start..end, "", Step::Normalized);
            continue;
        }
        // A character is processed with the marks that may combine with it. No word has more than 32; further marks are
        // processed alone.
        let mut joined = 0;
        for next in characters {
            let joins = is_combining_mark(next) || is_invisible(next) || is_jamo(character, next);
            if !joins || joined == 32 {
                break;
            }
            joined += 1;
            end += next.len_utf8();
        }
        at = end;
        let piece = &text[start..end];
        let mut composed: String = piece.chars().filter(|&c| !is_invisible(c)).nfkc().collect();
        let takes_marks = |base: char| is_latin(base) || base.is_ascii();
        if joined > 0 && composed.nfd().next().is_some_and(takes_marks) && composed.contains(is_combining_mark) {
            // If a mark does not compose with the letter, no mark is part of its spelling.
            composed = composed.nfd().filter(|&c| !is_combining_mark(c)).collect();
        }
        if composed != piece && composed.len() <= piece.len() * GROWTH {
            writer.replace(start..end, &composed, Step::Normalized);
        }
    }
    writer.finish()
}

/// All marks of a word are removed if at least this share of its characters has a mark: three of four, or three of
/// three. No language in Latin letters has so many marks. Vietnamese and Czech have up to two of three in a few words.
const MARKED: (usize, usize) = (3, 4);
const LEAST_MARKED: usize = 3;

/// Removes the marks of words in which nearly every character has one, as in "ịġṅȯṙė".
fn remove_marks(text: &str) -> Option<View> {
    let mut writer = Writer::new(text);
    let mut at = 0;
    while let Some(other) = find_non_ascii(text, at) {
        let Some(character) = text[other..].chars().next() else {
            break;
        };
        if !is_marked_latin(character) && !is_mark(character) {
            at = other + character.len_utf8();
            continue;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before = text.as_bytes()[at..other]
            .iter()
            .rev()
            .take_while(|&&byte| is_part(char::from(byte)))
            .count();
        let start = other - before;
        let (mut characters, mut marked, mut end) = (0, 0, start);
        let mut has_mark = true;
        for character in text[start..].chars() {
            if is_mark(character) {
                marked += usize::from(!std::mem::replace(&mut has_mark, true));
            } else if is_part(character) || is_marked_latin(character) {
                has_mark = !character.is_ascii();
                characters += 1;
                marked += usize::from(has_mark);
            } else {
                break;
            }
            end += character.len_utf8();
        }
        at = end;
        if marked < LEAST_MARKED || marked * MARKED.1 < characters * MARKED.0 || marked < 4 && marked < characters {
            continue;
        }
        for (offset, character) in text[start..end].char_indices().filter(|(_, c)| !c.is_ascii()) {
            let base: String = character.nfd().filter(char::is_ascii).collect();
            let offset = start + offset;
            writer.replace(offset..offset + character.len_utf8(), &base, Step::Normalized);
        }
    }
    writer.finish()
}

/// Whether a character is a mark of the blocks that combine with Latin letters.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}')
}

/// Whether a character is an ASCII letter with a mark.
fn is_marked_latin(character: char) -> bool {
    let is_block = matches!(character, '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}');
    is_block && character.is_alphabetic() && character.nfd().next().is_some_and(|base| base.is_ascii_alphabetic())
}

/// The byte offset of the first non-ASCII character from `from` on.
fn find_non_ascii(text: &str, from: usize) -> Option<usize> {
    const CHUNK: usize = 64;
    let bytes = &text.as_bytes()[from..];
    let plain = bytes.chunks(CHUNK).take_while(|chunk| chunk.is_ascii()).count() * CHUNK;
    let found = bytes.get(plain..)?.iter().position(|byte| !byte.is_ascii())?;
    Some(from + plain + found)
}

/// Whether a character is surely not a mark and unchanged by NFKC. This is the fast path for most texts.
fn is_plain(character: char) -> bool {
    matches!(character, '\0'..='\u{7F}' | '\u{400}'..='\u{45F}' | '\u{3041}'..='\u{3096}' | '\u{4E00}'..='\u{9FFF}')
}

/// Whether a character is a letter or digit of the Latin blocks up to Latin Extended-B.
fn is_latin(character: char) -> bool {
    character <= '\u{24F}' && character.is_alphanumeric()
}

/// Whether two characters can compose although the second is not a combining mark, as in Hangul syllables.
fn is_jamo(first: char, second: char) -> bool {
    matches!(second, '\u{1160}'..='\u{11FF}') && matches!(first, '\u{1100}'..='\u{115F}' | '\u{AC00}'..='\u{D7A3}')
}

/// Whether a character is invisible: the categories of [`crate::text::invisible`], variation selectors, and other blank
/// or ignorable characters (Default_Ignorable_Code_Point in DerivedCoreProperties.txt).
pub(super) fn is_invisible(character: char) -> bool {
    match character {
        '\0'..='\u{7F}' => false,
        '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{3164}' => true,
        '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{E0100}'..='\u{E01EF}' => true,
        _ if is_plain(character) => false,
        _ => matches!(
            get_general_category(character),
            GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
        ),
    }
}

/// Replaces characters that look like ASCII with ASCII.
fn latinize(text: &str) -> Option<View> {
    if text.is_ascii() {
        return None;
    }
    let words = words(text);
    let mut writer = Writer::new(text);
    let mut gap = 0;
    for (index, word) in words.iter().enumerate() {
        exchange(text, gap..word.range.start, &mut writer);
        gap = word.range.end;
        let beside = |other: Option<&Word>, script| other.is_some_and(|other| other.kind == Kind::Genuine(script));
        let replaced = match word.kind {
            Kind::Latin => true,
            Kind::Genuine(_) => false,
            Kind::Double(script) => {
                let before = index.checked_sub(1).and_then(|before| words.get(before));
                !beside(before, script) && !beside(words.get(index + 1), script)
            }
        };
        if replaced {
            exchange(text, word.range.clone(), &mut writer);
        }
    }
    exchange(text, gap..text.len(), &mut writer);
    writer.finish()
}

/// Replaces the look-alikes in `range`.
fn exchange(text: &str, range: Range<usize>, writer: &mut Writer) {
    let piece = &text[..range.end];
    let mut at = range.start;
    while let Some(start) = find_non_ascii(piece, at)
        && let Some(character) = piece[start..].chars().next()
    {
        at = start + character.len_utf8();
        if let Some(ascii) = double(character) {
            writer.replace(start..at, ascii.encode_utf8(&mut [0; 4]), Step::Normalized);
        }
    }
}

/// The appearance of a word's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Latin letters, perhaps with look-alikes; or no letters at all.
    Latin,
    /// At least one letter that does not look Latin.
    Genuine(Script),
    /// Only look-alikes from another script.
    Double(Script),
}

/// The scripts with letters that look Latin; all others are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
    Other,
}

impl Script {
    fn of(character: char) -> Self {
        match character {
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Self::Greek,
            '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69F}' => Self::Cyrillic,
            '\u{530}'..='\u{58F}' => Self::Armenian,
            '\u{13A0}'..='\u{13FF}' | '\u{AB70}'..='\u{ABBF}' => Self::Cherokee,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
struct Word {
    range: Range<usize>,
    kind: Kind,
}

/// The words of a text: runs of letters. ASCII text between two non-ASCII characters is one word, apart from the words
/// that touch these characters.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut add = |range: Range<usize>, kind: Kind| match words.last_mut() {
        Some(word) if word.range.end == range.start => {
            word.range.end = range.end;
            word.kind = match (word.kind, kind) {
                (Kind::Genuine(script), _) | (_, Kind::Genuine(script)) => Kind::Genuine(script),
                (Kind::Latin, _) | (_, Kind::Latin) => Kind::Latin,
                (both, Kind::Double(_)) => both,
            };
        }
        _ => words.push(Word { range, kind }),
    };
    let bytes = text.as_bytes();
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let mut at = 0;
    while at < bytes.len() {
        let other = find_non_ascii(text, at).unwrap_or(bytes.len());
        let ascii = &bytes[at..other];
        let first = ascii.iter().take_while(|byte| is_letter(byte)).count();
        let last = ascii.iter().rev().take_while(|byte| is_letter(byte)).count();
        if first > 0 {
            add(at..at + first, Kind::Latin);
        }
        if first < ascii.len() {
            let between = at + first..other - last;
            if let Some(letter) = bytes[between.clone()].iter().position(is_letter) {
                let start = between.start + letter;
                add(start..start + 1, Kind::Latin);
            }
            if last > 0 {
                add(other - last..other, Kind::Latin);
            }
        }
        at = other;
        if let Some(character) = text[other..].chars().next() {
            at += character.len_utf8();
            if character.is_alphabetic() {
                add(other..at, letter_kind(character));
            }
        }
    }
    words
}

fn letter_kind(letter: char) -> Kind {
    if letter <= '\u{2AF}'
        || matches!(letter, '\u{1D00}'..='\u{1DBF}' | '\u{1E00}'..='\u{1EFF}' | '\u{A720}'..='\u{A7FF}')
    {
        return Kind::Latin;
    }
    let script = Script::of(letter);
    match double(letter) {
        Some(_) => Kind::Double(script),
        None => Kind::Genuine(script),
    }
}

/// The ASCII look-alike of a character: a letter for a letter, punctuation for a symbol.
pub(crate) fn double(character: char) -> Option<char> {
    /// Characters below this are looked up in a table, which covers nearly all text. Others are computed.
    const TABLE: usize = 0x3000;
    static DOUBLES: OnceLock<Vec<u8>> = OnceLock::new();
    if character.is_ascii() {
        return None;
    }
    let doubles = DOUBLES.get_or_init(|| {
        let characters = (0..TABLE as u32).map(char::from_u32);
        characters
            .map(|character| character.and_then(look_up).map_or(0, |ascii| ascii as u8))
            .collect()
    });
    match doubles.get(character as usize) {
        Some(&ascii) => (ascii != 0).then_some(char::from(ascii)),
        None if ('\u{4E00}'..='\u{9FFF}').contains(&character) => None,
        None => look_up(character),
    }
}

fn look_up(character: char) -> Option<char> {
    /// Small capitals, which UTS #39 does not map.
    const SMALL_CAPITALS: &str = "aᴀbʙcᴄdᴅeᴇfꜰgɢhʜiɪjᴊkᴋlʟmᴍnɴoᴏpᴘqǫrʀsꜱtᴛuᴜvᴠwᴡyʏzᴢ";
    /// The letters of uncontracted braille.
    const BRAILLE: &str = "a⠁b⠃c⠉d⠙e⠑f⠋g⠛h⠓i⠊j⠚k⠅l⠇m⠍n⠝o⠕p⠏q⠟r⠗s⠎t⠞u⠥v⠧w⠺x⠭y⠽z⠵";
    if character.is_ascii() {
        return None;
    }
    let letters = |first: char| char::from_u32('A' as u32 + (character as u32 - first as u32));
    match character {
        // White on black letters in circles and squares, and the letters that flags are made of.
        '\u{1F150}'..='\u{1F169}' => return letters('\u{1F150}'),
        '\u{1F170}'..='\u{1F189}' => return letters('\u{1F170}'),
        '\u{1F1E6}'..='\u{1F1FF}' => return letters('\u{1F1E6}'),
        '\u{2800}' => return Some(' '),
        '\u{2801}'..='\u{28FF}' => {
            let (at, _) = BRAILLE.char_indices().find(|&(_, cell)| cell == character)?;
            return BRAILLE[..at].chars().next_back();
        }
        _ => {}
    }
    if let Some((at, _)) = SMALL_CAPITALS.char_indices().find(|&(_, small)| small == character) {
        return SMALL_CAPITALS[..at].chars().next_back();
    }
    let mut buffer = [0; 4];
    let mut prototype = skeleton(character.encode_utf8(&mut buffer));
    let double = match (prototype.next()?, prototype.next(), prototype.next()) {
        // In UTS #39 "m" is written as "rn", and "I" as "l".
        ('r', Some('n'), None) => 'm',
        ('\'', Some('\''), None) => '"',
        ('l', None, _) if character.is_uppercase() => 'I',
        (single, None, _) => single,
        _ => return None,
    };
    let alike = if character.is_alphabetic() {
        double.is_ascii_alphabetic()
    } else {
        double.is_ascii_graphic()
    };
    alike.then_some(double)
}
