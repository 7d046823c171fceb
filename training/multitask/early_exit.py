"""python -m training.multitask.early_exit --data DIR --model DIR --out DIR: lets texts that are not toxic leave the model early.

See `text_exit.py`. A text leaves only if it needs nothing but toxicity: the additional input `ALONE` is 1 for such rows and 0 (the default) for
others. The answers of the other heads are invalid for a text that left.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from .. import datasets, text_exit
from ..metrics import sigmoid
from . import TOXICITY
from .model import LONGEST
from .rows import add_data_arguments, examples_for

HEAD, ALONE = "toxicity", "toxicity_alone"
# A text continues if the probability of a label is above this. Language corrections never raise a probability, so thresholds above this give
# the same result without the exit.
DOUBTFUL = 0.1
# The logit of all labels for a text that left early: a probability of 0.7 %.
NOTHING = -5.0


def doubts(logits: Mapping[str, np.ndarray]) -> bool:
    return float(sigmoid(logits[HEAD]).max()) > DOUBTFUL


PLACE = text_exit.ExitConfig(
    layers=6, nothing={HEAD: (NOTHING,) * len(TOXICITY)}, max_tokens=LONGEST[HEAD], alone_doubts=doubts, alone=ALONE
)


def texts_of(args: argparse.Namespace) -> dict[str, list[str]]:
    args.tasks = HEAD
    examples = sorted(examples_for(args), key=lambda e: datasets.digest(e.text, str(args.seed)))
    # Repeated training rows are read once.
    return {split: [*dict.fromkeys(e.text for e in examples if e.split == split)] for split in ("train", "calibration")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.multitask.early_exit", description=__doc__)
    add_data_arguments(parser)
    text_exit.run(parser, PLACE, texts_of, [HEAD])


if __name__ == "__main__":
    main()
