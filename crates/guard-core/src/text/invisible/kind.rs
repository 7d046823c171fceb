//! The kinds of invisible characters.

use icu_properties::props::{
    BidiClass, DefaultIgnorableCodePoint, ExtendedPictographic, GeneralCategory, PrependedConcatenationMark,
    VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// The purpose of an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The zero-width joiner and non-joiner, U+200C and U+200D.
    Joiners,
    /// Zero-width spaces, which mark where a line may break: U+200B, U+2060 and U+FEFF.
    ZeroWidthSpaces,
    /// U+061C, U+200E and U+200F, which act like a letter with a direction.
    DirectionalMarks,
    /// Embeddings, overrides and isolates (UAX #9), which reorder what the reader sees: U+202A to U+202E and U+2066 to
    /// U+2069.
    DirectionalControls,
    /// The soft hyphen, U+00AD.
    SoftHyphens,
    /// The block Tags, U+E0000 to U+E007F, an invisible copy of ASCII.
    Tags,
    /// Characters with the property `Variation_Selector`, which choose a form of the character before them.
    VariationSelectors,
    /// Blank letters and marks: the fillers of Hangul (U+115F, U+1160, U+3164, U+FFA0), the inherent vowels of Khmer
    /// (U+17B4, U+17B5), the Mongolian vowel separator (U+180E) and the combining grapheme joiner (U+034F).
    Fillers,
    /// Private use (`Co`).
    PrivateUse,
    /// Unassigned (`Cn`), including noncharacters. Code points reserved for emoji are excluded, since newer systems may
    /// show them.
    Unassigned,
    /// Any other format character: for mathematics, music, annotations, hieroglyphs and shorthand.
    FormatCharacters,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Joiners,
        Self::ZeroWidthSpaces,
        Self::DirectionalMarks,
        Self::DirectionalControls,
        Self::SoftHyphens,
        Self::Tags,
        Self::VariationSelectors,
        Self::Fillers,
        Self::PrivateUse,
        Self::Unassigned,
        Self::FormatCharacters,
    ];

    /// The name of the kind in options and reports, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Joiners => "joiners",
            Self::ZeroWidthSpaces => "zero_width_spaces",
            Self::DirectionalMarks => "directional_marks",
            Self::DirectionalControls => "directional_controls",
            Self::SoftHyphens => "soft_hyphens",
            Self::Tags => "tags",
            Self::VariationSelectors => "variation_selectors",
            Self::Fillers => "fillers",
            Self::PrivateUse => "private_use",
            Self::Unassigned => "unassigned",
            Self::FormatCharacters => "format_characters",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The kind of a character; `None` if it is visible or white space.
///
/// Invisible characters are those with the property `Default_Ignorable_Code_Point`, those of the general categories
/// `Cf`, `Co` and `Cn`, and variation selectors. Two groups are excluded: visible signs around Arabic numbers
/// (`Prepended_Concatenation_Mark`, category `Cf`), and code points reserved for emoji.
pub(crate) fn kind_of(character: char) -> Option<Kind> {
    match character {
        '\0'..='\u{7F}' => None,
        '\u{AD}' => Some(Kind::SoftHyphens),
        '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{3164}' | '\u{FFA0}' => {
            Some(Kind::Fillers)
        }
        '\u{200C}' | '\u{200D}' => Some(Kind::Joiners),
        '\u{200B}' | '\u{2060}' | '\u{FEFF}' => Some(Kind::ZeroWidthSpaces),
        '\u{61C}' | '\u{200E}' | '\u{200F}' => Some(Kind::DirectionalMarks),
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Some(Kind::DirectionalControls),
        '\u{E0000}'..='\u{E007F}' => Some(Kind::Tags),
        _ => match CodePointMapData::<GeneralCategory>::new().get(character) {
            GeneralCategory::Format if CodePointSetData::new::<PrependedConcatenationMark>().contains(character) => {
                None
            }
            GeneralCategory::Format => Some(Kind::FormatCharacters),
            GeneralCategory::PrivateUse => Some(Kind::PrivateUse),
            GeneralCategory::Unassigned => (!is_pictograph(character)).then_some(Kind::Unassigned),
            GeneralCategory::NonspacingMark if CodePointSetData::new::<VariationSelector>().contains(character) => {
                Some(Kind::VariationSelectors)
            }
            _ if CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character) => Some(Kind::Fillers),
            _ => None,
        },
    }
}

/// Whether emoji use this character, or will (UTS #51, `Extended_Pictographic`).
pub(super) fn is_pictograph(character: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(character)
}

/// Whether this is a letter or digit of a right-to-left script.
pub(super) fn is_right_to_left(character: char) -> bool {
    // The first right-to-left block is Hebrew.
    character >= '\u{590}'
        && matches!(
            CodePointMapData::<BidiClass>::new().get(character),
            BidiClass::RightToLeft | BidiClass::ArabicLetter | BidiClass::ArabicNumber
        )
}
