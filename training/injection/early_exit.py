"""python -m training.injection.early_exit --data DIR --model DIR --out DIR: lets texts that are surely harmless leave the model early.

After the lowest `LAYERS` layers a small network predicts from the mean and the maximum of all vectors whether the whole model would take the
text for anything but harmless. Where it surely would not, the remaining layers read two pieces instead of all, and the heads say SAFE. This
is early exit of whole texts (Xin et al., DeeBERT, 2020, arXiv:2004.12993) with one exit. Most texts are ordinary, so most of the traffic
costs about half.

The network learns from what the model itself says about texts, right or wrong. It is inserted into the finished int8 graph, whose
weights stay unchanged.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

from .. import datasets, metrics, trainer
from ..export import Graph
from ..runtime import Exported, softmax
from . import INJECTION, MAX_LENGTH
from .rows import add_data_arguments, rows_for

LAYERS, HIDDEN = 6, 64
# A text whose probability is above this at either question goes on.
DOUBTFUL = 0.1
# The number of texts from which the network learns, and of those that determine its threshold.
LEARNT, HELD = 20_000, 6_000
EPOCHS, BATCH, RATE, DOUBTFUL_WEIGHT = 12, 256, 2e-3, 4.0
# The share of the doubtful texts of the calibration part that may leave early.
LOST = 5e-3
# The logits of SAFE for a text that left early; those of INJECTION are 0.
SURE = 10.0
WATCHED = f"layers.{LAYERS - 1}.norm2"
# The same vectors divided by the factors of SmoothQuant, which the attention of the next layer reads (see `export.py`).
SMOOTHED = f"{WATCHED}.even"
# The mask of attention; and what pooling adds to the scores of padding, with the nodes that make it.
MASK, PADDING_BIAS = "mask_int", "padding_bias"
OF_PADDING = {"mask_float", "mask_column", "padding_column", PADDING_BIAS}
QUESTIONS = ("direct", "indirect")


@dataclass(frozen=True)
class Exit:
    """The weights of the network, and the logit above which a text goes on."""

    hidden: np.ndarray  # [2 * size, HIDDEN]
    hidden_bias: np.ndarray
    doubt: np.ndarray  # [HIDDEN, 1]
    above: float


def insert(model: onnx.ModelProto, exit: Exit) -> None:
    """Inserts the exit into the graph, int8 or fp32. In a batch the texts go on where one of them does."""
    nodes = list(model.graph.node)
    if any("exit.kept" in node.output for node in nodes):
        raise SystemExit("the model has an exit already")
    front, back = Graph(), Graph()
    tokens, whole = front.weight("exit.tokens", np.array([1], np.int64)), front.weight("exit.one", np.float32(1))
    front.node("Cast", ["attention_mask"], "exit.mask.float", to=onnx.TensorProto.FLOAT)
    front.node("Unsqueeze", ["exit.mask.float", front.weight("exit.last", np.array([2], np.int64))], "exit.mask.column")
    front.node("Mul", [WATCHED, "exit.mask.column"], "exit.real")
    front.node("ReduceSum", ["exit.real", tokens], "exit.sum", keepdims=0)
    front.node("ReduceSum", ["exit.mask.column", tokens], "exit.count", keepdims=0)
    front.node("Div", ["exit.sum", "exit.count"], "exit.mean")
    front.node("Sub", ["exit.mask.column", whole], "exit.padding")
    front.node("Mul", ["exit.padding", front.weight("exit.low", np.float32(1e4))], "exit.lowered")
    front.node("Add", [WATCHED, "exit.lowered"], "exit.high")
    front.node("ReduceMax", ["exit.high", tokens], "exit.max", keepdims=0)
    front.node("Concat", ["exit.mean", "exit.max"], "exit.pooled", axis=1)
    front.node("MatMul", ["exit.pooled", front.weight("exit.hidden.weight", exit.hidden)], "exit.hidden.product")
    front.node("Add", ["exit.hidden.product", front.weight("exit.hidden.bias", exit.hidden_bias)], "exit.hidden")
    front.node("Relu", ["exit.hidden"], "exit.active")
    front.node("MatMul", ["exit.active", front.weight("exit.doubt.weight", exit.doubt)], "exit.doubts")
    front.node("Greater", ["exit.doubts", front.weight("exit.above", np.float32(exit.above))], "exit.staying")
    # Of a batch in which nobody goes on, two pieces do: attention must not be empty.
    front.node("Cast", ["exit.staying"], "exit.staying.number", to=onnx.TensorProto.INT32)
    front.node("ReduceMax", ["exit.staying.number"], "exit.someone.number", keepdims=0)
    front.node("Cast", ["exit.someone.number"], "exit.someone", to=onnx.TensorProto.BOOL)
    front.node("Shape", ["input_ids"], "exit.length", start=1, end=2)
    front.node("Squeeze", ["exit.length"], "exit.length.number")
    zero, step = (front.weight(f"exit.{name}", np.array(at, np.int64)) for name, at in (("zero", 0), ("step", 1)))
    front.node("Range", [zero, "exit.length.number", step], "exit.places")
    front.node("Less", ["exit.places", front.weight("exit.two", np.array(2, np.int64))], "exit.first")
    front.node("Or", ["exit.first", "exit.someone"], "exit.kept")
    front.node("Compress", [WATCHED, "exit.kept"], "exit.vectors", axis=1)
    front.node("Compress", [SMOOTHED, "exit.kept"], "exit.smoothed", axis=1)
    front.node("Compress", [MASK, "exit.kept"], "exit.mask", axis=1)
    front.node("Compress", [PADDING_BIAS, "exit.kept"], "exit.padding.bias", axis=1)

    safe = back.weight("exit.safe", np.array([[SURE, 0.0]], np.float32))
    for head in QUESTIONS:
        back.node("Where", ["exit.staying", f"exit.{head}", safe], head)

    # What pooling adds may be made behind the layers; it is needed before the last of them now.
    of_padding = [node for node in nodes if OF_PADDING & set(node.output)]
    nodes = [node for node in nodes if node not in of_padding]
    at = next(index for index, node in enumerate(nodes) if WATCHED in node.output) + 1
    renamed = {
        WATCHED: "exit.vectors",
        SMOOTHED: "exit.smoothed",
        MASK: "exit.mask",
        PADDING_BIAS: "exit.padding.bias",
    }
    for node in nodes[at:]:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        for head in QUESTIONS:
            if head in node.output:
                node.output[:] = [f"exit.{head}"]
                node.name = f"exit.{head}"
    del model.graph.node[:]
    model.graph.node.extend([*nodes[:at], *of_padding, *front.nodes, *nodes[at:], *back.nodes])
    model.graph.initializer.extend([*front.weights, *back.weights])


def read(model: Exported, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The pooled vectors after the lowest layers, and whether the model doubts, for each text."""
    vectors, doubts = [], []
    for found, direct, indirect in model.outputs(texts, MAX_LENGTH, [WATCHED, *QUESTIONS]):
        vectors.append(np.concatenate([found.mean(0), found.max(0)]).astype(np.float32))
        doubts.append(max(softmax(direct)[INJECTION], softmax(indirect)[INJECTION]) > DOUBTFUL)
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


