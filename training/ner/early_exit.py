"""python -m training.ner.early_exit --data DIR --model DIR --out DIR: lets pieces far from names leave the model early.

After the lowest `LAYERS` layers a small network predicts for each piece whether the whole model will label it as part of a name. A piece
leaves, labelled as outside of names, if no piece within `REACH` is predicted to be part of one. The others continue and attend only to each
other. This is token-level early exit (Li et al., 2021, arXiv:2105.13878). Most texts contain few names, so most pieces pass only a quarter of
the layers.

The network learns from the answers of the model itself, right or wrong. It is inserted into the finished int8 graph, whose weights do not
change.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

from .. import datasets, metrics, trainer
from ..export import Graph
from ..runtime import ExportedModel
from . import LABELS, READ_LENGTH
from .rows import SpanRow, add_data_arguments, join_rows, rows_for
from .tags import OUTSIDE

LAYERS, REACH, HIDDEN = 3, 16, 64
# The number of training pieces of the network, and the weight of those in names.
PIECES, NAMED_WEIGHT = 600_000, 3.0
EPOCHS, BATCH, RATE = 6, 1024, 3e-3
# The maximum share of calibration pieces in names that leave early.
LOST = 1e-4
# The logit of "outside" for a piece that left early; its other logits are 0.
SURE = 10.0
WATCHED = f"layers.{LAYERS - 1}.norm2"
# Files of ordinary texts with their fields, and the maximum number of texts of each.
ORDINARY = {
    "relevance/oasst_pairs_en": ("a", "b"),
    "injection/harmless_sib200": ("text",),
    "injection/harmless_documents_multilingual": ("text",),
}
ORDINARY_TEXTS = 4_000
# The same vectors, divided by the factors of the next layer's attention: see `export.py`.
SMOOTHED = f"{WATCHED}.even"
LOGITS, MASK = "logits", "mask_int"


@dataclass(frozen=True)
class ExitNetwork:
    """The weights of the network, and the logit above which a piece may be in a name."""

    hidden: np.ndarray  # [size, HIDDEN]
    hidden_bias: np.ndarray
    name: np.ndarray  # [HIDDEN, 1]
    above: float


def insert(model: onnx.ModelProto, exit: ExitNetwork) -> None:
    """Inserts the exit into the graph of a tagger, int8 or fp32. A position of a batch continues if it does so in any row."""
    front, back = Graph(), Graph()
    front.node("MatMul", [WATCHED, front.weight("exit.hidden.weight", exit.hidden)], "exit.hidden.product")
    front.node("Add", ["exit.hidden.product", front.weight("exit.hidden.bias", exit.hidden_bias)], "exit.hidden")
    front.node("Relu", ["exit.hidden"], "exit.active")
    front.node("MatMul", ["exit.active", front.weight("exit.name.weight", exit.name)], "exit.scores")
    front.node("Transpose", ["exit.scores"], "exit.rows", perm=[0, 2, 1])
    front.node("ReduceMax", ["exit.rows", front.weight("exit.batch", np.array([0], np.int64))], "exit.highest")
    front.node("MaxPool", ["exit.highest"], "exit.near", kernel_shape=[2 * REACH + 1], pads=[REACH, REACH])
    front.node("Greater", ["exit.near", front.weight("exit.above", np.float32(exit.above))], "exit.staying")
    front.node("Reshape", ["exit.staying", front.weight("exit.flat", np.array([-1], np.int64))], "exit.pieces")
    # The special pieces at both ends always continue, so that a row is never empty and attention has them as in training.
    ends = [front.weight(f"exit.{name}", np.array([at], np.int64)) for name, at in (("first", 1), ("last", -1))]
    front.node("Slice", ["exit.pieces", *ends], "exit.inner")
    always = front.weight("exit.always", np.array([True]))
    front.node("Concat", [always, "exit.inner", always], "exit.kept", axis=0)
    front.node("Compress", [WATCHED, "exit.kept"], "exit.vectors", axis=1)
    front.node("Compress", [SMOOTHED, "exit.kept"], "exit.smoothed", axis=1)
    front.node("Compress", [MASK, "exit.kept"], "exit.mask", axis=1)

    back.node("Transpose", ["exit.logits"], "exit.logits.by_piece", perm=[1, 0, 2])
    back.node("NonZero", ["exit.kept"], "exit.kept.row")
    back.node("Transpose", ["exit.kept.row"], "exit.kept.indices", perm=[1, 0])
    back.node("Shape", ["input_ids"], "exit.shape")
    back.node("Gather", ["exit.shape", back.weight("exit.turned", np.array([1, 0], np.int64))], "exit.shape.by_piece")
    labels = back.weight("exit.labels", np.array([len(LABELS)], np.int64))
    back.node("Concat", ["exit.shape.by_piece", labels], "exit.shape.logits", axis=0)
    outside = back.weight("exit.outside", np.eye(len(LABELS), dtype=np.float32)[OUTSIDE] * np.float32(SURE))
    back.node("Expand", [outside, "exit.shape.logits"], "exit.left")
    back.node("ScatterND", ["exit.left", "exit.kept.indices", "exit.logits.by_piece"], "exit.all")
    back.node("Transpose", ["exit.all"], LOGITS, perm=[1, 0, 2])

    nodes = list(model.graph.node)
    if any("exit.kept" in node.output for node in nodes):
        raise SystemExit("the model already has an exit")
    at = next(index for index, node in enumerate(nodes) if WATCHED in node.output) + 1
    renamed = {WATCHED: "exit.vectors", SMOOTHED: "exit.smoothed", MASK: "exit.mask"}
    for node in nodes[at:]:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        if LOGITS in node.output:
            node.output[:] = ["exit.logits"]
            node.name = "exit.logits"
    del model.graph.node[:]
    model.graph.node.extend([*nodes[:at], *front.nodes, *nodes[at:], *back.nodes])
    model.graph.initializer.extend([*front.weights, *back.weights])


def read(model: ExportedModel, texts: Sequence[str], pieces: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The vectors after the lowest layers and the pieces that the model labels as names, for texts of up to `pieces` pieces in total."""
    for text in texts:
        if pieces <= 0:
            return
        vectors, logits = model.outputs([text], READ_LENGTH, [WATCHED, LOGITS])[0]
        yield vectors[1:-1].astype(np.float16), logits[1:-1].argmax(-1) != OUTSIDE
        pieces -= len(vectors)


