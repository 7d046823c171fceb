"""Reading, choosing and splitting the training rows; the same for every task.

A set is one `*.jsonl` or `*.jsonl.gz` file (or the part of one that a filter picks). Which sets are used is
decided by name and by licence class, never by editing code.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LICENCES = ("open", "unclear", "non-commercial", "copyleft")
SPLITS = ("train", "calibration", "dev")

# Percent of the hash space: the dev part measures, the calibration part fits temperature and bias.
DEV_PERCENT = 10
CALIBRATION_PERCENT = 5
# Rows of one set and label that a held-out split keeps.
HELD = 400

# As torch's cross entropy leaves rows out.
NO_CATEGORY = -100

OWN_DATA = Path(__file__).parent / "data"
# Batches of our own that only measure: nothing is learnt from them.
HELD_BATCHES = ("exam", "second_exam", "orders", "instructions", "heldout")
# A folder of our own that only measures: no task is trained on it.
HELD_FOLDER = "ordinary"


@dataclass(frozen=True)
class Row:
    text: str
    label: int
    set: str
    weight: float = 1.0
    lang: str = ""
    kind: str = ""
    split: str = ""
    # Of a second head that only some rows have a label for.
    category: int = NO_CATEGORY


@dataclass(frozen=True)
class Spec:
    """One set: where its rows are and how they are used.

    `pick` turns a raw object into (label, weight), or None to leave the row out. `caps` bounds the number of
    training rows of a label (variety beats number); a cap of 0 keeps the label for evaluation only. `file` is
    relative to the data folder, or to `training/data` when `own` is set.
    """

    name: str
    file: str
    licence: str
    pick: Callable[[dict], tuple[int, float] | None]
    caps: dict[int, int] | None = None
    own: bool = False
    # A whole set can be put in one part: text of ours is held out by writing batch, not by hash.
    split: str = ""
    # Training rows appear so many times an epoch: small sets of high quality.
    repeat: int = 1
    # The category of a raw object, where a task has such a head.
    category: Callable[[dict], int] = lambda raw: NO_CATEGORY


def normalise(text: str) -> str:
    """NFKC, lower case, letters and digits only: what makes two rows "the same text"."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def identity(text: str) -> str:
    """The same for texts that normalising makes the same; of one without letters and digits, the text."""
    return normalise(text) or text


def digest(text: str, salt: str = "") -> int:
    return int.from_bytes(hashlib.sha256((salt + normalise(text)).encode()).digest()[:8], "big")


def split_of(text: str) -> str:
    """The part a text belongs to depends on its normalised form only, never on row order."""
    percent = digest(text) % 100
    if percent < DEV_PERCENT:
        return "dev"
    if percent < DEV_PERCENT + CALIBRATION_PERCENT:
        return "calibration"
    return "train"


def read_jsonl(path: Path) -> Iterator[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def data_folder(argument: str | None) -> Path:
    value = argument or os.environ.get("GUARD_TRAINING_DATA")
    if not value:
        raise SystemExit("give --data DIR or set GUARD_TRAINING_DATA (see training/README.md)")
    return Path(value)


def own_batches() -> list[Path]:
    """The files of our own texts that may be learnt from."""
    files = sorted(OWN_DATA.glob("*/*.jsonl"))
    return [path for path in files if path.stem not in HELD_BATCHES and path.parent.name != HELD_FOLDER]


def choose(specs: Iterable[Spec], licences: Iterable[str], sets: Iterable[str] | None) -> list[Spec]:
    licences, names = set(licences), set(sets or ())
    unknown = licences - set(LICENCES) | names - {spec.name for spec in specs}
    if unknown:
        raise SystemExit(f"unknown licence class or set: {', '.join(sorted(unknown))}")
    return [s for s in specs if s.licence in licences and (not names or s.name in names)]


def text_of(raw: dict) -> str:
    """A conversation counts as its first user turn; a sentence pair as its first sentence; tokens with spaces between them."""
    if "turns" in raw:
        return raw["turns"][0]["content"]
    if "tokens" in raw:
        return " ".join(raw["tokens"])
    return raw["text"] if "text" in raw else raw["a"]


def load(specs: Iterable[Spec], folder: Path, seed: int) -> list[Row]:
    """All rows of the chosen sets, each with its split; duplicates (normalised) keep their first set."""
    rows: list[Row] = []
    seen: set[str] = set()
    for spec in specs:
        path = (OWN_DATA if spec.own else folder) / spec.file
        if not path.exists():
            raise SystemExit(f"set {spec.name}: no file {spec.file}")
        found = []
        for raw in read_jsonl(path):
            picked = spec.pick(raw)
            text = text_of(raw).strip()
            key = identity(text)
            if picked is None or not text or key in seen:
                continue
            seen.add(key)
            label, weight = picked
            found.append(
                Row(
                    text,
                    label,
                    spec.name,
                    weight,
                    raw.get("lang", ""),
                    raw.get("kind") or "",
                    spec.split or split_of(text),
                    spec.category(raw),
                )
            )
        # What is written to be measured is measured in full.
        for row in cap(found, spec.caps, None if spec.own else HELD, seed):
            rows += [row] * (spec.repeat if row.split == "train" else 1)
    return rows


def cap(rows: list[Row], caps: dict[int, int] | None, held: int | None, seed: int) -> list[Row]:
    """At most caps[label] training rows of a label, and at most `held` rows of a label in each other split."""
    kept: Counter[tuple[int, str]] = Counter()
    result = []
    for row in sorted(rows, key=lambda r: digest(r.text, str(seed))):
        limit = (caps or {}).get(row.label) if row.split == "train" else held
        kept[row.label, row.split] += 1
        if limit is None or kept[row.label, row.split] <= limit:
            result.append(row)
    return result


def part(rows: Iterable[Row], split: str) -> list[Row]:
    return [row for row in rows if row.split == split]
