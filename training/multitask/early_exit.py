"""python -m training.multitask.early_exit --data DIR --model DIR --out DIR: lets harmless texts leave the model early.

See `text_exit.py`. A text continues if a head of `moderation` might find something, whichever of them a scanner reads, so that its verdict does
not depend on other scanners.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
from tokenizers import Tokenizer

from .. import text_exit, trainer
from . import HARM, MAX_LENGTH, MODELS, TOXICITY
from .later_windows import later_windows
from .rows import add_data_arguments, examples_for

# A text with a higher probability for a label continues.
DOUBTFUL = 0.05
# The logit of all labels for a text that left early.
NOTHING = -10.0


def suspicion(logits: Mapping[str, np.ndarray]) -> float:
    return max(float(of_head.max()) for of_head in logits.values())


PLACE = text_exit.ExitConfig(
    layers=6,
    nothing={"harm": (NOTHING,) * len(HARM), "toxicity": (NOTHING,) * len(TOXICITY)},
    doubtful=DOUBTFUL,
    suspicion=suspicion,
)


def ids_of(args: argparse.Namespace, tokenizer: Tokenizer) -> dict[str, list[list[int]]]:
    """The texts of the model's tasks: ordinary texts of many kinds matter most."""
    by_split: dict[str, set[str]] = {"train": set(), "calibration": set()}
    examples = examples_for(args)
    for example in examples + later_windows(examples, tokenizer, args.seed):
        if example.split in by_split:
            by_split[example.split].add(example.text)
    # In the same order in every process.
    return {split: trainer.encode(tokenizer, sorted(texts), MAX_LENGTH) for split, texts in by_split.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.multitask.early_exit", description=__doc__)
    add_data_arguments(parser)
    parser.set_defaults(tasks=",".join(MODELS["moderation"]))
    text_exit.run(parser, PLACE, ids_of)


if __name__ == "__main__":
    main()
