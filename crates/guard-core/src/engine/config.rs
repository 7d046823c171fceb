//! Reads `config.json` and the files next to it, and locates the graph.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::heads::{Activation, Head, HeadKind, Pooling, tagging_of};
use super::tags::Tagging;
use crate::model_files::{ModelFileError, ordered_labels};
use crate::model_folder::{Content, ModelFolder};

/// The location of a model and how to read it. Equal sources are loaded once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// A folder with `config.json`, `tokenizer.json` and an ONNX graph.
    pub folder: PathBuf,
    /// The graph, as a path in the folder, if it is not the default one.
    pub graph: Option<PathBuf>,
    /// The longest input in tokens, if shorter than the model allows.
    pub max_length: Option<usize>,
}

/// The used parts of a Hugging Face `config.json`, and guard's additions under `guard`.
#[derive(Debug, Default, Deserialize)]
struct ConfigFile {
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
    /// Tokens per window of a text that is longer than `max_length`.
    window_length: Option<usize>,
    /// Whether texts in capitals are lower-cased; see [`ordinary_case`](crate::text::ordinary_case).
    #[serde(default)]
    ordinary_case: bool,
    activation: Option<Activation>,
    #[serde(default)]
    heads: Vec<Head>,
    /// The folder of the graph's tensor files, relative to the model's folder, if it is not that of the graph. Models
    /// with a common base share word vectors this way, and the tokenizer if their own folders have none.
    external_data: Option<PathBuf>,
    /// The graph of the lowest layers, relative to the model's folder, if the model's graph has only the others. Its
    /// output is an input of the model's graph with the same name. Models with equal lowest layers share them this way.
    shared_layers: Option<PathBuf>,
}

/// The file `1_Pooling/config.json` of sentence-transformers.
#[derive(Debug, Default, Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Debug, Default, Deserialize)]
struct TokenizerFile {
    model_max_length: Option<f64>,
}

/// The possible paths of the ONNX graph, best first, as Hugging Face's export tools write them.
const GRAPH_FILES: &[&str] = &[
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
];

/// The outputs of embedding models, best first, as Hugging Face's export tools name them.
const VECTOR_OUTPUTS: &[&str] = &["sentence_embedding", "last_hidden_state"];

/// The longest input of a model without a stated limit.
const DEFAULT_MAX_LENGTH: usize = 512;

/// The configuration of a model.
pub(super) struct ModelConfig {
    /// The path of `config.json`, for messages.
    pub path: PathBuf,
    /// The graph, as a path in the folder.
    pub graph: PathBuf,
    /// The longest input in tokens, special ones included.
    pub max_length: usize,
    /// Tokens per window of a longer text.
    pub window_length: Option<usize>,
    /// Whether texts in capitals are lower-cased.
    pub ordinary_case: bool,
    /// The folder of the graph's tensor files and of a shared tokenizer, as a path in the folder.
    pub external_data: PathBuf,
    /// The graph of the lowest layers, as a path in the folder, if the model shares them.
    pub shared_layers: Option<PathBuf>,
    config: ConfigFile,
    pooling: Pooling,
}

