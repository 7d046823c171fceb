"""python -m training.screen --data DIR --model DIR --screened DIR --out DIR: trains a toxicity pre-filter in the prompt-injection model.

If a text is checked for both, the prompt-injection model runs first. From its vectors at its early exit (see `text_exit.py`) a second network,
the screen, predicts whether `multitask` could find the text toxic. If not, `multitask` does not run. This is a cascade (Viola and Jones,
2001, "Rapid object detection using a boosted cascade of simple features"): most texts are ordinary and leave it at the first stage.

The screen learns the probabilities of `multitask`, right or wrong, which carry more information than verdicts (Hinton et al., 2015,
"Distilling the knowledge in a neural network", arXiv:1503.02531). It learns from the texts of both models, because the harmless texts of the
prompt-injection model are most similar to traffic. A screen belongs to one version of `multitask`, which `config.json` names; guard ignores
a screen of another version.
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
from .runtime import ExportedModel

# The head of the screen and its output: a logit above 0 means that the text may be toxic.
SCREEN = "screen_toxicity"
# The numbers of training texts from toxicity and of harmless ones from prompt injection, and the maximum characters of the latter.
TOXICITY, ORDINARY, LONGEST = 150_000, 50_000, 1_500
# A text of the calibration split may be toxic if the probability of a label is above this.
TOXIC = 0.5


def load_lower_layers(folder: Path, threads: int) -> ExportedModel:
    """The lowest layers of a model. Their output is the input of its early exit."""
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
    return text_exit.load_variant(folder, model, threads)


def read(model: ExportedModel, texts: list[str]) -> np.ndarray:
    rows = model.outputs(texts, screened.PLACE.max_tokens, [PLACE.watched])
    return np.array([text_exit.pooled(vectors) for (vectors,) in rows])


def insert(model: onnx.ModelProto, network: text_exit.ExitNetwork) -> None:
    """Adds the head of the screen, or replaces its network."""
    if any(output.name == SCREEN for output in model.graph.output):
        return text_exit.replace(model, text_exit.constants(SCREEN, network))
    graph = Graph()
    text_exit.add_network(graph, SCREEN, network)
    graph.node("Sub", [f"{SCREEN}.doubts", graph.weight(f"{SCREEN}.above", np.float32(network.above))], SCREEN)
    model.graph.node.extend(graph.nodes)
    model.graph.initializer.extend(graph.weights)
    model.graph.output.append(helper.make_tensor_value_info(SCREEN, TensorProto.FLOAT, ["batch", 1]))


def ordinary(args: argparse.Namespace) -> list[str]:
    """Harmless training texts of the prompt-injection model in random order."""
    rows = datasets.rows_of_split(rows_for(argparse.Namespace(**vars(args), sets="", leave_out="")), "train")
    texts = dict.fromkeys(row.text for row in rows if row.label == SAFE and len(row.text) < LONGEST)
    # The salt is that of the screen of 0.7.1, so that a new training uses the same texts.
    return sorted(texts, key=lambda text: datasets.digest(text, "x"))[:ORDINARY]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.screen", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--screened", required=True, type=Path, help="folder of the model that runs less often")
    args = text_exit.parse_copy_arguments(parser)
    texts = screened.texts_of(args)
    learnt, held = [*texts["train"][:TOXICITY], *ordinary(args)], texts["calibration"][: text_exit.HELD_OUT]
    whole = ExportedModel(args.screened / "model.onnx", args.screened / "tokenizer.json", args.threads)
    probabilities = [
        np.array([sigmoid(of_text).max() for of_text in whole.logits(some, screened.PLACE.max_tokens, screened.HEAD)])
        for some in (learnt, held)
    ]
    front = load_lower_layers(args.out, args.threads)
    network = text_exit.train_network(
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
