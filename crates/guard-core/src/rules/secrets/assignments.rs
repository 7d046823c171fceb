//! Finds values that are assigned to the name of a service, or to a word for a credential.

use std::ops::Range;

use super::check;
use super::context::{self, Link};
use super::matches::Matches;
use super::rule::{BETWEEN, CompiledRule, Rule};
use super::search::{Candidate, Search};
use super::values::{Value, Values};

/// The most bytes of a name before a word for a credential.
const NAME: usize = 32;
/// The most bytes of a searched range that do not belong to the value: padding, the end mark, and slack.
const BEHIND: usize = 10;
/// The number of searched values between two checks of whether the name can still apply.
const LINKED: usize = 2;

impl<Accept: Fn(&Rule, &[u8]) -> bool> Search<'_, Accept> {
    /// Finds the value that is assigned to the name at `keyword`.
    pub fn find_assigned(&mut self, index: usize, compiled: &CompiledRule, keyword: Range<usize>) {
        let text = self.text;
        if self.taken.get(&index).is_some_and(|&end| keyword.start < end) {
            return;
        }
        let rule = &self.rules[index];
        let Some(name) = Name::new(rule, text, keyword) else {
            return;
        };
        let mut values = self.values.remove(&index).unwrap_or_default();
        values.drop_until(name.keyword.end);
        let mut chosen = None;
        let mut is_decided = false;
        for value in &values.found {
            match name.link(value.range.start) {
                Link::None => continue,
                Link::Some => chosen = Some(value.clone()),
                Link::Never => {}
            }
            is_decided = true;
            break;
        }
        if !is_decided {
            chosen = self.next_value(index, compiled, &name, &mut values);
        }
        if let Some(Value { mut range, is_long }) = chosen {
            if is_long {
                let end = text[range.start..].iter().position(|&byte| ends(byte));
                range.end = end.map_or(text.len(), |end| range.start + end);
                self.taken.insert(index, range.end);
            }
            self.found.push(Candidate { rule: index, range });
        }
        self.values.insert(index, values);
    }

    /// Searches the text that no earlier name searched for a value of `name`, and adds the values on the way to
    /// `values`.
    fn next_value(&self, index: usize, compiled: &CompiledRule, name: &Name<'_>, values: &mut Values) -> Option<Value> {
        let last = (name.keyword.end + BETWEEN).min(self.text.len());
        let mut searched = 0;
        for start in values.until.max(name.keyword.end + 1)..=last {
            if self.may_be_value(index, compiled, start, &mut values.needed) {
                // Reading the text before a value costs about as much as the search for the value.
                searched += 1;
                if searched % LINKED == 0 && name.link(start) == Link::Never {
                    return None;
                }
                if let Some(value) = self.value(index, compiled, start) {
                    values.found.push_back(value.clone());
                    let link = name.link(start);
                    if link != Link::None {
                        values.until = start + 1;
                        return (link == Link::Some).then_some(value);
                    }
                }
            }
            values.until = start + 1;
        }
        None
    }

    /// Whether a value may start at an offset, by a look at a few bytes.
    fn may_be_value(&self, index: usize, compiled: &CompiledRule, start: usize, needed: &mut usize) -> bool {
        let (text, rule) = (self.text, &self.rules[index]);
        let value = &text[start..];
        if continues_word(text, start)
            || value.first().is_none_or(u8::is_ascii_whitespace)
            || !compiled.may_start(value)
        {
            return false;
        }
        let Some(check) = rule.source.check.filter(|_| compiled.is_bounded) else {
            return true;
        };
        if *needed < start {
            match check.next_needed(text, start) {
                Some(next) => *needed = next,
                None => return true,
            }
        }
        *needed < start + compiled.after
    }

    /// The value that starts at an offset, whatever its name.
    fn value(&self, index: usize, compiled: &CompiledRule, start: usize) -> Option<Value> {
        let (text, rule) = (self.text, &self.rules[index]);
        let value = &text[start..];
        #[cfg(test)]
        tests::SEARCHES.set(tests::SEARCHES.get() + 1);
        let generic = rule.source.service.is_none();
        // The start of a long value tells whether it is a credential.
        let most = compiled.after.saturating_sub(BEHIND);
        let is_long = generic && value.len() > most && !value[..=most].iter().any(|&byte| ends(byte));
        let window = 0..compiled.after.min(value.len());
        let mut secret = Matches::new(compiled, value, window).next();
        if secret.is_none() && is_long {
            secret = Matches::new(compiled, &value[..most], 0..most).next();
        }
        let mut secret = secret?;
        secret.end -= check::following_parameters(&value[secret.clone()]);
        // Keys of services are random, unlike names in programs.
        let named = !generic && check::is_name(&value[secret.clone()]);
        if is_in_program(value, secret.end) || named || !(self.accept)(rule, &value[secret.clone()]) {
            return None;
        }
        Some(Value {
            range: start + secret.start..start + secret.end,
            is_long,
        })
    }
}

