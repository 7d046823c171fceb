//! A model on disk: its folder, its labels and heads, its sessions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::Tensor;
use serde::Deserialize;

use super::queue::{Batching, HeadScores, Lane, Pass, Question, RowScores};
use super::runtime::Runtime;
use super::tags::Tagging;
use super::{EngineError, Threads};
use crate::tokens::windows::{Row, Rows, TextTokenizer};

/// How the raw outputs of a head become probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// One label is right: the probabilities add up to one.
    #[default]
    Softmax,
    /// Each label for itself.
    Sigmoid,
    /// They stay as they are: a vector without labels.
    None,
}

/// How the vectors of tokens become that of a text, where a head gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// That of the first token, as in llm-guard 0.3.16.
    #[default]
    First,
    /// The mean of all, as sentence-transformers do unless told otherwise.
    Mean,
}

/// What a head judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadKind {
    /// The whole of a row: the output has the shape `[batch, labels]`.
    #[default]
    Text,
    /// Each token, for spans: the output has the shape `[batch, tokens, labels]`.
    Token,
}

/// One output of a model and what its numbers mean.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Head {
    /// The name that scanners ask for.
    pub name: String,
    /// What it judges, which says the shape of its output.
    #[serde(default)]
    pub kind: HeadKind,
    /// The name of the graph's output.
    pub output: String,
    /// Labels in the order of the output; a vector has none.
    #[serde(default)]
    pub labels: Vec<String>,
    /// How logits become probabilities; of tokens, one label is always right.
    #[serde(default)]
    pub activation: Activation,
    /// How a vector is made where the output has the shape `[batch, tokens, width]`.
    #[serde(default)]
    pub pooling: Pooling,
}

/// The parts of a Hugging Face `config.json` that matter here, and guard's own additions under `guard`.
#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    id2label: BTreeMap<String, String>,
    #[serde(default)]
    architectures: Vec<String>,
    problem_type: Option<String>,
    max_position_embeddings: Option<usize>,
    model_type: Option<String>,
    #[serde(default)]
    guard: GuardConfig,
}

#[derive(Debug, Default, Deserialize)]
struct GuardConfig {
    max_length: Option<usize>,
    /// Tokens of a window of a text that is longer than that.
    window_length: Option<usize>,
    activation: Option<Activation>,
    #[serde(default)]
    heads: Vec<Head>,
    /// Where the files are that the graph keeps tensors in, if not beside it: a folder, seen from that of the model. Models made from
    /// one base have their word vectors in common.
    external_data: Option<PathBuf>,
}

/// How sentence-transformers make a vector, as the file `1_Pooling/config.json` of their models says.
#[derive(Debug, Default, Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Debug, Default, Deserialize)]
struct TokenizerConfig {
    model_max_length: Option<f64>,
}

/// Where the ONNX graph of a model folder may be, in order; the names that Hugging Face's export tools write.
const GRAPH_FILES: &[&str] = &[
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
];

/// The outputs of embedding models, in the order in which they are taken: those that Hugging Face's export tools write.
const VECTOR_OUTPUTS: &[&str] = &["sentence_embedding", "last_hidden_state"];

/// The longest input of a model that does not say.
const DEFAULT_MAX_LENGTH: usize = 512;
/// Graph optimizations of ONNX Runtime that cost time on the CPU: its SkipLayerNormalization takes about five times as long
/// there as the Add and LayerNormalization that it replaces (profiled with 1.31 on AVX-512: 20 % of a pass of MiniLM).
const SLOW_ON_CPU: &str = "SkipLayerNormFusion";
/// The option of ONNX Runtime that names the folder of a graph's tensors.
const EXTERNAL_DATA: &str = "session.model_external_initializers_file_folder_path";
/// Tokens of a run on the CPU: sharing a run saves little there, and waiting for it costs.
const CPU_BATCH_TOKENS: usize = 512;
/// Tokens of a run on an accelerator, which needs many rows to be busy.
const ACCELERATOR_BATCH_TOKENS: usize = 16_384;

/// Where a model is and how it is to be read. Equal ones are loaded once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// A folder with `config.json`, `tokenizer.json` and an ONNX graph.
    pub folder: PathBuf,
    /// A certain graph, as a path in the folder.
    pub graph: Option<PathBuf>,
    /// The longest input in tokens, where it is to be shorter than what the model can read.
    pub max_length: Option<usize>,
}

