"""python -m training.malicious_urls --data DIR --out DIR: trains, calibrates, quantizes and evaluates the model.

`--split url` splits by URL, not by registered domain (default: `domain`, so that held-out URLs are on unseen sites). `--leave-out SET` trains
without a set and evaluates all of its rows.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
from scipy import sparse

from .. import metrics
from ..datasets import CALIBRATION_PERCENT, DEV_PERCENT, SPLITS, Row, digest
from ..linear.fit import fit
from ..linear.model import Quantized, Settings, Weights
from ..linear.task import Task, run
from . import ordinary_pages, well_known_sites
from .domains import normalised, registered
from .sets import HOSTS, LABELS, SETS

FEATURES = {
    "bits": 20,
    "groups": [
        {"kind": "url-shape"},
        {"kind": "url-words"},
        {"kind": "url-chars", "part": "host", "min": 2, "max": 5},
        {"kind": "url-chars", "part": "path", "min": 2, "max": 4},
        {"kind": "url-chars", "part": "query", "min": 2, "max": 4},
        {"kind": "url-pairs"},
    ],
}
THRESHOLD = 0.5
# The number of URLs of a domain that count fully.
FEW = 6
# On how many ordinary sites the path of a URL is repeated.
MOVED_ORDINARY, MOVED_MALICIOUS = 2, 1
# The number of composed pages of an ordinary site.
PAGES = 2
# The maximum share of harmless calibration rows above the threshold.
MAX_FALSE_ALARMS = 0.01


def split_by(by: str, left_out: str):
    """Splits the URLs by the hash of their normalised form or of their registered domain."""

    def augment(rows: list[Row], seed: int) -> list[Row]:
        # Our own URLs are not split, and their sites may be those of other URLs.
        own = [row for row in rows if row.split == "dev"]
        rows = [row for row in rows if row.split != "dev"]
        seen: dict[str, Row] = {}
        for row in rows:
            seen.setdefault(normalised(row.text), row)
        found = []
        for url, row in seen.items():
            percent = digest(registered(row.text) if by == "domain" else url, by) % 100
            split = (
                "dev" if percent < DEV_PERCENT
                else "calibration" if percent < DEV_PERCENT + CALIBRATION_PERCENT
                else "train"
            )  # fmt: skip
            if left_out:
                split = "dev" if row.set == left_out else "train" if split == "dev" else split
            found.append(replace(row, split=split))
        sizes = Counter(registered(row.text) for row in found)
        found = [replace(row, weight=row.weight * share(sizes[registered(row.text)])) for row in found]
        by_split = {name: [row for row in found if row.split == name] for name in SPLITS}
        held = {registered(row.text) for row in by_split["dev"] + by_split["calibration"]}
        malicious = {registered(row.text) for row in found if row.label != 0}
        hosts = {
            name: sorted({registered(row.text) for row in rows if row.set in HOSTS} - malicious)
            for name, rows in by_split.items()
        }
        composed = [row for row in well_known_sites.rows(seed) if registered(row.text) not in held]
        composed += ordinary_pages.rows(hosts["train"], seed, PAGES)
        # The calibration needs pages with paths too. The held-out rows are real URLs only.
        composed += ordinary_pages.rows(hosts["calibration"], seed + 1, 1, "calibration")
        for is_malicious, repeats in ((False, MOVED_ORDINARY), (True, MOVED_MALICIOUS)):
            chosen = [row for row in by_split["train"] if (row.label != 0) == is_malicious]
            composed += ordinary_pages.moved(chosen, hosts["train"], seed, repeats)
        return found + composed + well_known_sites.imitations(seed) + own

    return augment


def share(size: int) -> float:
    """The weight of each URL of a domain with `size` URLs. Hundreds of URLs of one site are hardly more informative than six."""
    return min(1.0, (FEW / size) ** 0.5)


def fit_against_benign(*arguments) -> Weights:
    """Subtracts the weights of "benign" from those of all labels: equal scores with a weight less for each bucket."""
    fitted = fit(*arguments)
    return Weights(fitted.weights - fitted.weights[:, :1], fitted.biases - fitted.biases[0])


def decide(model: Quantized, features: sparse.csr_matrix, rows: list[Row]) -> dict:
    """Fits scale and bias with the least log loss for benign against the rest, and raises the bias if there are too many false alarms.

    The temperature is fitted to all labels.
    """
    logits = model.logits(features)
    margin = np.logaddexp.reduce(logits[:, 1:], axis=1) - logits[:, 0]
    is_bad = np.array([row.label != 0 for row in rows])
    scale, bias = metrics.fit_line(margin, is_bad.astype(float))
    model.scales, model.biases = model.scales * scale, model.biases * scale
    bias = min(bias, -scale * float(np.quantile(margin[~is_bad], 1 - MAX_FALSE_ALARMS)))
    model.biases[0] -= bias
    return {"scale": scale, "bias": bias}


def figures(rows: list[Row], probabilities: np.ndarray) -> dict:
    """Figures of benign against the rest at the threshold."""
    bad, score = np.array([row.label != 0 for row in rows]), 1 - probabilities[:, 0]
    sets = np.array([row.set for row in rows])
    found = {}
    for name in [*sorted(set(sets)), "all"]:
        chosen = sets != "" if name == "all" else sets == name
        flagged = score > THRESHOLD
        found[name] = {
            "rows": int(chosen.sum()),
            "accuracy": round(float((flagged == bad)[chosen].mean()), 4),
            "recall": round(float(flagged[chosen & bad].mean()), 4) if (chosen & bad).any() else None,
            "false alarms": round(float(flagged[chosen & ~bad].mean()), 4) if (chosen & ~bad).any() else None,
        }
    return found


def task(split: str = "domain", left_out: str = "") -> Task:
    return Task(
        "malicious-urls",
        "0.3.0",
        LABELS,
        FEATURES,
        SETS,
        augment=split_by(split, left_out),
        settings=Settings(epochs=4, rate=0.4, weights=1_000_000, dropout=0.3, smoothing=0.005, seen=1),
        threshold=THRESHOLD,
        fit=fit_against_benign,
        figures=figures,
        adjust=decide,
    )


TASK = task()


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--split", choices=("url", "domain"), default="domain")
    parser.add_argument("--leave-out", default="")
    own, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    run(task(own.split, own.leave_out))


if __name__ == "__main__":
    main()
