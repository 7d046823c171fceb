"""The data sets of the model of malicious URLs, and how their rows are used."""

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


# All rows are read as training rows: `splitting` decides what is held out.
SETS = [
    Spec("malicious_phish", "urls/malicious_phish_part.jsonl.gz", UNCLEAR, named(), split="train"),
    Spec("phishing_pdd", "urls/phishing_pdd.jsonl.gz", UNCLEAR, named(), split="train"),
    Spec("malicious_f24", "urls/malicious_f24.jsonl.gz", UNCLEAR, named(), split="train"),
    # Links from the documentation of packages, as people really write them.
    Spec("documentation", "urls/documentation.jsonl.gz", OPEN, named(), split="train"),
    # Names of sites without a path, which the sets above have nearly only of malicious ones.
    Spec("sites", "urls/sites.jsonl.gz", OPEN, named(), split="train"),
]
