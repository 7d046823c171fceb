//! Extends a street or a box to the whole address: the unit, quarter, town, region, postal code and country around it.

use super::codes::Quality;
use super::street::{Core, Parser, Reading};
use super::tokens::{Kind, Token};
use super::words::{
    ANY_AFTER, ANY_BEFORE, ANY_NUMBERED, ANY_STREET, COUNTRY, DIRECTION, DWELLING, LINK, NEVER, NUMBER, QUARTER_AFTER,
    QUARTER_BEFORE, STATE, TOWN, TOWN_CAPITAL, UNIT,
};

/// The most parts after a street.
const PARTS: usize = 9;
/// The most parts that are names of unknown places.
const UNKNOWN: usize = 3;

/// Whole words of at most four letters, whose full stop ends a sentence.
const FULL: [&str; 18] = [
    "road", "lane", "walk", "park", "hill", "gate", "view", "mall", "yard", "path", "row", "way", "loop", "run",
    "pass", "iela", "tie", "út",
];

/// What stands between two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Space,
    Comma,
    Line,
    Dash,
}

/// The parts read so far.
#[derive(Debug, Default)]
struct Evidence {
    points: i32,
    has_unit: bool,
    has_quarter: bool,
    has_town: bool,
    has_code: bool,
    has_street: bool,
    unknown: usize,
    is_lower: bool,
}

impl Evidence {
    fn add(seen: &mut bool, points: &mut i32, worth: i32) {
        if !*seen {
            *points += worth;
        }
        *seen = true;
    }

    fn unit(&mut self) {
        Self::add(&mut self.has_unit, &mut self.points, 1);
    }

    fn quarter(&mut self) {
        Self::add(&mut self.has_quarter, &mut self.points, 1);
    }

    fn town(&mut self) {
        Self::add(&mut self.has_town, &mut self.points, 1);
    }

    fn code(&mut self, quality: Quality) {
        let worth = match quality {
            Quality::Year => 0,
            Quality::Short => 1,
            Quality::Long | Quality::Distinct => 2,
        };
        Self::add(&mut self.has_code, &mut self.points, worth);
    }
}

