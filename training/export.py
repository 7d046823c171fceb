"""ONNX export: writes the fused graph directly, then quantizes it to int8.

The graph equals that of onnxruntime's transformer optimizer for a traced BERT (with the operator Attention). Writing it directly needs
neither a tracer nor pattern matching, and the result is checked against torch. One fusion is omitted: the CPU kernel of
SkipLayerNormalization is several times slower than Add and LayerNormalization (a sixth of the whole inference), and guard's engine disables
this fusion in the runtime.

Dynamic quantization has one scale for all activations of a layer, but a few channels of the feed-forward layers have values ten
times as high as all others (outlier features: Dettmers et al., LLM.int8(), 2022, arXiv:2208.07339). A feed-forward layer is a sum
over its channels, so these few become a small fp32 feed-forward layer beside the quantized one. The inputs of the
other layers are smoothed (SmoothQuant: Xiao et al., 2022, arXiv:2211.10438, with alpha 0.5): high channels are divided by a factor,
and the weights that read them are multiplied by it.

Training does not change the vectors of word pieces. The multilingual base has them as blocks of 4-bit integers with a scale, and the export
keeps this form: exact, and half the size of int8. They are in an external data file beside the graph, which all models with the same base
share (see `publish.py`). The vectors of other bases become int8.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from .encoder import PADDING, Classifier, Encoder, Shape, Tagger
from .shared_layers import take_over_layers
from .trainer import predict

# The first ONNX versions with 4-bit integers.
OPSET, IR_VERSION = 21, 10
# The number of fp32 channels of each feed-forward layer.
OUTLIERS = 16
# The number of texts for measuring activations.
RANGE_TEXTS = 200
FUSED = "com.microsoft"
# The number of values in a block of 4-bit integers (the format Q4_0 of ggml).
BLOCK = 32
POOL = "pool_scores"
# The file of the word vectors. Its parts are aligned to memory pages, so that they can be mapped.
WORDS, PAGE = "words.bin", 4096


class Graph:
    """A builder of ONNX graphs. Every node has the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, value: np.ndarray) -> str:
        # np.ascontiguousarray would turn a scalar into an array of one number.
        self.weights.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes))
        return output


# For each layer: the highest absolute value of every input channel of its linear layers `qkv`, `out`, `up` and `down`.
Ranges = list[dict[str, np.ndarray]]