/// A name that may be assigned a value.
pub(super) struct Name<'a> {
    rule: &'a Rule,
    text: &'a [u8],
    keyword: Range<usize>,
    /// The part of the name before the keyword.
    prefix: &'a [u8],
    /// The text before the name.
    before: &'a [u8],
}

impl<'a> Name<'a> {
    /// Returns `None` if the keyword can't be the name of a value.
    pub fn new(rule: &'a Rule, text: &'a [u8], keyword: Range<usize>) -> Option<Self> {
        let named = &text[keyword.start.saturating_sub(NAME)..keyword.start];
        let prefix = named
            .iter()
            .rposition(|byte| !(byte.is_ascii_alphanumeric() || b"_-.".contains(byte)));
        let (before, prefix) = named.split_at(prefix.map_or(0, |at| at + 1));
        if prefix.len() == NAME {
            return None;
        }
        // The name of a service starts a word: after no letter, or at a capital as in `myBox`.
        let starts_word = prefix.last().is_none_or(|&before| {
            !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && text[keyword.start].is_ascii_uppercase()
        });
        let is_generic = rule.source.service.is_none();
        (is_generic || starts_word).then_some(Self {
            rule,
            text,
            keyword,
            prefix,
            before,
        })
    }

    /// Whether the name is assigned the value at `start`.
    pub fn link(&self, start: usize) -> Link {
        let between = &self.text[self.keyword.end..start];
        let needs_operator = matches!(self.rule.source.check, Some(check::Check::Words));
        if check::is_revision(between, &self.text[start..]) || needs_operator && !context::ends_name(between) {
            return Link::None;
        }
        if self.rule.source.service.is_none() {
            context::names(self.before, self.prefix, between)
        } else {
            links(self.rule, between)
        }
    }
}

/// Whether a value at the end of `between` is a credential of the rule's service. A rule without a known credential
/// format excludes values with other labels.
fn links(rule: &Rule, between: &[u8]) -> Link {
    match context::links(between) {
        Link::Some if rule.source.check == Some(check::Check::Token) && context::is_label(between) => Link::None,
        link => link,
    }
}

/// Whether a byte ends every assigned value.
fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>(){}[],;".contains(&byte)
}

/// Whether the text before `end` belongs to a program: a name before a bracket or an equals sign, or a template that goes
/// on with an expression, such as `abc${name}`.
fn is_in_program(text: &[u8], end: usize) -> bool {
    let (before, behind) = text.split_at(end);
    let next = behind.iter().find(|&&byte| byte != b' ');
    match behind.first() {
        Some(b'(' | b'[') => true,
        Some(b'{') => before.ends_with(b"$"),
        _ => next == Some(&b'='),
    }
}

