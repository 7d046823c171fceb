"""The data sets of the malicious-URL model and the use of their rows."""

from __future__ import annotations

from ..datasets import Spec
from .domains import is_url

OPEN, UNCLEAR = "open", "unclear"
LABELS = ("benign", "phishing", "malware", "defacement")
# Rows with the label "malicious" come from trackers of malware.
LABEL_INDICES = {**{label: index for index, label in enumerate(LABELS)}, "malicious": LABELS.index("malware")}


def named(weight: float = 1.0):
    return lambda raw: (
        (LABEL_INDICES[raw["label"]], weight) if len(raw["text"]) < 2000 and is_url(raw["text"]) else None
    )


# All rows are read as training rows; `split_by` decides which are held out.
SETS = [
    Spec("malicious_phish", "urls/malicious_phish_part.jsonl.gz", UNCLEAR, named(), split="train"),
    Spec("phishing_pdd", "urls/phishing_pdd.jsonl.gz", UNCLEAR, named(), split="train"),
    Spec("malicious_f24", "urls/malicious_f24.jsonl.gz", UNCLEAR, named(), split="train"),
    # Real links from the documentation of packages.
    Spec("documentation", "urls/documentation.jsonl.gz", OPEN, named(), split="train"),
    # Sites without a path. Nearly all such URLs in the other sets are malicious.
    Spec("sites", "urls/sites.jsonl.gz", OPEN, named(), split="train"),
]
