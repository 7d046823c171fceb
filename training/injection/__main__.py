"""python -m training.injection --data DIR --out DIR: trains, calibrates, exports and evaluates the model."""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter

import numpy as np
import torch
from scipy.special import logit

from .. import datasets, encoder, export, metrics, trainer
from ..arguments import add_training_arguments, part, settings_of
from ..runtime import ExportedModel
from ..start_weights import load_initial_layers, load_start_weights, mix_start_weights
from . import (
    FALSE_POSITIVES,
    FLOOR,
    HEADS,
    INJECTION,
    LANGUAGES,
    MAX_LENGTH,
    NAME,
    READ_LENGTH,
    SAFE,
    THRESHOLD,
    VERSION,
    WINDOW_LENGTH,
)
from .evaluate import QUESTIONS, evaluate
from .hard_negatives import find_hard_rows
from .model import Detector, train
from .rows import add_data_arguments, rows_for
from .sets import ORDINARY, UNKNOWN, Text
from .windows import logits_of_worst_windows, windows_of


def calibrate(model: Detector, head: str, logits: np.ndarray, labels: np.ndarray, ordinary: np.ndarray) -> dict:
    """Folds a scale and a bias into a head, so that softmax(logits) is the final score.

    Two points of the calibration split determine the line: the margin that a share FALSE_POSITIVES of `ordinary` texts exceeds becomes
    THRESHOLD, and their median margin becomes FLOOR or less. Near the threshold the score is therefore calibrated for decisions; it is not
    the frequency of attacks. A text that the model considers safe is never flagged. Rows with an unknown label are ignored.
    """
    margin = logits[:, INJECTION] - logits[:, SAFE]
    known = labels != UNKNOWN
    temperature_scale, _ = metrics.fit_line(margin[known], labels[known])
    edge = max(metrics.threshold_at(margin[ordinary], FALSE_POSITIVES), 0.0)
    median = float(np.median(margin[ordinary]))
    scale = max(temperature_scale, (logit(THRESHOLD) - logit(FLOOR)) / (edge - median))
    bias = logit(THRESHOLD) - scale * edge
    indices = model.head_slices()[head]
    with torch.no_grad():
        model.head.weight[indices].mul_(scale)
        model.head.bias[indices].mul_(scale)
        model.head.bias[indices][INJECTION] += bias / 2
        model.head.bias[indices][SAFE] -= bias / 2
    return {
        "scale": scale,
        "bias": bias,
        "temperature_scale": temperature_scale,
        "edge": edge,
        "median": median,
        "ordinary": int(ordinary.sum()),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.injection", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument(
        "--hard-negatives",
        action="store_true",
        help="also train on harmless texts beyond the limits of the sets that the weights of --start flag",
    )
    parser.add_argument(
        "--share", type=part, default=1, help="share of the training rows to use, to continue with --start on new texts; default: all"
    )
    parser.add_argument("--whole", default="", help="names of sets of which all rows are used, whatever --share is")
    add_training_arguments(parser, epochs=2)
    return parser.parse_args()


def lessons_of(rows: list[Text], args: argparse.Namespace) -> list[Text]:
    """The training rows: all rows of the sets of `--whole`, and a random share of the others."""
    rng = random.Random(f"{args.seed} share")
    whole = set(filter(None, args.whole.split(",")))
    lessons = datasets.rows_of_split(rows, "train")
    if missing := whole - {row.set for row in lessons}:
        raise SystemExit(f"no training rows of {', '.join(sorted(missing))}")
    return [row for row in lessons if rng.random() < args.share or row.set in whole]


def main() -> None:
    args = arguments()
    work = args.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    settings = settings_of(args)
    trainer.fix_seeds(settings.seed, settings.threads)

    rows = rows_for(args)
    for split in datasets.SPLITS:
        print(split, Counter((row.label, row.indirect) for row in datasets.rows_of_split(rows, split)), flush=True)

    base = encoder.Base(args.base, args.layers)
    tokenizer = base.tokenizer()
    model = Detector(base.shape).load_base(base)
    if args.reuse:
        model.load(work / "weights.safetensors")
    else:
        load_initial_layers(model, args)
        if args.start:
            load_start_weights(model, args.start)
        lessons = lessons_of(rows, args)
        if args.hard_negatives:
            lessons += find_hard_rows(args, rows, model, tokenizer)
        train(model, windows_of(tokenizer, lessons, settings.seed), settings)
        model.save(work / "weights.safetensors")  # the weights before calibration
    mix_start_weights(model, args)

    # The int8 model is calibrated, because it runs in the product.
    held = datasets.rows_of_split(rows, "calibration")
    ranges = export.measure_ranges(model, tokenizer, [row.text for row in held], MAX_LENGTH)
    export.export(model, ranges, work / "model.fp32.onnx", args.out / "model.onnx", args.shared_layers_of, args.frozen)
    export.write_tokenizer(tokenizer, args.out / "tokenizer.json")
    session = ExportedModel(args.out / "model.onnx", args.out / "tokenizer.json", args.threads)
    texts = [row.text for row in held]
    direct, indirect = logits_of_worst_windows(session, texts, QUESTIONS)
    labels = np.array([row.label for row in held])
    of_data = np.array([row.indirect for row in held])
    ordinary = np.array([row.label == SAFE and row.set in ORDINARY for row in held])
    fitted = {
        "direct": calibrate(model, "direct", direct, labels, ordinary),
        "indirect": calibrate(model, "indirect", indirect, of_data, of_data == SAFE),
    }
    print("calibration", fitted, flush=True)
    export.export(model, ranges, work / "model.fp32.onnx", args.out / "model.onnx", args.shared_layers_of, args.frozen)
    guard = {
        "name": NAME,
        "version": VERSION,
        "activation": "softmax",
        "max_length": READ_LENGTH,
        "window_length": WINDOW_LENGTH,
        "ordinary_case": True,
        "license": "Apache-2.0",
        "training_data": args.licences.split(","),
        "languages": list(LANGUAGES),
        "threshold_hint": THRESHOLD,
    }
    export.write_config(model, HEADS, guard, args.out / "config.json")
    (work / "calibration.json").write_text(json.dumps(fitted, indent=2) + "\n")
    evaluate(rows, args.out, work / "model.fp32.onnx", work / "report.json", args.threads)


if __name__ == "__main__":
    main()
