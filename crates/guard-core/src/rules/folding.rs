//! How literals are compared with texts: letter case, white space and word boundaries.

/// Whether a character may begin a Korean particle, which follows a word without a space.
fn is_particle(character: char) -> bool {
    matches!(character, '\u{AC00}'..='\u{D7A3}')
}

/// Whether a character after a word makes it a longer word.
pub(super) fn continues_word(next: char) -> bool {
    is_word(next) && !is_particle(next)
}

/// Whether a character continues a word next to it.
pub(super) fn is_word(character: char) -> bool {
    let unspaced = matches!(
        character,
        // Thai and Lao, Myanmar, Khmer, kana and Bopomofo, Han with its extensions, half-width kana: the scripts of
        // line breaking classes SA and ID (UAX #14) that have no spaces between words.
        '\u{E00}'..='\u{EFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{17FF}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{312F}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FF9F}'
            | '\u{20000}'..='\u{3FFFF}'
    );
    character == '_' || character.is_alphanumeric() && !unspaced
}

/// The representative of all characters that differ in case only, by the simple mappings of UnicodeData.txt.
pub(super) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut upper = character.to_uppercase();
    // A character whose upper case is several ("ß") has no simple mapping.
    let upper = upper.next().filter(|_| upper.len() == 0).unwrap_or(character);
    // The full lower case of "İ" is "i" and a dot above; its simple one is the first of them, and no other has several.
    upper.to_lowercase().next().unwrap_or(upper)
}

/// How a text is folded before literals are searched for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folding {
    /// Whether letters that differ only in case are equal.
    pub folds: bool,
    /// Whether a run of white space equals one space.
    pub joins_spaces: bool,
}

impl Folding {
    /// Whether folding changes `text`. The automaton compares ASCII letters without case, so these need no folding.
    pub fn changes(self, text: &str) -> bool {
        self.folds && !text.is_ascii() || self.joins_spaces && has_other_spaces(text)
    }
}

/// Whether a text has white space other than single spaces.
fn has_other_spaces(text: &str) -> bool {
    let other = |byte: &u8| matches!(byte, b'\t'..=b'\r') || !byte.is_ascii();
    text.bytes().any(|byte| other(&byte)) || text.contains("  ")
}

/// Whether a character has no width, so that it may stand next to white space unseen.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}'
    )
}

/// Whether a character separates the words of a name. This includes U+200B, which allows a line break, and U+FEFF, the
/// old zero-width no-break space (Unicode Standard, section 23.2).
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200B}' | '\u{FEFF}')
}

/// The length of the white space at the start of `rest`, which folds to one space; or 0.
fn spaces(rest: &str) -> usize {
    let blank = |character: char| is_space(character) || is_invisible(character);
    let length = rest.find(|character| !blank(character)).unwrap_or(rest.len());
    if rest[..length].contains(is_space) { length } else { 0 }
}

/// A folded text that maps its offsets to the original.
pub(super) struct FoldedText {
    pub text: String,
    /// Pairs of offsets `(folded, original)` after each part whose length changed. Between two pairs, the distance from
    /// one offset to the other is constant.
    shifts: Vec<(usize, usize)>,
}

impl FoldedText {
    pub fn new(original: &str, folding: Folding) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut shifts = vec![(0, 0)];
        let mut start = 0;
        let is_plain = |byte: &u8| byte.is_ascii() && !(folding.joins_spaces && byte.is_ascii_whitespace());
        while let Some(character) = original[start..].chars().next() {
            // The automaton compares ASCII letters without case.
            let rest = &original.as_bytes()[start..];
            let blocks = rest.chunks(16).take_while(|block| block.iter().all(&is_plain));
            let plain: usize = blocks.map(<[u8]>::len).sum();
            let plain = plain + rest[plain..].iter().take_while(|byte| is_plain(byte)).count();
            if plain > 0 {
                text.push_str(&original[start..start + plain]);
                start += plain;
                continue;
            }
            let run = if folding.joins_spaces {
                spaces(&original[start..])
            } else {
                0
            };
            let (folded, length) = match run {
                0 if folding.folds => (fold(character), character.len_utf8()),
                0 => (character, character.len_utf8()),
                _ => (' ', run),
            };
            text.push(folded);
            start += length;
            if folded.len_utf8() != length {
                shifts.push((text.len(), start));
            }
        }
        Self { text, shifts }
    }

    /// The byte offset in the original text of a character boundary in the folded text.
    pub fn original(&self, at: usize) -> usize {
        let next = self.shifts.partition_point(|&(folded, _)| folded <= at);
        let (folded, original) = self.shifts[next.saturating_sub(1)];
        original + (at - folded)
    }
}
