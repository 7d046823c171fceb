//! The heads of a model, which convert its outputs to probabilities, vectors and spans.

use serde::Deserialize;

use super::backend::{HeadScores, RowScores};
use super::error::EngineError;
use super::tags::Tagging;
use crate::tokens::Row;

/// The activation function of a head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// Exactly one label applies: the probabilities add up to one.
    #[default]
    Softmax,
    /// Labels are independent.
    Sigmoid,
    /// The numbers stay unchanged: a vector without labels.
    None,
}

/// How a head pools the vectors of tokens into the vector of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token, as in llm-guard 0.3.16.
    #[default]
    First,
    /// The mean of all token vectors, the default of sentence-transformers.
    Mean,
}

/// The input of a head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadKind {
    /// The whole of a row: the output has the shape `[batch, labels]`.
    #[default]
    Text,
    /// Each token, for spans: the output has the shape `[batch, tokens, labels]`.
    Token,
}

/// One output of a model and its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Head {
    /// The name that scanners use.
    pub name: String,
    /// The input, which determines the shape of the output.
    #[serde(default)]
    pub kind: HeadKind,
    /// The name of the graph's output.
    pub output: String,
    /// Labels in the order of the output; a vector has none.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The activation function. Token heads ignore it: exactly one label of a token applies.
    #[serde(default)]
    pub activation: Activation,
    /// The pooling of an output with the shape `[batch, tokens, width]`.
    #[serde(default)]
    pub pooling: Pooling,
    /// The graph input of shape `[batch, 1]` that is 1 for rows that need only heads with an early exit. Rows in which
    /// these heads find nothing leave the model early (Xin et al., 2020, arXiv:2004.12993), and the outputs of other
    /// heads are meaningless. All heads with an early exit name the same input. Its default value in the graph is 0.
    #[serde(default)]
    pub early_exit: Option<String>,
}

/// One output of the graph: its shape and its numbers, row by row.
pub(super) struct Output<'a> {
    pub shape: &'a [i64],
    pub values: &'a [f32],
}

/// A head and, for a token head, its tagging scheme.
struct Decoder {
    head: Head,
    tagging: Option<Tagging>,
}

/// The heads of a model.
pub(super) struct Heads(Vec<Decoder>);

impl Heads {
    /// # Errors
    /// Labels of a token head without a tagging scheme, or several inputs for early exits.
    pub fn new(heads: Vec<Head>) -> Result<Self, String> {
        let mut exits = heads.iter().filter_map(|head| head.early_exit.as_deref());
        if let Some(first) = exits.next()
            && let Some(other) = exits.find(|exit| *exit != first)
        {
            return Err(format!(
                "its heads name two inputs for early exits, {first} and {other}"
            ));
        }
        let decoders = heads.into_iter().map(|head| {
            let tagging = tagging_of(&head)?;
            Ok(Decoder { head, tagging })
        });
        decoders.collect::<Result<_, _>>().map(Self)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Head> {
        self.0.iter().map(|decoder| &decoder.head)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The kinds of spans of a token head; `None` for other heads and invalid indices.
    pub fn span_kinds(&self, head: usize) -> Option<&[String]> {
        self.0.get(head)?.tagging.as_ref().map(Tagging::kinds)
    }

    /// The graph input for early exits.
    pub fn early_exit(&self) -> Option<&str> {
        self.iter().find_map(|head| head.early_exit.as_deref())
    }

    /// Whether there is a token head.
    pub fn judge_tokens(&self) -> bool {
        self.0.iter().any(|decoder| decoder.tagging.is_some())
    }

    /// Decodes the outputs of a run for each row. `width` is the padded length of the rows in tokens, `lead` the number
    /// of special tokens before the text.
    pub fn decode<'a>(
        &self,
        rows: &[&Row],
        width: usize,
        lead: usize,
        mut output: impl FnMut(&str) -> Result<Output<'a>, EngineError>,
    ) -> Result<Vec<RowScores>, EngineError> {
        let mut scores: Vec<RowScores> = Vec::with_capacity(rows.len());
        scores.resize_with(rows.len(), || RowScores {
            heads: HeadScores::with_capacity(self.len()),
            spans: Vec::new(),
        });
        for (index, decoder) in self.0.iter().enumerate() {
            let output = output(&decoder.head.output)?;
            decoder.decode(index, rows, width, lead, &output, &mut scores)?;
        }
        Ok(scores)
    }
}

impl Decoder {
    fn decode(
        &self,
        index: usize,
        rows: &[&Row],
        width: usize,
        lead: usize,
        output: &Output,
        scores: &mut [RowScores],
    ) -> Result<(), EngineError> {
        let Self { head, tagging } = self;
        let Output { shape, values } = *output;
        let is_vector = head.activation == Activation::None;
        // A vector may have any width.
        let last = shape.last().filter(|last| is_vector && **last > 0);
        let labels = last.map_or(head.labels.len(), |last| *last as usize);
        let mut expected = vec![rows.len() as i64, labels as i64];
        let of_tokens = tagging.is_some() || is_vector && shape.len() == 3;
        if of_tokens {
            expected.insert(1, width as i64);
        }
        if *shape != *expected || labels == 0 {
            return Err(EngineError::Inference {
                message: format!(
                    "the output {} has the shape {shape:?} where {expected:?} was due",
                    head.output
                ),
            });
        }
        let of_row = if of_tokens { width * labels } else { labels };
        for ((scores, row), values) in scores.iter_mut().zip(rows).zip(values.chunks(of_row)) {
            let is_asked = !row.alone || head.early_exit.is_some();
            let said = match tagging {
                _ if !is_asked => Vec::new(),
                Some(tagging) => {
                    let from = lead * labels;
                    let logits = finite(&values[from..from + row.pieces.len() * labels])?;
                    scores.spans.extend(tagging.spans(index, row, logits));
                    Vec::new()
                }
                None if of_tokens => head.pooling.vector(&values[..row.ids.len() * labels], labels),
                None => head.activation.probabilities(values),
            };
            finite(&said)?;
            scores.heads.push(said);
        }
        Ok(())
    }
}

/// Returns the numbers, or an error if one is NaN or infinite: NaN compares as "not above the threshold", and must
/// never count as a pass.
fn finite(values: &[f32]) -> Result<&[f32], EngineError> {
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        Err(EngineError::Inference {
            message: "the model gave a score that is not a number".to_owned(),
        })
    }
}

