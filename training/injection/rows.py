"""The rows of one run: those of the chosen sets and the composed texts, for training and evaluation alike."""

from __future__ import annotations

import argparse
from dataclasses import replace

from .. import datasets, trainer
from .addresses import addressed
from .compose import compose, enveloped, wordings
from .sets import SETS, Text
from .vary import disguised, pieces, vary

# For each split: the numbers of composed texts, and of texts in envelopes.
COMPOSED = (("train", 9000, 5000), ("calibration", 160, 100), ("dev", 400, 260))
# The number of harmless training texts that are encoded or otherwise disguised.
DISGUISED_ROWS = 1000


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--licences", default="open,unclear,non-commercial", help="licence classes to use")
    parser.add_argument("--sets", default="", help="names of sets to use; default: all of the licence classes")
    parser.add_argument(
        "--leave-out", default="", help="names of sets of which nothing is trained on: all rows are in dev"
    )
    parser.add_argument("--seed", type=int, default=trainer.Settings.seed)
    parser.add_argument("--threads", type=int, default=trainer.Settings.threads)


def rows_for(args: argparse.Namespace) -> list[Text]:
    """The rows of all splits. The same arguments always give the same rows."""
    specs = datasets.choose(SETS, args.licences.split(","), args.sets.split(",") if args.sets else None)
    left_out = set(filter(None, args.leave_out.split(",")))
    if left_out - {spec.name for spec in specs}:
        raise SystemExit(f"unknown set: {', '.join(sorted(left_out - {spec.name for spec in specs}))}")
    specs = [replace(spec, split="dev") if spec.name in left_out else spec for spec in specs]
    folder = datasets.data_folder(args.data)
    rows: list[Text] = datasets.load(specs, folder, args.seed)
    for split, composed, in_envelopes in COMPOSED:
        rows += compose(rows, composed, args.seed, split, wordings(folder, split))
        rows += enveloped(rows, in_envelopes, args.seed, split)
    rows += disguised(rows, DISGUISED_ROWS, args.seed)
    return addressed(pieces(vary(rows, args.seed), args.seed), args.seed)
