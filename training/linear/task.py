"""Trains a linear model, from rows to a model folder with figures. A `Task` has the differences between models."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from .. import datasets
from . import features, model
from .fit import fit


@dataclass(frozen=True)
class Task:
    name: str
    version: str
    labels: Sequence[str]
    # `features` of the config.json.
    features: dict
    sets: Sequence[datasets.Spec]
    # Adds rows made from those of the sets, such as windows, composed texts and noise. Each keeps its split.
    augment: Callable[[list[datasets.Row], int], list[datasets.Row]] = lambda rows, seed: rows
    # Whether a row is a whole text: common features of the pieces of one text do not generalize.
    original: Callable[[datasets.Row], bool] = lambda row: True
    settings: model.Settings = field(default_factory=model.Settings)
    # The function that finds the weights.
    fit: Callable[..., model.Weights] = fit
    # Aliases of the labels in lower case.
    aliases: dict[str, str] = field(default_factory=dict)
    # The threshold for which the scores are calibrated. The card states it.
    threshold: float = 0.5
    license: str = "Apache-2.0"
    # Computes additional figures of the held-out rows for the output and the report.
    figures: Callable[[list[datasets.Row], np.ndarray], dict] | None = None
    # Adjusts scales and biases after the temperature. Arguments: model, calibration features, calibration rows.
    adjust: Callable[[model.Quantized, sparse.csr_matrix, list[datasets.Row]], dict] | None = None


def arguments(task: Task) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m training.{task.name.replace('-', '_')}")
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--licences", default="open", help="licence classes to use")
    parser.add_argument("--sets", default="", help="names of sets to use; default: all sets of the licence classes")
    parser.add_argument("--seed", type=int, default=task.settings.seed)
    parser.add_argument("--epochs", type=int, default=task.settings.epochs)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path, help="train: folder for model.bin, config.json and report.json")
    where.add_argument("--evaluate", type=Path, help="evaluate the model in this folder without training")
    return parser.parse_args()


def rows_of(task: Task, folder: Path, licences: Sequence[str], sets: Sequence[str], seed: int) -> list[datasets.Row]:
    """The rows of all splits. Equal arguments give equal rows."""
    return task.augment(datasets.load(datasets.choose(task.sets, licences, sets), folder, seed), seed)


def run(task: Task) -> None:
    args = arguments(task)
    rows = rows_of(
        task,
        datasets.data_folder(args.data),
        args.licences.split(","),
        args.sets.split(",") if args.sets else [],
        args.seed,
    )
    for split in datasets.SPLITS:
        print(split, dict(Counter(task.labels[row.label] for row in datasets.rows_of_split(rows, split))), flush=True)
    folder = args.out or args.evaluate
    if args.out:
        folder.mkdir(parents=True, exist_ok=True)
        specs = datasets.choose(task.sets, args.licences.split(","), args.sets.split(",") if args.sets else [])
        classes = sorted({spec.licence for spec in specs}, key=datasets.LICENCES.index)
        train(task, rows, folder, replace(task.settings, seed=args.seed, epochs=args.epochs), classes)
    evaluate(task, rows, folder, args.out and folder / "report.json")


def train(
    task: Task, rows: list[datasets.Row], folder: Path, settings: model.Settings, licences: Sequence[str]
) -> None:
    training, held = datasets.rows_of_split(rows, "train"), datasets.rows_of_split(rows, "calibration")
    matrix = features.matrix((row.text for row in training), task.features)
    fitted = task.fit(
        matrix,
        np.array([row.label for row in training]),
        np.array([row.weight for row in training]),
        np.array([task.original(row) for row in training]),
        len(task.labels),
        settings,
    )
    quantized = model.quantize(fitted, settings)
    held_matrix = features.matrix((row.text for row in held), task.features)
    factor = model.calibrate(quantized, held_matrix, np.array([row.label for row in held]))
    print(f"temperature: logits multiplied by {factor:.3f}", flush=True)
    if task.adjust:
        print("adjusted:", task.adjust(quantized, held_matrix, held), flush=True)
    quantized.save(folder / "model.bin")
    guard = {
        "name": task.name,
        "version": task.version,
        "license": task.license,
        "training_data": list(licences),
        "threshold_hint": task.threshold,
    }
    model.write_config(folder / "config.json", task.labels, task.features, guard, task.aliases)


def evaluate(task: Task, rows: list[datasets.Row], folder: Path, report: Path | None) -> dict:
    """Figures of the saved model on held-out rows."""
    dev = datasets.rows_of_split(rows, "dev")
    config = model.read_config(folder / "config.json")
    quantized = model.Quantized.load(folder / "model.bin")
    probabilities = quantized.probabilities(features.matrix((row.text for row in dev), config["features"]))
    truth, best = np.array([row.label for row in dev]), probabilities.argmax(axis=1)
    found: dict = {
        "bytes": (folder / "model.bin").stat().st_size,
        "rows": len(dev),
        "accuracy": float((truth == best).mean()),
        "labels": {},
        "sets": {},
    }
    for index, label in enumerate(task.labels):
        hits = int(((truth == index) & (best == index)).sum())
        rows_of_label, named = int((truth == index).sum()), int((best == index).sum())
        mistakes = Counter(task.labels[i] for i in best[(truth == index) & (best != index)])
        found["labels"][label] = {
            "rows": rows_of_label,
            "recall": hits / rows_of_label if rows_of_label else None,
            "precision": hits / named if named else None,
            "mistaken for": dict(mistakes.most_common(3)),
        }
    for name in sorted({row.set for row in dev}):
        of_set = np.array([row.set == name for row in dev])
        found["sets"][name] = {"rows": int(of_set.sum()), "accuracy": float((truth == best)[of_set].mean())}
    print(table(found), flush=True)
    if task.figures:
        found["figures"] = task.figures(dev, probabilities)
        print(json.dumps(found["figures"], indent=2, ensure_ascii=False), flush=True)
    if report:
        worst = sorted(range(len(dev)), key=lambda i: probabilities[i, truth[i]])[:200]
        found["worst"] = [
            {
                "set": dev[i].set,
                "kind": dev[i].kind,
                "label": task.labels[truth[i]],
                "found": task.labels[best[i]],
                "score": round(float(probabilities[i, best[i]]), 3),
                "text": dev[i].text[:300],
            }
            for i in worst
            if best[i] != truth[i]
        ]
        report.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


def table(found: dict) -> str:
    """The figures as Markdown tables."""

    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.1f}"

    lines = ["| label | rows | recall | precision | mistaken for |", "|---|---|---|---|---|"]
    for label, entry in found["labels"].items():
        mistakes = ", ".join(f"{name} {count}" for name, count in entry["mistaken for"].items())
        cells = [label, str(entry["rows"]), percent(entry["recall"]), percent(entry["precision"]), mistakes]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| set | rows | accuracy |", "|---|---|---|"]
    for name, entry in found["sets"].items():
        lines.append(f"| {name} | {entry['rows']} | {percent(entry['accuracy'])} |")
    lines.append(f"| all | {found['rows']} | {percent(found['accuracy'])} |")
    return "\n".join(lines)
