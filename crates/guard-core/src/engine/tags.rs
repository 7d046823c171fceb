//! Decodes the token labels of one row to spans.

use std::ops::Range;

use crate::tokens::Row;

/// The position of a token in a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Outside,
    Begin,
    Inside,
    End,
    Single,
}

/// The labels of a token head: the kinds of spans, and which label may follow which.
///
/// It supports the schemes BIO (Ramshaw and Marcus, 1995, arXiv:cmp-lg/9505040), BIOES and BILOU (Ratinov and Roth,
/// "Design Challenges and Misconceptions in Named Entity Recognition", CoNLL 2009), and labels without a position:
/// `PER`, or `I-PER` if no label begins that kind.
///
/// ```
/// use guard_core::engine::Tagging;
///
/// let labels = ["O", "B-PERSON", "I-PERSON", "B-CITY", "I-CITY"].map(str::to_owned);
/// assert_eq!(Tagging::new(&labels)?.kinds(), ["PERSON", "CITY"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagging {
    kinds: Vec<String>,
    /// Position and kind of each label; the kind of `O` is not used.
    labels: Vec<(Position, usize)>,
    /// For each label that continues a span, the labels that may precede it; empty for the others.
    before: Vec<Vec<usize>>,
    /// For each label, whether a span may end with it.
    may_end: Vec<bool>,
    /// Whether a label that continues a span may also begin one.
    may_begin: bool,
}

/// A span, or the part of a span in the core of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSpan {
    /// The index of the head that found it among the heads of the model.
    pub head: usize,
    /// The index of its kind in [`Tagging::kinds`].
    pub kind: usize,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// The sum of the probabilities of its tokens.
    pub sum: f64,
    /// The number of tokens.
    pub tokens: usize,
    /// Whether it continues a span that ends with the token before it.
    pub continues: bool,
}

impl Tagging {
    /// Parses the labels of a head, in the order of its output.
    ///
    /// # Errors
    /// Labels without `O` or without any kind.
    pub fn new(labels: &[String]) -> Result<Self, String> {
        let has_positions = labels
            .iter()
            .any(|label| label.starts_with("B-") || label.starts_with("I-"));
        let mut kinds: Vec<String> = Vec::new();
        let read: Vec<(Position, usize)> = labels
            .iter()
            .map(|label| {
                let (position, kind) = match label.split_once('-').filter(|_| has_positions) {
                    _ if label == "O" => return (Position::Outside, 0),
                    Some(("B", kind)) => (Position::Begin, kind),
                    Some(("I" | "M", kind)) => (Position::Inside, kind),
                    Some(("E" | "L", kind)) => (Position::End, kind),
                    Some(("S" | "U", kind)) => (Position::Single, kind),
                    _ => (Position::Inside, label.as_str()),
                };
                let known = kinds.iter().position(|known| known == kind);
                let kind = known.unwrap_or_else(|| {
                    kinds.push(kind.to_owned());
                    kinds.len() - 1
                });
                (position, kind)
            })
            .collect();
        if kinds.is_empty() || !read.iter().any(|(position, _)| *position == Position::Outside) {
            return Err("labels of tokens must have O and at least one kind of spans".to_owned());
        }
        let has = |position, kind| read.contains(&(position, kind));
        let may_end = |&(position, kind): &(Position, usize)| match position {
            Position::Outside | Position::End | Position::Single => true,
            Position::Begin => !has(Position::End, kind) || !has(Position::Single, kind),
            Position::Inside => !has(Position::End, kind),
        };
        let before = |&(position, kind): &(Position, usize)| {
            let goes_on = matches!(position, Position::Inside | Position::End);
            let is_before =
                |other: &(Position, usize)| matches!(other.0, Position::Begin | Position::Inside) && other.1 == kind;
            (0..read.len())
                .filter(|&other| goes_on && is_before(&read[other]))
                .collect()
        };
        Ok(Self {
            may_end: read.iter().map(may_end).collect(),
            before: read.iter().map(before).collect(),
            // In the oldest scheme, B- only separates neighbours of one kind, so many kinds lack it.
            may_begin: (0..kinds.len()).any(|kind| !has(Position::Begin, kind)),
            labels: read,
            kinds,
        })
    }

