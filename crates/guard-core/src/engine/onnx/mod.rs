//! Models on ONNX Runtime: sessions, and tensors from rows.

mod external;
mod session;

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::Tensor;

use crate::engine::backend::{Backend, Batching, RowScores};
use crate::engine::config::{ModelConfig, Source};
use crate::engine::error::EngineError;
use crate::engine::heads::{Head, Heads, Output};
use crate::engine::question::Question;
use crate::engine::runtime::Runtime;
use crate::engine::settings::per_run;
use crate::model_files::ModelFileError;
use crate::model_folder::{Content, ModelFolder};
use crate::tokens::{Row, Rows, TextReader, TokenizeError, Tokenizers};
use external::{ExternalFile, external_files, private_copy};
use session::{Memory, Outputs, SharedSession};

/// A graph optimization of ONNX Runtime that costs time on the CPU: its SkipLayerNormalization takes about five times
/// as long as the Add and LayerNormalization that it replaces (profiled with 1.31 on AVX-512: 20 % of a run of MiniLM).
const SLOW_ON_CPU: &str = "SkipLayerNormFusion";
/// The ONNX Runtime option for the folder of a graph's tensors.
const EXTERNAL_DATA: &str = "session.model_external_initializers_file_folder_path";
/// The ONNX Runtime option for how long a pool thread without work spins before it sleeps, in microseconds. The pause
/// between two operators is shorter; a longer time would take the core from other runs.
const SPIN_DURATION: (&str, &str) = ("session.intra_op.spin_duration_us", "50");
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
    batching: Batching,
}

/// An input of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Ids,
    Mask,
    Types,
    Positions,
    /// One number per row: whether only heads with an early exit are needed.
    Alone,
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

    /// The tensor of shape `[rows, width]`, or `[rows, 1]` for [`Input::Alone`]. Short rows are padded with `pad`.
    fn tensor(self, rows: &[&Row], width: usize, pad: u32) -> Result<Tensor<i64>, ort::Error> {
        let width = if self == Self::Alone { 1 } else { width };
        let mut values = Vec::with_capacity(rows.len() * width);
        for row in rows {
            let length = row.ids.len().min(width);
            match self {
                Self::Ids => values.extend(row.ids.iter().map(i64::from)),
                Self::Mask => values.extend(std::iter::repeat_n(1, length)),
                Self::Types => {
                    let first = row.claim.as_ref().map_or(length, |claim| claim.from);
                    values.extend(std::iter::repeat_n(0, first));
                    values.extend(std::iter::repeat_n(1, length - first));
                }
                Self::Positions => values.extend(0..length as i64),
                Self::Alone => values.push(i64::from(row.alone)),
            }
            let fill = if self == Self::Ids { i64::from(pad) } else { 0 };
            values.extend(std::iter::repeat_n(fill, width - length));
        }
        Tensor::from_array(([rows.len(), width], values))
    }
}

impl Model {
    /// Loads the files of `source` into memory, so that later changes on disk have no effect.
    pub(in crate::engine) fn load(
        runtime: &Runtime,
        threads: usize,
        tokenizers: &Tokenizers,
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
        // Both loads take about the same time, and the first answer needs both, so they run in parallel.
        let (reader, session) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| reader(&folder, &config, tokenizers));
            let session = session(&folder, &config, runtime, threads);
            (reader.join().unwrap_or_else(|panic| resume_unwind(panic)), session)
        });
        let (reader, (session, is_single)) = (reader?, session?);
        let outputs: Vec<String> = session
            .outputs()
            .iter()
            .map(|output| output.name().to_owned())
            .collect();
        let heads = config.heads(&outputs).and_then(Heads::new).map_err(bad_config)?;
        let inputs = inputs(&session, heads.early_exit()).map_err(bad_graph)?;
        let session = SharedSession::new(&session, heads.early_exit(), runtime.is_cpu_only(), per_run(threads))
            .map_err(|error| bad_graph(error.to_string()))?;
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

    /// Runs the graph on rows, padded to the longest of them.
    fn outputs(&self, rows: &[&Row], width: usize, memory: Memory) -> Result<Outputs<'_>, ort::Error> {
        let pad = self.reader.tokenizer().pad();
        let tensors = self
            .inputs
            .iter()
            .map(|input| input.tensor(rows, width, pad))
            .collect::<Result<Vec<_>, _>>()?;
        self.session.run(&tensors, memory)
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
        let outputs = self.outputs(rows, width, Memory::Keep).map_err(failed)?;
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

    /// ONNX Runtime releases memory only at the end of a run, so this runs a row of one token.
    fn rest(&self) {
        let row = Row {
            ids: vec![self.reader.tokenizer().pad()].into(),
            ..Row::default()
        };
        // If the model can't run, its callers get the error.
        let _ = self.outputs(&[&row], 1, Memory::GiveBack);
    }
}

/// The inputs of a graph. `exit` is the input for early exits.
///
/// # Errors
/// The first input that is unknown, or missing.
fn inputs(session: &Session, exit: Option<&str>) -> Result<Vec<Input>, String> {
    let mut inputs = session
        .inputs()
        .iter()
        .map(|input| {
            Input::from_name(input.name()).ok_or_else(|| format!("its input {} is not supported", input.name()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(name) = exit {
        // The input has a default value, so other programs don't need to know about it.
        let known = session.overridable_initializers();
        if !known.iter().any(|input| input.name() == name) {
            return Err(format!(
                "it has no input {name} with a default value, for its early exit"
            ));
        }
        inputs.push(Input::Alone);
    }
    Ok(inputs)
}

/// The session of the graph, and whether its rows must run alone: see [`Batching::Single`].
fn session(
    folder: &ModelFolder,
    config: &ModelConfig,
    runtime: &Runtime,
    threads: usize,
) -> Result<(Session, bool), EngineError> {
    let graph = folder.read(&config.graph)?;
    let bad_graph = |message: String| ModelFileError::Bad {
        path: graph.path.clone(),
        message,
    };
    let is_single = is_dynamically_quantized(&graph.bytes) && runtime.is_cpu_only();
    let external = external_files(folder, &config.external_data, &graph)?;
    // The copy is deleted after the session has mapped it.
    let copy = private_copy(&external);
    let mut builder = session_builder(runtime, per_run(threads))?;
    if let Some(copy) = &copy {
        builder = builder
            .with_config_entry(EXTERNAL_DATA, copy.path().to_string_lossy())
            .map_err(|error| bad_graph(error.to_string()))?;
    } else {
        for ExternalFile { name, content } in &external {
            builder = builder
                .with_external_initializer_file_in_memory(name, Arc::clone(content))
                .map_err(|error| bad_graph(error.to_string()))?;
        }
    }
    let built = builder.commit_from_memory(&graph.bytes);
    let session = built.map_err(|error| bad_graph(error.to_string()))?;
    Ok((session, is_single))
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

/// Whether the graph computes quantization scales from its activations (with the operators of ONNX Runtime's
/// `quantize_dynamic`). An ONNX file has operator names as plain strings, so it need not be parsed.
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
            // Between two operators, a pool thread that spins is ready sooner than one that sleeps.
            .with_intra_op_spinning(true)?
            .with_config_entry(SPIN_DURATION.0, SPIN_DURATION.1)?
            .with_inter_threads(1)?
            .with_disabled_optimizers(if runtime.is_cpu_only() { SLOW_ON_CPU } else { "" })?
            .with_execution_providers(runtime.dispatches())?)
    };
    build().map_err(|error| EngineError::ProviderFailed {
        providers: runtime.providers().into_iter().map(str::to_owned).collect(),
        message: error.to_string(),
    })
}
