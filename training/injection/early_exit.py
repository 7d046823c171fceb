"""python -m training.injection.early_exit --data DIR --model DIR --out DIR: lets harmless texts leave the model early.

See `text_exit.py`. A text continues if the model might find something for one of the requested questions. For a text that left, both questions
answer SAFE. Texts that people write need only `direct`, which requests pass more clearly than `indirect`, where they look like orders.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
from tokenizers import Tokenizer

from .. import datasets, text_exit
from . import INJECTION, SAFE
from .rows import add_data_arguments, rows_for
from .windows import windows_of

# A text with a higher probability for a question continues.
DOUBTFUL = 0.1
# The logits of a text that left early.
NOTHING = (10.0, 0.0)
# The input that is 1 for rows that need only these heads. The answer of `indirect` is invalid for them.
ALONE, ASKED_ALONE = "direct_alone", ("direct", "category")


def suspicion(logits: Mapping[str, np.ndarray]) -> float:
    return max(float(of_head[INJECTION] - of_head[SAFE]) for of_head in logits.values())


def direct_suspicion(logits: Mapping[str, np.ndarray]) -> float:
    return suspicion({"direct": logits["direct"]})


PLACE = text_exit.ExitConfig(
    layers=6,
    nothing={"direct": NOTHING, "indirect": NOTHING},
    doubtful=DOUBTFUL,
    suspicion=suspicion,
    alone_suspicion=direct_suspicion,
    alone=ALONE,
)


def ids_of(args: argparse.Namespace, tokenizer: Tokenizer) -> dict[str, list[list[int]]]:
    rows = rows_for(args)
    return {
        split: [window.ids for window in windows_of(tokenizer, datasets.rows_of_split(rows, split), args.seed)]
        for split in ("train", "calibration")
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.injection.early_exit", description=__doc__)
    add_data_arguments(parser)
    text_exit.run(parser, PLACE, ids_of, ASKED_ALONE)


if __name__ == "__main__":
    main()
