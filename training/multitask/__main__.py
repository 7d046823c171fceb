"""python -m training.multitask --data DIR --base DIR --out DIR: trains, exports and evaluates the model."""

from __future__ import annotations

import argparse
import json
from collections import Counter

import torch

from .. import datasets, encoder, export, trainer
from ..arguments import add_training_arguments, settings_of
from ..runtime import ExportedModel
from ..start_weights import load_layers, load_start_weights
from . import HEADS, LANGUAGES, MAX_LENGTH, NAME, UNIT_HEADS, VERSION
from .evaluate import fit_comparison, best_logit_thresholds, evaluate
from .model import Losses, MultiTask
from .rows import add_data_arguments, examples_for
from .sets import TASKS

RATE, FROZEN = 8e-5, 4
# Tasks whose texts initialize the head "meaning", and the number of texts.
SAMPLE_OF_MEANING, MEANT = 3000, ("topics", "relevance", "nli", "refusal")
ACTIVATIONS = {"nli": "softmax", "meaning": "none"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.multitask", description=__doc__)
    add_data_arguments(parser)
    add_training_arguments(parser, epochs=1, rate=RATE, frozen=FROZEN)
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        type=share,
        metavar="TASK=PART",
        help="the share of a task's batches in an epoch, such as emotion=0.1, for tasks that are trained already; may be repeated",
    )
    return parser.parse_args()


def share(text: str) -> tuple[str, float]:
    task, _, part = text.partition("=")
    if task not in TASKS or not 0 < float(part) <= 1:
        raise argparse.ArgumentTypeError(
            f"{text}: expected one of {', '.join(TASKS)}, = and a number above 0 and up to 1"
        )
    return task, float(part)


def main() -> None:
    args = arguments()
    work = args.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    settings = settings_of(args)
    trainer.fix_seeds(settings.seed, settings.threads)
    examples = examples_for(args)
    for (task, split), count in sorted(Counter((e.task, e.split) for e in examples).items()):
        print(task, split, count, flush=True)

    base = encoder.Base(args.base, args.layers)
    tokenizer = base.tokenizer()
    model = MultiTask(base.shape).load_base(base)
    if args.reuse:
        model.load(work / "weights.safetensors")
    else:
        learnt = [e for e in examples if e.split == "train"]
        if args.start:
            load_start_weights(model, args.start)
        elif args.layers_of:
            load_layers(model, args.layers_of, with_heads=True)
        else:
            some = [text for e in learnt if e.task in MEANT for text in (e.text, e.pair) if text]
            model.initialize_meaning_head(tokenizer, some[:: max(1, len(some) // SAMPLE_OF_MEANING)])
        losses = Losses(model, tokenizer, learnt)
        trainer.optimise(model, losses.lengths(), losses.plan(settings, dict(args.share)), losses, settings)
        model.save(work / "weights.safetensors")

    held = [text for e in examples if e.split == "calibration" for text in (e.text, e.pair) if text]
    ranges = export.ranges_of_training(model, tokenizer, held, MAX_LENGTH, args)
    export.write_tokenizer(tokenizer, args.out / "tokenizer.json")

    def exported() -> ExportedModel:
        export.export(model, ranges, work / "model.fp32.onnx", args.out / "model.onnx")
        return ExportedModel(args.out / "model.onnx", args.out / "tokenizer.json", args.threads)

    # Shifts the scores of emotions and refusals so that 0.5 is their best threshold.
    plain = exported()
    with torch.no_grad():
        for task in ("emotion", "refusal"):
            edges = best_logit_thresholds(task, examples, plain)
            model.head.bias[model.head_slices()[task]] -= torch.from_numpy(edges).float()
    int8 = exported()
    comparing = fit_comparison(examples, int8)
    guard = {
        "name": NAME,
        "version": VERSION,
        "max_length": MAX_LENGTH,
        "ordinary_case": True,
        "license": "Apache-2.0",
        "training_data": args.licences.split(","),
        "comparing": comparing,
    }
    activations = {name: ACTIVATIONS.get(name, "sigmoid") for name in HEADS}
    labels = {name: [] if name in UNIT_HEADS else labels for name, labels in HEADS.items()}
    export.write_config(model, labels, guard, args.out / "config.json", activations, LANGUAGES)

    clinc = datasets.data_folder(args.data) / "topics" / "clinc_train.jsonl.gz"
    fp32 = ExportedModel(work / "model.fp32.onnx", args.out / "tokenizer.json", args.threads)
    report = evaluate([e for e in examples if e.split != "train"], int8, fp32, comparing, clinc)
    (work / "report.json").write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
