//! A graph of ONNX Runtime: its session, and its inputs from rows.

use std::path::Path;
use std::sync::Arc;

use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::Tensor;

use super::external::{ExternalFile, external_files, private_copy};
use super::session::SharedSession;
use crate::engine::error::EngineError;
use crate::engine::runtime::Runtime;
use crate::engine::settings::per_run;
use crate::model_files::ModelFileError;
use crate::model_folder::{Content, ModelFolder};
use crate::tokens::Row;

/// A graph optimization of ONNX Runtime that costs time on the CPU: its SkipLayerNormalization takes about five times
/// as long as the Add and LayerNormalization that it replaces (profiled with 1.31 on AVX-512: 20 % of a run of MiniLM).
const SLOW_ON_CPU: &str = "SkipLayerNormFusion";
/// The ONNX Runtime option for the folder of a graph's tensors.
const EXTERNAL_DATA: &str = "session.model_external_initializers_file_folder_path";
/// The ONNX Runtime option for how long a pool thread without work spins before it sleeps, in microseconds. The pause
/// between two operators is shorter; a longer time would take the core from other runs.
const SPIN_DURATION: (&str, &str) = ("session.intra_op.spin_duration_us", "50");
/// The ONNX Runtime option that prevents overflows on x64 processors without VNNI instructions. There the fastest way to multiply int8 numbers
/// adds pairs of products in 16 bits, which is too few, so scores would differ from those on other processors. With the option, ONNX Runtime
/// multiplies unsigned numbers, which takes longer. It has no effect on other processors (`onnxruntime_session_options_config_keys.h`).
const EXACT_PRODUCTS: (&str, &str) = ("session.x64quantprecision", "1");

/// A graph and its session.
pub(super) struct LoadedGraph {
    session: Session,
    /// Whether rows must run alone: see [`Batching::Single`](crate::engine::Batching::Single).
    pub is_single: bool,
}

/// An input of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
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

/// One tensor per input; see [`Input::tensor`].
pub(super) fn tensors(inputs: &[Input], rows: &[&Row], width: usize, pad: u32) -> Result<Vec<Tensor<i64>>, ort::Error> {
    inputs.iter().map(|input| input.tensor(rows, width, pad)).collect()
}

impl LoadedGraph {
    /// Loads the graph in `content`. The tensor files that it names are in the folder `place`.
    pub fn new(
        folder: &ModelFolder,
        content: &Content,
        place: &Path,
        runtime: &Runtime,
        threads: usize,
    ) -> Result<Self, EngineError> {
        let bad_graph = |message: String| ModelFileError::Bad {
            path: content.path.clone(),
            message,
        };
        let external = external_files(folder, place, content)?;
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
        let built = builder.commit_from_memory(&content.bytes);
        Ok(Self {
            session: built.map_err(|error| bad_graph(error.to_string()))?,
            is_single: is_dynamically_quantized(&content.bytes) && runtime.is_cpu_only(),
        })
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> Vec<String> {
        let outputs = self.session.outputs().iter();
        outputs.map(|output| output.name().to_owned()).collect()
    }

    /// The inputs of the graph that rows determine. `exit` is the input for early exits. `vectors` is that for the
    /// vectors of shared layers, whose index among all inputs is returned.
    ///
    /// # Errors
    /// The first input that is unknown, or missing.
    pub fn inputs(&self, exit: Option<&str>, vectors: Option<&str>) -> Result<(Vec<Input>, Option<usize>), String> {
        let mut names: Vec<&str> = self.session.inputs().iter().map(|input| input.name()).collect();
        let vectors = vectors
            .map(|vectors| {
                let index = names.iter().position(|name| *name == vectors);
                let index = index.ok_or_else(|| format!("it has no input {vectors} of its shared layers"))?;
                names.remove(index);
                Ok::<_, String>(index)
            })
            .transpose()?;
        let inputs = names
            .into_iter()
            .map(|name| Input::from_name(name).ok_or_else(|| format!("its input {name} is not supported")));
        let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        if let Some(name) = exit {
            // The input has a default value, so other programs don't need to know about it.
            let known = self.session.overridable_initializers();
            if !known.iter().any(|input| input.name() == name) {
                return Err(format!(
                    "it has no input {name} with a default value, for its early exit"
                ));
            }
            inputs.push(Input::Alone);
        }
        Ok((inputs, vectors))
    }

    /// The session for several threads. `exit` is the input for early exits.
    pub fn share(&self, exit: Option<&str>, runtime: &Runtime, threads: usize) -> Result<SharedSession, ort::Error> {
        SharedSession::new(&self.session, exit, runtime.is_cpu_only(), per_run(threads))
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
            .with_config_entry(EXACT_PRODUCTS.0, EXACT_PRODUCTS.1)?
            .with_inter_threads(1)?
            .with_disabled_optimizers(if runtime.is_cpu_only() { SLOW_ON_CPU } else { "" })?
            .with_execution_providers(runtime.dispatches())?)
    };
    build().map_err(|error| EngineError::ProviderFailed {
        providers: runtime.providers().into_iter().map(str::to_owned).collect(),
        message: error.to_string(),
    })
}
