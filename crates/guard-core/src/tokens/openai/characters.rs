//! The kinds of characters in the patterns of the encodings.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// White space, `\s`.
pub(super) const SPACE: u8 = 1;
/// A letter, `\p{L}`.
pub(super) const LETTER: u8 = 2;
/// A number, `\p{N}`.
pub(super) const NUMBER: u8 = 4;
/// None of the three.
pub(super) const OTHER: u8 = 8;
/// A character that may begin a word of o200k: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
pub(super) const UPPER: u8 = 16;
/// A character that may continue a word of o200k: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
pub(super) const LOWER: u8 = 32;
/// `[\r\n]`.
pub(super) const NEWLINE: u8 = 64;

const CLASSES: [(&str, u8); 6] = [
    (r"\s", SPACE),
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
    (r"[\r\n]", NEWLINE),
];
/// The number of characters per page of the table.
const PAGE: usize = 256;
const CHARACTERS: usize = char::MAX as usize + 1;

/// The kinds of all characters. Equal pages are stored once.
pub(super) struct Characters {
    pages: Vec<[u8; PAGE]>,
    page_of: Vec<u8>,
}

/// The kinds from the tables of the `regex` crate, which the patterns would use too.
static CHARACTER_KINDS: LazyLock<Characters> = LazyLock::new(|| {
    let mut kinds = vec![0; CHARACTERS];
    for (class, kind) in CLASSES {
        for (start, end) in ranges(class) {
            kinds[start as usize..=end as usize]
                .iter_mut()
                .for_each(|kinds| *kinds |= kind);
        }
    }
    for kinds in &mut kinds {
        if *kinds & (SPACE | LETTER | NUMBER) == 0 {
            *kinds |= OTHER;
        }
    }
    let mut known: HashMap<[u8; PAGE], u8> = HashMap::new();
    let mut pages = Vec::new();
    let mut page_of = Vec::with_capacity(CHARACTERS / PAGE);
    for page in kinds.as_chunks::<PAGE>().0 {
        let number = known.entry(*page).or_insert_with(|| {
            pages.push(*page);
            u8::try_from(pages.len() - 1).expect("Unicode has fewer different pages")
        });
        page_of.push(*number);
    }
    Characters { pages, page_of }
});

fn ranges(class: &str) -> Vec<(char, char)> {
    let hir = regex_syntax::parse(class).expect("the class is known");
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.iter().map(|range| (range.start(), range.end())).collect(),
        _ => Vec::new(),
    }
}

/// A text with the kinds of its characters.
#[derive(Clone, Copy)]
pub(super) struct Kinds<'a> {
    text: &'a str,
    table: &'static Characters,
}

impl<'a> Kinds<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            table: &CHARACTER_KINDS,
        }
    }

    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    pub(super) fn byte(self, at: usize) -> u8 {
        self.text.as_bytes()[at]
    }

    /// The kinds of the character at a byte, and its end; no kind at the end of the text.
    #[inline]
    pub(super) fn kinds_at(self, at: usize) -> (u8, usize) {
        match self.text.as_bytes().get(at) {
            None => (0, at),
            Some(&byte) if byte < 0x80 => (self.table.pages[0][byte as usize], at + 1),
            Some(_) => self.beyond_ascii(at),
        }
    }

    fn beyond_ascii(self, at: usize) -> (u8, usize) {
        let character = self.text[at..].chars().next().unwrap_or_default();
        let code = character as usize;
        let page = self.table.page_of[code / PAGE];
        let kinds = self.table.pages[page as usize][code % PAGE];
        (kinds, at + character.len_utf8())
    }

    /// The end of the run of characters with one of these kinds.
    #[inline]
    pub(super) fn run(self, mut at: usize, kinds: u8) -> usize {
        loop {
            let (kind, end) = self.kinds_at(at);
            if kind & kinds == 0 {
                return at;
            }
            at = end;
        }
    }
}
