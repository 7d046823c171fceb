//! Finds characters that a model reads but a person can't see.
//!
//! Invisible characters are those with the property `Default_Ignorable_Code_Point`, variation selectors, and those of
//! the categories that llm-guard's `InvisibleText` bans: `Cf` (format), `Co` (private use) and `Cn` (unassigned). The
//! tables are those of the crate `icu_properties`.
//!
//! Some of these characters are part of correct writing, and are not reported there:
//!
//! - Joiners in emoji (UTS #51), and in words of scripts whose letters join or stack, such as Persian and Hindi (UAX
//!   #31, section 2.3; RFC 5892, appendix A.1 and A.2).
//! - The tags of a regional flag, as in 🏴 + `gbsct` (UTS #51, ED-14a).
//! - One variation selector after a character that has several forms. No standard sequence has two (Unicode standard,
//!   23.4). Since there are 256 selectors, a run of them can hide arbitrary bytes after one visible character (Paul
//!   Butler, "Smuggling arbitrary data through an emoji", 2025).
//! - Directional marks, and closed isolates and embeddings, in texts with right-to-left letters (UAX #9). Overrides are
//!   always reported ("Trojan Source", CVE-2021-42574).
//! - Soft hyphens within words, but not between single letters.
//! - Zero-width spaces in scripts without spaces between words, and a byte order mark at the start of a text.
//! - Fillers next to letters of old Hangul, vowel separators in Mongolian words, and format characters in hieroglyphs,
//!   music, shorthand and formulas.
//!
//! ```
//! use guard_core::text::invisible::{Kind, find, remove};
//!
//! let found = find("pass\u{200B}word");
//! assert_eq!((found[0].range.clone(), found[0].kind), (4..7, Kind::ZeroWidthSpaces));
//! assert_eq!(remove("pass\u{200B}word", &found), "password");
//! assert!(find("می\u{200C}خواهم").is_empty());
//! ```

mod direction;
mod kind;
mod neighbors;
mod suspect;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use crate::stop;
pub use kind::Kind;
pub(crate) use kind::kind_of;
use suspect::{Need, Suspect, runs};

/// A run of invisible characters of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invisible {
    /// The UTF-8 byte range of the run, on character boundaries.
    pub range: Range<usize>,
    /// The kind of all characters of the run.
    pub kind: Kind,
}

/// Finds every maximal run of invisible characters of one kind that are not part of correct writing, in order.
///
/// A text without these has no further ones: whether a character is needed depends only on the visible characters
/// around it and on invisible ones that stay.
pub fn find(text: &str) -> Vec<Invisible> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut suspects: Vec<Suspect> = Vec::new();
    for (start, character) in text.char_indices() {
        if let Some(kind) = kind_of(character) {
            let need = Need::No;
            suspects.push(Suspect {
                start,
                character,
                kind,
                need,
            });
        }
    }
    let runs = runs(text, &suspects);
    for run in &runs {
        stop::point();
        neighbors::judge(run, &mut suspects[run.suspects.clone()]);
    }
    words::judge(text, &runs, &mut suspects);
    direction::judge(text, &runs, &mut suspects);

    let mut found: Vec<Invisible> = Vec::new();
    for suspect in suspects.iter().filter(|suspect| suspect.need == Need::No) {
        let (range, kind) = (suspect.start..suspect.end(), suspect.kind);
        match found.last_mut() {
            Some(last) if last.kind == kind && last.range.end == range.start => last.range.end = range.end,
            _ => found.push(Invisible { range, kind }),
        }
    }
    found
}

/// Returns `text` without the characters in `found`.
pub fn remove(text: &str, found: &[Invisible]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut kept = 0;
    for invisible in found {
        result.push_str(&text[kept..invisible.range.start]);
        kept = invisible.range.end;
    }
    result.push_str(&text[kept..]);
    result
}
