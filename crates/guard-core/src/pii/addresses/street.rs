//! Reads the street or the box around a number.

use std::ops::Range;

use super::codes::{Quality, code, is_british};
use super::tokens::{Kind, Token, tokens};
use super::words::{
    AFTER, ANY_AFTER, ANY_BEFORE, ANY_NUMBERED, BEFORE, BEFORE_CAPITAL, BEFORE_DOUBTFUL, BOX, BOX_DOUBTFUL, COUNTRY,
    DIRECTION, DWELLING, EMPTY, JOINED, JOINED_DOUBTFUL, LINK, Meanings, NEVER, NOT_AFTER, NUMBER, NUMBERED,
    NUMBERED_DOUBTFUL, SUFFIX, TOWN, UNIT, Words, hash, hash_next,
};

/// The most words of a name.
const NAME: usize = 5;

/// The core of an address: the tokens of a street and the number of a house.
#[derive(Debug, Clone)]
pub(super) struct Core {
    pub tokens: Range<usize>,
    pub points: i32,
    /// Whether the street is in lower case.
    pub is_lower: bool,
    /// Whether a street with its kind was read.
    pub has_street: bool,
}

/// What was read around a number.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub range: Range<usize>,
    /// The evidence for an address.
    pub points: i32,
    pub is_lower: bool,
    pub has_street: bool,
}

/// The tokens around a number.
pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    words: &'a Words,
}

impl<'a> Parser<'a> {
    /// Reads the tokens of `range`.
    pub(super) fn new(text: &'a str, range: Range<usize>, words: &'a Words) -> Self {
        Self {
            text,
            tokens: tokens(text, range, words),
            words,
        }
    }