    /// The kinds of spans: `PERSON` for `B-PERSON` and `I-PERSON`.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The spans, or parts of spans, in the core of `row`.
    ///
    /// Decodes the most probable valid sequence of labels (Viterbi, "Error bounds for convolutional codes and an
    /// asymptotically optimum decoding algorithm", 1967) over all visible tokens of the row. `logits` has one value for
    /// each label of each piece of the row.
    pub(super) fn spans(&self, head: usize, row: &Row, logits: &[f32]) -> Vec<RowSpan> {
        let count = self.labels.len();
        let visible: Vec<usize> = (0..row.pieces.len())
            .filter(|&piece| !row.pieces[piece].is_empty())
            .collect();
        let of = |piece: usize| &logits[piece * count..(piece + 1) * count];
        let path = self.path(visible.iter().map(|&piece| of(piece)), !row.follows);
        let mut spans: Vec<RowSpan> = Vec::new();
        // The previous label in the row.
        let mut last: Option<usize> = None;
        let mut is_open = false;
        for (&piece, &label) in visible.iter().zip(&path) {
            let (position, kind) = self.labels[label];
            let goes_on = matches!(position, Position::Inside | Position::End)
                && last.map_or(row.follows, |last| self.before[label].contains(&last));
            last = Some(label);
            if position == Position::Outside || !row.core.contains(&piece) {
                is_open = false;
                continue;
            }
            let probability = self.probability(kind, of(piece));
            let range = row.pieces[piece].clone();
            match spans.last_mut().filter(|_| is_open && goes_on) {
                Some(span) => {
                    span.range = span.range.start.min(range.start)..span.range.end.max(range.end);
                    span.sum += probability;
                    span.tokens += 1;
                }
                None => spans.push(RowSpan {
                    head,
                    kind,
                    range,
                    sum: probability,
                    tokens: 1,
                    continues: goes_on,
                }),
            }
            is_open = true;
        }
        spans
    }