def add(folder: Path, learnt: Sequence[str], held: Sequence[str], seed: int, threads: int) -> None:
    """Inserts an exit into the model of a folder. It learns from the texts `learnt`; the texts `held` determine its threshold."""
    graph = folder / "model.onnx"
    watched = Exported(graph, folder / "tokenizer.json", threads, watched=[WATCHED])
    network = learn(*read(watched, learnt), seed)
    vectors, doubts = read(watched, held)
    with torch.no_grad():
        told = network(torch.from_numpy(vectors))[:, 0].numpy()
    above = float(np.quantile(told[doubts], LOST, method="lower")) - 1e-3
    print(
        f"early exit: of {len(held)} texts held out, {doubts.mean():.1%} are doubtful and {metrics.share_above(told, above):.1%} go on; "
        f"of the harmless ones {metrics.share_above(told[~doubts], above):.1%}",
        flush=True,
    )
    hidden, _, doubt = network
    weights = [value.detach().numpy().T for value in (hidden.weight, hidden.bias, doubt.weight)]
    model = onnx.load(str(graph), load_external_data=False)
    insert(model, Exit(*weights, above - doubt.bias.item()))
    onnx.save(model, str(graph))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.injection.early_exit", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--model", required=True, type=Path, help="folder of a model without an exit")
    parser.add_argument("--out", required=True, type=Path, help="folder for the model with one")
    args = parser.parse_args()
    trainer.fix_seeds(args.seed, args.threads)
    shutil.copytree(args.model, args.out, dirs_exist_ok=True)
    rows = sorted(rows_for(args), key=lambda row: datasets.digest(row.text, str(args.seed)))
    parts = [
        [row.text for row in datasets.part(rows, split)][:most]
        for split, most in (("train", LEARNT), ("calibration", HELD))
    ]
    add(args.out, *parts, args.seed, args.threads)


if __name__ == "__main__":
    main()
