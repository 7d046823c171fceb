"""Splits graphs of models whose lowest layers are equal, so that a text passes these layers once for all of them.

A graph is cut before the last norm of its lowest layers. The lower part reads token ids, and its output is an input of the upper part. The
operations are the same as in the whole graph, so the results are too.

The lower parts of two models are equal if the layers and the measured ranges of their activations are: see `--layer-ranges` of
`arguments.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx
from onnx import TensorProto, helper


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
    made = helper.make_model(
        helper.make_graph(nodes, graph.name, inputs, outputs, weights),
        producer_name=model.producer_name,
        opset_imports=model.opset_import,
    )
    made.ir_version = model.ir_version
    return made


def split(model: onnx.ModelProto, layers: int, size: int) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The lowest layers of a model, and the rest of it. `size` is the width of a vector."""
    between = helper.make_tensor_value_info(cut_of(layers), TensorProto.FLOAT, ["batch", "seq", size])
    return part(model, [between], None), part(model, list(model.graph.output), between)
