"""python -m training.screen --data DIR --model DIR --screened DIR --out DIR: lets the model of prompt injections screen texts for toxicity.

Where both are asked about a text, the model of prompt injections runs first. From its vectors at its early exit (see `text_exit.py`) a
second network predicts whether the model `multitask` could find the text toxic at all. Where it surely would not, `multitask` is not
asked. This is a cascade (Viola and Jones, 2001, "Rapid object detection using a boosted cascade of simple features"): most texts are
ordinary, and leave it at its first stage.

The network learns what `multitask` says about texts, right or wrong: its probability, which tells more than a verdict (Hinton et al., 2015,
"Distilling the knowledge in a neural network", arXiv:1503.02531). The texts are those of both models, because the harmless ones of the model of
prompt injections are most like traffic. It belongs to one version of `multitask`: `config.json` names it, and guard asks no screen that was made
for another one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from . import datasets, text_exit
from .export import Graph
from .injection import SAFE
from .injection.early_exit import ALONE, PLACE
from .injection.rows import rows_for
from .metrics import sigmoid
from .multitask import early_exit as screened
from .multitask.rows import add_data_arguments
from .runtime import Exported

# The head of the screen, which is also the name of its output: a logit above 0 means that the text may be toxic.
SCREEN = "screen_toxicity"
# The number of texts of toxicity and of harmless ones of prompt injections that are learnt from, and the most characters of the latter.
TOXICITY, ORDINARY, LONGEST = 150_000, 50_000, 1_500
# A text of the calibration part may be toxic where the probability of some label is above this.
TOXIC = 0.5


def front_of(folder: Path, threads: int) -> Exported:
    """The lowest layers of the model of a folder, whose one output is what its early exit reads."""
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    graph, needed, nodes = model.graph, {PLACE.watched}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            nodes.append(node)
            needed |= set(node.input)
    for kept, all_of in (
        (list(reversed(nodes)), graph.node),
        ([weight for weight in graph.initializer if weight.name in needed], graph.initializer),
        ([value for value in graph.input if value.name in needed], graph.input),
        ([helper.make_empty_tensor_value_info(PLACE.watched)], graph.output),
    ):
        del all_of[:]
        all_of.extend(kept)
    return text_exit.changed(folder, model, threads)


def read(model: Exported, texts: list[str]) -> np.ndarray:
    rows = model.outputs(texts, screened.PLACE.max_tokens, [PLACE.watched])
    return np.array([text_exit.pooled(vectors) for (vectors,) in rows])


def insert(model: onnx.ModelProto, network: text_exit.Exit) -> None:
    """Adds the head of the screen, or gives the one that is there another network."""
    if any(output.name == SCREEN for output in model.graph.output):
        return text_exit.replace(model, text_exit.constants(SCREEN, network))
    graph = Graph()
    text_exit.add_network(graph, SCREEN, network)
    graph.node("Sub", [f"{SCREEN}.doubts", graph.weight(f"{SCREEN}.above", np.float32(network.above))], SCREEN)
    model.graph.node.extend(graph.nodes)
    model.graph.initializer.extend(graph.weights)
    model.graph.output.append(helper.make_tensor_value_info(SCREEN, TensorProto.FLOAT, ["batch", 1]))


def ordinary(args: argparse.Namespace) -> list[str]:
    """Harmless texts of the training rows of prompt injections, in an order of chance."""
    rows = datasets.part(rows_for(argparse.Namespace(**vars(args), sets="", leave_out="")), "train")
    texts = dict.fromkeys(row.text for row in rows if row.label == SAFE and len(row.text) < LONGEST)
    # The salt is that of the screen of 0.7.1, so that another training chooses the same texts.
    return sorted(texts, key=lambda text: datasets.digest(text, "x"))[:ORDINARY]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.screen", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--screened", required=True, type=Path, help="folder of the model that is asked less often")
    args = text_exit.copied(parser)
    texts = screened.texts_of(args)
    learnt, held = [*texts["train"][:TOXICITY], *ordinary(args)], texts["calibration"][: text_exit.HELD]
    whole = Exported(args.screened / "model.onnx", args.screened / "tokenizer.json", args.threads)
    probabilities = [
        np.array([sigmoid(of_text).max() for of_text in whole.logits(some, screened.PLACE.max_tokens, screened.HEAD)])
        for some in (learnt, held)
    ]
    front = front_of(args.out, args.threads)
    network = text_exit.learnt_from(
        (read(front, learnt), probabilities[0]), (read(front, held), probabilities[1] > TOXIC), args.seed, "screen"
    )
    graph = args.out / "model.onnx"
    model = onnx.load(str(graph), load_external_data=False)
    insert(model, network)
    onnx.save(model, str(graph))
    path = args.out / "config.json"
    config = json.loads(path.read_text("utf-8"))
    of = json.loads((args.screened / "config.json").read_text("utf-8"))["guard"]
    heads = [head for head in config["guard"]["heads"] if head["name"] != SCREEN]
    head = {"name": SCREEN, "output": SCREEN, "labels": ["possible"], "activation": "sigmoid", "early_exit": ALONE}
    config["guard"]["heads"] = [*heads, head]
    config["guard"]["screens"] = [{"head": SCREEN, "model": of["name"], "version": of["version"], "for": screened.HEAD}]
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
