"""Early exit of texts: a text in which the model would find nothing leaves it after the lowest layers.

After these layers a small network predicts whether the whole model would find something. It reads a few weighted means of the vectors, whose
weights are the softmax of learnt scores (attention pooling): a few words may decide. If it predicts nothing, the remaining layers do not run,
and the heads return fixed logits. This is early exit with one exit (Xin et al., DeeBERT, 2020,
arXiv:2004.12993). Most texts are ordinary, so most of the traffic costs about half.

Rows that need only some heads have a network of their own, because these heads find something less often than all heads. Callers mark such
rows with an additional input.

A network learns from the answers of the model itself, right or wrong. Its target is the probability that the model finds something, softened
around the limit: whether a text is just above or just below it, no network can tell. The network is inserted into the finished int8 graph,
whose weights do not change, and replaces an existing network.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from scipy.special import expit, logit
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

from . import metrics, trainer
from .encoder import PADDING
from .export import Graph
from .runtime import ExportedModel

HIDDEN = 64
# The number of weighted means.
QUERIES = 8
# The number of tokens of a training batch.
TOKENS = 8192
# The number of training texts of the network, and of the texts that determine its threshold. The calibration texts are too few for the
# threshold, which depends on the rarest of them, so other training texts are added.
LEARNT, HELD_OUT = 40_000, 50_000
EPOCHS, RATE, DROPOUT, DOUBTFUL_WEIGHT = 8, 2e-3, 0.1, 4.0
# The width of the soft targets around the limit, as a difference of logits.
SOFTNESS = 1.5
# The maximum share of doubtful held-out texts that leave early, and the share of those whose probability is higher: the clearer the finding,
# the fewer leave.
LOST, LOST_ABOVE = 2e-3, {0.5: 1e-3, 0.9: 0.0}
# The constants in the graph with the thresholds of the networks.
EDGE = re.compile(r"exit(\.alone)?\.above")


# Takes the logits of the heads in `ExitConfig.nothing`. Returns how sure the model is that it finds something in the text, as one logit.
Suspicion = Callable[[Mapping[str, np.ndarray]], float]
# Token ids of texts.
Ids = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ExitConfig:
    """The position of the exit, the answer for texts that left, and what the networks predict."""

    # The number of layers that all texts pass.
    layers: int
    # The logits of each head for a text that left.
    nothing: Mapping[str, Sequence[float]]
    # A text is doubtful, and continues, if the model finds something with a higher probability.
    doubtful: float
    # The suspicion of rows that may need all heads; None if such rows never leave.
    suspicion: Suspicion | None
    # The suspicion of rows that need only some heads, and the input of shape [batch, 1] that is 1 for these rows; absent if all rows need all.
    alone_suspicion: Suspicion | None = None
    alone: str = ""

    @property
    def watched(self) -> str:
        """The vectors of the graph that the networks read."""
        return f"layers.{self.layers - 1}.norm2"

    def networks(self) -> dict[str, Suspicion]:
        """The networks by their name in the graph, with what they predict."""
        both = {"exit": self.suspicion, "exit.alone": self.alone_suspicion}
        return {name: suspicion for name, suspicion in both.items() if suspicion is not None}


@dataclass(frozen=True)
class ExitNetwork:
    """The weights of the network, and the logit above which a text continues."""

    queries: np.ndarray  # [size, QUERIES]
    hidden: np.ndarray  # [QUERIES * size, HIDDEN]
    hidden_bias: np.ndarray
    doubt: np.ndarray  # [HIDDEN, 1]
    above: float


def has_exit(model: onnx.ModelProto) -> bool:
    return any(output.startswith("exit.") for node in model.graph.node for output in node.output)


def constants(name: str, network: ExitNetwork) -> dict[str, np.ndarray]:
    """The constants of a network in a graph by name."""
    return {
        f"{name}.queries": network.queries,
        f"{name}.hidden.weight": network.hidden,
        f"{name}.hidden.bias": network.hidden_bias,
        f"{name}.doubt.weight": network.doubt,
        f"{name}.above": np.float32(network.above),
    }


def replace(model: onnx.ModelProto, values: Mapping[str, np.ndarray]) -> None:
    """Replaces constants of the graph. The shapes must be equal."""
    known = {weight.name: weight for weight in model.graph.initializer}
    for name, value in values.items():
        if name not in known:
            raise SystemExit(f"the graph has an early exit of another form, without {name}: export the model again")
        known[name].CopyFrom(numpy_helper.from_array(value.astype(np.float32), name))


def insert(model: onnx.ModelProto, place: ExitConfig, exits: Mapping[str, ExitNetwork]) -> None:
    """Inserts the networks into the graph, int8 or fp32. All texts of a batch continue if one of them does."""
    if has_exit(model):
        for name, network in exits.items():
            replace(model, constants(name, network))
        return
    nodes = list(model.graph.node)
    watched = place.watched
    front, back = Graph(), Graph()
    front.node("Cast", ["attention_mask"], "exit.mask.float", to=TensorProto.FLOAT)
    front.node("Unsqueeze", ["exit.mask.float", front.weight("exit.last", np.array([2], np.int64))], "exit.mask.column")
    front.node("Sub", ["exit.mask.column", front.weight("exit.one", np.float32(1))], "exit.padding")
    front.node("Mul", ["exit.padding", front.weight("exit.low", np.float32(-PADDING))], "exit.padding.bias")
    front.weight("exit.flat", np.array([0, -1], np.int64))
    for name, network in exits.items():
        add_network(front, name, network, watched)
        above = front.weight(f"{name}.above", np.float32(network.above))
        front.node("Greater", [f"{name}.doubts", above], f"{name}.doubtful")
    staying = "exit.doubtful"
    if place.alone:
        # The graph has a default for this input, so programs may omit it.
        model.graph.input.append(helper.make_tensor_value_info(place.alone, TensorProto.INT64, ["batch", 1]))
        front.weight(place.alone, np.array([[0]], np.int64))
        nobody = front.weight("exit.nobody", np.array(0, np.int64))
        front.node("Equal", [place.alone, nobody], "exit.others")
        staying = front.node("Or", ["exit.alone.doubtful", "exit.others"], "exit.alone.staying")
        if "exit" in exits:
            # If all heads find nothing, each of them finds nothing.
            staying = front.node("And", ["exit.doubtful", staying], "exit.staying")
    front.node("Cast", [staying], "exit.staying.number", to=TensorProto.INT32)
    front.node("ReduceMax", ["exit.staying.number"], "exit.someone.number", keepdims=0)
    front.node("Cast", ["exit.someone.number"], "exit.someone", to=TensorProto.BOOL)
    front.node("Shape", ["attention_mask"], "exit.rows", start=0, end=1)
    column = front.weight("exit.column", np.array([1], np.int64))
    front.node("Concat", ["exit.rows", column], "exit.shape", axis=0)

    at = next(index for index, node in enumerate(nodes) if watched in node.output) + 1
    rest, none, outputs = nodes[at:], Graph(), list(model.graph.output)
    for output in outputs:
        (maker,) = (node for node in rest if output.name in node.output)
        maker.output[:] = [f"exit.{output.name}.found"]
        width = output.type.tensor_type.shape.dim[-1].dim_value
        logits = place.nothing.get(output.name, (0.0,) * width)
        nothing = none.weight(f"exit.{output.name}.nothing", np.array([logits], np.float32))
        none.node("Expand", [nothing, "exit.shape"], f"exit.{output.name}.none")
        if output.name in place.nothing:
            # All rows continue if one does.
            back.node("Where", [staying, f"exit.{output.name}", nothing], output.name)

    def branch(name: str, made: Sequence[onnx.NodeProto], suffix: str) -> onnx.GraphProto:
        made_outputs = [
            helper.make_tensor_value_info(f"exit.{output.name}.{suffix}", TensorProto.FLOAT, None) for output in outputs
        ]
        return helper.make_graph(list(made), name, [], made_outputs)

    chosen = helper.make_node(
        "If",
        ["exit.someone"],
        [f"exit.{output.name}" if output.name in place.nothing else output.name for output in outputs],
        name="exit",
        then_branch=branch("exit.rest", rest, "found"),
        else_branch=branch("exit.left", none.nodes, "none"),
    )
    del model.graph.node[:]
    model.graph.node.extend([*nodes[:at], *front.nodes, chosen, *back.nodes])
    model.graph.initializer.extend([*front.weights, *none.weights])


def add_network(graph: Graph, name: str, network: ExitNetwork, watched: str) -> None:
    """Adds the nodes that compute NAME.doubts, of shape [batch, 1], from the watched vectors."""
    graph.node("MatMul", [watched, graph.weight(f"{name}.queries", network.queries)], f"{name}.scores")
    graph.node("Add", [f"{name}.scores", "exit.padding.bias"], f"{name}.scores.masked")
    graph.node("Softmax", [f"{name}.scores.masked"], f"{name}.weights", axis=1)
    graph.node("Transpose", [f"{name}.weights"], f"{name}.weights.rows", perm=[0, 2, 1])
    graph.node("MatMul", [f"{name}.weights.rows", watched], f"{name}.means")
    graph.node("Reshape", [f"{name}.means", "exit.flat"], f"{name}.pooled")
    hidden = graph.weight(f"{name}.hidden.weight", network.hidden)
    graph.node("MatMul", [f"{name}.pooled", hidden], f"{name}.hidden.product")
    bias = graph.weight(f"{name}.hidden.bias", network.hidden_bias)
    graph.node("Add", [f"{name}.hidden.product", bias], f"{name}.hidden")
    graph.node("Relu", [f"{name}.hidden"], f"{name}.active")
    graph.node("MatMul", [f"{name}.active", graph.weight(f"{name}.doubt.weight", network.doubt)], f"{name}.doubts")


def read(model: ExportedModel, place: ExitConfig, ids: Ids) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The vectors of each text after the lowest layers, and its suspicion for each network."""
    vectors: list[np.ndarray] = []
    suspicions: dict[str, list[float]] = {name: [] for name in place.networks()}
    for start in range(0, len(ids), 1000):
        for found, *logits in model.outputs_of(ids[start : start + 1000], [place.watched, *place.nothing]):
            # Half precision is enough, and the vectors of all texts take gigabytes in it.
            vectors.append(found.astype(np.float16))
            for name, suspicion in place.networks().items():
                suspicions[name].append(suspicion(dict(zip(place.nothing, logits, strict=True))))
    return vectors, {name: np.array(of_network, np.float32) for name, of_network in suspicions.items()}


