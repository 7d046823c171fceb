"""ONNX export: the fused graph is written directly, then quantized to int8.

The graph is what onnxruntime's transformer optimizer makes of a traced BERT (Attention, BiasGelu); writing it down avoids
depending on a tracer and on pattern matching, and it is checked against torch. One fusion is left out: the CPU kernel of
SkipLayerNormalization takes several times as long as Add and LayerNormalization (a sixth of the whole pass), and guard's
engine keeps the runtime from fusing them again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from .encoder import PADDING, Classifier

OPSET = 17
FUSED = "com.microsoft"
POOL = "pool_scores"


class Graph:
    """A thin builder: nodes are named after their output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes))
        return output


def build(model: Classifier) -> onnx.ModelProto:
    shape, g = model.shape, Graph()
    state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}

    def param(name: str, transpose: bool = False) -> str:
        return g.weight(name, state[name].T if transpose else state[name])

    # Embeddings: words + positions[0:seq], then the norm.
    g.node("Gather", [param("words.weight"), "input_ids"], "word_vectors")
    g.node("Shape", ["input_ids"], "seq", start=1, end=2)
    zero = g.weight("zero", np.array([0], np.int64))
    g.node("Slice", [param("positions.weight"), zero, "seq", zero], "position_vectors")
    g.node("Add", ["word_vectors", "position_vectors"], "vectors")
    x = g.node(
        "LayerNormalization",
        ["vectors", param("norm.weight"), param("norm.bias")],
        "x",
        axis=-1,
        epsilon=shape.layer_norm_eps,
    )
    g.node("Cast", ["attention_mask"], "mask_int", to=TensorProto.INT32)
    for index in range(shape.num_hidden_layers):
        n = f"layers.{index}"

        def norm(x: str, branch: str, which: str, bias: str, n: str = n) -> str:
            biased = g.node("Add", [branch, param(bias)], f"{n}.{which}.branch")
            total = g.node("Add", [biased, x], f"{n}.{which}.sum")
            inputs = [total, param(f"{n}.{which}.weight"), param(f"{n}.{which}.bias")]
            return g.node("LayerNormalization", inputs, f"{n}.{which}", axis=-1, epsilon=shape.layer_norm_eps)

        g.node(
            "Attention",
            [x, param(f"{n}.qkv.weight", True), param(f"{n}.qkv.bias"), "mask_int"],
            f"{n}.attention",
            FUSED,
            num_heads=shape.num_attention_heads,
        )
        g.node("MatMul", [f"{n}.attention", param(f"{n}.out.weight", True)], f"{n}.out")
        x = norm(x, f"{n}.out", "norm1", f"{n}.out.bias")
        g.node("MatMul", [x, param(f"{n}.up.weight", True)], f"{n}.up")
        g.node("BiasGelu", [f"{n}.up", param(f"{n}.up.bias")], f"{n}.gelu", FUSED)
        g.node("MatMul", [f"{n}.gelu", param(f"{n}.down.weight", True)], f"{n}.down")
        x = norm(x, f"{n}.down", "norm2", f"{n}.down.bias")

    # Attention pooling, then the heads.
    g.node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
    g.node("Unsqueeze", ["mask_float", g.weight("last", np.array([2], np.int64))], "mask_column")
    g.node("Sub", ["mask_column", g.weight("one", np.array(1, np.float32))], "padding_column")
    g.node("Mul", ["padding_column", g.weight("low", np.array(-PADDING, np.float32))], "padding_bias")
    g.node("MatMul", [x, param("pool.weight", True)], POOL)
    g.node("Add", [POOL, "padding_bias"], "pool_masked")
    g.node("Softmax", ["pool_masked"], "pool_weights", axis=1)
    g.node("Mul", [x, "pool_weights"], "weighted")
    g.node("ReduceSum", ["weighted", g.weight("tokens_axis", np.array([1], np.int64))], "pooled", keepdims=0)
    heads = model.head_slices()
    for name, place in heads.items():
        weight = g.weight(f"{name}.weight", state["head.weight"][place])
        bias = g.weight(f"{name}.bias", state["head.bias"][place])
        g.node("Gemm", ["pooled", weight, bias], name, transB=1)

    def port(name: str, kind: int, dims: list) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, dims)

    graph = helper.make_graph(
        g.nodes,
        "guard",
        [port(name, TensorProto.INT64, ["batch", "seq"]) for name in ("input_ids", "attention_mask")],
        [port(name, TensorProto.FLOAT, ["batch", labels]) for name, labels in model.heads.items()],
        g.weights,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    built = helper.make_model(graph, producer_name="guard-training", opset_imports=opsets)
    built.ir_version = 8
    return built


def export(model: Classifier, fp32: Path, int8: Path) -> None:
    """Writes both graphs; the pooling and the heads stay in fp32 so that calibration survives quantization."""
    onnx.save(build(model), str(fp32))
    logging.getLogger().setLevel(logging.ERROR)
    quantize_dynamic(
        str(fp32),
        str(int8),
        per_channel=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=[POOL, *model.heads],
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def write_config(model: Classifier, labels: dict[str, Sequence[str]], guard: dict, path: Path) -> None:
    """A config.json in the Hugging Face style for the first head, plus a `guard` object for what is ours.

    `labels` has those of every head.
    """
    first = next(iter(labels.values()))
    if len(labels) > 1:
        heads = [
            {"name": name, "output": name, "labels": list(l), "activation": "softmax"} for name, l in labels.items()
        ]
        guard = {**guard, "heads": heads}
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        **model.shape.__dict__,
        "hidden_act": "gelu",
        "pad_token_id": 0,
        "type_vocab_size": 1,
        "pooling": "attention",
        "id2label": {str(index): label for index, label in enumerate(first)},
        "label2id": {label: index for index, label in enumerate(first)},
        "guard": guard,
    }
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n")


def write_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(path), pretty=False)
