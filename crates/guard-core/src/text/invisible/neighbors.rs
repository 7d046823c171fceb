//! Decides by the two visible neighbors of a run which of its characters are needed.

use icu_properties::props::{
    CanonicalCombiningClass, EmojiModifier, GeneralCategory, GeneralCategoryGroup, IndicSyllabicCategory, JoiningType,
};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_script::{Script, UnicodeScript};

use super::kind::{Kind, is_pictograph};
use super::suspect::{Need, Run, Suspect};

/// The characters of a run that stay, up to the current one.
#[derive(Default)]
struct History {
    last: Option<char>,
    joiners: usize,
    spaces: usize,
}

/// Decides about all characters of a run except the directional ones, each by the characters that stay before it.
pub(super) fn judge(run: &Run, suspects: &mut [Suspect]) {
    let is_lone_selector = suspects.iter().filter(|s| s.kind == Kind::VariationSelectors).count() == 1;
    let flag = flag(run.left, suspects);
    let mut history = History::default();
    for (index, suspect) in suspects.iter_mut().enumerate() {
        let character = suspect.character;
        let is_needed = match suspect.kind {
            Kind::Joiners => {
                suspect.need = joiner(run, &history, character);
                suspect.need != Need::No
            }
            Kind::SoftHyphens => {
                suspect.need = soft_hyphen(run, &history);
                suspect.need != Need::No
            }
            Kind::ZeroWidthSpaces => suspect.start == 0 && character == '\u{FEFF}' || zero_width_space(run, &history),
            Kind::Tags => index < flag,
            Kind::VariationSelectors => {
                is_lone_selector && history.last.is_none() && accepts_selector(run.left, character)
            }
            Kind::Fillers => filler(run, &history, character),
            Kind::FormatCharacters => format_character(run, &history, character),
            Kind::DirectionalMarks | Kind::DirectionalControls | Kind::PrivateUse | Kind::Unassigned => continue,
        };
        if !is_needed {
            continue;
        }
        if suspect.need == Need::No {
            suspect.need = Need::Yes;
        }
        history.last = Some(character);
        history.joiners += usize::from(suspect.kind == Kind::Joiners);
        history.spaces += usize::from(suspect.kind == Kind::ZeroWidthSpaces);
    }
}

fn joiner(run: &Run, history: &History, character: char) -> Need {
    const JOINER: char = '\u{200D}';
    let (left, right) = (run.left, run.right);
    if character == JOINER && matches!(history.last, None | Some('\u{FE0F}')) {
        // UTS #51, ED-15 and ED-16: emoji, perhaps with a skin tone, joined with emoji.
        let is_toned = |c| CodePointSetData::new::<EmojiModifier>().contains(c);
        if left.is_some_and(|c| is_pictograph(c) || is_toned(c)) && right.is_some_and(is_pictograph) {
            return Need::Yes;
        }
    }
    // Users often type the non-joiner twice by accident.
    if history.joiners > usize::from(character != JOINER) {
        return Need::No;
    }
    // RFC 5892, A.1 and A.2. Bengali and Sinhala also have joiners before a virama (Unicode standard, 12.2 and 13.2).
    if left.is_some_and(is_virama) || right.is_some_and(is_virama) {
        return Need::Yes;
    }
    if character != JOINER
        && matches!(
            left.map(joining_type),
            Some(JoiningType::DualJoining | JoiningType::LeftJoining)
        )
        && matches!(
            right.map(joining_type),
            Some(JoiningType::DualJoining | JoiningType::RightJoining)
        )
    {
        return Need::Yes;
    }
    // Writers are less strict: they put a non-joiner after a letter that does not join anyway, or before a space.
    if left.is_some_and(is_of_joining_script) || right.is_some_and(is_of_joining_script) {
        return Need::InWord;
    }
    Need::No
}

fn joining_type(character: char) -> JoiningType {
    CodePointMapData::<JoiningType>::new().get(character)
}

fn is_virama(character: char) -> bool {
    CodePointMapData::<CanonicalCombiningClass>::new().get(character) == CanonicalCombiningClass::Virama
        || matches!(
            CodePointMapData::<IndicSyllabicCategory>::new().get(character),
            IndicSyllabicCategory::Virama | IndicSyllabicCategory::InvisibleStacker | IndicSyllabicCategory::PureKiller
        )
}

