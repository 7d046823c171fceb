"""Reads, selects and splits the training rows of all tasks.

A set is one `*.jsonl` or `*.jsonl.gz` file, or a filtered part of one. Command-line options select sets by name and licence class.
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

# Shares of the texts in percent, by hash. The dev split is for evaluation, the calibration split for fitting temperature and bias.
DEV_PERCENT = 10
CALIBRATION_PERCENT = 5
# The maximum number of rows of one set and label in a held-out split.
MAX_HELD_OUT = 400
MAX_HELD_OUT_PER_LANGUAGE = 30

# The target of rows without a category. The cross entropy of torch ignores it by default.
NO_CATEGORY = -100

OWN_DATA = Path(__file__).parent / "data"
# Files of our own texts that are only for evaluation: no model learns from them.
# The names of newer ones begin with the prefix.
HELD_OUT_FILES = ("exam", "second_exam", "orders", "instructions", "heldout")
HELD_OUT_PREFIX = "dev_"
# The folder of our own texts that is only for evaluation: no task trains on it.
HELD_OUT_FOLDER = "ordinary"


@dataclass(frozen=True)
class Row:
    text: str
    label: int
    set: str
    weight: float = 1.0
    lang: str = ""
    kind: str = ""
    split: str = ""
    # The label of a second head. Only some rows have one.
    category: int = NO_CATEGORY


@dataclass(frozen=True)
class Spec:
    """One set: the location and the use of its rows.

    `pick` maps a raw object to (label, weight), or to None to skip the row. `caps` limits the training rows of each label, because
    variety helps more than quantity; a label with a cap of 0 is only evaluated. `file` is relative to the data folder, or to
    `training/data` if `own` is set.
    """

    name: str
    file: str
    licence: str
    pick: Callable[[dict], tuple[int, float] | None]
    caps: dict[int, int] | None = None
    own: bool = False
    # Puts the whole set into one split. Our own texts are held out by file, because texts of one file are similar.
    split: str = ""
    # How often the training rows appear in an epoch: more than once for small sets of high quality.
    repeat: int = 1
    # Maps a raw object to its category, for tasks with a head for categories.
    category: Callable[[dict], int] = lambda raw: NO_CATEGORY
    # The maximum number of training rows of one language, for multilingual sets. Their other splits keep MAX_HELD_OUT_PER_LANGUAGE.
    max_per_language: int | None = None
    # Completes a row with the fields of one task. A task with its own row type returns such a row.
    complete: Callable[[Row, dict], Row] = lambda row, raw: row


def normalise(text: str) -> str:
    """The letters and digits of a text, in NFKC and lower case. Rows with equal results count as duplicates."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def identity(text: str) -> str:
    """A key for duplicates: the normalised text, or the text itself if it has no letters or digits."""
    return normalise(text) or text


def digest(text: str, salt: str = "") -> int:
    return int.from_bytes(hashlib.sha256((salt + normalise(text)).encode()).digest()[:8], "big")


def split_of(text: str) -> str:
    """The split of a text. It depends only on the normalised text, not on the order of the rows."""
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


def is_held_out(path: Path) -> bool:
    """Whether a file of our own texts is only for evaluation."""
    is_named = path.stem in HELD_OUT_FILES or path.stem.startswith(HELD_OUT_PREFIX)
    return is_named or path.parent.name == HELD_OUT_FOLDER


def held_out_files(folder: str) -> list[str]:
    """The names of our own texts of a task that are only for evaluation, without the ending."""
    return sorted(path.stem for path in (OWN_DATA / folder).glob("*.jsonl") if is_held_out(path))


def own_training_files() -> list[Path]:
    """The files of our own texts that are for training."""
    files = sorted(OWN_DATA.glob("*/*.jsonl"))
    return [path for path in files if not is_held_out(path)]


def choose(specs: Iterable[Spec], licences: Iterable[str], sets: Iterable[str] | None) -> list[Spec]:
    licences, names = set(licences), set(sets or ())
    unknown = licences - set(LICENCES) | names - {spec.name for spec in specs}
    if unknown:
        raise SystemExit(f"unknown licence class or set: {', '.join(sorted(unknown))}")
    return [s for s in specs if s.licence in licences and (not names or s.name in names)]


def text_of(raw: dict) -> str:
    """The text of a raw object: the first turn of a conversation, the first sentence of a pair, or tokens joined by spaces."""
    if "turns" in raw:
        return raw["turns"][0]["content"]
    if "tokens" in raw:
        return " ".join(raw["tokens"])
    return raw["text"] if "text" in raw else raw["a"]


def load(specs: Iterable[Spec], folder: Path, seed: int) -> list[Row]:
    """Loads all rows of the selected sets with their splits. Only the first of duplicate rows is kept."""
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
            row = Row(
                text,
                label,
                spec.name,
                weight,
                raw.get("lang") or "",
                raw.get("kind") or "",
                spec.split or split_of(text),
                spec.category(raw),
            )
            found.append(spec.complete(row, raw))
        # Our own texts are evaluated without a limit.
        for row in cap(found, spec, None if spec.own else MAX_HELD_OUT, seed):
            rows += [row] * (spec.repeat if row.split == "train" else 1)
    return rows


def cap(rows: list[Row], spec: Spec, held: int | None, seed: int) -> list[Row]:
    """Limits the training rows of each label, or of each language, as the set specifies, and the rows of each label in the other splits
    to `held`."""
    kept: Counter[tuple[int | str, str]] = Counter()
    result = []
    for row in sorted(rows, key=lambda r: digest(r.text, str(seed))):
        if spec.max_per_language is None:
            group, limit = (
                row.label,
                (spec.caps or {}).get(row.label) if row.split == "train" else held,
            )
        else:
            group, limit = (
                row.lang,
                spec.max_per_language if row.split == "train" else MAX_HELD_OUT_PER_LANGUAGE,
            )
        kept[group, row.split] += 1
        if limit is None or kept[group, row.split] <= limit:
            result.append(row)
    return result


def rows_of_split(rows: Iterable[Row], split: str) -> list[Row]:
    return [row for row in rows if row.split == split]