def measure_ranges(model: Encoder, tokenizer: Tokenizer, texts: Sequence[str], max_tokens: int) -> Ranges:
    found: Ranges = [{} for _ in model.layers]

    def watch(index: int, part: str):
        def hook(_module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], _output: torch.Tensor) -> None:
            highest = inputs[0].abs().flatten(0, 1).amax(0).numpy()
            found[index][part] = np.maximum(found[index].get(part, highest), highest)

        return hook

    hooks = [
        getattr(layer, part).register_forward_hook(watch(index, part))
        for index, layer in enumerate(model.layers)
        for part in ("qkv", "out", "up", "down")
    ]
    # The texts are ordered by set, so every n-th text covers all sets.
    predict(model, tokenizer, texts[:: max(1, len(texts) // RANGE_TEXTS)][:RANGE_TEXTS], max_tokens)
    for hook in hooks:
        hook.remove()
    return found


def smoothing_factors(ranges: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The SmoothQuant factor of each input channel of a layer with the weights `[out, in]`.

    The channel is divided by its factor, and its weights are multiplied by it. The geometric mean of all factors is 1.
    """
    factors = np.sqrt(np.maximum(ranges, 1e-5) / np.maximum(np.abs(weight).max(0), 1e-5))
    return (factors / np.exp(np.log(factors).mean())).astype(np.float32)


def pack_blocks(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns 4-bit integers `[pieces, size]` and scales `[pieces, size / BLOCK]` that represent the vectors exactly, or None.

    As in Q4_0, the value farthest from zero is -8 times the scale.
    """
    blocks = vectors.reshape(len(vectors), -1, BLOCK)
    farthest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1, keepdims=True), -1)
    scales = np.where(farthest == 0, np.float32(1), farthest / np.float32(-8))
    values = np.round(blocks / scales)
    if values.max() > 7 or not np.array_equal(values * scales, blocks):
        return None
    return values.reshape(vectors.shape).astype(np.int8), scales[..., 0]


def words_node(g: Graph, vectors: np.ndarray) -> None:
    packed = pack_blocks(vectors)
    if packed is None:
        g.node("Gather", [g.weight("words.weight", vectors), "input_ids"], "word_vectors")
        return
    values, scales = packed
    halves = (values[:, 0::2] & 15) | ((values[:, 1::2] & 15) << 4)
    g.weights.append(
        helper.make_tensor("words.weight", TensorProto.INT4, values.shape, halves.astype(np.uint8).tobytes(), raw=True)
    )
    inputs = ["words.weight", "input_ids", g.weight("words.scales", scales)]
    g.node("GatherBlockQuantized", inputs, "word_vectors", FUSED, block_size=BLOCK, gather_axis=0, quantize_axis=1)


def build(model: Encoder, ranges: Ranges) -> tuple[onnx.ModelProto, list[str]]:
    """Returns the graph and the names of the nodes that must stay in fp32."""
    shape, g = model.shape, Graph()
    state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
    x, exact = encoder(g, shape, state, ranges)
    ids: list = ["batch", "seq"]
    outputs = []
    for name, part in model.token_heads.items():
        g.node("MatMul", [x, g.weight(f"{name}.weight", state[f"{part}.weight"].T)], f"{name}.raw")
        g.node("Add", [f"{name}.raw", g.weight(f"{name}.bias", state[f"{part}.bias"])], name)
        exact.append(f"{name}.raw")
        outputs.append(port(name, TensorProto.FLOAT, [*ids, len(state[f"{part}.bias"])]))
    if isinstance(model, Classifier):
        text_heads(g, x, state, model)
        exact += [POOL, "pooled", *(f"{name}.product" for name in model.heads)]
        outputs += [port(name, TensorProto.FLOAT, ["batch", labels]) for name, labels in model.heads.items()]
    inputs = [port(name, TensorProto.INT64, ids) for name in ("input_ids", "attention_mask")]
    graph = helper.make_graph(g.nodes, "guard", inputs, outputs, g.weights)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    built = helper.make_model(graph, producer_name="guard-training", opset_imports=opsets)
    built.ir_version = IR_VERSION
    return built, exact


def port(name: str, kind: int, dims: list) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def encoder(g: Graph, shape: Shape, state: dict, ranges: Ranges) -> tuple[str, list[str]]:
    """Adds the embeddings and layers. Returns the name of their output, and the names of the nodes that must stay in fp32."""
    exact: list[str] = []

    def param(name: str, transpose: bool = False) -> str:
        return g.weight(name, state[name].T if transpose else state[name])

    # The embeddings are words + positions[0:seq], then a norm.
    words_node(g, state["words.weight"])
    g.node("Shape", ["input_ids"], "seq", start=1, end=2)
    zero = g.weight("zero", np.array([0], np.int64))
    g.node("Slice", [param("positions.weight"), zero, "seq", zero], "position_vectors")
    g.node("Add", ["word_vectors", "position_vectors"], "vectors")

    def norm(total: str, name: str, factors: np.ndarray | None) -> tuple[str, str]:
        """Returns the output of a norm, and this output divided by the factors."""

        def normed(output: str, by: np.ndarray | None) -> str:
            inputs = [
                g.weight(f"{output}.{part}", state[f"{name}.{part}"] if by is None else state[f"{name}.{part}"] / by)
                for part in ("weight", "bias")
            ]
            return g.node("LayerNormalization", [total, *inputs], output, axis=-1, epsilon=shape.layer_norm_eps)

        if factors is None:
            return (x := normed(name, None)), x
        even = normed(f"{name}.even", factors)
        return g.node("Mul", [even, g.weight(f"{name}.factors", factors)], name), even

    layers = [f"layers.{index}" for index in range(shape.num_hidden_layers)]
    factors = [
        {part: smoothing_factors(ranges[index][part], state[f"{n}.{part}.weight"]) for part in ("qkv", "out", "up")}
        for index, n in enumerate(layers)
    ]
    x, even = norm("vectors", "norm", factors[0]["qkv"])
    g.node("Cast", ["attention_mask"], "mask_int", to=TensorProto.INT32)
    for index, n in enumerate(layers):
        by = factors[index]

        # The runtime fuses a bias into an int8 product, so Add and Gelu are faster than BiasGelu.
        def feed_forward(x: str, name: str, channels: np.ndarray, n: str = n, by: dict = by) -> str:
            up, bias = (state[f"{n}.up.weight"][channels] * by["up"]).T, state[f"{n}.up.bias"][channels]
            g.node("MatMul", [x, g.weight(f"{name}.up.weight", up)], f"{name}.up")
            g.node("Add", [f"{name}.up", g.weight(f"{name}.up.bias", bias)], f"{name}.up.biased")
            g.node("Gelu", [f"{name}.up.biased"], f"{name}.gelu")
            down = g.weight(f"{name}.down.weight", state[f"{n}.down.weight"].T[channels])
            return g.node("MatMul", [f"{name}.gelu", down], f"{name}.down")

        def biased(product: str) -> str:
            return g.node("Add", [product, param(f"{product}.bias")], f"{product}.biased")

        # The output of attention is a mean of values, so the values are divided instead of the output.
        values = np.concatenate([np.ones(2 * shape.hidden_size, np.float32), by["out"]])
        qkv = state[f"{n}.qkv.weight"] * by["qkv"] / values[:, None]
        bias = g.weight(f"{n}.qkv.bias", state[f"{n}.qkv.bias"] / values)
        g.node(
            "Attention",
            [even, g.weight(f"{n}.qkv.weight", qkv.T), bias, "mask_int"],
            f"{n}.attention",
            FUSED,
            num_heads=shape.num_attention_heads,
        )
        out = g.weight(f"{n}.out.weight", (state[f"{n}.out.weight"] * by["out"]).T)
        branch = biased(g.node("MatMul", [f"{n}.attention", out], f"{n}.out"))
        x, even = norm(g.node("Add", [branch, x], f"{n}.norm1.sum"), f"{n}.norm1", by["up"])
        outliers = np.sort(np.argsort(-ranges[index]["down"], kind="stable")[:OUTLIERS])
        ordinary = np.setdiff1d(np.arange(shape.intermediate_size), outliers)
        parts = [biased(feed_forward(even, n, ordinary)), feed_forward(even, f"{n}.outliers", outliers)]
        exact += [f"{n}.outliers.up", f"{n}.outliers.down"]
        total = g.node("Add", [g.node("Add", parts, f"{n}.feed_forward"), x], f"{n}.norm2.sum")
        following = factors[index + 1]["qkv"] if index + 1 < len(layers) else None
        x, even = norm(total, f"{n}.norm2", following)

    return x, exact


def text_heads(g: Graph, x: str, state: dict, model: Classifier) -> None:
    """Adds attention pooling and the heads."""
    g.node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
    g.node("Unsqueeze", ["mask_float", g.weight("last", np.array([2], np.int64))], "mask_column")
    g.node("Sub", ["mask_column", g.weight("one", np.array(1, np.float32))], "padding_column")
    g.node("Mul", ["padding_column", g.weight("low", np.array(-PADDING, np.float32))], "padding_bias")
    g.node("MatMul", [x, g.weight("pool.weight", state["pool.weight"].T)], POOL)
    g.node("Add", [POOL, "padding_bias"], "pool_masked")
    g.node("Softmax", ["pool_masked"], "pool_weights", axis=1)
    g.node("Transpose", ["pool_weights"], "pool_rows", perm=[0, 2, 1])
    g.node("MatMul", ["pool_rows", x], "pooled")
    for name, indices in model.head_slices().items():
        pool = g.weight(f"{name}.pool", np.array(model.pool_of(name), np.int64))
        vector = g.node("Gather", ["pooled", pool], f"{name}.vector", axis=1)
        # Quantization would rename a Gemm, which then would not stay in fp32.
        g.node("MatMul", [vector, g.weight(f"{name}.weight", state["head.weight"][indices].T)], f"{name}.product")
        unit = name in model.unit_heads
        bias = g.weight(f"{name}.bias", state["head.bias"][indices])
        g.node("Add", [f"{name}.product", bias], f"{name}.raw" if unit else name)
        if unit:
            g.node("LpNormalization", [f"{name}.raw"], name, axis=-1, p=2)


def export(model: Encoder, ranges: Ranges, fp32: Path, int8: Path, published: Path | None = None, layers: int = 0) -> None:
    """Writes both graphs. Pooling and heads stay in fp32, so that the calibration survives quantization.

    If `published` is the folder of a model, the int8 graph takes over its lowest `layers` layers: see `shared_layers.py`.
    """
    built, exact = build(model, ranges)
    (int8.parent / WORDS).unlink(missing_ok=True)
    onnx.save(built, str(fp32))
    logging.getLogger().setLevel(logging.ERROR)
    quantize_dynamic(
        str(fp32),
        str(int8),
        per_channel=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=exact,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )
    if any(tensor.name == "words.scales" for tensor in built.graph.initializer):
        externalize_words(int8)
    if published:
        take_over_layers(int8, published, layers)


def externalize_words(graph: Path) -> None:
    """Moves the 4-bit word vectors to an external data file beside the graph."""
    model = onnx.load(str(graph))
    blob = b""
    for tensor in model.graph.initializer:
        if tensor.name in ("words.weight", "words.scales") and tensor.HasField("raw_data"):
            blob += bytes(-len(blob) % PAGE)
            set_external_data(tensor, WORDS, offset=len(blob), length=len(tensor.raw_data))
            blob += tensor.raw_data
            tensor.ClearField("raw_data")
    (graph.parent / WORDS).write_bytes(blob)
    onnx.save(model, str(graph))


def write_config(
    model: Classifier,
    labels: dict[str, Sequence[str]],
    guard: dict,
    path: Path,
    activations: dict[str, str] | None = None,
    languages: dict[str, list[str]] | None = None,
) -> None:
    """Writes a config.json in Hugging Face's format for the first head. The object `guard` has all other settings.

    `labels` has the labels of every head; a head of vectors has none. The default of `activations` is softmax. `languages` are the training
    languages of each head, if they differ.
    """
    first = next(iter(labels.values()))
    if len(labels) > 1:
        heads = [
            {
                "name": name,
                **({"languages": languages[name]} if languages else {}),
                "output": name,
                "labels": list(of_head),
                "activation": (activations or {}).get(name, "softmax"),
            }
            for name, of_head in labels.items()
        ]
        guard = {**guard, "heads": heads}
    write_shape(model, "BertForSequenceClassification", first, {"pooling": "attention"}, guard, path)


def write_tagger_config(model: Tagger, labels: Sequence[str], guard: dict, path: Path) -> None:
    """Writes a config.json in Hugging Face's format. The object `guard` has all other settings."""
    write_shape(model, "BertForTokenClassification", labels, {}, guard, path)


def write_shape(model: Encoder, kind: str, labels: Sequence[str], more: dict, guard: dict, path: Path) -> None:
    config = {
        "architectures": [kind],
        "model_type": "bert",
        **model.shape.__dict__,
        "hidden_act": "gelu",
        "pad_token_id": 0,
        "type_vocab_size": 1,
        **more,
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "label2id": {label: index for index, label in enumerate(labels)},
        "guard": guard,
    }
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n")


def write_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Writes the tokenizer. The float32 scores of its pieces have the shortest exact decimal form."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    content = json.loads(tokenizer.to_str())
    content["model"]["vocab"] = [[piece, float(str(np.float32(score)))] for piece, score in content["model"]["vocab"]]
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