/// Whether this is a letter, mark or digit of a script in which letters join or stack.
fn is_of_joining_script(character: char) -> bool {
    // The scripts before Arabic do not join. Their marks, and punctuation, are in the tables too.
    if character < '\u{600}' || !(is_mark(character) || character.is_alphanumeric()) {
        return false;
    }
    match joining_type(character) {
        // Marks of all scripts are transparent. Inherited marks in this range belong to Latin, Greek and Cyrillic.
        JoiningType::Transparent => character < '\u{1AB0}' || !matches!(character.script(), Script::Inherited),
        JoiningType::NonJoining => {
            CodePointMapData::<IndicSyllabicCategory>::new().get(character) != IndicSyllabicCategory::Other
        }
        _ => true,
    }
}

/// A soft hyphen is needed after a letter, and before a letter or the end of a line.
fn soft_hyphen(run: &Run, history: &History) -> Need {
    let is_in_word = |c: char| c.is_alphabetic() || is_mark(c);
    let before = run.left.is_some_and(is_in_word);
    let behind = run.right.is_none_or(|c| is_in_word(c) || c.is_whitespace());
    if history.last.is_none() && before && behind {
        Need::InWord
    } else {
        Need::No
    }
}

fn zero_width_space(run: &Run, history: &History) -> bool {
    // Two are accepted, since writers can't see them.
    if history.spaces >= 2 {
        return false;
    }
    let is = |of: fn(char) -> bool, c: Option<char>| c.is_some_and(of);
    is(is_unspaced, run.left)
        || is(is_unspaced, run.right)
        || is(is_ideographic, run.left) && is(is_ideographic, run.right)
}

/// Whether a character belongs to a script without spaces between words, which needs marks for line breaks.
fn is_unspaced(character: char) -> bool {
    use Script::*;
    matches!(
        character.script(),
        Thai | Lao
            | Khmer
            | Myanmar
            | Tai_Le
            | New_Tai_Lue
            | Tai_Tham
            | Tai_Viet
            | Balinese
            | Javanese
            | Sundanese
            | Batak
            | Buginese
            | Makasar
            | Rejang
            | Cham
            | Ahom
            | Kawi
            | Tibetan
    )
}

/// Whether a character belongs to Chinese or Japanese text, including punctuation.
fn is_ideographic(character: char) -> bool {
    matches!(
        character.script(),
        Script::Han | Script::Hiragana | Script::Katakana | Script::Bopomofo
    ) || matches!(character, '\u{3000}'..='\u{303F}' | '\u{30FC}' | '\u{FF01}'..='\u{FFEF}')
}

/// The number of characters that are the tags of a flag (UTS #51, ED-14a). The region must be an ISO 3166 country with
/// a subdivision code as in CLDR, so that tags can't carry long text.
fn flag(left: Option<char>, suspects: &[Suspect]) -> usize {
    if left != Some('\u{1F3F4}') {
        return 0;
    }
    let ascii = |suspect: &Suspect| match suspect.character {
        tag @ '\u{E0020}'..='\u{E007F}' => char::from_u32(tag as u32 - 0xE0000),
        _ => None,
    };
    let tags: String = suspects.iter().map_while(ascii).take(8).collect();
    let Some((code, _)) = tags.split_once('\u{7F}') else {
        return 0;
    };
    let (country, subdivision) = code.split_at(code.len().min(2));
    let is_country = country.bytes().all(|b| b.is_ascii_lowercase())
        && country.to_ascii_uppercase().parse::<phonenumber::country::Id>().is_ok();
    let is_subdivision = (1..=3).contains(&subdivision.len())
        && subdivision
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if is_country && is_subdivision {
        code.len() + 1
    } else {
        0
    }
}

