"""The data sets of the malicious-URL model and the use of their rows."""

from __future__ import annotations

from ..datasets import Spec
from .domains import is_url

OPEN = "open"
LABELS = ("benign", "phishing", "malware")
# Rows with the label "malicious" come from reports that do not name the kind.
LABEL_INDICES = {**{label: index for index, label in enumerate(LABELS)}, "malicious": LABELS.index("malware")}


def named(weight: float = 1.0):
    return lambda raw: (
        (LABEL_INDICES[raw["label"]], weight) if len(raw["text"]) < 2000 and is_url(raw["text"]) else None
    )


OWN = ("free_hosts", "hacked_sites", "lookalikes", "malware", "ordinary_world", "scams")

# All rows of other authors are read as training rows; `split_by` decides which are held out.
SETS = [
    # Reports of phishing and malware, and sites of authorities.
    Spec("feeds", "urls/feeds_open.jsonl.gz", OPEN, named(), split="train"),
    # Real links from the documentation and source code of packages and repositories.
    Spec("documentation", "urls/documentation.jsonl.gz", OPEN, named(), split="train"),
    Spec("repositories", "urls/links_of_documents.jsonl.gz", OPEN, named(), split="train"),
    Spec("homepages", "urls/homepages.jsonl.gz", OPEN, named(), split="train"),
    # Sites without a path. Most such URLs in the feeds are malicious.
    Spec("sites", "urls/sites.jsonl.gz", OPEN, named(), split="train"),
    Spec("preload", "urls/preload.jsonl.gz", OPEN, named(), split="train"),
    # URLs that six authors wrote: malicious ones of a kind, and ordinary ones of the same form. Only for evaluation.
    *(Spec(f"own_{name}", f"urls/dev_{name}.jsonl", OPEN, named(), split="dev", own=True) for name in OWN),
]
# The sets whose sites also get composed pages.
HOSTS = ("homepages", "sites", "preload")
