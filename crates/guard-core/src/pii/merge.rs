//! Merges the findings of several sources.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use super::finding::Finding;
use super::recognizer::sources;
use crate::stop;

/// How much higher the score of a finding must be than that of a finding around it, to replace that.
///
/// A street address contains the name of a town with a higher score, and a link contains an e-mail address. The whole
/// is more useful than its part, and redacting it leaves nothing of the value.
const INSIDE: f64 = 0.35;

/// Types of models, the most specific first. All other types have priority over them.
const OF_MODELS: [&str; 4] = ["PERSON", "ORGANIZATION", "LOCATION", "NRP"];

/// Pattern types of llm-guard 0.3.16, each with its equivalent. If both match, the second is reported, so that a thing
/// has one name.
const FORMS: [(&str, &str); 9] = [
    ("CREDIT_CARD_RE", "CREDIT_CARD"),
    ("EMAIL_ADDRESS_RE", "EMAIL_ADDRESS"),
    ("US_SSN_RE", "US_SSN"),
    ("URL_RE", "URL"),
    ("PHONE_NUMBER_WITH_EXT", "PHONE_NUMBER"),
    ("PHONE_NUMBER_ZH", "PHONE_NUMBER"),
    ("DATE_RE", "DATE_TIME"),
    ("BTC_ADDRESS", "CRYPTO"),
    ("PO_BOX_RE", "STREET_ADDRESS"),
];

/// The rank of each known type; a lower rank has priority.
static PRIORITY: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let mut ranks = HashMap::new();
    let of_table = sources()
        .unwrap_or_default()
        .iter()
        .map(|source| source.entity.as_str());
    for (rank, entity) in of_table.chain(OF_MODELS).enumerate() {
        ranks.entry(entity).or_insert(rank + 1);
    }
    ranks
});

/// The rank of a type: first those of the user, then the embedded ones in their order, then those of models.
fn priority(entity: &str) -> usize {
    PRIORITY.get(entity).copied().unwrap_or(0)
}

/// Merges `findings` of recognizers, models and users in `text` into one list, in order and without overlaps. The order
/// of the input does not matter.
///
/// - Findings with a score below `threshold`, empty ones, and those off character boundaries are dropped.
/// - Overlapping findings of one type become one, with the highest score. So do findings of two sources with one space
///   between them, if only models find their type: "Jane" and "Doe". Two such findings of one source stay separate,
///   since it knows where its names end.
/// - Of overlapping findings of different types, the one with the higher score wins, then the longer, then the type
///   with priority: types of the user, those of `shared.toml` in order, those of models. A finding counts with the
///   highest score among the findings that it contains, unless that is more than 0.35 above its own.
/// - The longest remaining piece of the loser is kept if it is at least half of it and has a letter or digit. So a
///   small overlap does not uncover personal data.
///
/// The time is O(n log n) for n findings of bounded length.
pub fn merge(text: &str, findings: Vec<Finding>, threshold: f64) -> Vec<Finding> {
    let is_usable = |finding: &Finding| {
        finding.score >= threshold && text.get(finding.range.clone()).is_some_and(|value| !value.is_empty())
    };
    let findings = unite(text, rename_patterns(findings.into_iter().filter(is_usable).collect()));
    let strengths = strengths(&findings);
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let key = |&index: &usize| {
        let finding: &Finding = &findings[index];
        (finding.range.len(), finding.range.start, priority(&finding.entity))
    };
    order.sort_by(|one, other| {
        let ((length, start, rank), (other_length, other_start, other_rank)) = (key(one), key(other));
        strengths[*other]
            .total_cmp(&strengths[*one])
            .then(other_length.cmp(&length))
            .then(rank.cmp(&other_rank))
            .then(start.cmp(&other_start))
            .then_with(|| findings[*one].entity.cmp(&findings[*other].entity))
    });
    // The taken ranges, as ends by starts, without overlaps.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut merged: Vec<Finding> = Vec::with_capacity(findings.len());
    for index in order {
        stop::point();
        let finding = &findings[index];
        if let Some(range) = rest(text, &taken, &finding.range) {
            taken.insert(range.start, range.end);
            merged.push(Finding {
                range,
                ..finding.clone()
            });
        }
    }
    merged.sort_by_key(|finding| finding.range.start);
    merged
}

