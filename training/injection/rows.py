"""The rows of one run, for training and evaluation: those of the selected sets and composed texts."""

from __future__ import annotations

import argparse
from dataclasses import replace

from .. import datasets, trainer
from .addresses import add_addresses
from .compose import attention_phrases, compose, wrap_in_envelopes
from .sets import SETS, Text
from .tool_facts import tool_facts
from .variations import disguise, pieces, vary

# The numbers of composed texts and of texts in envelopes by split.
COMPOSED = (("train", 9000, 5000), ("calibration", 160, 100), ("dev", 400, 260))
# The number of disguised harmless training texts.
DISGUISED_ROWS = 1000


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--licences", default="open", help="licence classes to use")
    parser.add_argument("--sets", default="", help="names of sets to use; default: all sets of the licence classes")
    parser.add_argument(
        "--leave-out", default="", help="names of sets to exclude from training: all their rows are in dev"
    )
    parser.add_argument("--seed", type=int, default=trainer.Settings.seed)
    parser.add_argument("--threads", type=int, default=trainer.Settings.threads)


def rows_for(args: argparse.Namespace) -> list[Text]:
    """The rows of all splits. Equal arguments give equal rows."""
    specs = datasets.choose(SETS, args.licences.split(","), args.sets.split(",") if args.sets else None)
    left_out = set(filter(None, args.leave_out.split(",")))
    if left_out - {spec.name for spec in specs}:
        raise SystemExit(f"unknown set: {', '.join(sorted(left_out - {spec.name for spec in specs}))}")
    specs = [replace(spec, split="dev") if spec.name in left_out else spec for spec in specs]
    folder = datasets.data_folder(args.data)
    rows: list[Text] = datasets.load(specs, folder, args.seed) + tool_facts(args.seed)
    for split, composed, in_envelopes in COMPOSED:
        rows += compose(rows, composed, args.seed, split, attention_phrases(folder, split))
        rows += wrap_in_envelopes(rows, in_envelopes, args.seed, split)
    rows += disguise(rows, DISGUISED_ROWS, args.seed)
    return add_addresses(pieces(vary(rows, args.seed), args.seed), args.seed)