def load_without_exit(folder: Path, watched: Sequence[str], threads: int) -> ExportedModel:
    """Loads a model without its early exit. The folder does not change."""
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    edges = [weight.name for weight in model.graph.initializer if EDGE.fullmatch(weight.name)]
    replace(model, dict.fromkeys(edges, np.array(np.finfo(np.float32).min)))
    graph = folder / "changed.onnx"
    onnx.save(model, str(graph))
    try:
        return ExportedModel(graph, folder / "tokenizer.json", threads, watched)
    finally:
        graph.unlink()


class Pooled(nn.Module):
    """The network in torch. It reads vectors that are scaled to a standard deviation of one."""

    def __init__(self, size: int):
        super().__init__()
        self.queries = nn.Linear(size, QUERIES, bias=False)
        self.hidden = nn.Linear(QUERIES * size, HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)
        self.doubt = nn.Linear(HIDDEN, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weights = (self.queries(x) + (1 - mask[..., None]) * PADDING).softmax(1)
        means = (weights.transpose(1, 2) @ x).flatten(1)
        return self.doubt(self.dropout(torch.relu(self.hidden(means))))[:, 0]


def padded(vectors: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors of texts as one tensor, and its mask."""
    longest = max(map(len, vectors))
    x, mask = torch.zeros(len(vectors), longest, vectors[0].shape[1]), torch.zeros(len(vectors), longest)
    for index, of_text in enumerate(vectors):
        x[index, : len(of_text)] = torch.from_numpy(of_text).float()
        mask[index, : len(of_text)] = 1
    return x, mask


def learn(vectors: Sequence[np.ndarray], targets: np.ndarray, seed: int) -> tuple[Pooled, torch.Tensor, torch.Tensor]:
    """Trains a network. Returns it with the means and the standard deviations of its inputs."""
    torch.manual_seed(seed)
    sample = torch.from_numpy(np.concatenate(vectors[:4000])).float()
    middle, deviation = sample.mean(0), sample.std(0) + 1e-5
    network = Pooled(len(middle))
    batches = trainer.batches([len(of_text) for of_text in vectors], TOKENS, random.Random(seed))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, EPOCHS * len(batches))
    y, weight = torch.from_numpy(targets).float(), torch.tensor(DOUBTFUL_WEIGHT)
    network.train()
    for _ in range(EPOCHS):
        for number in torch.randperm(len(batches)):
            batch = batches[number]
            x, mask = padded([vectors[index] for index in batch])
            told = network((x - middle) / deviation, mask)
            loss = F.binary_cross_entropy_with_logits(told, y[batch], pos_weight=weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval(), middle, deviation


def train_network(
    learnt: tuple[Sequence[np.ndarray], np.ndarray],
    held: tuple[Sequence[np.ndarray], np.ndarray],
    limit: float,
    seed: int,
    name: str,
) -> ExitNetwork:
    """Trains a network with `learn` and determines its threshold with held-out texts. Texts with a suspicion above `limit` are doubtful."""
    vectors, suspicions = learnt
    network, middle, deviation = learn(vectors, expit((suspicions - limit) / SOFTNESS), seed)
    vectors, suspicions = held
    doubts = suspicions > limit
    told = np.empty(len(vectors), np.float32)
    with torch.no_grad():
        for batch in trainer.batches([len(of_text) for of_text in vectors], TOKENS):
            x, mask = padded([vectors[index] for index in batch])
            told[batch] = network((x - middle) / deviation, mask).numpy()
    limits = {limit: LOST} | {float(logit(probability)): share for probability, share in LOST_ABOVE.items()}
    edges = [float(np.quantile(told[suspicions > least], share, method="lower")) for least, share in limits.items()]
    above = min(edges) - 1e-3
    print(
        f"{name}: of {len(vectors)} texts held out, {doubts.mean():.1%} are doubtful and {metrics.share_above(told, above):.1%} continue; "
        f"of the others {metrics.share_above(told[~doubts], above):.1%}; thresholds by probability: {np.round(edges, 3)}",
        flush=True,
    )
    # The network in the graph reads unscaled vectors. A constant added to all scores does not change their softmax.
    queries = network.queries.weight.detach() / deviation
    hidden = network.hidden.weight.detach().view(HIDDEN, QUERIES, -1) / deviation
    bias = network.hidden.bias.detach() - (hidden @ middle).sum(1)
    arrays = (queries.T, hidden.flatten(1).T, bias, network.doubt.weight.detach().T)
    return ExitNetwork(*(array.contiguous().numpy() for array in arrays), above - network.doubt.bias.item())


def add(
    model: ExportedModel, graph: Path, place: ExitConfig, ids: Mapping[str, Ids], seed: int, counts: Sequence[int]
) -> None:
    """Inserts an exit into a graph. It learns from training texts; calibration texts and other training texts determine its threshold.

    `counts` are the numbers of both.
    """
    learnt = read(model, place, ids["train"][:counts[0]])
    held = read(model, place, [*ids["calibration"], *ids["train"][counts[0] :]][: counts[1]])
    limit = float(logit(place.doubtful))
    exits = {
        name: train_network((learnt[0], learnt[1][name]), (held[0], held[1][name]), limit, seed, name)
        for name in place.networks()
    }
    changed = onnx.load(str(graph), load_external_data=False)
    insert(changed, place, exits)
    onnx.save(changed, str(graph))


def run(
    parser: argparse.ArgumentParser,
    place: ExitConfig,
    ids_of: Callable[[argparse.Namespace, Tokenizer], Mapping[str, Ids]],
    alone: Sequence[str] = (),
) -> None:
    """Runs the command of a training: copies a model and inserts an exit.

    `ids_of` returns the token ids of the texts of each split. `alone` names the heads that may be needed alone: only their answers are
    valid for rows that `place.alone` marks.
    """
    parser.add_argument("--model", required=True, type=Path, help="folder of a model")
    parser.add_argument("--out", required=True, type=Path, help="folder for the changed model")
    parser.add_argument(
        "--texts",
        type=int,
        nargs=2,
        default=(LEARNT, HELD_OUT),
        metavar=("LEARNT", "HELD_OUT"),
        help="number of training texts of the networks, and of texts that determine their thresholds",
    )
    args = parser.parse_args()
    trainer.fix_seeds(args.seed, args.threads)
    shutil.copytree(args.model, args.out, dirs_exist_ok=True)
    model = load_without_exit(args.out, [place.watched], args.threads)
    # In random order, because only the first ones are used.
    shuffled = random.Random(args.seed)
    ids = {split: shuffled.sample(found, len(found)) for split, found in ids_of(args, model.tokenizer).items()}
    add(model, args.out / "model.onnx", place, ids, args.seed, args.texts)
    path = args.out / "config.json"
    config = json.loads(path.read_text("utf-8"))
    for head in config["guard"]["heads"]:
        if head["name"] in alone:
            head["early_exit"] = place.alone
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")
