"""python -m training.gibberish --data DIR --out DIR: trains, calibrates, quantizes and evaluates the model."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.special import logit

from .. import datasets
from ..linear.model import Quantized, Settings
from ..linear.task import Task, run
from . import CLEAN, LABELS
from .synthetic import augment
from .sets import SETS

FEATURES = {
    "bits": 20,
    "groups": [
        {"kind": "chars", "min": 1, "max": 3, "lower": True, "digits": True},
        {"kind": "neighbours"},
    ],
}
THRESHOLD = 0.7
# The default thresholds for outputs and prompts, each with the maximum share of clean calibration rows above it. The score is therefore
# calibrated for decisions; it is not the frequency of gibberish.
FLAGGED = ((THRESHOLD, 0.02), (0.97, 0.01))
CODE_SETS = ("code", "more_code")


def pieces(rows: list[datasets.Row], seed: int) -> list[datasets.Row]:
    """Cuts code into pieces of a few lines and adds synthetic rows."""
    result = []
    for row in rows:
        if row.set in CODE_SETS:
            choice = random.Random(datasets.digest(row.text, str(seed)))
            lines = row.text.split("\n")
            for _ in range(3):
                start = choice.randrange(len(lines))
                piece = "\n".join(lines[start : start + choice.randint(1, 12)])[:2000]
                if len(piece.strip()) > 12:
                    result.append(replace(row, text=piece, kind="code"))
        else:
            result.append(row)
    return augment(result, seed)


def figures(rows: list[datasets.Row], probabilities: np.ndarray) -> dict:
    """Figures of all kinds of gibberish against clean text, by set and separately for texts of `synthetic.py`."""
    truth = np.array([row.label for row in rows])
    score = 1 - probabilities[:, CLEAN]
    groups = np.array([f"{row.set}, {row.kind}" if row.kind == "made" else row.set for row in rows])
    found = {}
    for name in [*sorted(set(groups)), ""]:
        chosen = groups == name if name else np.ones(len(rows), bool)
        bad, good = chosen & (truth != CLEAN), chosen & (truth == CLEAN)
        found[name or "all"] = {
            "gibberish": int(bad.sum()),
            "clean": int(good.sum()),
            **{
                f"at {threshold}": [round(float(part.mean()), 4) if len(part) else None for part in
                    (score[bad] > threshold, score[good] > threshold, (score > threshold)[chosen] == (truth != CLEAN)[chosen])]
                for threshold in (0.5, THRESHOLD, 0.97)
            },
        }  # fmt: skip
    return found


def margins(logits: np.ndarray) -> np.ndarray:
    """The log odds that a text is gibberish of any kind."""
    return np.logaddexp.reduce(np.delete(logits, CLEAN, axis=1), axis=1) - logits[:, CLEAN]


def set_thresholds(model: Quantized, features: sparse.csr_matrix, rows: list[datasets.Row]) -> dict:
    """Scales and shifts the logits so that at most the shares of clean rows in FLAGGED exceed the two thresholds."""
    clean = features[[row.label == CLEAN for row in rows]]
    (low, often), (high, seldom) = FLAGGED
    edges = np.quantile(margins(model.logits(clean)), (1 - often, 1 - seldom))
    scale = float((logit(high) - logit(low)) / (edges[1] - edges[0]))
    model.scales, model.biases = model.scales * scale, model.biases * scale
    shift = float(np.quantile(margins(model.logits(clean)), 1 - often) - logit(low))
    model.biases[CLEAN] += shift
    return {"scale": scale, "shift": shift}


TASK = Task(
    "gibberish",
    "0.2.0",
    LABELS,
    FEATURES,
    SETS,
    pieces,
    settings=Settings(epochs=3, rate=0.3, buckets=300_000, weights=760_000, seen=2, dropout=0.1),
    threshold=THRESHOLD,
    figures=figures,
    adjust=set_thresholds,
)

if __name__ == "__main__":
    run(TASK)
