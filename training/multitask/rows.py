"""The examples of one run."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

from .. import datasets, trainer
from .composed import compose
from .sets import TASKS, Example, sets


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--licences", default="open", help="licence classes to use")
    parser.add_argument("--tasks", default="", help="tasks to train and evaluate; default: all")
    parser.add_argument("--seed", type=int, default=trainer.Settings.seed)
    parser.add_argument("--threads", type=int, default=trainer.Settings.threads)


def examples_for(args: argparse.Namespace) -> list[Example]:
    """The examples of all splits. Only the first of duplicate texts or pairs of a task is kept. The first text determines the split."""
    licences, tasks = args.licences.split(","), set(filter(None, args.tasks.split(",")))
    if unknown := (set(licences) - set(datasets.LICENCES)) | (tasks - set(TASKS)):
        raise SystemExit(f"unknown licence class or task: {', '.join(sorted(unknown))}")
    folder, seen, found = datasets.data_folder(args.data), set(), []
    for spec in sets():
        if spec.licence not in licences:
            continue
        raws = datasets.read_jsonl((datasets.OWN_DATA if spec.own else folder) / spec.file)
        examples = [example for raw in raws if (example := spec.read(raw))]
        counts: Counter[str] = Counter()
        for example in sorted(examples, key=lambda e: datasets.digest(e.text + e.pair, str(args.seed))):
            key = (example.task, datasets.identity(example.text), datasets.normalise(example.pair))
            if tasks and example.task not in tasks or key in seen or not example.text.strip():
                continue
            seen.add(key)
            split = spec.split or datasets.split_of(example.text)
            group, most = split, spec.cap if split == "train" else None
            if spec.max_per_language is not None:
                group, most = f"{split} {example.lang}", spec.max_per_language
                if split != "train":
                    group, most = f"{group} {example.target[:1]}", datasets.MAX_HELD_OUT_PER_LANGUAGE
            counts[group] += 1
            if most is not None and counts[group] > most:
                continue
            found += [replace(example, set=spec.name, split=split)] * (spec.repeat if split == "train" else 1)
    found += compose(found, args.seed)
    for task in tasks or TASKS:
        learnt = {e.target[0] for e in found if e.task == task and e.split == "train" and e.target}
        if len(learnt) < 2 and task != "topics":
            raise SystemExit(
                f"no rows of both labels for {task}: add classes with --licences, or choose tasks with --tasks"
            )
    return found
