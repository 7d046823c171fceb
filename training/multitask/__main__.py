"""python -m training.multitask --name NAME --data DIR --base DIR --out DIR: trains, exports and evaluates a model."""

from __future__ import annotations

import argparse
import json
from collections import Counter

import torch

from .. import datasets, encoder, export, trainer
from ..arguments import add_training_arguments, part, settings_of
from ..runtime import ExportedModel
from ..start_weights import load_initial_layers, load_start_weights, mix_start_weights
from . import HEADS, LANGUAGES, MAX_LENGTH, MODELS, TOXICITY, UNIT_HEADS, VERSIONS, WINDOW_LENGTHS
from .evaluate import READ_ALWAYS, best_logit_thresholds, evaluate, fit_comparison, ordinary_logits
from .hard_negatives import choose_hard
from .later_windows import later_windows
from .model import Losses, MultiTask
from .rows import add_data_arguments, examples_for
from .sets import TASKS

RATE, FROZEN = 8e-5, 4
# Few rows say whether a text is obscene, so the model is less sure of it than of other labels. One in 1,400 ordinary texts is above this logit.
OBSCENE_LOGIT = -1.0
# Tasks whose texts initialize the head "meaning", and the number of texts.
SAMPLE_OF_MEANING, MEANT = 3000, ("topics", "relevance", "nli", "refusal")
ACTIVATIONS = {"nli": "softmax", "meaning": "none"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.multitask", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--name", choices=MODELS, default="moderation", help="the model to train; default: moderation")
    add_training_arguments(parser, epochs=1, rate=RATE, frozen=FROZEN)
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        type=share,
        metavar="TASK=PART",
        help="the share of a task's batches in an epoch, such as emotion=0.1, for tasks that are trained already; may be repeated",
    )
    parser.add_argument(
        "--hard-negatives",
        type=part,
        metavar="PART",
        help="use the harmless texts that the published model of --start flags, several times, and this part of the others",
    )
    args = parser.parse_args()
    if args.hard_negatives is not None and not (args.start and (args.start / "model.onnx").exists()):
        parser.error("--hard-negatives needs --start with the folder of a published model")
    args.tasks = args.tasks or ",".join(MODELS[args.name])
    return args


def share(text: str) -> tuple[str, float]:
    task, _, of_task = text.partition("=")
    if task not in TASKS:
        raise argparse.ArgumentTypeError(
            f"{text}: expected one of {', '.join(TASKS)}, = and a number above 0 and up to 1"
        )
    return task, part(of_task)


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
    examples += later_windows(examples, tokenizer, settings.seed)
    model = MultiTask(base.shape, args.tasks.split(",")).load_base(base)
    if args.reuse:
        model.load(work / "weights.safetensors")
    else:
        learnt = [e for e in examples if e.split == "train"]
        if args.hard_negatives is not None:
            learnt = choose_hard(learnt, args.start, args.hard_negatives, args.threads)
        if args.start:
            load_start_weights(model, args.start)
        else:
            load_initial_layers(model, args)
            if "meaning" in model.heads:
                some = [text for e in learnt if e.task in MEANT for text in (e.text, e.pair) if text]
                model.initialize_meaning_head(tokenizer, some[:: max(1, len(some) // SAMPLE_OF_MEANING)])
        losses = Losses(model, tokenizer, learnt)
        trainer.optimise(model, losses.lengths(), losses.plan(settings, dict(args.share)), losses, settings)
        model.save(work / "weights.safetensors")
    mix_start_weights(model, args)

    held = [text for e in examples if e.split == "calibration" for text in (e.text, e.pair) if text]
    ranges = export.measure_ranges(model, tokenizer, held, MAX_LENGTH)
    export.write_tokenizer(tokenizer, args.out / "tokenizer.json")

    def exported() -> ExportedModel:
        export.export(model, ranges, work / "model.fp32.onnx", args.out / "model.onnx", args.shared_layers_of, args.frozen)
        return ExportedModel(args.out / "model.onnx", args.out / "tokenizer.json", args.threads)

    # Shifts the scores of emotions and refusals so that 0.5 is their best threshold, and those of harm and toxicity so that few ordinary
    # texts are above 0.5.
    plain = exported()
    edges = {task: best_logit_thresholds(task, examples, plain) for task in ("emotion", "refusal") if task in model.heads}
    edges |= {task: ordinary_logits(task, examples, plain) for task in READ_ALWAYS if task in model.heads}
    if "toxicity" in edges:
        edges["toxicity"][TOXICITY.index("obscene")] = OBSCENE_LOGIT
    with torch.no_grad():
        for task, of_labels in edges.items():
            model.head.bias[model.head_slices()[task]] -= torch.from_numpy(of_labels).float()
            print(task, "logits of 0.5:", of_labels.round(2).tolist(), flush=True)
    int8 = exported()
    comparing = fit_comparison(examples, int8)
    guard = {
        "name": args.name,
        "version": VERSIONS[args.name],
        "max_length": MAX_LENGTH,
        **({"window_length": WINDOW_LENGTHS[args.name]} if args.name in WINDOW_LENGTHS else {}),
        "ordinary_case": True,
        "license": "Apache-2.0",
        "training_data": args.licences.split(","),
        **({"comparing": comparing} if comparing else {}),
    }
    activations = {name: ACTIVATIONS.get(name, "sigmoid") for name in model.heads}
    labels = {name: [] if name in UNIT_HEADS else HEADS[name] for name in model.heads}
    export.write_config(model, labels, guard, args.out / "config.json", activations, LANGUAGES)

    clinc = datasets.data_folder(args.data) / "topics" / "clinc_train.jsonl.gz"
    fp32 = ExportedModel(work / "model.fp32.onnx", args.out / "tokenizer.json", args.threads)
    report = evaluate([e for e in examples if e.split != "train"], int8, fp32, comparing, clinc)
    (work / "report.json").write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