/// Renames the pattern types of llm-guard if their equivalents match too.
fn rename_patterns(mut findings: Vec<Finding>) -> Vec<Finding> {
    for (form, meaning) in FORMS {
        if !findings.iter().any(|finding| &*finding.entity == form) {
            continue;
        }
        let meant = findings.iter().filter(|finding| &*finding.entity == meaning);
        let mut meant: Vec<(usize, usize, Arc<str>)> = meant
            .map(|finding| (finding.range.start, finding.range.end, Arc::clone(&finding.entity)))
            .collect();
        meant.sort_unstable();
        // Make the ends ascend like the starts, so that the last range that starts early enough ends last.
        let mut last = 0;
        for (_, end, _) in &mut meant {
            last = last.max(*end);
            *end = last;
        }
        for finding in findings.iter_mut().filter(|finding| &*finding.entity == form) {
            stop::point();
            let before = meant.partition_point(|(start, ..)| *start < finding.range.end);
            if let Some((_, end, entity)) = before.checked_sub(1).map(|index| &meant[index])
                && *end > finding.range.start
            {
                finding.entity = Arc::clone(entity);
            }
        }
    }
    findings
}

/// Unites findings of one type that overlap, or that two sources found side by side. Returns them in order.
fn unite(text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
    let order = |finding: &Finding| (finding.entity.clone(), finding.range.start, finding.range.end);
    findings.sort_by(|one, other| {
        let scores = other.score.total_cmp(&one.score);
        order(one)
            .cmp(&order(other))
            .then(scores)
            .then_with(|| one.recognizer.cmp(&other.recognizer))
    });
    let mut united: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        stop::point();
        let Some(last) = united.last_mut().filter(|last| last.entity == finding.entity) else {
            united.push(finding);
            continue;
        };
        let is_other = last.recognizer != finding.recognizer;
        let is_next = |between: Option<&str>| is_other && between == Some(" ") && OF_MODELS.contains(&&*finding.entity);
        let overlaps = finding.range.start < last.range.end;
        if overlaps || is_next(text.get(last.range.end..finding.range.start)) {
            last.range.end = last.range.end.max(finding.range.end);
            if finding.score > last.score {
                last.score = finding.score;
                last.evidence = finding.evidence;
                last.recognizer = finding.recognizer;
            }
        } else {
            united.push(finding);
        }
    }
    united.sort_by_key(|finding| (finding.range.start, finding.range.end));
    united
}

/// The score that each finding counts with: the highest of its own and of the findings that it contains. `findings`
/// must be in order.
fn strengths(findings: &[Finding]) -> Vec<f64> {
    let strength = |(index, finding): (usize, &Finding)| {
        let from = findings[..index].partition_point(|other| other.range.start < finding.range.start);
        let inside = findings[from..]
            .iter()
            .take_while(|other| other.range.start < finding.range.end)
            .filter(|other| other.range.end <= finding.range.end && other.range.len() < finding.range.len())
            .map(|other| other.score)
            .filter(|score| *score - finding.score <= INSIDE);
        inside.fold(finding.score, f64::max)
    };
    findings.iter().enumerate().map(strength).collect()
}