    pub(super) fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index)
    }

    pub(super) fn word(&self, index: usize) -> &str {
        self.tokens[index].word(self.text)
    }

    /// The longest phrase from `index` on with one of `meanings`, and its end.
    pub(super) fn phrase(&self, index: usize, meanings: Meanings) -> Option<(usize, Meanings)> {
        let mut state = EMPTY;
        let mut longest = None;
        for offset in 0..4 {
            let Some(token) = self.token(index + offset).filter(|token| token.is_word()) else {
                break;
            };
            state = match offset {
                0 => hash(state, token.word(self.text)),
                _ => hash_next(state, token.word(self.text)),
            };
            let own = self.words.of_hash(state);
            if own & meanings != 0 {
                longest = Some((index + offset + 1, own & meanings));
            }
        }
        longest
    }

    /// The length and the quality of the postal code that begins at `index`.
    pub(super) fn code_at(&self, index: usize) -> Option<(usize, Quality)> {
        code(&self.text[self.token(index)?.range.start..])
    }

    /// The address around the number at `index`, and its evidence.
    pub(super) fn address(&self, index: usize) -> Option<Reading> {
        if self.is_something_else(index) {
            return None;
        }
        let cores = [
            self.post_box(index),
            self.before_number(index),
            self.behind_number(index),
            self.dwelling(index),
        ];
        let read = cores.into_iter().flatten().filter_map(|core| self.extend(&core));
        read.max_by_key(|read| (read.has_street, read.points, read.range.len()))
    }

    /// Whether the word before a number makes it something else: "page 12".
    fn is_something_else(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.token(before));
        before.is_some_and(|before| {
            before.is(NOT_AFTER) && !before.is(ANY_NUMBERED | ANY_BEFORE | BOX_DOUBTFUL) || before.is_sign("$€£¥=<>@_*")
        })
    }

    /// The points of the number of a house: less for a year and for a long number.
    fn number_points(&self, index: usize) -> i32 {
        let digits = self.word(index).bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = digits == self.word(index).len();
        let is_year = is_whole && matches!(self.word(index).parse::<u32>(), Ok(1900..=2099));
        match digits {
            _ if is_year => 0,
            1..=5 => 1,
            _ => -1,
        }
    }

    /// Whether a token belongs to the name of a street, in lower case only if `is_lower`.
    fn is_name(&self, token: &Token, is_lower: bool) -> bool {
        match token.kind {
            Kind::Capital => !token.is(NEVER) || token.range.len() <= 2 && !token.is(LINK),
            Kind::Lower => is_lower && !token.is(NEVER),
            Kind::Ordinal => true,
            _ => false,
        }
    }

    /// Whether a full stop after a word ends a sentence.
    pub(super) fn ends_sentence(&self, token: &Token) -> bool {
        token.has_dot && token.word(self.text).chars().count() > 4
    }

    /// A street before its number: "calle Mayor 12", "Hauptstraße 12", "Bécsi utca 97", "Calle 10 # 43-25".
    fn before_number(&self, index: usize) -> Option<Core> {
        if self.tokens[index].kind != Kind::Number {
            return None;
        }
        let mut points = self.number_points(index);
        let mut last = index.checked_sub(1)?;
        // "No.", "nr", "д.", "#", perhaps with a colon or comma around it.
        let mut skipped = 0;
        while skipped < 3 {
            let token = self.token(last)?;
            let is_label = token.is(NUMBER) && !token.is(BEFORE | BEFORE_DOUBTFUL) || token.is_sign("#№°º");
            // "شارع الثورة، مبنى 5"
            let is_building = skipped == 0
                && token.is(UNIT)
                && token.is_word()
                && !token.is(ANY_NUMBERED)
                && last
                    .checked_sub(1)
                    .is_some_and(|before| self.tokens[before].is_sign("،"));
            if is_label || is_building {
                points += i32::from(skipped < 2);
            } else {
                let is_labelled = last.checked_sub(1).is_some_and(|before| self.tokens[before].is(NUMBER));
                let is_joint = token.is_sign(",،.") || token.is_sign(":") && is_labelled;
                if !is_joint {
                    break;
                }
            }
            last = last.checked_sub(1)?;
            skipped += 1;
        }
        // "via libera al piano 2"
        if self.tokens[last].is(UNIT)
            && !self.tokens[last].is(ANY_NUMBERED | ANY_BEFORE | NUMBER)
            && self.tokens[last].range.len() > 3
            && self.tokens[last].kind == Kind::Lower
        {
            return None;
        }
        let end = self.behind(index);
        let found = self
            .kind_behind_name(last)
            .into_iter()
            .chain(self.kind_before_name(last));
        let best = found.max_by_key(|(start, kind_points, _)| (*kind_points, std::cmp::Reverse(*start)));
        let (start, kind_points, is_lower) = best?;
        Some(Core {
            tokens: start..end,
            points: points + kind_points,
            is_lower,
            has_street: true,
        })
    }

    /// The end of the number at `index`, with a letter or a word such as "bis" after it.
    fn behind(&self, index: usize) -> usize {
        let next = self.token(index + 1);
        let is_suffix = next.is_some_and(|next| {
            let is_alone = self
                .token(index + 2)
                .is_none_or(|after| !after.is_word() && !after.is_sign(":."));
            next.is_word()
                && next.is(SUFFIX)
                && !next.has_dot
                && (next.kind == Kind::Capital || next.range.len() > 1 || is_alone)
        });
        let follows = self.token(index + 2).is_none_or(|after| {
            !after.is_word() && !after.is_sign(":")
                || after.kind == Kind::Capital && next.is_some_and(|next| next.range.len() > 1)
        });
        if !(is_suffix && follows) {
            return index + 1;
        }
        // "Kirkkokatu 12 A 3"
        let is_letter = self.tokens[index + 1].word(self.text).chars().count() == 1;
        let is_door = self
            .token(index + 2)
            .is_some_and(|door| door.kind == Kind::Number && door.has_space && door.range.len() <= 3);
        index + if is_letter && is_door { 3 } else { 2 }
    }

    /// The start of a street whose kind ends at `last`: "Hauptstraße", "Bécsi utca", "Cumhuriyet Cad.".
    fn kind_behind_name(&self, last: usize) -> Option<(usize, i32, bool)> {
        let kind = self.token(last)?;
        if !kind.is(ANY_NUMBERED) {
            return None;
        }
        let points = 1 + i32::from(kind.is(NUMBERED | JOINED) && !kind.is(NUMBERED_DOUBTFUL));
        if kind.is(JOINED | JOINED_DOUBTFUL) && !kind.is(NUMBERED) {
            let is_lower = kind.kind == Kind::Lower;
            let start = self.before_joined(last);
            return Some((start, points + i32::from(!is_lower), is_lower));
        }
        let is_lower = last.checked_sub(1).and_then(|before| self.token(before))?.kind == Kind::Lower;
        let mut start = last;
        while last - start < if is_lower { self.lower_names_before(last) } else { 4 } {
            let Some(before) = start.checked_sub(1).and_then(|before| self.token(before)) else {
                break;
            };
            let is_part = self.is_name(before, is_lower) && !self.ends_sentence(before) && !before.is(NUMBER);
            let is_house_number = before.kind == Kind::Number && start < last;
            if !(is_part || is_house_number) {
                break;
            }
            start -= 1;
        }
        let has_name = start < last && self.tokens[start..last].iter().any(Token::is_word);
        has_name.then_some((start, points + i32::from(!is_lower), is_lower))
    }

    /// How many words in lower case a name has that ends before `last`: those behind a sign, but one within a sentence.
    fn lower_names_before(&self, last: usize) -> usize {
        for count in 1..=4 {
            let before = last.checked_sub(count).and_then(|before| self.token(before));
            let Some(before) = before.filter(|before| before.is_word() && !before.has_dot) else {
                return (count - 1).max(1);
            };
            if before.is(NEVER | LINK) {
                return 1;
            }
        }
        1
    }

    /// The start of a street such as "Große Bergstraße" or "Hugo de Grootlaan", whose last word is at `last`.
    fn before_joined(&self, last: usize) -> usize {
        let Some(before) = last.checked_sub(1).and_then(|before| self.token(before)) else {
            return last;
        };
        let word = before.word(self.text).to_lowercase();
        let is_adjective = !before.has_dot
            && (before.kind == Kind::Capital || self.tokens[last].kind == Kind::Lower)
            && (ADJECTIVES.contains(&&*word) || word.len() > 5 && word.ends_with("er") && !before.is(NEVER));
        if is_adjective {
            return last - 1;
        }
        if before.kind == Kind::Lower && before.is(LINK) && last >= 2 {
            let first = &self.tokens[last - 2];
            let is_dutch = matches!(
                before.word(self.text),
                "de" | "van" | "den" | "der" | "het" | "ter" | "ten"
            );
            if is_dutch && first.kind == Kind::Capital && !first.is(NEVER) {
                return last - 2;
            }
        }
        last
    }

    /// The start of a street whose name ends at `last` and whose kind stands before it: "calle Mayor", "ул. Ленина".
    fn kind_before_name(&self, last: usize) -> Option<(usize, i32, bool)> {
        let mut found: Option<usize> = None;
        let mut names = 0;
        let first = last.saturating_sub(2 * NAME);
        for index in (first..=last).rev() {
            let token = &self.tokens[index];
            if token.is(ANY_BEFORE) && names > 0 {
                found = Some(index);
            }
            let is_number = token.kind == Kind::Number
                && (names > 0
                    || self
                        .token(index + 1)
                        .is_some_and(|next| next.is_sign("#№") || next.is(NUMBER | SUFFIX)));
            let is_name = token.is_word() && (!token.is(NEVER) || token.is(LINK | ANY_BEFORE))
                || token.kind == Kind::Ordinal
                || is_number;
            if !is_name || self.ends_sentence(token) && !token.is(ANY_BEFORE) && index < last || names > NAME {
                break;
            }
            names += usize::from(!token.is(LINK) || is_number);
            names = names.max(usize::from(is_number));
        }
        let start = found?;
        let kind = &self.tokens[start];
        let has_capital = self.tokens[start + 1..=last]
            .iter()
            .any(|token| token.kind == Kind::Capital);
        let is_lower = !has_capital && kind.kind != Kind::Capital;
        Some((start, points_before_name(kind, has_capital), is_lower))
    }

    /// A street after its number: "12 Oak Street", "12 rue de la Paix", "No. 12, Jalan Tun Razak".
    fn behind_number(&self, index: usize) -> Option<Core> {
        if self.tokens[index].kind != Kind::Number {
            return None;
        }
        let mut first = index + 1;
        let next = self.token(first)?;
        if next.is(SUFFIX)
            && next.kind == Kind::Lower
            && self
                .token(first + 1)
                .is_some_and(|after| after.is(ANY_BEFORE) || after.is_sign(","))
        {
            first += 1;
        }
        let is_next_line =
            self.token(first)?.kind == Kind::Line && self.token(first + 1).is_some_and(|next| next.is(BEFORE));
        let has_comma = self.token(first)?.is_sign(",،") || is_next_line;
        first += usize::from(has_comma);
        let is_label =
            |token: &Token| token.is(NUMBER) || token.is_sign("#№") || token.is(DWELLING) && token.range.len() > 2;
        let label = index.checked_sub(1).filter(|&before| is_label(&self.tokens[before]));
        let points = self.number_points(index) + i32::from(label.is_some());
        let start = label.unwrap_or(index);
        let (end, kind_points, is_lower) = self
            .kind_then_name(first)
            .or_else(|| self.numbered_road(first))
            .or_else(|| self.name_then_kind(first, has_comma))?;
        Some(Core {
            tokens: start..end,
            points: points + kind_points,
            is_lower,
            has_street: true,
        })
    }

    /// The end of a street from `first` on with its kind before its name: "rue de la Paix".
    fn kind_then_name(&self, first: usize) -> Option<(usize, i32, bool)> {
        let kind = self.token(first)?;
        if !kind.is(ANY_BEFORE) {
            return None;
        }
        let mut end = first + 1;
        let mut last_name = end;
        let mut names = 0;
        let mut capitals = 0;
        while let Some(token) = self.token(end) {
            let is_link = token.is(LINK) && token.kind == Kind::Lower;
            let is_name = token.kind == Kind::Capital && !token.is(NEVER) || token.kind == Kind::Ordinal;
            let is_lower_name =
                token.kind == Kind::Lower && capitals == 0 && names < self.lower_names(first + 1) && !token.is(NEVER);
            let is_number = token.kind == Kind::Number
                && names == 0
                && self
                    .token(end + 1)
                    .is_some_and(|next| next.is(LINK) || next.kind == Kind::Capital);
            if !(is_link || is_name || is_lower_name || is_number) || names >= NAME {
                break;
            }
            end += 1;
            if !is_link {
                last_name = end;
                // "av. J.-C." has no name.
                names += usize::from(!is_name || token.word(self.text).chars().count() > 1);
                capitals += usize::from(is_name);
            }
            if self.ends_sentence(token) {
                break;
            }
        }
        if names == 0 {
            return None;
        }
        Some((last_name, points_before_name(kind, capitals > 0), capitals == 0))
    }

    /// The end of a road with a number as its name: "N HWY 360", "County Road 12 E".
    fn numbered_road(&self, first: usize) -> Option<(usize, i32, bool)> {
        let mut at = first;
        at += usize::from(self.token(at)?.is(DIRECTION));
        let kind = self.token(at).filter(|kind| kind.is_word())?;
        at += usize::from(matches!(
            &*kind.word(self.text).to_lowercase(),
            "county" | "state" | "us" | "u.s" | "old" | "farm"
        ));
        let is_kind = |token: &Token| token.is_word() && ROADS.contains(&&*token.word(self.text).to_lowercase());
        let kind = self.token(at).filter(|kind| is_kind(kind))?;
        at += 1;
        at += usize::from(self.token(at)?.is(NUMBER) || self.token(at)?.is_sign("#-"));
        let number = self.token(at)?;
        if number.kind != Kind::Number || number.range.len() > 5 {
            return None;
        }
        let is_direction = self
            .token(at + 1)
            .is_some_and(|next| next.is(DIRECTION) && next.kind == Kind::Capital);
        let is_lower = kind.kind == Kind::Lower;
        Some((at + 1 + usize::from(is_direction), 1 + i32::from(!is_lower), is_lower))
    }

    /// How many words a name in lower case has from `first` on: those up to a sign, a number, a town or a part of a house.
    fn lower_names(&self, first: usize) -> usize {
        let mut names = 0;
        for index in first..first + 7 {
            let Some(token) = self.token(index) else {
                return names.max(1);
            };
            let is_over = !token.is_word()
                || self.phrase(index, TOWN | COUNTRY).is_some()
                || names > 0 && token.is(UNIT) && token.range.len() > 1;
            if is_over {
                return names.clamp(1, 3);
            }
            if token.is(NEVER) || token.kind == Kind::Capital {
                return 1;
            }
            names += usize::from(!token.is(LINK));
        }
        1
    }

    /// The end of a street from `first` on with its kind after its name: "Oak Street", "W 34th St NW".
    fn name_then_kind(&self, first: usize, has_comma: bool) -> Option<(usize, i32, bool)> {
        let is_lower = self.token(first)?.kind == Kind::Lower;
        if is_lower && has_comma {
            return None;
        }
        let mut found: Option<(usize, bool)> = None;
        for index in first..first + NAME + 1 {
            let Some(token) = self.token(index) else { break };
            let is_alone = index == first && token.word(self.text).eq_ignore_ascii_case("broadway");
            if token.is(ANY_AFTER | ANY_NUMBERED) && (index > first || is_alone || token.is(JOINED)) {
                let is_joined = token.is(JOINED) && !token.is(AFTER | NUMBERED);
                found = Some((
                    index,
                    token.is(AFTER | NUMBERED) && !token.is(NUMBERED_DOUBTFUL) || is_joined,
                ));
            }
            let is_link = token.is(LINK)
                && token.kind == Kind::Lower
                && !is_lower
                && index > first
                && matches!(token.word(self.text), "of" | "the" | "de" | "la" | "van" | "and");
            let is_link = is_link || token.is_sign("&") && index > first;
            if !is_link && (!self.is_name(token, is_lower) || token.kind == Kind::Capital && is_lower && index == first)
                || self.ends_sentence(token)
            {
                break;
            }
            // "12 Oak Street Springfield Road" has one street, "12 Park Avenue" has one as well.
            let next_is_kind = self
                .token(index + 1)
                .is_some_and(|next| next.is(ANY_AFTER) && !next.is_sign(","));
            if found.is_some() && !next_is_kind {
                break;
            }
        }
        let (kind, is_sure) = found?;
        let mut end = kind + 1;
        let is_direction = |token: &Token| {
            token.is(DIRECTION) && !token.has_dot && (token.range.len() > 1 || token.kind == Kind::Capital)
        };
        if self.token(end).is_some_and(is_direction) {
            end += 1;
        }
        // "Tampines Street 21"
        let is_numbered = self
            .token(end)
            .is_some_and(|next| next.kind == Kind::Number && next.range.len() <= 2 && next.has_space);
        if is_numbered
            && self
                .token(end + 1)
                .is_none_or(|next| next.is_sign(",#") || next.kind == Kind::Line)
        {
            end += 1;
        }
        let is_alone = kind == first;
        let counts = |token: &Token| COUNTED.contains(&token.word(self.text)) || UNITS.contains(&token.word(self.text));
        if self.token(first).is_some_and(counts) {
            return None;
        }
        Some((
            end,
            1 + i32::from(is_sure && !is_alone) + i32::from(!is_lower),
            is_lower,
        ))
    }

    /// A dwelling before its street: "Flat 402", "H.No. 12-3-456", "Plot No. 5".
    fn dwelling(&self, index: usize) -> Option<Core> {
        let mut start = index.checked_sub(1)?;
        let is_dwelling = |token: &Token| token.is(DWELLING) && token.is_word();
        while self.token(start)?.is_sign("#.:")
            || self.tokens[start].is(NUMBER)
                && start
                    .checked_sub(1)
                    .is_some_and(|before| is_dwelling(&self.tokens[before]))
        {
            start = start.checked_sub(1)?;
        }
        let label = self.token(start)?;
        let is_one = (label.is(DWELLING) || self.word(start).eq_ignore_ascii_case("no")) && index - start <= 3;
        is_one.then(|| Core {
            tokens: start..index + 1,
            points: 1,
            is_lower: label.kind == Kind::Lower,
            has_street: false,
        })
    }

    /// A box of a post office: "PO Box 42".
    fn post_box(&self, index: usize) -> Option<Core> {
        let mut last = index.checked_sub(1)?;
        while self.token(last)?.is_sign(":#.")
            || self.tokens[last].is(NUMBER) && !self.tokens[last].is(BOX | BOX_DOUBTFUL)
        {
            last = last.checked_sub(1)?;
        }
        let starts =
            (last.saturating_sub(3)..=last).filter(|&start| self.tokens[start..=last].iter().all(Token::is_word));
        let found = starts.filter_map(|start| {
            Some((
                start,
                self.phrase(start, BOX | BOX_DOUBTFUL)
                    .filter(|(end, _)| *end == last + 1)?
                    .1,
            ))
        });
        let (start, meanings) = found.min_by_key(|(start, _)| *start)?;
        let mut end = index + 1;
        // "Postfach 10 20 30".
        while self
            .token(end)
            .is_some_and(|token| token.kind == Kind::Number && token.has_space && token.range.len() <= 3)
            && end < index + 3
        {
            end += 1;
        }
        let is_capital = self.tokens[start].kind == Kind::Capital;
        Some(Core {
            tokens: start..end,
            points: if meanings & BOX != 0 { 4 } else { i32::from(is_capital) },
            is_lower: !is_capital,
            has_street: false,
        })
    }

    /// A British address without the number of a house, which ends with the code that begins at `index`: "The Old Mill,
    /// Church Lane, Oxford OX1 2AB".
    pub(super) fn address_of_postcode(&self, index: usize) -> Option<Reading> {
        let start = self.tokens[index].range.start;
        let (length, quality) = self.code_at(index)?;
        if quality != Quality::Distinct || !is_british(&self.text[start..start + length]) {
            return None;
        }
        let from = index.saturating_sub(14);
        let mut lines = 0;
        let kind = (from..index).rev().take_while(|&at| {
            lines += usize::from(self.tokens[at].kind == Kind::Line);
            lines <= 3 && !self.ends_sentence(&self.tokens[at])
        });
        let begins = |kind: usize| {
            let mut first = kind;
            while first > from
                && kind - first < 3
                && self.is_name(&self.tokens[first - 1], false)
                && !self.ends_sentence(&self.tokens[first - 1])
            {
                first -= 1;
            }
            (first < kind).then_some((first, kind))
        };
        let kind = kind.filter(|&at| self.tokens[at].is(ANY_AFTER) && self.tokens[at].kind == Kind::Capital);
        let (first, kind) = kind.filter_map(begins).last()?;
        let core = Core {
            tokens: first..kind + 1,
            points: if self.tokens[kind].is(AFTER) { 3 } else { 2 },
            is_lower: false,
            has_street: true,
        };
        let read = self.extend(&core).filter(|read| read.range.end >= start + length)?;
        Some(Reading {
            range: self.building_before(read.range.start)..read.range.end,
            ..read
        })
    }

    /// The start of a named building with a comma before a street: "The Old Bakery, Mill Lane".
    fn building_before(&self, start: usize) -> usize {
        let end = self.tokens.partition_point(|token| token.range.start < start);
        let Some(comma) = end.checked_sub(1).filter(|&comma| self.tokens[comma].is_sign(",")) else {
            return start;
        };
        let mut first = comma;
        while first > 0
            && comma - first < 4
            && self.is_name(&self.tokens[first - 1], false)
            && !self.tokens[first - 1].has_dot
        {
            first -= 1;
        }
        if (2..4).contains(&(comma - first)) {
            self.tokens[first].range.start
        } else {
            start
        }
    }
}

