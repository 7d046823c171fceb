//! A linear classifier over hashed features.
//!
//! A model is a folder with `config.json` (labels and features) and `model.bin` (weights), all numbers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `GLM1` |
//! | 4 | u32: buckets, a power of two |
//! | 4 | u32: labels, at most 255 |
//! | 4 | u32: weights that are not 0 |
//! | 4 · labels | f32: for each label, the scale by which its int8 weights are multiplied |
//! | 4 · labels | f32: the bias of each label |
//! | buckets / 8 | a bit for each bucket, the lowest bit first: whether the bucket has weights |
//! | buckets with weights | u8: how many weights the bucket has |
//! | weights | u8: the label of each weight, bucket by bucket |
//! | weights | i8: the value of each weight, in the same order |
//!
//! The probabilities of the labels are softmax(bias + scale · Σ value · weight), over the features of the text.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::features::{Extractor, Feature, Spec};
use crate::model_files::{ModelFileError, ordered_labels};
use crate::model_folder::ModelFolder;
use crate::stop;
use crate::text::repeats::DistinctText;

/// The file with the weights.
const WEIGHTS: &str = "model.bin";
const CONFIG: &str = "config.json";
const MAGIC: &[u8; 4] = b"GLM1";
/// The `model_type` of such models.
const MODEL_TYPE: &str = "guard-linear";

#[derive(Deserialize)]
struct Config {
    model_type: String,
    id2label: BTreeMap<String, String>,
    features: Spec,
    /// Other names of labels, in lower case.
    #[serde(default)]
    aliases: HashMap<String, String>,
}

/// The parsed configuration of a model.
struct Description {
    extractor: Extractor,
    labels: Vec<String>,
    /// The indices of labels by name or alias, in lower case.
    indices: HashMap<String, usize>,
}

/// A loaded model.
#[derive(Debug)]
pub struct LinearModel {
    extractor: Extractor,
    labels: Vec<String>,
    indices: HashMap<String, usize>,
    /// The index of the first weight of each bucket, then the number of weights.
    starts: Vec<u32>,
    /// The label and the value of each weight.
    weights: Vec<(u8, i8)>,
    scales: Vec<f32>,
    biases: Vec<f32>,
}

impl LinearModel {
    /// Loads the model in `folder`.
    ///
    /// # Errors
    ///
    /// If a file is missing, invalid or differs from the manifest; the error names the file.
    pub fn load(folder: &Path) -> Result<Self, ModelFileError> {
        let files = ModelFolder::open(folder)?;
        let config = files.read(Path::new(CONFIG))?.bytes;
        let weights = files.read(Path::new(WEIGHTS))?.bytes;
        let bad = |file: &str, message: String| ModelFileError::Bad {
            path: folder.join(file),
            message,
        };
        let description = parse_config(&config).map_err(|message| bad(CONFIG, message))?;
        Self::parse(description, &weights).map_err(|message| bad(WEIGHTS, message))
    }

    fn parse(description: Description, bytes: &[u8]) -> Result<Self, String> {
        let Description {
            extractor,
            labels,
            indices,
        } = description;
        let mut rest = Bytes(bytes);
        if rest.take(4)? != MAGIC {
            return Err("it does not start with GLM1".to_owned());
        }
        let [buckets, classes, count] = [rest.number()?, rest.number()?, rest.number()?];
        if buckets != extractor.buckets() || classes != labels.len() {
            return Err(format!(
                "it has {buckets} buckets and {classes} labels where config.json has {} and {}",
                extractor.buckets(),
                labels.len()
            ));
        }
        let scales = rest.floats(classes)?;
        let biases = rest.floats(classes)?;
        let used = rest.take(buckets.div_ceil(8))?;
        let is_used = |bucket: usize| used[bucket / 8] >> (bucket % 8) & 1 == 1;
        let counts = rest.take((0..buckets).filter(|bucket| is_used(*bucket)).count())?;
        let owners = rest.take(count)?;
        let values = rest.take(count)?;
        if !rest.0.is_empty() || counts.iter().map(|count| usize::from(*count)).sum::<usize>() != count {
            return Err("its length does not match its header".to_owned());
        }
        if owners.iter().any(|owner| usize::from(*owner) >= classes) {
            return Err("a weight has an unknown label".to_owned());
        }
        if scales.iter().chain(&biases).any(|number| !number.is_finite()) {
            return Err("a scale or bias is not a number".to_owned());
        }
        let mut counts = counts.iter();
        let mut starts = vec![0];
        let mut sum = 0;
        for bucket in 0..buckets {
            sum += if is_used(bucket) {
                u32::from(*counts.next().unwrap_or(&0))
            } else {
                0
            };
            starts.push(sum);
        }
        let weights = owners
            .iter()
            .zip(values)
            .map(|(owner, value)| (*owner, *value as i8))
            .collect();
        Ok(Self {
            extractor,
            labels,
            indices,
            starts,
            weights,
            scales,
            biases,
        })
    }

