"""python -m training.injection.early_exit --data DIR --model DIR --out DIR: lets harmless texts leave the model early.

See `text_exit.py`. A text continues if the model might find something for one of the requested questions. For a text that left, both questions
answer SAFE. Texts that people write need only `direct`, which requests pass more clearly than `indirect`, where they look like orders.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from .. import datasets, text_exit
from ..runtime import softmax
from . import INJECTION, MAX_LENGTH
from .rows import add_data_arguments, rows_for

# A text with a higher probability for a question continues.
DOUBTFUL = 0.1
# The logits of a text that left early.
SAFE = (10.0, 0.0)


# The input that is 1 for rows that need only these heads. The answer of `indirect` is invalid for them.
ALONE, ASKED_ALONE = "direct_alone", ("direct", "category")


def doubts(logits: Mapping[str, np.ndarray]) -> bool:
    return max(softmax(of_head)[INJECTION] for of_head in logits.values()) > DOUBTFUL


def direct_doubts(logits: Mapping[str, np.ndarray]) -> bool:
    return doubts({"direct": logits["direct"]})


PLACE = text_exit.ExitConfig(
    layers=6,
    nothing={"direct": SAFE, "indirect": SAFE},
    max_tokens=MAX_LENGTH,
    doubts=doubts,
    alone_doubts=direct_doubts,
    alone=ALONE,
)


def texts_of(args: argparse.Namespace) -> dict[str, list[str]]:
    rows = rows_for(args)
    return {split: [row.text for row in datasets.rows_of_split(rows, split)] for split in ("train", "calibration")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.injection.early_exit", description=__doc__)
    add_data_arguments(parser)
    text_exit.run(parser, PLACE, texts_of, ASKED_ALONE)


if __name__ == "__main__":
    main()