impl ModelConfig {
    /// Reads the files of a folder, except the graph and the tokenizer.
    pub fn read(folder: &ModelFolder, source: &Source) -> Result<Self, ModelFileError> {
        let graph = find_graph(folder, source.graph.as_deref())?;
        let (path, config) = read_config(folder)?;
        let tokenizer: TokenizerFile = read_json(folder, "tokenizer_config.json")?.unwrap_or_default();
        let possible = config.max_length(&tokenizer);
        let pooling: PoolingFile = read_json(folder, "1_Pooling/config.json")?.unwrap_or_default();
        let beside_graph = || graph.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self {
            path,
            external_data: config.guard.external_data.clone().unwrap_or_else(beside_graph),
            shared_layers: config.guard.shared_layers.clone(),
            graph,
            max_length: source.max_length.map_or(possible, |asked| asked.min(possible)),
            window_length: config.guard.window_length,
            ordinary_case: config.guard.ordinary_case,
            config,
            pooling: if pooling.pooling_mode_mean_tokens {
                Pooling::Mean
            } else {
                Pooling::First
            },
        })
    }

    /// The heads of a graph with these outputs. If the file lists none, the model has one head: its logits or its
    /// vectors.
    ///
    /// # Errors
    /// A head without its output in the graph, or labels that are not numbered from 0 without gaps.
    pub fn heads(self, outputs: &[String]) -> Result<Vec<Head>, String> {
        let listed = &self.config.guard.heads;
        if !listed.is_empty() {
            let missing = listed.iter().find(|head| !outputs.contains(&head.output));
            return match missing {
                Some(head) => Err(format!(
                    "the model has no output {} for its head {}",
                    head.output, head.name
                )),
                None => Ok(self.config.guard.heads),
            };
        }
        let vectors = VECTOR_OUTPUTS
            .iter()
            .find(|name| outputs.iter().any(|output| output == *name));
        if let Some(output) = vectors.filter(|_| self.config.id2label.is_empty()) {
            return Ok(vec![Head {
                name: "default".to_owned(),
                kind: HeadKind::Text,
                output: (*output).to_owned(),
                labels: Vec::new(),
                activation: Activation::None,
                pooling: self.pooling,
                early_exit: None,
            }]);
        }
        let output = outputs
            .iter()
            .find(|name| *name == "logits")
            .or(outputs.first())
            .ok_or("it has no output")?
            .clone();
        Ok(vec![self.config.only_head(output)?])
    }
}

impl ConfigFile {
    fn max_length(&self, tokenizer: &TokenizerFile) -> usize {
        // Positions of the RoBERTa family begin after the padding id, which takes two of them.
        let reserved = match self.model_type.as_deref() {
            Some("roberta" | "xlm-roberta" | "camembert") => 2,
            _ => 0,
        };
        let positions = self
            .max_position_embeddings
            .map(|positions| positions.saturating_sub(reserved));
        // Tokenizers without a limit have 1e30.
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

    /// The heads in the file, whatever the graph has.
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
            early_exit: None,
        })
    }
}

/// The distinct kinds of spans of the model in a folder, from its `config.json`, without loading the model.
///
/// # Errors
/// If the file is missing or invalid.
pub fn span_kinds(folder: &Path) -> Result<Vec<String>, ModelFileError> {
    let (path, config) = read_config(&ModelFolder::open(folder)?)?;
    let heads = config.described_heads();
    let taggings = heads.and_then(|heads| heads.iter().map(tagging_of).collect::<Result<Vec<_>, _>>());
    let taggings = taggings.map_err(|message| ModelFileError::Bad { path, message })?;
    let mut kinds: Vec<String> = Vec::new();
    for kind in taggings.iter().flatten().flat_map(Tagging::kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    Ok(kinds)
}

fn read_config(folder: &ModelFolder) -> Result<(PathBuf, ConfigFile), ModelFileError> {
    let content = folder.read(Path::new("config.json"))?;
    Ok((content.path.clone(), parse(&content)?))
}

/// Parses a file; `None` if there is no such file.
fn read_json<T: for<'de> Deserialize<'de>>(folder: &ModelFolder, file: &str) -> Result<Option<T>, ModelFileError> {
    folder.read_optional(Path::new(file))?.as_ref().map(parse).transpose()
}

fn parse<T: for<'de> Deserialize<'de>>(Content { path, bytes, .. }: &Content) -> Result<T, ModelFileError> {
    serde_json::from_slice(bytes).map_err(|error| ModelFileError::Bad {
        path: path.clone(),
        message: error.to_string(),
    })
}

fn find_graph(folder: &ModelFolder, graph: Option<&Path>) -> Result<PathBuf, ModelFileError> {
    let known = GRAPH_FILES.iter().map(Path::new).find(|file| folder.has(file));
    let file = graph.or(known).unwrap_or(Path::new(GRAPH_FILES[0]));
    if folder.has(file) {
        Ok(file.to_owned())
    } else {
        Err(ModelFileError::Missing {
            path: folder.path_of(file),
        })
    }
}