/// A loaded model.
pub struct Model {
    heads: Vec<Head>,
    /// The labels of the heads over tokens.
    taggings: Vec<Option<Tagging>>,
    max_length: usize,
    tokenizer: TextTokenizer,
    inputs: Vec<Input>,
    /// One session for each worker. The authors of `ort` found concurrent runs of one session to crash with some
    /// execution providers, so no session is shared.
    lanes: Vec<Mutex<Session>>,
    /// The session with all threads, for a call that is alone; absent where it would be the same as a lane.
    wide: Option<Mutex<Session>>,
    batching: Batching,
}

/// An input of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Ids,
    Mask,
    Types,
    Positions,
}

impl Input {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Types),
            "position_ids" => Some(Self::Positions),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ids => "input_ids",
            Self::Mask => "attention_mask",
            Self::Types => "token_type_ids",
            Self::Positions => "position_ids",
        }
    }
}

impl Model {
    /// Loads the files that `source` names.
    pub(crate) fn load(runtime: &Runtime, threads: Threads, source: &Source) -> Result<Self, EngineError> {
        let folder = source.folder.as_path();
        let graph = find_graph(folder, source.graph.as_deref())?;
        let config_path = folder.join("config.json");
        let config = read_config(&config_path)?;
        let tokenizer_config: TokenizerConfig = read_json(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
        let possible = config.max_length(&tokenizer_config);
        let max_length = source.max_length.map_or(possible, |asked| asked.min(possible));
        let bad_config = |message: String| EngineError::BadFile {
            path: config_path.clone(),
            message,
        };
        let mut tokenizer = TextTokenizer::from_file(&folder.join("tokenizer.json"), max_length)?;
        if let Some(length) = config.guard.window_length {
            let shorter = tokenizer.with_windows_of(length);
            tokenizer = shorter.map_err(|error| bad_config(error.to_string()))?;
        }

        let bad_graph = |message: String| EngineError::BadFile {
            path: graph.clone(),
            message,
        };
        let bytes = std::fs::read(&graph).map_err(|error| bad_graph(error.to_string()))?;
        let single = is_dynamically_quantized(&bytes) && runtime.is_cpu_only();
        let external = config.guard.external_data.as_ref().map(|path| folder.join(path));
        let build = |threads| {
            let mut builder = session_builder(runtime, threads)?;
            let built = match &external {
                Some(path) => (builder.with_config_entry(EXTERNAL_DATA, path.to_string_lossy()))
                    .map_err(ort::Error::from)
                    .and_then(|mut builder| builder.commit_from_memory(&bytes)),
                None => builder.commit_from_file(&graph),
            };
            built.map_err(|error| bad_graph(error.to_string()))
        };
        let first = build(threads.per_worker)?;
        let inputs = first
            .inputs()
            .iter()
            .map(|input| {
                Input::from_name(input.name())
                    .ok_or_else(|| bad_graph(format!("its input {} is not one that guard can give", input.name())))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let outputs: Vec<String> = first.outputs().iter().map(|output| output.name().to_owned()).collect();
        let pooling: PoolingConfig = read_json(&folder.join("1_Pooling/config.json"))?.unwrap_or_default();
        let pooling = if pooling.pooling_mode_mean_tokens {
            Pooling::Mean
        } else {
            Pooling::First
        };
        let heads = config.heads(&outputs, pooling).map_err(bad_config)?;
        let taggings = heads
            .iter()
            .map(|head| Tagging::of(head).transpose())
            .collect::<Result<Vec<_>, _>>()
            .map_err(bad_config)?;
        let judges_tokens = taggings.iter().any(Option::is_some);
        let tokenizer = if judges_tokens {
            tokenizer.with_places()
        } else {
            tokenizer
        };

        // An accelerator is one device: several sessions on it would only divide its memory.
        let lanes = if runtime.is_cpu_only() { threads.workers } else { 1 };
        let mut sessions = vec![Mutex::new(first)];
        for _ in 1..lanes {
            sessions.push(Mutex::new(build(threads.per_worker)?));
        }
        let wide = (lanes > 1).then(|| build(threads.total)).transpose()?.map(Mutex::new);
        let batching = match (single, runtime.is_cpu_only()) {
            (true, _) => Batching::Single,
            (false, true) => Batching::Tokens(CPU_BATCH_TOKENS),
            (false, false) => Batching::Tokens(ACCELERATOR_BATCH_TOKENS),
        };
        Ok(Self {
            heads,
            taggings,
            max_length,
            tokenizer,
            inputs,
            lanes: sessions,
            wide,
            batching,
        })
    }

    /// The heads, in the order of [`HeadScores`].
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The kinds of spans of each head over tokens; nothing for the others.
    pub fn span_kinds(&self, head: usize) -> Option<&[String]> {
        self.taggings.get(head)?.as_ref().map(Tagging::kinds)
    }

    /// The longest input in tokens, special ones included.
    pub fn max_length(&self) -> usize {
        self.max_length
    }

    fn session(&self, lane: Lane) -> &Mutex<Session> {
        match (lane, &self.wide) {
            (Lane::Wide, Some(wide)) => wide,
            (Lane::Wide, None) => &self.lanes[0],
            (Lane::Worker(index), _) => &self.lanes[index % self.lanes.len()],
        }
    }

    fn tensor(&self, input: Input, rows: &[&Row], width: usize) -> Result<Tensor<i64>, ort::Error> {
        let mut values = Vec::with_capacity(rows.len() * width);
        for row in rows {
            let length = row.ids.len();
            match input {
                Input::Ids => values.extend(row.ids.iter().map(|id| i64::from(*id))),
                Input::Mask => values.extend(std::iter::repeat_n(1, length)),
                Input::Types => {
                    let first = row.claim.as_ref().map_or(length, |claim| claim.from);
                    values.extend(std::iter::repeat_n(0, first));
                    values.extend(std::iter::repeat_n(1, length - first));
                }
                Input::Positions => values.extend(0..length as i64),
            }
            let fill = if input == Input::Ids {
                i64::from(self.tokenizer.pad())
            } else {
                0
            };
            values.extend(std::iter::repeat_n(fill, width - length));
        }
        Tensor::from_array(([rows.len(), width], values))
    }
}

impl Pass for Model {
    fn tokenize(&self, question: &Question) -> Result<Rows, EngineError> {
        match question {
            Question::Text(text, reading) => self.tokenizer.rows(text, *reading),
            Question::Pair(text, claim) => self.tokenizer.pair_rows(text, claim),
        }
    }

    fn run(&self, lane: Lane, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError> {
        let failed = |error: ort::Error| EngineError::Inference {
            message: error.to_string(),
        };
        let width = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let inputs = self
            .inputs
            .iter()
            .map(|input| Ok((input.name(), self.tensor(*input, rows, width)?)))
            .collect::<Result<Vec<_>, ort::Error>>()
            .map_err(failed)?;
        let mut session = self.session(lane).lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs).map_err(failed)?;
        let mut scores: Vec<RowScores> = Vec::with_capacity(rows.len());
        scores.resize_with(rows.len(), || RowScores {
            heads: HeadScores::with_capacity(self.heads.len()),
            spans: Vec::new(),
        });
        for (index, (head, tagging)) in self.heads.iter().zip(&self.taggings).enumerate() {
            let (shape, values) = outputs[head.output.as_str()]
                .try_extract_tensor::<f32>()
                .map_err(failed)?;
            let is_vector = head.activation == Activation::None;
            // The width of a vector is whatever the graph gives.
            let last = shape.last().filter(|last| is_vector && **last > 0);
            let labels = last.map_or(head.labels.len(), |last| *last as usize);
            let mut expected = vec![rows.len() as i64, labels as i64];
            let of_tokens = tagging.is_some() || is_vector && shape.len() == 3;
            if of_tokens {
                expected.insert(1, width as i64);
            }
            if **shape != *expected || labels == 0 {
                return Err(EngineError::Inference {
                    message: format!(
                        "the output {} has the shape {shape:?} where {expected:?} was due",
                        head.output
                    ),
                });
            }
            // A score that is not a number compares as "not above the threshold": it must never come out as a pass.
            let not_a_number = || EngineError::Inference {
                message: "the model gave a score that is not a number".to_owned(),
            };
            if is_vector && of_tokens {
                for ((vectors, of_row), row) in values.chunks(width * labels).zip(&mut scores).zip(rows) {
                    let vector = head.pooling.vector(&vectors[..row.ids.len() * labels], labels);
                    if !vector.iter().all(|value| value.is_finite()) {
                        return Err(not_a_number());
                    }
                    of_row.heads.push(vector);
                }
                continue;
            }
            let Some(tagging) = tagging else {
                for (logits, of_row) in values.chunks(labels).zip(&mut scores) {
                    let probabilities = head.activation.probabilities(logits);
                    if !probabilities.iter().all(|probability| probability.is_finite()) {
                        return Err(not_a_number());
                    }
                    of_row.heads.push(probabilities);
                }
                continue;
            };
            for ((logits, of_row), row) in values.chunks(width * labels).zip(&mut scores).zip(rows) {
                let from = self.tokenizer.lead() * labels;
                let logits = &logits[from..from + row.pieces.len() * labels];
                if !logits.iter().all(|logit| logit.is_finite()) {
                    return Err(not_a_number());
                }
                of_row.heads.push(Vec::new());
                of_row.spans.extend(tagging.spans(index, row, logits));
            }
        }
        Ok(scores)
    }

    fn batching(&self) -> Batching {
        self.batching
    }
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
    /// The vector of a text from those of its tokens, one after the other, each `width` numbers long.
    fn vector(self, tokens: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::First => tokens[..width].to_vec(),
            Self::Mean => {
                let count = (tokens.len() / width) as f32;
                let sum = |place: usize| tokens[place..].iter().step_by(width).sum::<f32>();
                (0..width).map(|place| sum(place) / count).collect()
            }
        }
    }
}

impl Config {
    fn max_length(&self, tokenizer: &TokenizerConfig) -> usize {
        // Positions of the RoBERTa family begin behind the padding id, which takes two of them.
        let reserved = match self.model_type.as_deref() {
            Some("roberta" | "xlm-roberta" | "camembert") => 2,
            _ => 0,
        };
        let positions = self
            .max_position_embeddings
            .map(|positions| positions.saturating_sub(reserved));
        // Tokenizers without a limit say 1e30.
        let stated = tokenizer
            .model_max_length
            .filter(|length| *length >= 1.0 && *length < 1e6);
        self.guard
            .max_length
            .or_else(|| {
                [stated.map(|length| length as usize), positions]
                    .into_iter()
                    .flatten()
                    .min()
            })
            .unwrap_or(DEFAULT_MAX_LENGTH)
    }

    /// The heads, of which one without an output of its own is that of the graph's logits, or its vectors.
    fn heads(self, outputs: &[String], pooling: Pooling) -> Result<Vec<Head>, String> {
        if !self.guard.heads.is_empty() {
            let missing = self.guard.heads.iter().find(|head| !outputs.contains(&head.output));
            return match missing {
                Some(head) => Err(format!(
                    "the model has no output {} for its head {}",
                    head.output, head.name
                )),
                None => Ok(self.guard.heads),
            };
        }
        let vectors = VECTOR_OUTPUTS
            .iter()
            .find(|name| outputs.iter().any(|output| output == *name));
        if let Some(output) = vectors.filter(|_| self.id2label.is_empty()) {
            return Ok(vec![Head {
                name: "default".to_owned(),
                kind: HeadKind::Text,
                output: (*output).to_owned(),
                labels: Vec::new(),
                activation: Activation::None,
                pooling,
            }]);
        }
        let output = outputs
            .iter()
            .find(|name| *name == "logits")
            .or(outputs.first())
            .ok_or("it has no output")?
            .clone();
        Ok(vec![self.only_head(output)?])
    }

    /// The heads that the file describes, whatever the graph has.
    fn described_heads(self) -> Result<Vec<Head>, String> {
        if self.guard.heads.is_empty() {
            Ok(vec![self.only_head(String::new())?])
        } else {
            Ok(self.guard.heads)
        }
    }

    fn only_head(self, output: String) -> Result<Head, String> {
        let labels = ordered_labels(self.id2label)?;
        let judges_tokens = self
            .architectures
            .iter()
            .any(|name| name.ends_with("ForTokenClassification"));
        let multi_label = self.problem_type.as_deref() == Some("multi_label_classification") || labels.len() == 1;
        let activation = if multi_label {
            Activation::Sigmoid
        } else {
            Activation::Softmax
        };
        Ok(Head {
            name: "default".to_owned(),
            kind: if judges_tokens { HeadKind::Token } else { HeadKind::Text },
            output,
            labels,
            activation: self.guard.activation.unwrap_or(activation),
            pooling: Pooling::First,
        })
    }
}

impl Tagging {
    /// The labels of a head over tokens; nothing of another one.
    fn of(head: &Head) -> Option<Result<Self, String>> {
        (head.kind == HeadKind::Token)
            .then(|| Self::new(&head.labels).map_err(|message| format!("its head {}: {message}", head.name)))
    }
}

/// The kinds of spans that the model in a folder finds, each once, as its `config.json` says: known before it is loaded.
///
/// # Errors
/// [`EngineError::MissingFile`] and [`EngineError::BadFile`] for the file.
pub fn span_kinds(folder: &Path) -> Result<Vec<String>, EngineError> {
    let path = folder.join("config.json");
    let heads = read_config(&path)?.described_heads();
    let taggings = heads.and_then(|heads| heads.iter().filter_map(Tagging::of).collect::<Result<Vec<_>, _>>());
    let taggings = taggings.map_err(|message| EngineError::BadFile { path, message })?;
    let mut kinds: Vec<String> = Vec::new();
    for kind in taggings.iter().flat_map(Tagging::kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    Ok(kinds)
}

/// The labels of an `id2label`, in the order of their numbers.
pub(crate) fn ordered_labels(id2label: BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let mut labels: Vec<(usize, String)> = id2label
        .into_iter()
        .map(|(id, label)| {
            id.parse()
                .map(|id| (id, label))
                .map_err(|_| format!("id2label has the id {id}"))
        })
        .collect::<Result<_, _>>()?;
    labels.sort_unstable();
    if labels.is_empty() || labels.iter().enumerate().any(|(at, (id, _))| at != *id) {
        return Err("id2label must name every label from 0 on".to_owned());
    }
    Ok(labels.into_iter().map(|(_, label)| label).collect())
}

fn read_config(path: &Path) -> Result<Config, EngineError> {
    read_json(path)?.ok_or_else(|| EngineError::MissingFile { path: path.to_owned() })
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, EngineError> {
    let bad = |message: String| EngineError::BadFile {
        path: path.to_owned(),
        message,
    };
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| bad(error.to_string()))
}

fn find_graph(folder: &Path, graph: Option<&Path>) -> Result<PathBuf, EngineError> {
    match graph {
        Some(graph) => {
            let path = folder.join(graph);
            if path.is_file() {
                Ok(path)
            } else {
                Err(EngineError::MissingFile { path })
            }
        }
        None => GRAPH_FILES
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
            .ok_or_else(|| EngineError::MissingFile {
                path: folder.join(GRAPH_FILES[0]),
            }),
    }
}

/// Whether the graph computes quantization scales from its activations (the operators that `quantize_dynamic` of ONNX
/// Runtime inserts). An ONNX file names its operators as plain strings, so that the file need not be parsed.
fn is_dynamically_quantized(graph: &[u8]) -> bool {
    ["DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"]
        .iter()
        .any(|operator| memchr::memmem::find(graph, operator.as_bytes()).is_some())
}

fn session_builder(runtime: &Runtime, threads: usize) -> Result<SessionBuilder, EngineError> {
    let build = || -> Result<SessionBuilder, ort::Error> {
        Ok(Session::builder(runtime.environment())?
            .with_optimization_level(GraphOptimizationLevel::Level3)?
            .with_intra_threads(threads)?
            .with_inter_threads(1)?
            .with_disabled_optimizers(if runtime.is_cpu_only() { SLOW_ON_CPU } else { "" })?
            .with_execution_providers(runtime.dispatches())?)
    };
    build().map_err(|error| EngineError::ProviderFailed {
        providers: runtime.providers().into_iter().map(str::to_owned).collect(),
        message: error.to_string(),
    })
}
