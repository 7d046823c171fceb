//! Decodes leetspeak: digits and symbols in place of letters.

use super::letters::rarity;
use super::view::{Step, View, Writer};

/// This many words in leetspeak make the whole text leetspeak, if they are at least a quarter of its words.
const DENSE: usize = 3;
/// The most ambiguous signs of a word for which both letters are tried.
const TRIED: usize = 4;

/// Replaces digits and symbols within words with the letters that they stand for, as in "passw0rd" and "1gn0r3".
///
/// The signs "1", "!" and "|" are ambiguous. The first view reads them as "i". If it makes a difference, a second view
/// reads them as "l", and a third uses the likelier letter for each.
///
/// Only words of letters and such signs are replaced, and only if the result looks like a word, so that identifiers,
/// hexadecimal numbers and versions stay unchanged. In a text with many such words, short ones and those with a single
/// letter are replaced too.
pub(super) fn read(text: &str) -> [Option<View>; 3] {
    let (views, found) = read_with(text, Least { letters: 2, length: 4 });
    // Words have no white space.
    let words = || text.bytes().filter(u8::is_ascii_whitespace).count();
    if found >= DENSE && found * 3 >= words().saturating_sub(found) {
        return read_with(text, Least { letters: 1, length: 2 }).0;
    }
    views
}

/// The fewest letters, and the fewest letters and signs together, of a word that is replaced.
#[derive(Clone, Copy)]
struct Least {
    letters: usize,
    length: usize,
}

/// Returns the views and the number of replaced words.
fn read_with(text: &str, least: Least) -> ([Option<View>; 3], usize) {
    let bytes = text.as_bytes();
    let kind = |byte: &u8| KINDS[usize::from(*byte)];
    let mut writers = [Writer::new(text), Writer::new(text), Writer::new(text)];
    let (mut differ, mut found) = (false, 0);
    let mut at = 0;
    // Most of a text has no such sign.
    while let Some(sign) = bytes[at..].iter().position(|byte| kind(byte) == Kind::Sign) {
        let sign = at + sign;
        let is_part = |byte: &&u8| kind(byte) != Kind::Other;
        let before = bytes[at..sign].iter().rev().take_while(is_part).count();
        let start = sign - before;
        let end = sign + bytes[sign..].iter().take_while(is_part).count();
        at = end;
        let token = &bytes[start..end];
        // Numbers are no words.
        if !token.iter().any(u8::is_ascii_alphabetic) {
            continue;
        }
        let ambiguous = token.iter().filter(|&&byte| is_ambiguous(byte)).count();
        let first = word(token, least, |_| b'i');
        let second = if ambiguous > 0 {
            word(token, least, |_| b'l')
        } else {
            first.clone()
        };
        // Each bit selects the letter of one sign.
        let mixed = if (2..=TRIED).contains(&ambiguous) {
            1..(1 << ambiguous) - 1
        } else {
            0..0
        };
        let mixed =
            mixed.filter_map(|bits: u32| word(token, least, |sign| if bits >> sign & 1 == 0 { b'i' } else { b'l' }));
        let likelier = [&first, &second].into_iter().flatten().cloned().chain(mixed);
        let likelier = likelier.min_by_key(|(_, word)| rarity(word.bytes()));
        differ |= first != second;
        found += usize::from(likelier.is_some());
        for (writer, word) in writers.iter_mut().zip([first, second, likelier]) {
            if let Some((skipped, word)) = word {
                let from = start + skipped;
                writer.exchange(from..from + word.len(), &word, Step::Leetspeak);
            }
        }
    }
    let [first, second, likelier] = writers;
    let views = match differ {
        true => [first.finish(), second.finish(), likelier.finish()],
        false => [first.finish(), None, None],
    };
    (views, found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Sign,
    Other,
}

/// The kind of each byte in leetspeak.
static KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
            b'0'..=b'9' | b'@' | b'$' | b'!' | b'|' | b'+' => Kind::Sign,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

/// Whether a sign can stand for both "i" and "l".
fn is_ambiguous(byte: u8) -> bool {
    matches!(byte, b'1' | b'!' | b'|')
}

/// The word that a token stands for, and its offset in the token. `one` returns the letter of an ambiguous sign by its
/// index.
fn word(token: &[u8], least: Least, one: impl Fn(usize) -> u8) -> Option<(usize, String)> {
    if token.iter().all(u8::is_ascii_alphabetic) || token.len() > 64 {
        return None;
    }
    // Signs at the end are punctuation ("hello!") or a number ("user1"), and symbols at the start are punctuation too.
    let last = token.iter().rposition(u8::is_ascii_alphabetic)? + 1;
    let trailing = token[last..]
        .iter()
        .take_while(|&&byte| byte != b'!' && byte != b'|')
        .count();
    let ends = [last + trailing, last];
    let first = token.iter().position(|byte| !matches!(byte, b'!' | b'|' | b'+'))?;
    ends.into_iter().find_map(|end| {
        let token = &token[first..end];
        let letters = token.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        if letters < least.letters || token.len() < least.length || token.len() == letters {
            return None;
        }
        // "$exception" is a variable and "@someone" a name; "$hit" is leetspeak.
        let sigil = matches!(token[0], b'$' | b'@') && letters + 1 == token.len();
        if sigil && letters > 4 {
            return None;
        }
        let mut ambiguous = 0;
        let word: Option<Vec<u8>> = token
            .iter()
            .map(|&byte| {
                let number = ambiguous;
                ambiguous += usize::from(is_ambiguous(byte));
                letter(byte, one(number))
            })
            .collect();
        let word = word?;
        // A word has about 2.5 nats per letter; random letters have more than 4.
        let plausible = rarity(word.iter().copied()) as usize <= 3 * (word.len() + 1) + 3;
        plausible.then(|| (first, String::from_utf8_lossy(&word).into_owned()))
    })
}

/// The letter that a sign stands for. `one` is the letter of an ambiguous sign.
fn letter(byte: u8, one: u8) -> Option<u8> {
    match byte {
        b'0' => Some(b'o'),
        b'1' | b'!' | b'|' => Some(one),
        b'2' => Some(b'z'),
        b'3' => Some(b'e'),
        b'4' | b'@' => Some(b'a'),
        b'5' | b'$' => Some(b's'),
        b'6' | b'9' => Some(b'g'),
        b'7' | b'+' => Some(b't'),
        b'8' => Some(b'b'),
        _ => Some(byte),
    }
}
