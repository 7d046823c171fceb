"""python -m training.code --data DIR --out DIR: trains, calibrates, quantizes and evaluates the model."""

from __future__ import annotations

import numpy as np

from ..datasets import Row
from ..linear.model import Settings
from ..linear.task import Task, run
from .languages import ALIASES, LABELS, LLM_GUARD, NONE, LABEL_INDICES
from .sets import SAMPLES, SETS
from .windows import KIND_FILE, augment

FEATURES = {
    "bits": 21,
    "groups": [
        {"kind": "tokens", "min": 1, "max": 3},
        {"kind": "chars", "min": 1, "max": 4, "digits": True},
        {"kind": "lines"},
        {"kind": "skeleton"},
    ],
}
# The default threshold of the scanner BanCode.
CODE_THRESHOLD = 0.97


def figures(rows: list[Row], probabilities: np.ndarray) -> dict:
    """Accuracy by kind of window: over all labels, over the languages of llm-guard with prose, and for code against prose."""
    none = LABEL_INDICES[NONE]
    truth, best = np.array([row.label for row in rows]), probabilities.argmax(axis=1)
    kinds = np.array([row.kind for row in rows])
    narrow = np.isin(truth, [none, *(LABEL_INDICES[label] for label in LLM_GUARD)])
    right, code = truth == best, 1 - probabilities[:, none]

    def share(which: np.ndarray) -> float | None:
        return round(float(which.mean()), 4) if len(which) else None

    # The samples of linguist and of highlighters are reported separately, because the target refers to them. Files of packages are easier:
    # they have the same authors as the training rows.
    samples = np.isin([row.set for row in rows], SAMPLES)
    parts = [(kind, kinds == kind) for kind in sorted(set(kinds))]
    parts += [(f"{kind}, samples", samples & (kinds == kind)) for kind in sorted(set(kinds[samples]))]
    found = {}
    for name, chosen in [*parts, ("all", kinds != "")]:
        is_code, is_prose = chosen & (truth != none), chosen & (truth == none)
        found[name] = {
            "rows": int(chosen.sum()),
            "accuracy": share(right[chosen]),
            "accuracy of llm-guard's languages": share(right[chosen & narrow & (truth != none)]),
            "code found at 0.5": share(code[is_code] > 0.5),
            "code found at 0.97": share(code[is_code] > CODE_THRESHOLD),
            "prose taken for code at 0.5": share(code[is_prose] > 0.5),
            "prose taken for code at 0.97": share(code[is_prose] > CODE_THRESHOLD),
        }
    return found


TASK = Task(
    "code",
    "0.2.0",
    LABELS,
    FEATURES,
    SETS,
    augment,
    lambda row: row.kind == KIND_FILE or row.label == LABEL_INDICES[NONE],
    Settings(epochs=6, rate=0.2, smoothing=0.0, dropout=0.4, seen=4, buckets=70_000, weights=800_000),
    aliases=ALIASES,
    threshold=0.5,
    figures=figures,
)

if __name__ == "__main__":
    run(TASK)
