//! Makes rows of a text together with claims on it, for natural language inference.

use std::sync::Arc;

use super::error::TokenizeError;
use super::ids::Ids;
use super::reader::TextReader;
use super::rows::{ClaimPart, Row, Rows};
use super::tokenizer::{PairFrame, Tokens};
use super::windows::{WINDOW_OVERLAP_DIVISOR, cuts};

/// The most rows of one claim with a premise. Their number grows with the product of the two lengths.
const MAX_ROWS_OF_CLAIM: usize = 4096;
/// The most rows of all claims of one question: minutes of inference, and about 20 MB of memory.
const MAX_ROWS: usize = 16 * MAX_ROWS_OF_CLAIM;

impl TextReader {
    /// Makes the rows of claims on a premise: each part of a claim with each window of the premise. A claim has one
    /// part, unless it takes more than half of a row. The rows are ordered by claim, and equal those of each claim
    /// alone; the premise is tokenized once. A claim has no rows if it or the premise has no token. The rows have no
    /// token offsets.
    ///
    /// # Errors
    /// [`TokenizeError::Refused`] if the tokenizer rejects a text or does not support pairs, if one claim makes more
    /// than 4,096 rows, or if all claims together make more than 65,536.
    pub fn claim_rows(&self, premise: &str, claims: &[Arc<str>]) -> Result<Rows, TokenizeError> {
        let frame = self.tokenizer().pair.as_ref();
        let (frame, room) = frame
            .map(|frame| (frame, self.max_length().saturating_sub(frame.len())))
            .filter(|(_, room)| *room >= 2)
            .ok_or_else(|| TokenizeError::from_refusal("the model does not read pairs of texts"))?;
        let premise = self.encode(&self.as_read(premise))?;
        let mut all = Rows {
            tokens: premise.len(),
            ..Rows::default()
        };
        for (index, claim) in claims.iter().enumerate() {
            let claim = self.encode(&self.as_read(claim))?;
            all.tokens += claim.len();
            self.add_claim(&mut all.rows, frame, room, &premise, &claim, index)?;
        }
        Ok(all)
    }

    fn add_claim(
        &self,
        rows: &mut Vec<Row>,
        frame: &PairFrame,
        room: usize,
        premise: &Tokens,
        claim: &Tokens,
        index: usize,
    ) -> Result<(), TokenizeError> {
        let too_many =
            |most: usize| TokenizeError::from_refusal(format!("the texts make more than {most} pairs of windows"));
        let before = rows.len();
        for piece in cuts(claim.len(), room / 2, 0) {
            let room = room - piece.len();
            for window in cuts(premise.len(), room, room / WINDOW_OVERLAP_DIVISOR) {
                if rows.len() - before == MAX_ROWS_OF_CLAIM {
                    return Err(too_many(MAX_ROWS_OF_CLAIM));
                }
                if rows.len() == MAX_ROWS {
                    return Err(too_many(MAX_ROWS));
                }
                let mut ids = Ids::default();
                ids.push_all(&frame.prefix);
                ids.push(&premise.ids, window.clone());
                ids.push_all(&frame.middle);
                let from = ids.len();
                ids.push(&claim.ids, piece.clone());
                ids.push_all(&frame.suffix);
                rows.push(Row {
                    ids,
                    range: premise.range(&window),
                    claim: Some(ClaimPart {
                        index,
                        from,
                        range: claim.range(&piece),
                    }),
                    ..Row::default()
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::tests::READER;
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    /// The rows of one claim.
    fn pair_rows(text: &str, claim: &str) -> Vec<Row> {
        READER.claim_rows(text, &[claim.into()]).unwrap().rows
    }

    #[test]
    fn claims_in_one_question_make_the_rows_that_each_makes_alone() {
        let text = "The sky is blue and the grass is green, and so it was before. ".repeat(8);
        let long = "a claim of many words that does not fit into a row together with the text ".repeat(3);
        let claims: Vec<Arc<str>> = ["The sky is blue.", "", long.trim(), "The sky is blue."]
            .map(Arc::from)
            .into();
        let together = READER.claim_rows(&text, &claims).unwrap();
        let mut alone = Vec::new();
        for (index, claim) in claims.iter().enumerate() {
            alone.extend(pair_rows(&text, claim).into_iter().map(|mut row| {
                row.claim = row.claim.map(|part| ClaimPart { index, ..part });
                row
            }));
        }
        assert!(alone.len() > 12);
        assert_eq!(together.rows, alone);
        let tokens = |text: &str| READER.encode(text).unwrap().len();
        let of_claims: usize = claims.iter().map(|claim| tokens(claim)).sum();
        assert_eq!(together.tokens, tokens(&text) + of_claims);
    }

    #[test]
    fn too_many_pairs_are_refused() {
        let text = "word ".repeat(2000);
        let claim: Arc<str> = "word ".repeat(1000).into();
        let message = |claims: &[Arc<str>]| READER.claim_rows(&text, claims).unwrap_err().to_string();
        assert!(message(&[claim]).contains("more than 4096 pairs"));
        let claims: Vec<Arc<str>> = (0..2000).map(|number| format!("claim {number}").into()).collect();
        assert!(message(&claims).contains("more than 65536 pairs"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pairs_read_every_token_of_both(
            text in "([a-z]{1,9}|[.,!?]| |\\n|[а-я]{1,5}|[一-龥]){0,120}",
            claim in "([a-z]{1,9}|[.,!?]| |[а-я]{1,5}){0,60}",
        ) {
            let (of_text, of_claim) = (READER.encode(&text).unwrap(), READER.encode(&claim).unwrap());
            let rows = pair_rows(&text, &claim);
            prop_assert_eq!(rows.is_empty(), of_text.is_empty() || of_claim.is_empty());
            let covers = |ranges: &[Range<usize>], tokens: &Tokens| {
                tokens.offsets.iter().all(|&(start, end)| ranges.iter().any(|range| range.start <= start && end <= range.end))
            };
            let pieces: Vec<Range<usize>> = rows.iter().flat_map(|row| row.claim.clone()).map(|claim| claim.range).collect();
            for row in &rows {
                let part = row.claim.as_ref().unwrap();
                let ids = row.ids.to_vec();
                prop_assert!(ids.len() <= READER.max_length() && part.from < ids.len() && ids.len() == row.ids.len());
                prop_assert!(text.get(row.range.clone()).is_some() && claim.get(part.range.clone()).is_some());
                // One special token separates the two, the same one that ends the row.
                prop_assert_eq!(ids[part.from - 1], ids[ids.len() - 1]);
                let windows: Vec<Range<usize>> = rows
                    .iter()
                    .filter(|other| other.claim.as_ref().is_some_and(|other| other.range == part.range))
                    .map(|other| other.range.clone())
                    .collect();
                prop_assert!(covers(&windows, &of_text));
            }
            prop_assert!(rows.is_empty() || covers(&pieces, &of_claim));
        }
    }
}
