"""Reads, chooses and splits the training rows, in the same way for every task.

A set is one `*.jsonl` or `*.jsonl.gz` file, or the part of one that a filter picks. Names of sets and classes of licences, given on
the command line, decide which sets are used, so that nobody has to edit code for that.
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

# Percent of the texts, by hash. The dev part is for measuring, the calibration part for fitting temperature and bias.
DEV_PERCENT = 10
CALIBRATION_PERCENT = 5
# The most rows of one set and label that a held-out split keeps.
HELD = 400
HELD_OF_A_LANGUAGE = 30

# The target that torch's cross entropy ignores by default, for rows without a category.
NO_CATEGORY = -100

OWN_DATA = Path(__file__).parent / "data"
# Files of our own texts that are only for measuring: nothing is learnt from them.
HELD_BATCHES = (
    "exam",
    "second_exam",
    "orders",
    "instructions",
    "heldout",
    "dev_trigger_words",
    "dev_sensitive",
    "dev_system_prompts",
    "dev_planted",
    "dev_agent_outputs",
    "dev_attacks",
    "dev_languages_attacks",
    "dev_languages_data",
    "dev_languages_harmless",
)
# The folder of our own texts that is only for measuring: no task is trained on it.
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
    # The label of a second head, which only some rows have.
    category: int = NO_CATEGORY


@dataclass(frozen=True)
class Spec:
    """One set: where its rows are, and how they are used.

    `pick` turns a raw object into (label, weight), or into None to leave the row out. `caps` bounds the number of
    training rows of each label, since variety helps more than number; with a cap of 0 the label is only evaluated. `file` is
    relative to the data folder, or to `training/data` where `own` is set.
    """

    name: str
    file: str
    licence: str
    pick: Callable[[dict], tuple[int, float] | None]
    caps: dict[int, int] | None = None
    own: bool = False
    # Puts the whole set into one split. Our own texts are held out by file, not by hash, since texts of one file resemble each other.
    split: str = ""
    # How often the training rows appear in an epoch. More than once is for small sets of high quality.
    repeat: int = 1
    # Gives the category of a raw object, for tasks that have a head for categories.
    category: Callable[[dict], int] = lambda raw: NO_CATEGORY
    # The most training rows of one language, for sets with many languages; their other splits keep HELD_OF_A_LANGUAGE.
    of_a_language: int | None = None
    # Adds what only one task knows of a row: a task with rows of its own returns these.
    complete: Callable[[Row, dict], Row] = lambda row, raw: row


def normalise(text: str) -> str:
    """The text in NFKC and lower case, letters and digits only. Two rows with the same result count as the same text."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def identity(text: str) -> str:
    """A key that is equal for equal texts: the normalised text, or the text itself where it has no letters or digits."""
    return normalise(text) or text


def digest(text: str, salt: str = "") -> int:
    return int.from_bytes(hashlib.sha256((salt + normalise(text)).encode()).digest()[:8], "big")


def split_of(text: str) -> str:
    """The split of a text. It depends on the normalised text only, never on the order of the rows."""
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


def is_held(path: Path) -> bool:
    """Whether a file of our own texts is only for measuring. Those of all tasks that were written for that alone begin with `dev_`."""
    return path.stem in HELD_BATCHES or path.stem.startswith("dev_") or path.parent.name == HELD_FOLDER


def own_batches() -> list[Path]:
    """The files of our own texts from which models may learn."""
    files = sorted(OWN_DATA.glob("*/*.jsonl"))
    return [path for path in files if not is_held(path)]


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
    """All rows of the chosen sets, each with its split. Of rows with the same normalised text only the first one is kept."""
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
        # Texts that we wrote for measuring are all measured, so no limit applies to them.
        for row in cap(found, spec, None if spec.own else HELD, seed):
            rows += [row] * (spec.repeat if row.split == "train" else 1)
    return rows


def cap(rows: list[Row], spec: Spec, held: int | None, seed: int) -> list[Row]:
    """At most so many training rows of each label, or of each language, as the set says; at most `held` rows of each label in the
    other splits."""
    kept: Counter[tuple[int | str, str]] = Counter()
    result = []
    for row in sorted(rows, key=lambda r: digest(r.text, str(seed))):
        if spec.of_a_language is None:
            group, limit = (
                row.label,
                (spec.caps or {}).get(row.label) if row.split == "train" else held,
            )
        else:
            group, limit = (
                row.lang,
                spec.of_a_language if row.split == "train" else HELD_OF_A_LANGUAGE,
            )
        kept[group, row.split] += 1
        if limit is None or kept[group, row.split] <= limit:
            result.append(row)
    return result


def part(rows: Iterable[Row], split: str) -> list[Row]:
    return [row for row in rows if row.split == split]
