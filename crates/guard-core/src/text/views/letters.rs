//! Measures how much letters look like English words, and finds and shifts letters.

use std::ops::Range;

/// The number of letters of the alphabet.
pub(super) const ALPHABET: u8 = 26;
/// The shift of rot13.
pub(super) const ROT13: u8 = 13;

/// The rarity of a letter after another in English prose and code: the negative natural logarithm of its probability,
/// in nats, rounded, at most 9. Row and column 0 are the edge of a word; the others are the letters "a" to "z".
///
/// Counted, with add-one smoothing, over the texts in `training/data/injection` and the documentation strings of
/// Python's standard library: 250,000 words.
const RARITY: [&[u8; 27]; 27] = [
    b"923333344265433336332443657",
    b"294338548395232949232456648",
    b"336461778329266358445286828",
    b"329462672393367277352389969",
    b"136542748279477379445477859",
    b"136334457597442645223755458",
    b"139563369299478279364396959",
    b"147782743398454479335368986",
    b"229971898299666399464699969",
    b"544334349795331248422949595",
    b"338780788686888378738288878",
    b"136751749299474648736574968",
    b"225641478297276359643376938",
    b"223861897397536229745498959",
    b"137323427485565358732458958",
    b"254335348595432439243344678",
    b"327552695398277239242477939",
    b"468658888888576868556088888",
    b"236441548395543369433455949",
    b"148482664396566437732476959",
    b"237562691296567359334385748",
    b"444452559499232539222699899",
    b"419691999299978479767789999",
    b"227763882199584379336896799",
    b"226263586399647738561877556",
    b"076564667499554339632984967",
    b"337670577277646377774576765",
];

/// The rarity of ASCII letters as a word, in nats: higher is less like English. A byte that is not a letter is the edge
/// of a word.
pub(crate) fn rarity(letters: impl Iterator<Item = u8>) -> u32 {
    let mut before = 0;
    let mut sum = 0;
    for letter in letters.map(number).chain([0]) {
        sum += u32::from(RARITY[before][letter] - b'0');
        before = letter;
    }
    sum
}

/// The most nats per letter of a language in Latin letters. Random letters have about 4.5.
const SCRAMBLED: f64 = 3.4;

/// Whether decoded text looks like words: at least half of its characters are letters and white space, and its ASCII
/// letters follow each other as in a language.
pub(super) fn looks_like_words(text: &str) -> bool {
    let (mut letters, mut ascii, mut others) = (0_u32, 0, 0);
    for character in text.chars() {
        letters += u32::from(character.is_alphabetic());
        ascii += u32::from(character.is_ascii_alphabetic());
        others += u32::from(!character.is_alphabetic() && !character.is_whitespace());
    }
    if letters == 0 || others > letters {
        return false;
    }
    let (mut words, mut nats) = (0, 0);
    for word in ascii_words(text) {
        words += 1;
        nats += rarity(text[word].bytes());
    }
    // The edges of words count like letters.
    f64::from(nats) <= SCRAMBLED * f64::from(ascii + words)
}

/// The number of letters at the start of `text`, and their [`rarity`] unchanged, in rot13, backwards, and both,
/// computed in one pass.
pub(super) fn rarities(text: &[u8]) -> (usize, [u32; 4]) {
    /// The most letters whose rarity fits in 16 bits.
    const FIT: usize = 4096;
    let mut costs = [0_u32; 4];
    let mut before = 0;
    let mut length = 0;
    loop {
        let mut sum = 0;
        let mut letter = before;
        for &byte in text[length..].iter().take(FIT) {
            letter = number(byte);
            if letter == 0 {
                break;
            }
            sum += PAIRS[before * 27 + letter];
            before = letter;
            length += 1;
        }
        let ended = letter == 0 || length == text.len();
        if ended {
            sum += PAIRS[before * 27];
        }
        for (way, cost) in costs.iter_mut().enumerate() {
            *cost = cost.saturating_add((sum >> (16 * way)) as u32 & 0xFFFF);
        }
        if ended {
            return (length, costs);
        }
    }
}

/// The rarity of a pair of letters, at index 27 times the first plus the second. Each entry has four 16-bit numbers,
/// the lowest first: unchanged, in rot13, in reverse order, and both.
static PAIRS: [u64; 27 * 27] = pairs();

const fn pairs() -> [u64; 27 * 27] {
    const fn rot13(letter: usize) -> usize {
        match letter {
            0 => 0,
            1..14 => letter + 13,
            _ => letter - 13,
        }
    }
    const fn cost(first: usize, second: usize, way: u32) -> u64 {
        ((RARITY[first][second] - b'0') as u64) << (16 * way)
    }
    let mut pairs = [0; 27 * 27];
    let mut index = 0;
    while index < pairs.len() {
        let (first, second) = (index / 27, index % 27);
        pairs[index] = cost(first, second, 0)
            | cost(rot13(first), rot13(second), 1)
            | cost(second, first, 2)
            | cost(rot13(second), rot13(first), 3);
        index += 1;
    }
    pairs
}

/// The runs of ASCII letters of a text, as ranges.
pub(super) fn ascii_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(|c: char| c.is_ascii_alphabetic())?;
        let length = text[start..].find(|c: char| !c.is_ascii_alphabetic());
        at = length.map_or(text.len(), |length| start + length);
        Some(start..at)
    })
}

/// The letter `by` places further in the alphabet, in a circle. Other characters stay.
pub(super) fn shifted(character: char, by: u8) -> char {
    let first = match character {
        'a'..='z' => b'a',
        'A'..='Z' => b'A',
        _ => return character,
    };
    char::from((character as u8 - first + by) % ALPHABET + first)
}

/// The letter at the same place from the other end of the alphabet. Other characters stay.
pub(super) fn mirrored(character: char) -> char {
    match character {
        'a'..='z' => char::from(b'a' + b'z' - character as u8),
        'A'..='Z' => char::from(b'A' + b'Z' - character as u8),
        _ => character,
    }
}

/// The number of each byte: 1 to 26 for the letters in either case, and 0 for all others.
static NUMBERS: [u8; 256] = {
    let mut numbers = [0; 256];
    let mut letter = 0;
    while letter < 26 {
        numbers[(b'a' + letter) as usize] = letter + 1;
        numbers[(b'A' + letter) as usize] = letter + 1;
        letter += 1;
    }
    numbers
};

pub(super) fn number(letter: u8) -> usize {
    usize::from(NUMBERS[usize::from(letter)])
}
