//! Models on ONNX Runtime.

mod external;
mod graph;
mod session;
mod shared_layers;

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;

use ort::AsPointer;
use ort::sys::OrtValue;
use ort::value::TensorRef;

use crate::engine::backend::{Backend, Batching, RowScores};
use crate::engine::config::{ModelConfig, Source};
use crate::engine::error::EngineError;
use crate::engine::heads::{Head, Heads, Output};
use crate::engine::question::Question;
use crate::engine::runtime::Runtime;
use crate::model_files::ModelFileError;
use crate::model_folder::{Content, ModelFolder};
use crate::tokens::{Row, Rows, TextReader, TokenizeError, Tokenizers};
use graph::{Input, LoadedGraph, tensors};
use session::{Memory, Outputs, SharedSession};
pub(in crate::engine) use shared_layers::LayerFiles;
use shared_layers::{SharedLayers, Vectors};

/// The most tokens per run on the CPU, where sharing a run saves little and waiting for it costs.
const CPU_BATCH_TOKENS: usize = 512;
/// The most tokens per run on an accelerator, which needs many rows to be busy.
const ACCELERATOR_BATCH_TOKENS: usize = 16_384;

/// A loaded model: its tokenizer, its session and its heads.
pub struct Model {
    reader: TextReader,
    heads: Heads,
    inputs: Vec<Input>,
    session: SharedSession,
    /// The lowest layers, if the graph has only the others.
    lower: Option<LowerLayers>,
    batching: Batching,
}

/// The shared layers below a graph.
struct LowerLayers {
    layers: Arc<SharedLayers>,
    /// The index of their vectors among the inputs of the graph.
    input: usize,
}

impl Model {
    /// Loads the files of `source` into memory, so that later changes on disk have no effect.
    pub(in crate::engine) fn load(
        runtime: &Runtime,
        threads: usize,
        tokenizers: &Tokenizers,
        layer_files: &LayerFiles,
        source: &Source,
    ) -> Result<Self, EngineError> {
        let folder = ModelFolder::open(&source.folder)?;
        let config = ModelConfig::read(&folder, source)?;
        let config_path = config.path.clone();
        let bad_config = |message: String| ModelFileError::Bad {
            path: config_path.clone(),
            message,
        };
        let graph_path = folder.path_of(&config.graph);
        let bad_graph = |message: String| ModelFileError::Bad {
            path: graph_path.clone(),
            message,
        };
        // All loads take about the same time, and the first answer needs all, so they run in parallel.
        let (reader, layers, graph) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| reader(&folder, &config, tokenizers));
            let layers = config
                .shared_layers
                .as_ref()
                .map(|file| scope.spawn(|| layer_files.share(&folder, file, &config.external_data, runtime, threads)));
            let graph = folder
                .read(&config.graph)
                .map_err(EngineError::from)
                .and_then(|content| LoadedGraph::new(&folder, &content, &config.external_data, runtime, threads));
            let layers = layers.map(|layers| layers.join().unwrap_or_else(|panic| resume_unwind(panic)));
            (
                reader.join().unwrap_or_else(|panic| resume_unwind(panic)),
                layers,
                graph,
            )
        });
        let (reader, layers, graph) = (reader?, layers.transpose()?, graph?);
        let heads = config
            .heads(&graph.outputs())
            .and_then(Heads::new)
            .map_err(bad_config)?;
        let vectors = layers.as_ref().map(|layers| layers.output.as_str());
        let (inputs, index) = graph.inputs(heads.early_exit(), vectors).map_err(bad_graph)?;
        let lower = layers.zip(index).map(|(layers, input)| LowerLayers { layers, input });
        let session = graph
            .share(heads.early_exit(), runtime, threads)
            .map_err(|error| bad_graph(error.to_string()))?;
        let is_single = graph.is_single || lower.as_ref().is_some_and(|lower| lower.layers.is_single);
        let batching = match (is_single, runtime.is_cpu_only()) {
            (true, _) => Batching::Single,
            (false, true) => Batching::Tokens(CPU_BATCH_TOKENS),
            (false, false) => Batching::Tokens(ACCELERATOR_BATCH_TOKENS),
        };
        Ok(Self {
            reader: if heads.judge_tokens() {
                reader.with_offsets()
            } else {
                reader
            },
            heads,
            inputs,
            session,
            lower,
            batching,
        })
    }

    /// The heads, in the order of [`HeadScores`](super::HeadScores).
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        self.heads.iter()
    }

    /// The kinds of spans of a token head; `None` for other heads.
    pub fn span_kinds(&self, head: usize) -> Option<&[String]> {
        self.heads.span_kinds(head)
    }

    /// The longest input in tokens, special ones included.
    pub fn max_length(&self) -> usize {
        self.reader.max_length()
    }

    /// Runs the graph on rows, padded to the longest of them. `vectors` are those of the shared layers, if there are
    /// any.
    fn outputs(
        &self,
        rows: &[&Row],
        width: usize,
        vectors: Option<&Vectors>,
        memory: Memory,
    ) -> Result<Outputs<'_>, ort::Error> {
        let tensors = tensors(&self.inputs, rows, width, self.pad())?;
        let vectors = vectors
            .map(|vectors| TensorRef::from_array_view((vectors.shape.clone(), vectors.values.as_slice())))
            .transpose()?;
        let mut inputs: Vec<&dyn AsPointer<Sys = OrtValue>> = tensors.iter().map(|tensor| tensor as _).collect();
        if let (Some(lower), Some(vectors)) = (&self.lower, &vectors) {
            inputs.insert(lower.input, &**vectors);
        }
        self.session.run(&inputs, memory)
    }

    fn pad(&self) -> u32 {
        self.reader.tokenizer().pad()
    }
}