/// The points of a street whose kind stands before its name. `has_capital` tells whether the name has a capital.
fn points_before_name(kind: &Token, has_capital: bool) -> i32 {
    let is_sure = kind.is(BEFORE) && !kind.is(BEFORE_DOUBTFUL);
    let is_capital = kind.kind == Kind::Capital && kind.is(BEFORE_CAPITAL);
    1 + i32::from(is_sure) + i32::from(has_capital) + i32::from(!is_sure && is_capital)
}

/// Adjectives before a street in one word, in German, Dutch and the Nordic languages.
const ADJECTIVES: [&str; 27] = [
    "große", "grosse", "alte", "neue", "obere", "untere", "kleine", "lange", "hohe", "breite", "hintere", "vordere",
    "store", "lille", "gamle", "nye", "stora", "lilla", "nya", "gamla", "norra", "södra", "östra", "västra", "oude",
    "nieuwe", "grote",
];
/// Kinds of roads that have a number as their name (USPS Publication 28, appendix F).
const ROADS: [&str; 15] = [
    "hwy",
    "highway",
    "sr",
    "fm",
    "rt",
    "rte",
    "route",
    "cr",
    "rr",
    "road",
    "rd",
    "us",
    "interstate",
    "ih",
    "cth",
];
/// Counted things after a number, in titles and product names: a 14 Day Trail.
const COUNTED: [&str; 12] = [
    "Bit", "Bits", "Day", "Days", "Hour", "Hours", "Minute", "Month", "Week", "Year", "Lane", "Way",
];
/// Units after a number, in capitals like names (SI Brochure; IEC 80000-13), and times of day.
const UNITS: [&str; 23] = [
    "GB", "MB", "TB", "KB", "PB", "GiB", "MiB", "TiB", "Gb", "Mb", "Gbps", "Mbps", "Hz", "KHz", "MHz", "GHz", "KG",
    "KM", "MM", "PM", "AM", "P.M", "K",
];
