"""Splits graphs of models whose lowest layers are equal, so that a text passes these layers once for all of them.

A graph is cut before the last norm of its lowest layers. The lower part reads token ids, and its output is an input of the upper part. The
operations are the same as in the whole graph, so the results are too.

A training with `--shared-layers-of MODEL` takes the lower part from the graph of a published model: quantizing the layers anew would give
other numbers, because the measured ranges of their activations differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def cut_of(layers: int) -> str:
    """The tensor between the lowest `layers` layers and the others."""
    return f"layers.{layers - 1}.norm2.sum"


def read_tensors(node: onnx.NodeProto) -> Iterator[str]:
    """The tensors that a node reads, also inside the branches of a condition."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            for inner in graph.node:
                yield from read_tensors(inner)
            yield from (output.name for output in graph.output)


def needed(graph: onnx.GraphProto, outputs: Iterable[str], given: str) -> tuple[list[onnx.NodeProto], set[str]]:
    """The nodes that compute `outputs` if `given` is known, and all tensors that they read."""
    makers = {name: node for node in graph.node for name in node.output}
    waiting, nodes, read = list(outputs), {}, set()
    while waiting:
        name = waiting.pop()
        if name in read:
            continue
        read.add(name)
        if name != given and (node := makers.get(name)) is not None and id(node) not in nodes:
            nodes[id(node)] = node
            waiting += read_tensors(node)
    return [node for node in graph.node if id(node) in nodes], read


def part(
    model: onnx.ModelProto, outputs: list[onnx.ValueInfoProto], given: onnx.ValueInfoProto | None
) -> onnx.ModelProto:
    """The part of a model that computes `outputs`, from `given` if that is not None."""
    graph = model.graph
    nodes, read = needed(graph, [output.name for output in outputs], given.name if given else "")
    weights = [weight for weight in graph.initializer if weight.name in read]
    inputs = [port for port in graph.input if port.name in read] + ([given] if given else [])
    return with_graph(model, helper.make_graph(nodes, graph.name, inputs, outputs, weights))


def with_graph(model: onnx.ModelProto, graph: onnx.GraphProto) -> onnx.ModelProto:
    """A model with another graph, and otherwise like `model`."""
    made = helper.make_model(graph, producer_name=model.producer_name, opset_imports=model.opset_import)
    made.ir_version = model.ir_version
    return made


def split(model: onnx.ModelProto, layers: int, size: int) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The lowest layers of a model, and the rest of it. `size` is the width of a vector."""
    between = helper.make_tensor_value_info(cut_of(layers), TensorProto.FLOAT, ["batch", "seq", size])
    return part(model, [between], None), part(model, list(model.graph.output), between)


def lower_part(folder: Path, layers: int) -> onnx.ModelProto:
    """The lowest `layers` layers of a published model.

    Raises SystemExit if the model shares another number of layers.
    """
    config = json.loads((folder / "config.json").read_text("utf-8"))
    shared = config["guard"].get("shared_layers")
    file = folder / (shared or "model.onnx")
    model = onnx.load(str(file), load_external_data=False)
    lower = model if shared else split(model, layers, config["hidden_size"])[0]
    if [port.name for port in lower.graph.output] != [cut_of(layers)]:
        raise SystemExit(f"{file} does not end after {layers} layers: train with --frozen and the number of its layers")
    return lower


def join(lower: onnx.ModelProto, upper: onnx.ModelProto) -> onnx.ModelProto:
    """The whole graph of two parts: the inverse of `split`."""
    known = {weight.name for weight in lower.graph.initializer}
    between = {port.name for port in lower.graph.output}
    given = {port.name for port in lower.graph.input}
    inputs = [*lower.graph.input, *(port for port in upper.graph.input if port.name not in between | given)]
    weights = [*lower.graph.initializer, *(weight for weight in upper.graph.initializer if weight.name not in known)]
    made_by_lower = {name for node in lower.graph.node for name in node.output}
    nodes = [*lower.graph.node, *(node for node in upper.graph.node if not made_by_lower.issuperset(node.output))]
    return with_graph(upper, helper.make_graph(nodes, upper.graph.name, inputs, list(upper.graph.output), weights))


def take_over_layers(graph: Path, published: Path, layers: int) -> None:
    """Replaces the lowest `layers` layers of a graph by those of a published model.

    Raises SystemExit if the graph's own layers are others, apart from rounding.
    """
    if layers < 1:
        raise SystemExit("--shared-layers-of needs --frozen and the number of layers")
    model = onnx.load(str(graph), load_external_data=False)
    lower = lower_part(published, layers)
    size = lower.graph.output[0].type.tensor_type.shape.dim[-1].dim_value
    own, upper = split(model, layers, size)
    mine, theirs = biases(own), biases(lower)
    if mine.keys() != theirs.keys() or not all(np.allclose(mine[name], theirs[name], atol=1e-5) for name in mine):
        raise SystemExit(f"the layers of {published} are others: train with its layers, and with --frozen {layers}")
    onnx.save(join(lower, upper), str(graph))


def biases(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The biases of a graph that are not quantized."""
    weights = (weight for weight in model.graph.initializer if re.fullmatch(r"layers\.\d+\.(out|down)\.bias", weight.name))
    return {weight.name: numpy_helper.to_array(weight) for weight in weights}