/// The longest piece of `range` that is not taken, if it is at least half of it and has a letter or digit.
fn rest(text: &str, taken: &BTreeMap<usize, usize>, range: &Range<usize>) -> Option<Range<usize>> {
    let before = taken.range(..=range.start).next_back().map_or(0, |(_, &end)| end);
    let inside = taken.range(range.start.saturating_add(1)..range.end);
    let mut longest = 0..0;
    let mut start = range.start.max(before);
    for (next, behind) in inside.map(|(&from, &to)| (from, to)).chain([(range.end, range.end)]) {
        if next.saturating_sub(start) > longest.len() {
            longest = start..next;
        }
        start = start.max(behind);
    }
    if longest == *range {
        return Some(longest);
    }
    let left = text.get(longest.clone())?;
    let is_half = left.len() * 2 >= range.len();
    let (start, end) = (
        longest.start + left.len() - left.trim_start().len(),
        longest.end - (left.len() - left.trim_end().len()),
    );
    (is_half && left.chars().any(char::is_alphanumeric)).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Evidence;
    use super::*;
    use proptest::prelude::*;

    fn finding(range: Range<usize>, entity: &str, score: f64) -> Finding {
        Finding {
            range,
            entity: entity.into(),
            score,
            recognizer: "test".into(),
            evidence: Evidence::default(),
        }
    }

    fn merged(text: &str, findings: &[(Range<usize>, &str, f64)]) -> Vec<(Range<usize>, String)> {
        let findings = findings
            .iter()
            .map(|(range, entity, score)| finding(range.clone(), entity, *score))
            .collect();
        merge(text, findings, 0.5)
            .into_iter()
            .map(|finding| (finding.range, finding.entity.to_string()))
            .collect()
    }

    const TEXT: &str = "abcd efgh ijkl mnop qrst";

    #[test]
    fn score_then_length_then_priority() {
        let one = |range: Range<usize>, entity: &str| vec![(range, entity.to_owned())];
        assert_eq!(
            merged(TEXT, &[(0..4, "PERSON", 0.6), (0..4, "LOCATION", 0.9)]),
            one(0..4, "LOCATION")
        );
        assert_eq!(
            merged(TEXT, &[(0..9, "PERSON", 0.8), (5..9, "LOCATION", 0.8)]),
            one(0..9, "PERSON")
        );
        assert_eq!(
            merged(TEXT, &[(0..4, "UUID", 0.8), (0..4, "MINE", 0.8)]),
            one(0..4, "MINE")
        );
        assert_eq!(
            merged(TEXT, &[(0..4, "PERSON", 0.8), (0..4, "CREDIT_CARD", 0.8)]),
            one(0..4, "CREDIT_CARD")
        );
        assert_eq!(merged(TEXT, &[(0..4, "PERSON", 0.4)]), []);
    }

    #[test]
    fn what_contains_another_wins_but_for_a_much_better_one() {
        let address = (0..14, "STREET_ADDRESS", 0.7);
        assert_eq!(
            merged(TEXT, &[address.clone(), (5..9, "LOCATION", 0.99)]),
            [(0..14, "STREET_ADDRESS".to_owned())]
        );
        let weak = (0..9, "ORGANIZATION", 0.5);
        let expected = [(5..9, "EMAIL_ADDRESS".to_owned())];
        assert_eq!(merged(TEXT, &[weak, (5..9, "EMAIL_ADDRESS", 0.9)])[1..], expected);
    }

    #[test]
    fn a_small_overlap_hides_nothing() {
        let found = merged(TEXT, &[(0..14, "PERSON", 0.7), (10..19, "PHONE_NUMBER", 0.9)]);
        assert_eq!(
            found,
            [(0..9, "PERSON".to_owned()), (10..19, "PHONE_NUMBER".to_owned())]
        );
        let found = merged(TEXT, &[(0..24, "STREET_ADDRESS", 0.55), (5..9, "MINE", 1.0)]);
        assert_eq!(
            found,
            [(5..9, "MINE".to_owned()), (10..24, "STREET_ADDRESS".to_owned())]
        );
        let found = merged(TEXT, &[(8..14, "PERSON", 0.7), (10..19, "PHONE_NUMBER", 0.9)]);
        assert_eq!(found, [(10..19, "PHONE_NUMBER".to_owned())]);
    }

    #[test]
    fn findings_of_one_type_are_united() {
        assert_eq!(
            merged(TEXT, &[(0..7, "PERSON", 0.7), (5..9, "PERSON", 0.9)]),
            [(0..9, "PERSON".to_owned())]
        );
        assert_eq!(merged(TEXT, &[(0..4, "UUID", 0.7), (5..9, "UUID", 0.9)]).len(), 2);
    }

    #[test]
    fn a_source_knows_where_its_names_end() {
        let of = |source: &'static str, range: Range<usize>| Finding {
            recognizer: source.into(),
            ..finding(range, "PERSON", 0.9)
        };
        let count = |other| merge(TEXT, vec![of("model.0", 0..4), of(other, 5..9)], 0.5).len();
        assert_eq!((count("model.0"), count("model.1")), (2, 1));
    }

    #[test]
    fn odd_ranges_are_left_out() {
        #[allow(clippy::reversed_empty_ranges)]
        let odd = [(2..2, "A", 0.9), (3..1, "A", 0.9), (0..99, "A", 0.9), (0..1, "A", 0.9)];
        assert_eq!(merged("éa", &odd), []);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(
            mut found in prop::collection::vec((0usize..20, 1usize..12, 0usize..4, 0u8..5), 0..12),
            seed in any::<u64>(),
        ) {
            let make = |found: &[(usize, usize, usize, u8)]| -> Vec<Finding> {
                let entities = ["PERSON", "UUID", "MINE", "PHONE_NUMBER"];
                let one = |&(start, length, entity, score): &(usize, usize, usize, u8)| {
                    finding(start..(start + length).min(TEXT.len()), entities[entity], f64::from(score) / 4.0)
                };
                found.iter().map(one).collect()
            };
            let first = merge(TEXT, make(&found), 0.25);
            for index in (1..found.len()).rev() {
                found.swap(index, (seed as usize) % (index + 1));
            }
            let second = merge(TEXT, make(&found), 0.25);
            prop_assert_eq!(&first, &second);
            for pair in first.windows(2) {
                prop_assert!(pair[0].range.end <= pair[1].range.start);
            }
            // Merging again only unites findings that are side by side now.
            prop_assert!(merge(TEXT, first.clone(), 0.25).len() <= first.len());
        }
    }
}
