"""Early exit of whole texts: those in which a model would surely find nothing leave it after some of its layers.

After the lowest layers a small network predicts from the mean and the maximum of all vectors whether the whole model would find
something. Where it surely would not, the remaining layers read two pieces instead of all, and the heads say that there is nothing. This is
early exit with one exit (Xin et al., DeeBERT, 2020, arXiv:2004.12993). Most texts are ordinary, so most of the traffic costs about half.

The network learns from what the model itself says about texts, right or wrong. It is inserted into the finished int8 graph, whose
weights stay unchanged.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional as F

from . import metrics, trainer
from .export import Graph
from .runtime import Exported

HIDDEN = 64
# The number of texts from which the network learns, and of those that determine its threshold.
LEARNT, HELD = 20_000, 6_000
EPOCHS, BATCH, RATE, DOUBTFUL_WEIGHT = 12, 256, 2e-3, 4.0
# The share of the doubtful texts of the calibration part that may leave early.
LOST = 5e-3
# The mask of attention; and what pooling adds to the scores of padding, with the nodes that make it.
MASK, PADDING_BIAS = "mask_int", "padding_bias"
OF_PADDING = {"mask_float", "mask_column", "padding_column", PADDING_BIAS}


@dataclass(frozen=True)
class Place:
    """Where texts leave, and what the model says of those that left."""

    # How many layers all texts pass.
    layers: int
    # For each head the logits of a text that left.
    nothing: Mapping[str, Sequence[float]]
    # Whether the model would find something, from the logits of these heads.
    doubts: Callable[[Mapping[str, np.ndarray]], bool]
    max_tokens: int
    # The input, of shape [batch, 1], that is 1 for the rows of which only these heads are asked; other rows do not leave. Without a name all
    # rows may leave.
    alone: str = ""
    watched: str = field(init=False)
    # The same vectors divided by the factors of SmoothQuant, which the attention of the next layer reads (see `export.py`).
    smoothed: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "watched", f"layers.{self.layers - 1}.norm2")
        object.__setattr__(self, "smoothed", f"{self.watched}.even")


@dataclass(frozen=True)
class Exit:
    """The weights of the network, and the logit above which a text goes on."""

    hidden: np.ndarray  # [2 * size, HIDDEN]
    hidden_bias: np.ndarray
    doubt: np.ndarray  # [HIDDEN, 1]
    above: float


def insert(model: onnx.ModelProto, place: Place, exit: Exit) -> None:
    """Inserts the exit into the graph, int8 or fp32. In a batch the texts go on where one of them does."""
    nodes = list(model.graph.node)
    if any("exit.kept" in node.output for node in nodes):
        raise SystemExit("the model has an exit already")
    watched, smoothed = place.watched, place.smoothed
    front, back = Graph(), Graph()
    tokens, whole = front.weight("exit.tokens", np.array([1], np.int64)), front.weight("exit.one", np.float32(1))
    front.node("Cast", ["attention_mask"], "exit.mask.float", to=TensorProto.FLOAT)
    front.node("Unsqueeze", ["exit.mask.float", front.weight("exit.last", np.array([2], np.int64))], "exit.mask.column")
    front.node("Mul", [watched, "exit.mask.column"], "exit.real")
    front.node("ReduceSum", ["exit.real", tokens], "exit.sum", keepdims=0)
    front.node("ReduceSum", ["exit.mask.column", tokens], "exit.count", keepdims=0)
    front.node("Div", ["exit.sum", "exit.count"], "exit.mean")
    front.node("Sub", ["exit.mask.column", whole], "exit.padding")
    front.node("Mul", ["exit.padding", front.weight("exit.low", np.float32(1e4))], "exit.lowered")
    front.node("Add", [watched, "exit.lowered"], "exit.high")
    front.node("ReduceMax", ["exit.high", tokens], "exit.max", keepdims=0)
    front.node("Concat", ["exit.mean", "exit.max"], "exit.pooled", axis=1)
    front.node("MatMul", ["exit.pooled", front.weight("exit.hidden.weight", exit.hidden)], "exit.hidden.product")
    front.node("Add", ["exit.hidden.product", front.weight("exit.hidden.bias", exit.hidden_bias)], "exit.hidden")
    front.node("Relu", ["exit.hidden"], "exit.active")
    front.node("MatMul", ["exit.active", front.weight("exit.doubt.weight", exit.doubt)], "exit.doubts")
    above = front.weight("exit.above", np.float32(exit.above))
    if place.alone:
        front.node("Greater", ["exit.doubts", above], "exit.doubtful")
        # The graph has a value of its own for this input, so that programs need not know of it.
        model.graph.input.append(helper.make_tensor_value_info(place.alone, TensorProto.INT64, ["batch", 1]))
        front.weight(place.alone, np.array([[0]], np.int64))
        nobody = front.weight("exit.nobody", np.array(0, np.int64))
        front.node("Equal", [place.alone, nobody], "exit.others")
        front.node("Or", ["exit.doubtful", "exit.others"], "exit.staying")
    else:
        front.node("Greater", ["exit.doubts", above], "exit.staying")
    # Of a batch in which nobody goes on, two pieces do: attention must not be empty.
    front.node("Cast", ["exit.staying"], "exit.staying.number", to=TensorProto.INT32)
    front.node("ReduceMax", ["exit.staying.number"], "exit.someone.number", keepdims=0)
    front.node("Cast", ["exit.someone.number"], "exit.someone", to=TensorProto.BOOL)
    front.node("Shape", ["input_ids"], "exit.length", start=1, end=2)
    front.node("Squeeze", ["exit.length"], "exit.length.number")
    zero, step = (front.weight(f"exit.{name}", np.array(at, np.int64)) for name, at in (("zero", 0), ("step", 1)))
    front.node("Range", [zero, "exit.length.number", step], "exit.places")
    front.node("Less", ["exit.places", front.weight("exit.two", np.array(2, np.int64))], "exit.first")
    front.node("Or", ["exit.first", "exit.someone"], "exit.kept")
    front.node("Compress", [watched, "exit.kept"], "exit.vectors", axis=1)
    front.node("Compress", [smoothed, "exit.kept"], "exit.smoothed", axis=1)
    front.node("Compress", [MASK, "exit.kept"], "exit.mask", axis=1)
    front.node("Compress", [PADDING_BIAS, "exit.kept"], "exit.padding.bias", axis=1)

    for head, logits in place.nothing.items():
        nothing = back.weight(f"exit.{head}.nothing", np.array([logits], np.float32))
        back.node("Where", ["exit.staying", f"exit.{head}", nothing], head)

    # What pooling adds may be made behind the layers; it is needed before the last of them now.
    of_padding = [node for node in nodes if OF_PADDING & set(node.output)]
    nodes = [node for node in nodes if node not in of_padding]
    at = next(index for index, node in enumerate(nodes) if watched in node.output) + 1
    renamed = {
        watched: "exit.vectors",
        smoothed: "exit.smoothed",
        MASK: "exit.mask",
        PADDING_BIAS: "exit.padding.bias",
    }
    for node in nodes[at:]:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        for head in place.nothing:
            if head in node.output:
                node.output[:] = [f"exit.{head}"]
                node.name = f"exit.{head}"
    del model.graph.node[:]
    model.graph.node.extend([*nodes[:at], *of_padding, *front.nodes, *nodes[at:], *back.nodes])
    model.graph.initializer.extend([*front.weights, *back.weights])


def read(model: Exported, place: Place, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The pooled vectors after the lowest layers, and whether the model doubts, for each text."""
    vectors, doubts = [], []
    for found, *logits in model.outputs(texts, place.max_tokens, [place.watched, *place.nothing]):
        vectors.append(np.concatenate([found.mean(0), found.max(0)]).astype(np.float32))
        doubts.append(place.doubts(dict(zip(place.nothing, logits, strict=True))))
    return np.array(vectors), np.array(doubts)


