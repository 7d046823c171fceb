"""Chooses harmless texts for a model that continues: all that it flags, several times, and a part of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scipy.special import expit

from .. import datasets
from ..runtime import ExportedModel
from .model import LONGEST
from .sets import Example

# A harmless text with a higher probability is hard, and its repetitions in an epoch.
HARD, REPEAT = 0.2, 4


def choose_hard(examples: Sequence[Example], published: Path, part: float, threads: int) -> list[Example]:
    """Of harmless examples, the hard ones REPEAT times and a part of the others. All other examples stay as they are."""
    model = ExportedModel(published / "model.onnx", published / "tokenizer.json", threads)
    harmless = [e for e in examples if e.kind == "ordinary"]
    texts = sorted({e.text for e in harmless})
    tasks = sorted({e.task for e in harmless})
    longest = max(LONGEST[task] for task in tasks)
    scores = {
        (task, text): float(expit(of_task.max()))
        for text, found in zip(texts, model.outputs(texts, longest, tasks), strict=True)
        for task, of_task in zip(tasks, found, strict=True)
    }
    chosen = {id(e) for e in harmless if datasets.digest(e.text, "part") % 1000 < part * 1000}
    hard = {id(e) for e in harmless if scores[e.task, e.text] > HARD}
    print(f"{len(hard)} of {len(harmless)} harmless texts are hard, and {len(chosen - hard)} others are used", flush=True)
    result = []
    for e in examples:
        result += [e] * (REPEAT if id(e) in hard else int(id(e) in chosen or e.kind != "ordinary"))
    return result