    /// The labels, in the order of the probabilities.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The index of a label, by its name or alias in lower case.
    pub fn label(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// The scores of the labels before softmax.
    pub fn logits(&self, text: &str) -> Vec<f32> {
        stop::point();
        self.weigh(&self.extractor.extract(text))
    }

    /// The probability of each label.
    pub fn probabilities(&self, text: &str) -> Vec<f32> {
        softmax(&self.logits(text))
    }

    /// The probability of each label, without counting repetition alone as evidence for `labels` (indices).
    ///
    /// Features are counts, and a repeated sentence has higher counts than any training text: "The meeting is on Monday."
    /// fifty times looks like noise. So a text with repeats is read in two other ways: with each part
    /// [once](DistinctText), and the repeated parts alone, because a little other text must not hide them. The higher of
    /// these two probabilities counts if it is lower than that of the whole text.
    pub fn probabilities_once(&self, text: &str, labels: &[usize]) -> Vec<f32> {
        let written = self.probabilities(text);
        let Some(once) = DistinctText::new(text) else {
            return written;
        };
        let sum = |of: &Vec<f32>| labels.iter().filter_map(|&label| of.get(label)).sum::<f32>();
        let likelier = |one: Vec<f32>, other: Vec<f32>| if sum(&other) > sum(&one) { other } else { one };
        let read = likelier(
            self.probabilities(&once.text),
            self.probabilities(&once.repeated_parts(text)),
        );
        if sum(&read) < sum(&written) { read } else { written }
    }

    fn weigh(&self, features: &[Feature]) -> Vec<f32> {
        let mut sums = vec![0.0f32; self.labels.len()];
        for (bucket, value) in features {
            let bucket = *bucket as usize;
            for (owner, weight) in &self.weights[self.starts[bucket] as usize..self.starts[bucket + 1] as usize] {
                sums[usize::from(*owner)] += value * f32::from(*weight);
            }
        }
        sums.iter()
            .zip(&self.scales)
            .zip(&self.biases)
            .map(|((sum, scale), bias)| sum * scale + bias)
            .collect()
    }
}

/// Converts scores to probabilities that add up to one.
pub fn softmax(logits: &[f32]) -> Vec<f32> {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|logit| (logit - max).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn parse_config(bytes: &[u8]) -> Result<Description, String> {
    let config: Config = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if config.model_type != MODEL_TYPE {
        return Err(format!(
            "its model_type is {} where {MODEL_TYPE} was due",
            config.model_type
        ));
    }
    let labels = ordered_labels(config.id2label)?;
    if labels.len() < 2 || labels.len() > 255 {
        return Err("id2label must number 2 to 255 labels from 0 without gaps".to_owned());
    }
    let extractor = Extractor::new(config.features).map_err(|error| error.to_string())?;
    let mut indices: HashMap<String, usize> = labels
        .iter()
        .enumerate()
        .map(|(index, label)| (label.to_lowercase(), index))
        .collect();
    for (alias, label) in config.aliases {
        let index = labels
            .iter()
            .position(|known| *known == label)
            .ok_or_else(|| format!("the alias {alias} refers to an unknown label"))?;
        indices.entry(alias).or_insert(index);
    }
    Ok(Description {
        extractor,
        labels,
        indices,
    })
}

/// A reader of bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<usize, String> {
        let bytes = self.take(4)?.try_into().map_err(|_| "it ends too early")?;
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, String> {
        let bytes = self.take(count * 4)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    /// A model made by `make.py` in its folder, with random weights over every kind of feature.
    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/linear")
    }

    fn description() -> Description {
        parse_config(&std::fs::read(folder().join(CONFIG)).unwrap()).unwrap()
    }

    #[test]
    fn scores_are_those_of_the_training() {
        #[derive(Deserialize)]
        struct Case {
            text: String,
            logits: Vec<f32>,
        }
        let model = LinearModel::load(&folder()).unwrap();
        assert_eq!(model.labels(), ["red", "green", "blue"]);
        assert_eq!(model.label("blue"), Some(2));
        assert_eq!(model.label("pink"), None);
        let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(folder().join("expected.json")).unwrap()).unwrap();
        assert!(cases.len() > 5);
        for case in cases {
            for (ours, theirs) in model.logits(&case.text).iter().zip(&case.logits) {
                assert!((ours - theirs).abs() < 1e-4, "{:?}: {ours} {theirs}", case.text);
            }
        }
    }