def learn(vectors: np.ndarray, doubts: np.ndarray, seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    x, y = torch.from_numpy(vectors), torch.from_numpy(doubts).float()
    network = nn.Sequential(nn.Linear(x.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)
    weight = torch.tensor(DOUBTFUL_WEIGHT)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            loss = F.binary_cross_entropy_with_logits(network(x[batch])[:, 0], y[batch], pos_weight=weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network


def add(folder: Path, place: Place, learnt: Sequence[str], held: Sequence[str], seed: int, threads: int) -> None:
    """Inserts an exit into the model of a folder. It learns from the texts `learnt`; the texts `held` determine its threshold."""
    graph = folder / "model.onnx"
    watched = Exported(graph, folder / "tokenizer.json", threads, watched=[place.watched])
    network = learn(*read(watched, place, learnt), seed)
    vectors, doubts = read(watched, place, held)
    with torch.no_grad():
        told = network(torch.from_numpy(vectors))[:, 0].numpy()
    above = float(np.quantile(told[doubts], LOST, method="lower")) - 1e-3
    print(
        f"early exit: of {len(held)} texts held out, {doubts.mean():.1%} are doubtful and {metrics.share_above(told, above):.1%} go on; "
        f"of the others {metrics.share_above(told[~doubts], above):.1%}",
        flush=True,
    )
    hidden, _, doubt = network
    weights = [value.detach().numpy().T for value in (hidden.weight, hidden.bias, doubt.weight)]
    model = onnx.load(str(graph), load_external_data=False)
    insert(model, place, Exit(*weights, above - doubt.bias.item()))
    onnx.save(model, str(graph))


def run(
    parser: argparse.ArgumentParser, place: Place, texts_of: Callable[[argparse.Namespace], Mapping[str, Sequence[str]]]
) -> Path:
    """The command of a training: copies a model and inserts an exit there. `texts_of` gives the texts of each split, in an order of chance.

    Returns the folder of the copy.
    """
    parser.add_argument("--model", required=True, type=Path, help="folder of a model without an exit")
    parser.add_argument("--out", required=True, type=Path, help="folder for the model with one")
    args = parser.parse_args()
    trainer.fix_seeds(args.seed, args.threads)
    shutil.copytree(args.model, args.out, dirs_exist_ok=True)
    texts = texts_of(args)
    add(args.out, place, texts["train"][:LEARNT], texts["calibration"][:HELD], args.seed, args.threads)
    return args.out