/// Whether a word goes on at an offset: after a letter, a digit, or a letter of Latin, Greek, Cyrillic, Hebrew or Arabic.
/// Scripts without spaces between words may be directly before a value.
fn continues_word(text: &[u8], start: usize) -> bool {
    match text[..start] {
        [.., 0xC3..=0xDF, 0x80..=0xBF] | [.., 0xE1, 0xB8..=0xBF, 0x80..=0xBF] => true,
        [.., byte] => byte.is_ascii_alphanumeric() || byte == b'_',
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::super::providers::built_in;
    use super::super::rule::Shape;
    use super::super::rule_set::RuleSet;
    use super::super::{Options, Secrets};
    use super::*;

    thread_local! {
        /// The number of value searches on this thread.
        pub static SEARCHES: Cell<usize> = const { Cell::new(0) };
    }

    /// A slow reference implementation: it searches for every value after every keyword, and the regex engine finds the
    /// ends.
    fn slowly(set: &RuleSet, text: &[u8], accept: impl Fn(&Rule, &[u8]) -> bool) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        for (index, rule) in set
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.shape == Shape::Assigned)
        {
            let generic = rule.source.service.is_none();
            let lower = text.to_ascii_lowercase();
            let mut keywords: Vec<Range<usize>> = Vec::new();
            for keyword in &rule.source.keywords {
                let keyword = keyword.as_bytes().to_ascii_lowercase();
                let starts =
                    (0..=lower.len().saturating_sub(keyword.len())).filter(|&at| lower[at..].starts_with(&keyword));
                keywords.extend(starts.map(|at| at..at + keyword.len()));
            }
            for keyword in keywords {
                let Some(name) = Name::new(rule, text, keyword.clone()) else {
                    continue;
                };
                let first = (keyword.end + 1..=(keyword.end + BETWEEN).min(text.len())).find_map(|start| {
                    let value = &text[start..];
                    let is_start = !continues_word(text, start) && !value.first()?.is_ascii_whitespace();
                    if !is_start || name.link(start) != Link::Some {
                        return None;
                    }
                    let mut secret = rule.compiled().unwrap().regex.captures(value)?.name("secret")?.range();
                    secret.end -= check::following_parameters(&value[secret.clone()]);
                    let named = !generic && check::is_name(&value[secret.clone()]);
                    (!is_in_program(value, secret.end) && !named && accept(rule, &value[secret.clone()]))
                        .then_some(start..start + secret.end)
                });
                found.extend(first.map(|range| (index, range)));
            }
        }
        found.sort_by_key(|(index, range)| (*index, range.start, range.end));
        found.dedup();
        found
    }

    fn quickly(set: &RuleSet, text: &[u8], accept: impl Fn(&Rule, &[u8]) -> bool) -> Vec<(usize, Range<usize>)> {
        let enabled = |index: usize| set.rules[index].shape == Shape::Assigned;
        let found = set.find(text, enabled, accept, None).unwrap().into_iter();
        let mut found: Vec<_> = found
            .filter(|candidate| enabled(candidate.rule))
            .map(|candidate| (candidate.rule, candidate.range))
            .collect();
        found.sort_by_key(|(index, range)| (*index, range.start, range.end));
        found.dedup();
        found
    }

    /// The most bytes of a value that every pattern reads to the end.
    const LONGEST: usize = 127;

    /// Pieces of text near credentials: names, operators, values, parts of values, and other text.
    const PIECES: &[&str] = &[
        "key",
        "api_key",
        "ApiKey",
        "token",
        "secret",
        "password",
        "access",
        "auth",
        "private",
        "пароль",
        "Datadog",
        "dropbox",
        "heroku",
        "algolia",
        "the",
        " is ",
        "count",
        "id",
        "hash",
        "cache_",
        "my",
        "=",
        ": ",
        " = ",
        "\"",
        "'",
        "\n",
        " ",
        ";",
        "(",
        ")",
        "-",
        "--",
        "_",
        ".",
        "/",
        "+",
        "-+",
        "=>",
        "@",
        "==",
        "{",
        ",",
        "\\n",
        "é",
        "&x=",
        " for the ",
        "für ",
        "aB3dE5gH7jK9",
        "hunter2",
        "a1-b2.c3_d4",
        "9f86d081884c7d659a2feaa0c55ad015",
        "3f292041-51d2-4005-8e48-f39df3585d44",
        "q7Rt2Wx9Zp4Lm6Nb8Vc1Kd3Fg5Hj0Sa2Yu4Ie6O",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "1234567890123456789012345678901234567890",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn the_quick_way_finds_what_the_slow_way_finds(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
            let text = pieces.concat();
            // The slow implementation does not support values that are longer than their pattern.
            let longest = text.as_bytes().split(|&byte| ends(byte)).map(<[u8]>::len).max();
            prop_assume!(longest.is_none_or(|longest| longest <= LONGEST));
            let set = &built_in().unwrap().rules;
            let accept = |rule: &Rule, value: &[u8]| {
                rule.source.check.is_none_or(|check| check.run(value) != check::Outcome::Refuted)
            };
            prop_assert_eq!(quickly(set, text.as_bytes(), accept), slowly(set, text.as_bytes(), accept), "{}", text);
        }
    }

    #[test]
    fn a_value_is_searched_for_once_however_many_names_are_before_it() {
        let secrets = Secrets::new(&Options::default()).unwrap();
        // The most searches per byte of each text, for all rules together.
        for (piece, most) in [
            ("key=", 0.01),
            ("api_key=\"", 0.01),
            ("password: ", 0.2),
            ("pwd=", 0.01),
            ("token=", 0.01),
            ("key-a-a-a-a-a-a-a-a-", 0.01),
            ("secret key token access ", 0.01),
            ("key-a1b2c3-", 0.5),
            ("key token access private-a1b2c3d4-", 1.0),
        ] {
            let text = piece.repeat(20_000 / piece.len());
            SEARCHES.set(0);
            secrets.find(&text, false).unwrap();
            let share = SEARCHES.get() as f64 / text.len() as f64;
            assert!(share <= most, "{piece}: {share}");
        }
    }
}