/// The tagging scheme of a token head; `None` for another head.
///
/// # Errors
/// Labels without a tagging scheme; the message names the head.
pub(super) fn tagging_of(head: &Head) -> Result<Option<Tagging>, String> {
    if head.kind != HeadKind::Token {
        return Ok(None);
    }
    Tagging::new(&head.labels)
        .map(Some)
        .map_err(|message| format!("its head {}: {message}", head.name))
}

impl Activation {
    fn probabilities(self, logits: &[f32]) -> Vec<f32> {
        match self {
            Self::None => logits.to_vec(),
            Self::Sigmoid => logits.iter().map(|logit| 1.0 / (1.0 + (-logit).exp())).collect(),
            Self::Softmax => {
                let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let powers: Vec<f32> = logits.iter().map(|logit| (logit - max).exp()).collect();
                let sum: f32 = powers.iter().sum();
                powers.into_iter().map(|power| power / sum).collect()
            }
        }
    }
}

impl Pooling {
    /// The vector of a text from its token vectors, which are consecutive and have `width` numbers each.
    fn vector(self, tokens: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::First => tokens[..width].to_vec(),
            Self::Mean => {
                let count = (tokens.len() / width) as f32;
                let sum = |index: usize| tokens[index..].iter().step_by(width).sum::<f32>();
                (0..width).map(|index| sum(index) / count).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(activation: Activation, labels: &[&str]) -> Heads {
        let head = Head {
            name: "default".to_owned(),
            kind: HeadKind::Text,
            output: "logits".to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            activation,
            pooling: Pooling::Mean,
            early_exit: None,
        };
        Heads::new(vec![head]).unwrap()
    }

    fn decode(heads: &Heads, shape: &[i64], values: &[f32]) -> Result<Vec<RowScores>, EngineError> {
        let row = Row {
            ids: vec![1, 2].into(),
            ..Row::default()
        };
        heads.decode(&[&row], 2, 0, |_| Ok(Output { shape, values }))
    }

    #[test]
    fn probabilities_add_up_to_one_or_stand_alone() {
        let softmax = decode(&heads(Activation::Softmax, &["a", "b"]), &[1, 2], &[0.0, 0.0]).unwrap();
        assert_eq!(softmax[0].heads, [[0.5, 0.5]]);
        let sigmoid = decode(&heads(Activation::Sigmoid, &["a", "b"]), &[1, 2], &[0.0, 100.0]).unwrap();
        assert_eq!(sigmoid[0].heads, [[0.5, 1.0]]);
    }

    #[test]
    fn several_heads_share_one_early_exit() {
        let with = |exits: [Option<&str>; 3]| {
            let heads = exits.iter().enumerate().map(|(index, exit)| Head {
                name: format!("head {index}"),
                early_exit: exit.map(str::to_owned),
                ..heads(Activation::Sigmoid, &["a"]).0.remove(0).head
            });
            Heads::new(heads.collect())
        };
        let shared = with([Some("alone"), None, Some("alone")]).unwrap();
        assert_eq!(shared.early_exit(), Some("alone"));
        let row = Row {
            alone: true,
            ..Row::default()
        };
        let output = Output {
            shape: &[1, 1],
            values: &[0.0],
        };
        let scores = shared.decode(&[&row], 1, 0, |_| Ok(Output { ..output })).unwrap();
        assert_eq!(scores[0].heads, [vec![0.5], vec![], vec![0.5]]);
        let refused = with([Some("alone"), None, Some("other")]).err().unwrap();
        assert!(refused.contains("alone and other"), "{refused}");
    }

    #[test]
    fn vectors_of_tokens_are_pooled() {
        let vector = decode(&heads(Activation::None, &[]), &[1, 2, 2], &[1.0, 2.0, 3.0, 6.0]).unwrap();
        assert_eq!(vector[0].heads, [[2.0, 4.0]]);
    }

    #[test]
    fn a_score_that_is_no_number_never_reads_as_a_pass() {
        for logit in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let failed = decode(&heads(Activation::Softmax, &["a", "b"]), &[1, 2], &[0.0, logit]);
            let is_refused =
                matches!(&failed, Err(EngineError::Inference { message }) if message.contains("not a number"));
            // A logit of minus infinity is a probability of zero.
            assert_eq!(is_refused, logit != f32::NEG_INFINITY, "{logit}");
        }
        let failed = decode(&heads(Activation::None, &[]), &[1, 2], &[0.0, f32::INFINITY]);
        assert!(failed.is_err());
    }

    #[test]
    fn an_output_of_another_shape_is_refused() {
        let failed = decode(&heads(Activation::Softmax, &["a", "b"]), &[1, 3], &[0.0; 3]);
        assert!(matches!(failed, Err(EngineError::Inference { message }) if message.contains("[1, 3] where [1, 2]")));
    }
}