    #[test]
    fn probabilities_add_up() {
        assert_eq!(softmax(&[0.0, 0.0]), [0.5, 0.5]);
        let far = softmax(&[1000.0, -1000.0, 1000.0]);
        assert_eq!(far, [0.5, 0.0, 0.5]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = LinearModel::load(Path::new("/nowhere")).unwrap_err();
        assert!(matches!(&error, ModelFileError::Missing { path } if path.ends_with("config.json")));
    }

    #[test]
    fn damaged_weights_are_refused() {
        let bytes = std::fs::read(folder().join(WEIGHTS)).unwrap();
        let parse = |bytes: &[u8]| LinearModel::parse(description(), bytes);
        assert!(parse(&bytes).is_ok());
        for length in [0, 3, 15, 40, 200, bytes.len() - 1] {
            assert!(parse(&bytes[..length]).is_err(), "{length}");
        }
        assert!(parse(&[bytes.as_slice(), &[0]].concat()).is_err());
        let mut other = bytes.clone();
        other[0] = b'X';
        assert_eq!(parse(&other).unwrap_err(), "it does not start with GLM1");
        let mut other = bytes.clone();
        other[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(parse(&other).unwrap_err(), "a scale or bias is not a number");
        let mut fewer = description();
        fewer.labels.pop();
        let fewer = LinearModel::parse(fewer, &bytes).unwrap_err();
        assert_eq!(
            fewer,
            "it has 1024 buckets and 3 labels where config.json has 1024 and 2"
        );
    }

    #[test]
    fn impossible_configurations_are_refused() {
        let config = |labels: &str, features: &str| {
            let text = format!(r#"{{"model_type":"guard-linear","id2label":{labels},"features":{features}}}"#);
            parse_config(text.as_bytes()).map(|_| ())
        };
        let labels = r#"{"0":"a","1":"b"}"#;
        let features = r#"{"bits":4,"groups":[{"kind":"lines"}]}"#;
        assert_eq!(config(labels, features), Ok(()));
        assert!(config(r#"{"0":"a"}"#, features).is_err());
        assert!(config(r#"{"0":"a","2":"b"}"#, features).is_err());
        assert!(config(r#"{"0":"a","x":"b"}"#, features).is_err());
        for features in [
            r#"{"bits":0,"groups":[]}"#,
            r#"{"bits":23,"groups":[]}"#,
            r#"{"bits":4,"groups":[{"kind":"chars","min":0,"max":2}]}"#,
            r#"{"bits":4,"groups":[{"kind":"bytes","min":3,"max":2}]}"#,
            r#"{"bits":4,"groups":[{"kind":"tokens","min":1,"max":99}]}"#,
            r#"{"bits":4,"groups":[{"kind":"magic"}]}"#,
        ] {
            assert!(config(labels, features).is_err(), "{features}");
        }
        let alias = |alias: &str| {
            let text = format!(
                r#"{{"model_type":"guard-linear","id2label":{labels},"features":{features},"aliases":{{"x":"{alias}"}}}}"#
            );
            parse_config(text.as_bytes()).map(|description| description.indices["x"])
        };
        assert_eq!(alias("b"), Ok(1));
        assert_eq!(alias("c"), Err("the alias x refers to an unknown label".to_owned()));
        assert!(parse_config(br#"{"model_type":"bert","id2label":{},"features":{"bits":4,"groups":[]}}"#).is_err());
    }

    proptest! {
        #[test]
        fn any_text_has_probabilities(text in any::<String>()) {
            let model = LinearModel::load(&folder()).unwrap();
            let found = model.probabilities(&text);
            prop_assert!(found.iter().all(|p| p.is_finite() && *p >= 0.0));
            prop_assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            // The counts of one text must not affect the next.
            prop_assert_eq!(found, model.probabilities(&text));
        }
    }
}