def learn(rows: Sequence[tuple[np.ndarray, np.ndarray]], seed: int) -> tuple[nn.Sequential, int]:
    """Trains the network, and returns it with its number of training pieces."""
    torch.manual_seed(seed)
    vectors = torch.from_numpy(np.concatenate([row for row, _ in rows]))
    named = torch.from_numpy(np.concatenate([row for _, row in rows])).float()
    network = nn.Sequential(nn.Linear(vectors.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    steps = EPOCHS * -(-len(vectors) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)
    weight = torch.tensor(NAMED_WEIGHT)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(vectors)).split(BATCH):
            found = network(vectors[batch].float())[:, 0]
            loss = F.binary_cross_entropy_with_logits(found, named[batch], pos_weight=weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network, len(vectors)


@torch.no_grad()
def max_nearby_logit(network: nn.Sequential, vectors: np.ndarray) -> np.ndarray:
    """The highest logit within `REACH` of each piece of a row."""
    found = network(torch.from_numpy(vectors).float())[:, 0]
    return F.max_pool1d(found[None], 2 * REACH + 1, stride=1, padding=REACH)[0].numpy()


def add(folder: Path, learnt: Sequence[str], held: Sequence[str], seed: int, threads: int) -> None:
    """Inserts an exit into a model. It learns from the texts `learnt`; the texts `held` determine its threshold."""
    graph = folder / "model.onnx"
    watched = ExportedModel(graph, folder / "tokenizer.json", threads, watched=[WATCHED])
    network, pieces = learn(list(read(watched, learnt, PIECES)), seed)
    rows = [(max_nearby_logit(network, vectors), named) for vectors, named in read(watched, held, PIECES) if len(named)]
    reached, named = (np.concatenate([row[part] for row in rows]) for part in (0, 1))
    above = float(np.quantile(reached[named], LOST, method="lower")) - 1e-3
    stay = metrics.share_above(reached, above)
    print(
        f"early exit: learnt from {pieces} pieces; of {len(named)} held out {named.mean():.1%} are named and {stay:.1%} continue",
        flush=True,
    )
    hidden, _, name = network
    weights = [value.detach().numpy().T for value in (hidden.weight, hidden.bias, name.weight)]
    model = onnx.load(str(graph), load_external_data=False)
    insert(model, ExitNetwork(*weights, above - name.bias.item()))
    onnx.save(model, str(graph))


def texts_for(args: argparse.Namespace, rows: Sequence[SpanRow]) -> tuple[list[str], list[str]]:
    """The shuffled training texts and the calibration texts: texts with names, and ordinary ones."""
    marked = {
        split: join_rows([row for row in rows if row.split == split], args.seed) for split in ("train", "calibration")
    }

    def shuffled(found: Iterable[str]) -> list[str]:
        return sorted(set(found), key=lambda text: datasets.digest(text, str(args.seed)))

    ordinary: list[str] = []
    for file, fields in ORDINARY.items():
        raws = datasets.read_jsonl(datasets.data_folder(args.data) / f"{file}.jsonl.gz")
        ordinary += shuffled(raw[field] for raw in raws for field in fields)[:ORDINARY_TEXTS]
    texts = [
        shuffled([*(row.text for row in of_split), *(text for text in ordinary if datasets.split_of(text) == split)])
        for split, of_split in marked.items()
    ]
    return texts[0], texts[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.ner.early_exit", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--model", required=True, type=Path, help="folder of a NER model without an exit")
    parser.add_argument("--out", required=True, type=Path, help="folder for the model with an exit")
    args = parser.parse_args()
    trainer.fix_seeds(args.seed, args.threads)
    shutil.copytree(args.model, args.out, dirs_exist_ok=True)
    add(args.out, *texts_for(args, rows_for(args)), args.seed, args.threads)


if __name__ == "__main__":
    main()