/// Whether a character accepts this variation selector (Unicode's StandardizedVariants.txt,
/// emoji-variation-sequences.txt and the Ideographic Variation Database). If fonts have a selector for some characters
/// of a script, all of its characters accept it here.
fn accepts_selector(base: Option<char>, selector: char) -> bool {
    let is_of_emoji = matches!(selector, '\u{FE0E}' | '\u{FE0F}');
    // The selector may remain from an emoji that was cut out of a text.
    let Some(base) = base else { return is_of_emoji };
    let script = base.script();
    match selector {
        '\u{180B}'..='\u{180F}' => script == Script::Mongolian,
        '\u{E0100}'..='\u{E01EF}' => script == Script::Han,
        _ if !(base.is_alphabetic() || is_mark(base)) => is_of_emoji || !base.is_whitespace(),
        _ if is_pictograph(base) => is_of_emoji,
        '\u{FE00}'..='\u{FE06}' => {
            matches!(
                script,
                Script::Han | Script::Myanmar | Script::Phags_Pa | Script::Manichaean | Script::Egyptian_Hieroglyphs
            ) || is_mathematical(base)
        }
        _ => false,
    }
}

fn filler(run: &Run, history: &History, character: char) -> bool {
    let left_is = |of: fn(char) -> bool| history.last.is_none() && run.left.is_some_and(of);
    let right_is = |of: fn(char) -> bool| run.right.is_some_and(of);
    match character {
        // Unicode standard, 18.6: a syllable block of old Hangul that has no leading consonant, or no vowel.
        '\u{115F}' => history.last.is_none() && right_is(|c| is_vowel(c) || is_final(c)),
        '\u{1160}' => left_is(is_initial) || history.last == Some('\u{115F}') && right_is(is_final),
        // Unicode standard, 13.5: between a word and its last vowel.
        '\u{180E}' => {
            matches!(history.last, None | Some('\u{180B}'..='\u{180D}' | '\u{180F}'))
                && [run.left, run.right]
                    .into_iter()
                    .flatten()
                    .filter(|c| c.script() == Script::Mongolian)
                    .count()
                    == 2
        }
        // Unicode standard, 23.2: it keeps marks in the order in which they were written, as in biblical Hebrew.
        '\u{34F}' => history.last.is_none() && run.left.is_some() && right_is(is_mark),
        _ => false,
    }
}

fn is_initial(character: char) -> bool {
    matches!(character, '\u{1100}'..='\u{115E}' | '\u{A960}'..='\u{A97C}')
}

fn is_vowel(character: char) -> bool {
    matches!(character, '\u{1161}'..='\u{11A7}' | '\u{D7B0}'..='\u{D7C6}')
}

fn is_final(character: char) -> bool {
    matches!(character, '\u{11A8}'..='\u{11FF}' | '\u{D7CB}'..='\u{D7FB}')
}

fn format_character(run: &Run, history: &History, character: char) -> bool {
    let beside = |of: fn(char) -> bool| run.left.is_some_and(of) || run.right.is_some_and(of);
    match character {
        // Unicode standard, 22.6: the invisible operator in "2x" and "f(x)". Two ordinary letters or digits are parts
        // of a word or number.
        '\u{2061}'..='\u{2064}' => {
            let class = |c: char| match c {
                '0'..='9' => 1,
                '(' | ')' | '[' | ']' | '{' | '}' | '|' => 2,
                _ if is_mathematical(c) => 2,
                _ if c.is_alphabetic() => 3,
                _ => 4,
            };
            match (run.left.map(class), run.right.map(class)) {
                (Some(left), Some(right)) => {
                    history.last.is_none()
                        && left < 4
                        && right < 4
                        && (left, right) != (1, 1)
                        && (left, right) != (3, 3)
                }
                _ => false,
            }
        }
        '\u{13430}'..='\u{1345F}' => beside(|c| c.script() == Script::Egyptian_Hieroglyphs),
        '\u{1BCA0}'..='\u{1BCA3}' => beside(|c| c.script() == Script::Duployan),
        '\u{1D173}'..='\u{1D17A}' => beside(|c| matches!(c, '\u{1D100}'..='\u{1D1FF}')),
        _ => false,
    }
}

/// Mathematical alphanumeric symbols, which are letters in the style of formulas.
fn is_mathematical(character: char) -> bool {
    matches!(character, '\u{1D400}'..='\u{1D7FF}')
}

/// Whether this is a combining mark.
pub(super) fn is_mark(character: char) -> bool {
    character >= '\u{300}'
        && GeneralCategoryGroup::Mark.contains(CodePointMapData::<GeneralCategory>::new().get(character))
}