impl Parser<'_> {
    /// The whole address around `core`, and its evidence.
    pub(super) fn extend(&self, core: &Core) -> Option<Reading> {
        let mut evidence = Evidence {
            points: core.points,
            has_street: core.has_street,
            is_lower: core.is_lower,
            ..Evidence::default()
        };
        let start = self.extend_before(core.tokens.start, &mut evidence);
        let end = self.extend_behind(core.tokens.end, &mut evidence);
        // A dwelling or a box alone is none: "Room 12", "BP 12".
        let is_in_town = evidence.has_town && evidence.has_street || evidence.has_quarter && evidence.has_unit;
        if !core.has_street && core.points < 4 && !(evidence.has_code || is_in_town) {
            return None;
        }
        let first = self.tokens.get(start)?.range.start;
        let last = self.tokens.get(end.checked_sub(1)?)?;
        Some(Reading {
            range: first..self.without_full_stop(last),
            points: evidence.points,
            is_lower: core.is_lower,
            has_street: core.has_street,
        })
    }

    /// The end of an address without the full stop of its sentence.
    fn without_full_stop(&self, last: &Token) -> usize {
        let is_short = last.word(self.text).chars().count() <= 4
            && last.is(ANY_STREET | UNIT | STATE)
            && !FULL.contains(&&*last.word(self.text).to_lowercase());
        let is_dotted = last.has_dot && (is_short || last.word(self.text).contains('.'));
        let is_dotted = is_dotted
            && last.word(self.text).chars().count() > 1
            && !(last.is(STATE) && !last.is(ANY_STREET | UNIT) && last.word(self.text).chars().all(char::is_uppercase));
        last.range.end - usize::from(last.has_dot && !is_dotted)
    }

    /// The separator at `index`, and the token behind it.
    fn separator(&self, index: usize) -> Option<(Separator, usize)> {
        let token = self.token(index)?;
        let is_line = |at: usize| self.token(at).is_some_and(|token| token.kind == Kind::Line);
        match token.kind {
            Kind::Line if !is_line(index + 1) => Some((Separator::Line, index + 1)),
            // "Bécsi utca 97., Szeged"
            Kind::Sign('.') if self.token(index + 1).is_some_and(|next| next.is_sign(",")) => {
                Some((Separator::Comma, index + 2))
            }
            Kind::Sign(',' | '،' | '、') if is_line(index + 1) && !is_line(index + 2) => {
                Some((Separator::Line, index + 2))
            }
            Kind::Sign(',' | '،' | '、') => Some((Separator::Comma, index + 1)),
            Kind::Sign('-' | '–' | '/' | '—' | '·') => Some((Separator::Dash, index + 1)),
            Kind::Sign('#' | '〒') => Some((Separator::Space, index)),
            Kind::Line | Kind::Sign(_) => None,
            _ => Some((Separator::Space, index)),
        }
    }

    fn extend_behind(&self, from: usize, evidence: &mut Evidence) -> usize {
        let mut end = from;
        for _ in 0..PARTS {
            // A full stop ends the address, unless it is one of an abbreviation.
            let last = end.checked_sub(1).and_then(|last| self.token(last));
            let has_comma = self.token(end).is_some_and(|next| next.is_sign(",،"));
            let is_over =
                last.is_some_and(|last| last.has_dot && last.range.end != self.without_full_stop(last)) && !has_comma;
            let Some((separator, next)) = self.separator(end).filter(|_| !is_over) else {
                break;
            };
            if self.token(next).is_none() {
                break;
            }
            let part = self.unit(next, separator, evidence);
            let part = part.or_else(|| self.door(next, separator, evidence));
            let part = part.or_else(|| self.code_and_town(next, evidence));
            let part = part.or_else(|| self.state(next, separator, evidence));
            let part = part.or_else(|| self.known_place(next, separator, evidence));
            let part = part.or_else(|| self.quarter(next, separator, evidence));
            let part = part.or_else(|| self.second_street(next, separator, evidence));
            let Some(part) = part.or_else(|| self.unknown_place(next, separator, evidence)) else {
                break;
            };
            end = part;
        }
        end
    }

    /// A part of a house: "Apt 5", "кв. 12", "D:5", "#402", "2nd floor", "2º B".
    fn unit(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        let token = self.token(at)?;
        let found = if token.is_sign("#") {
            self.is_unit_value(at + 1).then_some(at + 2)
        } else if token.is_word() && token.is(UNIT) {
            self.labelled_unit(at, separator)
                .or_else(|| self.named_floor(at, separator))
        } else if token.kind == Kind::Number {
            self.numbered_floor(at, separator, evidence.is_lower)
        } else {
            self.named_floor(at, separator)
        }?;
        evidence.unit();
        // "bl. A3, sc. 1" have a comma, "5 A" and "402 B" have none.
        let is_letter = self.token(found).is_some_and(|letter| {
            letter.kind == Kind::Capital && letter.range.len() == 1 && letter.has_space && !letter.has_dot
        });
        Some(found + usize::from(is_letter))
    }

    /// Whether the token at `index` is the number or letter of a part of a house: "5", "A", "B12".
    fn is_unit_value(&self, index: usize) -> bool {
        self.token(index).is_some_and(|value| {
            let length = value.word(self.text).chars().count();
            let is_short = length == 1 && value.kind == Kind::Capital || length <= 5 && self.has_digit(value);
            value.kind == Kind::Number || value.is_word() && is_short
        })
    }

    /// "Apt 5", "кв. 12", "D:5", "Dept. No. 3"
    fn labelled_unit(&self, at: usize, separator: Separator) -> Option<usize> {
        let token = &self.tokens[at];
        let is_between = |sign: &Token| sign.is_sign(":#.") || sign.is(NUMBER) && sign.is_word();
        let value = (at + 1..at + 3)
            .find(|&index| !self.token(index).is_some_and(is_between))
            .unwrap_or(at + 3);
        let is_clear =
            token.word(self.text).chars().count() > 2 || token.has_dot || token.kind == Kind::Capital || value > at + 1;
        let may_follow = separator != Separator::Dash || token.kind == Kind::Capital;
        (is_clear && may_follow && self.is_unit_value(value)).then_some(value + 1)
    }

    /// "2nd floor", "Second Floor"
    fn named_floor(&self, at: usize, separator: Separator) -> Option<usize> {
        let token = &self.tokens[at];
        let next = self.token(at + 1).filter(|next| next.is_word())?;
        let is_floor = matches!(&*next.word(self.text).to_lowercase(), "floor" | "level" | "basement");
        let is_ordinal = token.kind == Kind::Ordinal && next.is(UNIT);
        let is_name = token.kind == Kind::Capital && separator == Separator::Comma && is_floor;
        (is_ordinal || is_name).then_some(at + 2)
    }

    /// "2º B", "6.º Esq.", "3. OG", "2. tv"
    fn numbered_floor(&self, at: usize, separator: Separator, is_lower: bool) -> Option<usize> {
        if separator == Separator::Space {
            return None;
        }
        if self.word(at).ends_with(['º', 'ª']) {
            let is_door =
                |door: &Token| door.is_word() && door.range.len() <= 4 && (door.kind == Kind::Capital || is_lower);
            return Some(at + 1 + usize::from(self.token(at + 1).is_some_and(is_door)));
        }
        let sign = at + 1 + usize::from(self.token(at + 1).is_some_and(|next| next.is_sign(".")));
        let next = self.token(sign).filter(|_| self.tokens[at].range.len() <= 2)?;
        let is_word = next.is(UNIT) && next.is_word() && next.word(self.text).chars().count() > 1;
        let is_floor = next.is_sign("°") || matches!(next.word(self.text), "º" | "ª") || is_word;
        let is_door = |door: &Token| {
            door.kind == Kind::Capital && door.range.len() == 1 || door.kind == Kind::Number && door.range.len() <= 2
        };
        is_floor.then(|| sign + 1 + usize::from(self.token(sign + 1).is_some_and(is_door)))
    }

    /// A floor or a door without its word: "Calle Luna 5, 3 A", "Calle Luna 5, bajo B", "Calle Luna 5, 2, 1".
    fn door(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        if separator != Separator::Comma || !evidence.has_street {
            return None;
        }
        let token = self.token(at)?;
        let digits = token.word(self.text).bytes().take_while(u8::is_ascii_digit).count();
        let is_number = token.kind == Kind::Number && digits <= 2 && token.range.len() <= 3;
        let is_letter = |token: &Token| token.kind == Kind::Capital && token.word(self.text).chars().count() == 1;
        let is_floor = token.is_word() && token.is(UNIT) && token.range.len() > 3;
        if !is_number && !is_floor && !is_letter(token) {
            return None;
        }
        let is_side = |next: &Token| is_letter(next) || next.is_word() && next.is(UNIT) && next.range.len() > 2;
        let end = at + 1 + usize::from(!is_letter(token) && self.token(at + 1).is_some_and(is_side));
        let is_end = self
            .token(end)
            .is_none_or(|next| next.kind == Kind::Line || next.is_sign(",.;)\"'|"));
        is_end.then(|| {
            evidence.unit();
            end
        })
    }

    /// A postal code, with the town before or after it.
    fn code_and_town(&self, at: usize, evidence: &mut Evidence) -> Option<usize> {
        let mut first = at;
        let token = self.token(at)?;
        // "C.P. 06700", "PIN 560001", "CEP 01310-100".
        let is_label = token.is_word()
            && matches!(
                &*token.word(self.text).to_lowercase(),
                "c.p" | "cp" | "cep" | "pin" | "zip" | "pincode" | "т.к" | "т.κ" | "τ.κ" | "p.c"
            );
        first += usize::from(is_label);
        first += usize::from(is_label && self.token(first)?.is_sign(":-."));
        let start = self.token(first)?.range.start;
        let (length, quality) = self.code_at(first)?;
        let mut end = first;
        while self
            .token(end)
            .is_some_and(|token| token.range.start + token.word(self.text).len() <= start + length)
        {
            end += 1;
        }
        if end == first {
            return None;
        }
        let town_at = match self.separator(end) {
            Some((Separator::Comma | Separator::Space, next)) => next,
            _ => end,
        };
        let is_space = town_at == end;
        let known = self.phrase(town_at, TOWN | TOWN_CAPITAL | COUNTRY).map(|(end, _)| end);
        let named = known.or_else(|| is_space.then(|| self.capital_phrase(town_at)).flatten());
        if quality == Quality::Year && known.is_none() && !(is_space && named.is_some() && evidence.has_street)
            || length < 4 && named.is_none()
        {
            return None;
        }
        if known.is_some() {
            evidence.town();
        }
        evidence.code(if named.is_some() || quality != Quality::Short {
            quality.max(Quality::Short)
        } else {
            Quality::Year
        });
        Some(
            self.behind_town(
                named
                    .or_else(|| self.lower_town(town_at, is_space, quality, evidence))
                    .unwrap_or(end),
            ),
        )
    }

    /// The end of a town in lower case directly behind a postal code: "8800-399 tavira".
    fn lower_town(&self, at: usize, is_space: bool, quality: Quality, evidence: &Evidence) -> Option<usize> {
        if !is_space || !evidence.is_lower || quality < Quality::Short {
            return None;
        }
        let end = (at..at + 3)
            .take_while(|&index| {
                self.token(index)
                    .is_some_and(|token| token.kind == Kind::Lower && !token.is(NEVER))
            })
            .last()?
            + 1;
        let is_end = self
            .token(end)
            .is_none_or(|next| next.kind == Kind::Line || next.is_sign(",)\"'|"));
        (is_end || self.tokens[end - 1].has_dot).then_some(end)
    }

    /// A region, which is abbreviated in capitals or written out: "TX", "Karnataka".
    fn state(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        let (end, _) = self.phrase(at, STATE)?;
        let word = self.word(at);
        let is_code = |index: usize| {
            let is_next = |(separator, next): &(Separator, usize)| *separator != Separator::Line || *next > index;
            let next = self.separator(index).filter(is_next)?.1;
            let least = if word.len() == 3 { 4 } else { 5 };
            self.code_at(next).filter(|(length, _)| *length >= least)
        };
        let has_code = is_code(end).is_some();
        let is_upper = word.chars().all(|letter| !letter.is_lowercase());
        let is_written = word.chars().count() > 3 && self.tokens[at].kind == Kind::Capital;
        let is_end = self.token(end).is_none_or(|next| !next.is_word());
        let counts = has_code
            || is_end && (separator != Separator::Space && (is_upper || is_written) || is_upper && evidence.has_town);
        if !counts {
            return None;
        }
        evidence.points += i32::from(!evidence.has_code && (has_code || is_upper || is_written));
        Some(end)
    }

    /// A country or a large town.
    fn known_place(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        let (end, meanings) = self.phrase(at, COUNTRY | TOWN | TOWN_CAPITAL)?;
        let token = &self.tokens[at];
        let is_short = token.word(self.text).chars().count() <= 3 && end == at + 1;
        let is_upper = token.word(self.text).chars().all(|letter| !letter.is_lowercase());
        let is_known = meanings & (TOWN | COUNTRY) != 0 && (!is_short || is_upper);
        let counts = is_known || token.kind == Kind::Capital;
        // "12 Oak Street Austin Powers" goes on with a name.
        let goes_on = self.token(end).is_some_and(|next| {
            next.kind == Kind::Capital
                && !self.has_digit(next)
                && next.range.len() > 1
                && !next.is(STATE | COUNTRY | DIRECTION | TOWN | QUARTER_AFTER)
                && self.phrase(end, COUNTRY).is_none()
        });
        if !counts || separator == Separator::Space && goes_on && !self.tokens[end - 1].has_dot {
            return None;
        }
        if goes_on && separator != Separator::Space {
            return None;
        }
        evidence.town();
        Some(self.behind_town(end))
    }

    /// The end of a town with the number or letter of its district: "Dublin 2", "Praha 1", "Aarhus C", "Milano (MI)".
    fn behind_town(&self, end: usize) -> usize {
        let is_district = |token: &Token| {
            token.has_space
                && (token.kind == Kind::Number && token.range.len() <= 2
                    || token.kind == Kind::Capital && token.range.len() == 1)
        };
        let is_free = |index: usize| {
            self.token(index)
                .is_none_or(|next| !next.is_word() || next.kind == Kind::Lower && !next.has_dot && next.range.len() > 1)
        };
        if self.token(end).is_some_and(is_district) && is_free(end + 1) {
            return end + 1;
        }
        let is_province = |token: &Token| {
            token.has_space
                && token.kind == Kind::Capital
                && token.range.len() == 2
                && self.word(end).bytes().all(|byte| byte.is_ascii_uppercase())
        };
        if self.token(end).is_some_and(is_province) && is_free(end + 1) {
            return end + 1;
        }
        let is_region = self.token(end).is_some_and(|open| open.is_sign("("))
            && self.token(end + 2).is_some_and(|close| close.is_sign(")"));
        let is_short = self
            .token(end + 1)
            .is_some_and(|region| region.kind == Kind::Capital && region.range.len() <= 3);
        end + if is_region && is_short { 3 } else { 0 }
    }

    /// Whether a token contains a digit.
    fn has_digit(&self, token: &Token) -> bool {
        token.word(self.text).bytes().any(|byte| byte.is_ascii_digit())
    }

    /// A quarter: "Col. Roma Norte", "Brgy. San Antonio", "Sector 5", "Banjara Hills", "Kadıköy ilçesi".
    fn quarter(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        let token = self.token(at)?;
        let is_name = |token: &Token| {
            token.kind == Kind::Capital && !token.is(NEVER)
                || token.kind == Kind::Number && token.range.len() <= 4
                || token.kind == Kind::Ordinal
        };
        if token.is_word()
            && token.is(QUARTER_BEFORE)
            && (token.kind == Kind::Capital || token.has_dot || separator != Separator::Space)
        {
            let is_lower = evidence.is_lower;
            let is_name = |token: &Token| is_name(token) || is_lower && token.kind == Kind::Lower && !token.is(NEVER);
            let mut end = at + 1;
            end += usize::from(
                self.token(end)
                    .is_some_and(|next| next.is_word() && next.is(LINK | QUARTER_BEFORE) && !next.is(UNIT)),
            );
            let first = end;
            while end < first + 3
                && self
                    .token(end)
                    .is_some_and(|token| is_name(token) || end > first && token.is(LINK) && token.kind == Kind::Lower)
            {
                end += 1;
                if self.ends_sentence(&self.tokens[end - 1]) {
                    break;
                }
            }
            let is_free = !is_lower
                || self
                    .token(end)
                    .is_none_or(|next| !next.is_word() || self.phrase(end, TOWN).is_some());
            if end > first && is_free {
                evidence.quarter();
                return Some(end);
            }
        }
        if separator == Separator::Space && !token.has_space {
            return None;
        }
        let mut end = at;
        while end < at + 4
            && self
                .token(end)
                .is_some_and(|token| is_name(token) && !self.ends_sentence(token))
        {
            end += 1;
            // "229 Chapel Street" is no quarter.
            if token.kind == Kind::Number
                || self
                    .token(end)
                    .is_some_and(|next| next.is(ANY_AFTER) && !next.is(QUARTER_AFTER))
            {
                break;
            }
            if self.tokens[end - 1].is(QUARTER_AFTER) && end > at + 1
                || self
                    .token(end)
                    .is_some_and(|next| next.is_word() && next.is(QUARTER_AFTER) && next.has_dot)
            {
                end += usize::from(!self.tokens[end - 1].is(QUARTER_AFTER));
                while self
                    .token(end)
                    .is_some_and(|next| next.is(QUARTER_AFTER) && next.kind == Kind::Capital)
                {
                    end += 1;
                }
                // "Makati City 1203" is a town.
                evidence.quarter();
                return Some(end);
            }
        }
        None
    }

    /// A further street: "Flat 402, Sai Residency, MG Road".
    fn second_street(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        if separator == Separator::Space || separator == Separator::Dash {
            return None;
        }
        let is_name = |index: usize| {
            self.token(index)
                .is_some_and(|token| matches!(token.kind, Kind::Capital | Kind::Ordinal) && !token.is(NEVER))
        };
        let before = self
            .token(at)
            .is_some_and(|token| token.is(ANY_BEFORE) && token.is_word())
            && is_name(at + 1);
        let end = if before {
            let end = (at + 1..at + 5)
                .take_while(|&index| is_name(index) || self.tokens.get(index).is_some_and(|token| token.is(LINK)))
                .last()?;
            let has_number = self
                .token(end + 1)
                .is_some_and(|token| token.kind == Kind::Number && token.range.len() <= 4);
            Some(end + 1 + usize::from(has_number))
        } else {
            // "12 King St" after a flat has a number of its own.
            let first = at
                + usize::from(
                    self.token(at)
                        .is_some_and(|token| token.kind == Kind::Number && token.range.len() <= 5),
                );
            let is_lower = first > at && self.token(first).is_some_and(|token| token.kind == Kind::Lower);
            let fits = |index: usize| {
                is_name(index)
                    || is_lower
                        && self
                            .token(index)
                            .is_some_and(|token| token.is_word() && !token.is(NEVER))
            };
            (first..first + 4)
                .take_while(|&index| fits(index))
                .filter(|&index| index > first && self.tokens[index].is(ANY_AFTER | ANY_NUMBERED))
                .last()
                .map(|last| last + 1)
        }?;
        let worth = if evidence.has_street { 0 } else { 2 };
        evidence.has_street = true;
        evidence.points += worth;
        Some(end)
    }

    /// One to four words in capitals, such as a town.
    fn capital_phrase(&self, at: usize) -> Option<usize> {
        let mut end = at;
        let mut last = None;
        while let Some(token) = self.token(end).filter(|_| end < at + 6) {
            let is_link = token.is(LINK) && token.kind == Kind::Lower && end > at;
            let is_name = token.kind == Kind::Capital
                && !token.is(NEVER)
                && token.word(self.text).chars().count() > 1
                && !self.has_digit(token);
            if !is_link && !is_name {
                break;
            }
            end += 1;
            if is_name {
                last = Some(end);
            }
            if self.ends_sentence(token) {
                break;
            }
        }
        last.filter(|last| last - at <= 5)
    }

    /// The name of a place that no list has, after a comma, or in front of a postal code.
    fn unknown_place(&self, at: usize, separator: Separator, evidence: &mut Evidence) -> Option<usize> {
        if evidence.is_lower {
            return self.lower_place(at, separator);
        }
        if evidence.unknown >= UNKNOWN || separator == Separator::Dash && !self.token(at)?.has_space {
            return None;
        }
        let end = self.capital_phrase(at)?;
        if self.tokens[at].is(UNIT | DWELLING) && self.token(at + 1).is_some_and(|next| next.kind == Kind::Number) {
            return None;
        }
        // A code after it: "Church Lane, Abingdon OX14 5AB", "Boise, ID 83701".
        let mut next = end;
        for _ in 0..2 {
            if let Some((between, behind)) = self.separator(next) {
                next = if between == Separator::Space { next } else { behind };
            }
            if let Some((behind, _)) = self.phrase(next, STATE | COUNTRY) {
                next = behind;
            }
        }
        let code = self.code_at(next).filter(|(_, quality)| *quality != Quality::Year);
        let is_next_line = self
            .separator(end)
            .is_some_and(|(separator, _)| separator == Separator::Line);
        let has_code = code.is_some_and(|(length, _)| length >= 4)
            && !(is_next_line
                && separator == Separator::Line
                && code.is_some_and(|(_, quality)| quality < Quality::Long));
        let allowed = match separator {
            Separator::Comma | Separator::Dash => true,
            Separator::Line | Separator::Space => has_code,
        };
        // A label of a form follows: "Phone:", "Date of birth:".
        let after = (end..end + 4).find(|&index| self.token(index).is_none_or(|token| !token.is_word()));
        let is_label = self.token(end).is_some_and(|next| next.is_sign("@("))
            || after
                .and_then(|after| self.token(after))
                .is_some_and(|next| next.is_sign(":=："));
        if !allowed || is_label {
            return None;
        }
        evidence.unknown += 1;
        Some(end)
    }

    /// The end of a place in lower case, before a region and a code: "fairview, or 97024", "abingdon ox14 3hl".
    fn lower_place(&self, at: usize, separator: Separator) -> Option<usize> {
        if !matches!(separator, Separator::Comma | Separator::Space | Separator::Line) {
            return None;
        }
        let end = (at..at + 3).take_while(|&index| {
            self.token(index)
                .is_some_and(|token| token.kind == Kind::Lower && !token.is(NEVER) && !self.has_digit(token))
        });
        let mut ends: Vec<usize> = end.map(|index| index + 1).collect();
        ends.retain(|&end| {
            let next = match self.separator(end) {
                Some((Separator::Comma, behind)) => behind,
                _ => end,
            };
            let state = self.phrase(next, STATE).map(|(behind, _)| behind);
            let code_at = state.map_or(next, |behind| match self.separator(behind) {
                Some((Separator::Comma, behind)) => behind,
                _ => behind,
            });
            let code = self.code_at(code_at);
            let is_long = state.is_some_and(|behind| self.tokens[behind - 1].range.len() == 3);
            self.phrase(next, TOWN).is_some() && next > end
                || code.is_some_and(|(_, quality)| {
                    quality == Quality::Distinct
                        || state.is_some() && (quality == Quality::Long || is_long && quality == Quality::Short)
                })
        });
        ends.first().copied()
    }

    /// The parts before a street: a unit, a building, a town with its code.
    fn extend_before(&self, from: usize, evidence: &mut Evidence) -> usize {
        let mut start = from;
        for _ in 0..4 {
            let comma = start
                .checked_sub(1)
                .filter(|&before| self.tokens[before].is_sign(",/،") || self.tokens[before].kind == Kind::Line);
            let end = comma.unwrap_or(start);
            let part = self
                .unit_before(end, evidence)
                .or_else(|| self.quarter_before(start, evidence));
            let part = part.or_else(|| comma.and_then(|end| self.place_before(end, evidence)));
            let Some(part) = part else { break };
            start = part;
        }
        start
    }

    /// The start of a quarter directly before a street: "Yeni Mah. Gül Sok. 5".
    fn quarter_before(&self, end: usize, evidence: &mut Evidence) -> Option<usize> {
        let last = end.checked_sub(1)?;
        let is_one = self.tokens[last].is(QUARTER_AFTER) && self.tokens[last].has_dot && self.tokens[last].is_word();
        let name = last
            .checked_sub(1)
            .filter(|&name| is_one && self.tokens[name].is_word() && !self.tokens[name].is(NEVER))?;
        evidence.quarter();
        Some(name)
    }

    /// The start of a unit that ends at `end`: "Flat 3", "Apt. 4B", "Unit 5/".
    fn unit_before(&self, end: usize, evidence: &mut Evidence) -> Option<usize> {
        let value = end.checked_sub(1)?;
        let token = self.token(value)?;
        let is_value = token.kind == Kind::Number || token.is_word() && token.word(self.text).chars().count() <= 3;
        let mut label = value.checked_sub(1)?;
        if self.tokens[label].is_sign("#:") || self.tokens[label].is(NUMBER) && !self.tokens[label].is(DWELLING) {
            label = label.checked_sub(1)?;
        }
        let found = (is_value
            && self.tokens[label].is(UNIT | DWELLING)
            && self.tokens[label].is_word()
            && self.tokens[label].word(self.text).chars().count() > 2)
            .then_some(label);
        if found.is_some() {
            evidence.unit();
        }
        found
    }

    /// The start of a place that ends at `end`: a building ("The Old Mill", "Sai Residency"), a town, perhaps with a code.
    fn place_before(&self, end: usize, evidence: &mut Evidence) -> Option<usize> {
        let is_line = self.tokens[end].kind == Kind::Line;
        let starts = (end.saturating_sub(4)..end).filter(|&start| {
            self.phrase(start, TOWN | TOWN_CAPITAL | COUNTRY)
                .is_some_and(|(last, _)| last == end)
        });
        let town = starts
            .min()
            .filter(|&start| self.tokens[start].kind == Kind::Capital && self.is_begin(start));
        if let Some(start) = town.filter(|_| !is_line) {
            evidence.town();
            let Some(mut before) = start.checked_sub(1) else {
                return Some(start);
            };
            before -= usize::from(self.tokens[before].is_sign(",") && before > 0);
            let has_code = self.tokens[before].kind == Kind::Number
                && self
                    .code_at(before)
                    .is_some_and(|(length, quality)| length >= 4 && quality != Quality::Year);
            return Some(if has_code { before } else { start });
        }
        if let Some(start) = self.coded_place_before(end).filter(|_| !is_line) {
            evidence.code(Quality::Long);
            return Some(start);
        }
        // "г. Казань", "Bandar Utama"
        let mut start = end;
        while start > 0
            && end - start < 4
            && matches!(self.tokens[start - 1].kind, Kind::Capital)
            && !self.tokens[start - 1].is(NEVER)
        {
            start -= 1;
        }
        let is_quarter = (start..end).find(|&index| {
            self.tokens[index].is(QUARTER_BEFORE)
                && index + 1 < end
                && self.tokens[index].word(self.text).chars().count() > 1
        });
        if let Some(first) = is_quarter.filter(|_| !is_line) {
            evidence.quarter();
            return Some(first);
        }
        let is_label = |token: &Token| token.kind == Kind::Lower && token.has_dot && token.is(QUARTER_BEFORE);
        let label = start.checked_sub(1).filter(|&label| is_label(&self.tokens[label]));
        if let Some(label) = label.filter(|_| start < end) {
            evidence.quarter();
            return Some(label);
        }
        let is_building = end - start >= 2 && self.tokens[end - 1].is(QUARTER_AFTER);
        (is_building && self.is_begin(start)).then(|| {
            evidence.quarter();
            start
        })
    }

    /// The start of a postal code and an unknown place that ends at `end`: "3300 Eger", "170100, Тверь".
    fn coded_place_before(&self, end: usize) -> Option<usize> {
        let mut start = end;
        while start > 0
            && end - start < 3
            && self.tokens[start - 1].kind == Kind::Capital
            && !self.tokens[start - 1].is(NEVER)
        {
            start -= 1;
        }
        let mut before = start.checked_sub(1).filter(|_| start < end)?;
        before -= usize::from(self.tokens[before].is_sign(",") && before > 0);
        let token = &self.tokens[before];
        let is_code = token.kind == Kind::Number
            && self.code_at(before).is_some_and(|(length, quality)| {
                length >= 4 && length == token.range.len() && quality != Quality::Year
            });
        is_code.then_some(before)
    }

    /// Whether a part may begin at `index`: at the start of a text, a line or a list, or after a word in lower case.
    fn is_begin(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.token(before));
        let is_uncased = |token: &Token| !self.text[token.range.clone()].starts_with(char::is_uppercase);
        before.is_none_or(|before| before.kind != Kind::Capital || before.has_dot || is_uncased(before))
    }
}