impl Backend for Model {
    fn tokenize(&self, question: &Question) -> Result<Rows, TokenizeError> {
        match question {
            Question::Text(text, strategy, most) => self.reader.rows_within(text, *strategy, *most),
            Question::Alone(text, strategy, most) => {
                let mut rows = self.reader.rows_within(text, *strategy, *most)?;
                let alone = self.heads.early_exit().is_some();
                rows.rows.iter_mut().for_each(|row| row.alone = alone);
                Ok(rows)
            }
            Question::Claims(premise, claims) => self.reader.claim_rows(premise, claims),
        }
    }

    fn run(&self, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError> {
        let failed = |error: ort::Error| EngineError::Inference {
            message: error.to_string(),
        };
        let width = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let vectors = self
            .lower
            .as_ref()
            .map(|lower| lower.layers.vectors(rows, width, self.pad()))
            .transpose()
            .map_err(failed)?;
        let outputs = self
            .outputs(rows, width, vectors.as_deref(), Memory::Keep)
            .map_err(failed)?;
        let lead = self.reader.tokenizer().lead();
        self.heads.decode(rows, width, lead, |name| {
            let output = outputs.get(name).ok_or_else(|| EngineError::Inference {
                message: format!("a run gave no output {name}"),
            })?;
            let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
            Ok(Output { shape, values })
        })
    }

    fn batching(&self) -> Batching {
        self.batching
    }

    fn would_wait(&self, row: &Row) -> bool {
        self.lower.as_ref().is_some_and(|lower| lower.layers.is_busy_with(row))
    }

    /// ONNX Runtime releases memory only at the end of a run, so this runs a row of one token.
    fn rest(&self) {
        let row = Row {
            ids: vec![self.pad()].into(),
            ..Row::default()
        };
        let vectors = self.lower.as_ref().map(|lower| lower.layers.rest(&row));
        // If the model can't run, its callers get the error.
        let _ = vectors
            .transpose()
            .and_then(|vectors| self.outputs(&[&row], 1, vectors.as_ref(), Memory::GiveBack));
    }
}

/// Reads the tokenizer of a model: from its folder, or else from the folder that it shares with other models.
fn tokenizer_file(folder: &ModelFolder, config: &ModelConfig) -> Result<Content, ModelFileError> {
    let name = Path::new("tokenizer.json");
    let shared = config.external_data.join(name);
    if !folder.has(name) && folder.has(&shared) {
        return folder.read(&shared);
    }
    folder.read(name)
}

/// The reader of a model's texts.
fn reader(folder: &ModelFolder, config: &ModelConfig, tokenizers: &Tokenizers) -> Result<TextReader, EngineError> {
    let content = tokenizer_file(folder, config)?;
    let tokenizer = tokenizers.share(&content)?;
    let bad = |path: &Path, error: TokenizeError| ModelFileError::Bad {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let mut reader = TextReader::new(tokenizer, config.max_length).map_err(|error| bad(&content.path, error))?;
    if config.ordinary_case {
        reader = reader.with_ordinary_case();
    }
    match config.window_length {
        Some(length) => Ok(reader
            .with_windows_of(length)
            .map_err(|error| bad(&config.path, error))?),
        None => Ok(reader),
    }
}