    /// The most probable labels. `is_first` tells that nothing precedes the row, so no span can continue.
    fn path<'a>(&self, tokens: impl Iterator<Item = &'a [f32]>, is_first: bool) -> Vec<usize> {
        let count = self.labels.len();
        let mut scores: Vec<f64> = Vec::new();
        let mut origins: Vec<usize> = Vec::new();
        for logits in tokens {
            let is_begun = !scores.is_empty();
            let best = |labels: &mut dyn Iterator<Item = usize>| {
                labels.fold(None, |best: Option<usize>, label| match best {
                    Some(best) if scores[best] >= scores[label] => Some(best),
                    _ => Some(label),
                })
            };
            let ended = if is_begun {
                best(&mut (0..count).filter(|&label| self.may_end[label]))
            } else {
                None
            };
            let next = (0..count)
                .map(|label| {
                    let logit = f64::from(logits[label]);
                    let goes_on = matches!(self.labels[label].0, Position::Inside | Position::End);
                    if !is_begun {
                        let is_allowed = !goes_on || self.may_begin || !is_first;
                        return if is_allowed { logit } else { f64::NEG_INFINITY };
                    }
                    let begins = ended.filter(|_| !goes_on || self.may_begin);
                    let mut others = self.before[label].iter().copied().chain(begins);
                    let origin = best(&mut others).unwrap_or(label);
                    origins.push(origin);
                    scores[origin] + logit
                })
                .collect();
            scores = next;
        }
        let Some(mut label) = (0..scores.len()).reduce(|a, b| if scores[a] >= scores[b] { a } else { b }) else {
            return Vec::new();
        };
        let mut path = vec![label];
        for step in origins.chunks_exact(count).rev() {
            label = step[label];
            path.push(label);
        }
        path.reverse();
        path
    }

    /// The probability that a token is of a kind.
    fn probability(&self, kind: usize, logits: &[f32]) -> f64 {
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let (mut all, mut own) = (0.0, 0.0);
        for (logit, (position, of)) in logits.iter().zip(&self.labels) {
            let power = f64::from(logit - most).exp();
            all += power;
            if *position != Position::Outside && *of == kind {
                own += power;
            }
        }
        own / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tagging(labels: &str) -> Tagging {
        let labels: Vec<String> = labels.split(' ').map(str::to_owned).collect();
        Tagging::new(&labels).unwrap()
    }

    /// A row of one-byte pieces, all in its core.
    fn row(length: usize) -> Row {
        Row {
            pieces: (0..length).map(|at| at..at + 1).collect(),
            core: 0..length,
            ..Row::default()
        }
    }

    /// The spans for given probabilities by token and label.
    fn spans(tagging: &Tagging, row: &Row, tokens: &[&[f32]]) -> Vec<(String, Range<usize>)> {
        let logits: Vec<f32> = tokens.concat().iter().map(|probability| probability.ln()).collect();
        let found = tagging.spans(0, row, &logits).into_iter();
        found
            .map(|span| (tagging.kinds()[span.kind].clone(), span.range))
            .collect()
    }

    fn named(found: &[(&str, Range<usize>)]) -> Vec<(String, Range<usize>)> {
        found
            .iter()
            .map(|(kind, range)| ((*kind).to_owned(), range.clone()))
            .collect()
    }

    #[test]
    fn a_span_never_goes_on_with_nothing() {
        let bio = tagging("O B-X I-X B-Y I-Y");
        assert_eq!(bio.kinds(), ["X", "Y"]);
        // Alone, the second token would be I-X after O; together, B-X I-X is more probable.
        let tokens: [&[f32]; 3] = [
            &[0.6, 0.37, 0.01, 0.01, 0.01],
            &[0.02, 0.02, 0.94, 0.01, 0.01],
            &[0.9, 0.02, 0.04, 0.02, 0.02],
        ];
        assert_eq!(spans(&bio, &row(3), &tokens), named(&[("X", 0..2)]));
        // The label I-Y does not continue a span of X.
        let tokens: [&[f32]; 2] = [&[0.01, 0.9, 0.01, 0.07, 0.01], &[0.2, 0.01, 0.09, 0.05, 0.65]];
        assert_eq!(spans(&bio, &row(2), &tokens), named(&[("X", 0..1)]));
    }

    #[test]
    fn b_parts_neighbours() {
        let bio = tagging("O B-X I-X");
        let tokens: [&[f32]; 3] = [&[0.1, 0.8, 0.1], &[0.1, 0.8, 0.1], &[0.1, 0.1, 0.8]];
        assert_eq!(spans(&bio, &row(3), &tokens), named(&[("X", 0..1), ("X", 1..3)]));
    }

    #[test]
    fn scores_are_means_over_the_labels_of_the_kind() {
        let bio = tagging("O B-X I-X");
        let logits: Vec<f32> = [0.2, 0.7, 0.1, 0.1, 0.3, 0.6].map(f32::ln).to_vec();
        let found = bio.spans(3, &row(2), &logits);
        assert_eq!((found.len(), found[0].head, found[0].tokens), (1, 3, 2));
        assert!((found[0].sum - 1.7).abs() < 1e-6);
    }

    #[test]
    fn other_schemes() {
        let bioes = tagging("O B-X I-X E-X S-X");
        let tokens: [&[f32]; 4] = [
            &[0.1, 0.7, 0.1, 0.05, 0.05],
            &[0.4, 0.05, 0.05, 0.3, 0.2],
            &[0.1, 0.1, 0.1, 0.1, 0.6],
            &[0.1, 0.1, 0.1, 0.1, 0.6],
        ];
        assert_eq!(
            spans(&bioes, &row(4), &tokens),
            named(&[("X", 0..2), ("X", 2..3), ("X", 3..4)])
        );
        for labels in ["O I-X I-Y", "O X Y"] {
            let plain = tagging(labels);
            let tokens: [&[f32]; 4] = [&[0.1, 0.8, 0.1], &[0.1, 0.8, 0.1], &[0.1, 0.1, 0.8], &[0.8, 0.1, 0.1]];
            assert_eq!(
                spans(&plain, &row(4), &tokens),
                named(&[("X", 0..2), ("Y", 2..3)]),
                "{labels}"
            );
        }
        // As in CoNLL-2003: B- only between neighbours, so kinds without neighbours lack that label.
        let oldest = tagging("O I-X B-Y I-Y");
        let tokens: [&[f32]; 3] = [&[0.1, 0.0, 0.1, 0.8], &[0.1, 0.0, 0.7, 0.2], &[0.1, 0.7, 0.1, 0.1]];
        assert_eq!(
            spans(&oldest, &row(3), &tokens),
            named(&[("Y", 0..1), ("Y", 1..2), ("X", 2..3)])
        );
        // Without positions, a prefix is part of the kind.
        assert_eq!(tagging("O E-MAIL S-BAHN").kinds(), ["E-MAIL", "S-BAHN"]);
        for labels in ["B-X I-X", "O"] {
            let labels: Vec<String> = labels.split(' ').map(str::to_owned).collect();
            assert!(Tagging::new(&labels).is_err(), "{labels:?}");
        }
    }

    #[test]
    fn a_row_tells_what_it_decides_and_no_more() {
        let bio = tagging("O B-X I-X");
        let tokens: [&[f32]; 4] = [&[0.1, 0.1, 0.8], &[0.1, 0.1, 0.8], &[0.1, 0.1, 0.8], &[0.9, 0.05, 0.05]];
        let logits: Vec<f32> = tokens.concat().iter().map(|probability| probability.ln()).collect();
        let part = Row {
            core: 1..2,
            follows: true,
            ..row(4)
        };
        let found = bio.spans(0, &part, &logits);
        assert_eq!(
            (found.len(), found[0].range.clone(), found[0].continues),
            (1, 1..2, true)
        );
        // The first token of a text can't continue a span.
        let whole = bio.spans(0, &row(4), &logits);
        assert_eq!((whole[0].range.clone(), whole[0].continues), (0..3, false));
    }

    proptest! {
        #[test]
        fn any_logits(
            logits in prop::collection::vec(prop::array::uniform5(-9.0_f32..9.0), 0..40),
            follows: bool,
            from in 0_usize..40,
        ) {
            let bio = tagging("O B-X I-X B-Y I-Y");
            let length = logits.len();
            let part = Row { core: from.min(length)..length, follows, ..row(length) };
            let flat = logits.concat();
            let found = bio.spans(0, &part, &flat);
            let mut end = part.core.start;
            for span in &found {
                prop_assert!(end <= span.range.start && span.range.start < span.range.end);
                prop_assert!(span.sum > 0.0 && span.sum <= span.tokens as f64 + 1e-6);
                prop_assert_eq!(span.tokens, span.range.len());
                end = span.range.end;
            }
            // If the most probable labels form a valid sequence, they are the result.
            let best: Vec<usize> = logits
                .iter()
                .map(|logits| (0..5).reduce(|a, b| if logits[a] >= logits[b] { a } else { b }).unwrap())
                .collect();
            let mut last = 0;
            let is_valid = best.iter().all(|&label| {
                let goes_on = label == 2 || label == 4;
                let fits = !goes_on || last == label || last + 1 == label;
                last = label;
                fits
            });
            if is_valid && !follows {
                prop_assert_eq!(bio.path(logits.iter().map(<[f32; 5]>::as_slice), true), best);
            }
        }
    }
}
