"""Windows of files: what people paste is a few lines, seldom a file."""

from __future__ import annotations

import random
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from .. import datasets
from . import languages, prose
from .sets import FURTHER, SAMPLES, SOURCES

# Windows of a label in each split, shared evenly by its files.
WINDOWS = {"train": 420, "calibration": 40, "dev": 120}
# Most windows of one file.
PER_FILE = {"train": 60, "calibration": 10, "dev": 12}
# Files of one package are alike, those of samples are not: each of these has so many windows in training, and counts so often.
SAMPLE_WINDOWS, SAMPLE_REPEAT = 25, 3
# Characters of a file that are taken as a whole.
WHOLE = 6000
# Lengths of windows in lines; each is as frequent as the others.
LENGTHS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 40))
# A window must have so many letters and digits to be worth a label.
CONTENT = 8
# Letters and digits of a line that hardly two people write alike.
LONG_LINE = 25
KIND_FILE = "file"


def kind_of(lines: int) -> str:
    return "1 line" if lines == 1 else "2-5 lines" if lines <= 5 else "6-20 lines" if lines <= 20 else "21-40 lines"


def augment(rows: list[datasets.Row], seed: int) -> list[datasets.Row]:
    """Whole files and windows of code, and prose in the shapes in which it is met; each row keeps its file's split."""
    none = languages.LABEL_INDICES[languages.NONE]
    files: dict[tuple[int, str], list[datasets.Row]] = defaultdict(list)
    for row in without_copies(rows):
        if row.label != none:
            files[row.label, row.split].append(row)
    result = prose.shapes([row for row in rows if row.label == none], seed)
    for (label, split), group in sorted(files.items()):
        share = max(2, min(PER_FILE[split], -(-WINDOWS[split] // len(group))))
        for row in group:
            sample = split == "train" and row.set in SAMPLES
            whole = replace(row, text=row.text[:WHOLE], kind=KIND_FILE)
            result += [whole] * (SAMPLE_REPEAT if sample else 1)
            result += cut(
                row,
                max(share, SAMPLE_WINDOWS) if sample else share,
                random.Random(datasets.digest(row.text, str(seed))),
            )
    return balanced(result)


def long_lines(text: str) -> set[str]:
    return {line for line in map(datasets.normalise, text.split("\n")) if len(line) >= LONG_LINE}


def without_copies(rows: list[datasets.Row]) -> list[datasets.Row]:
    """Without files of packages that have a quarter of their long lines from one of the held-back parts: another version of a
    sample must not flatter the figures."""
    held = set().union(
        *(
            long_lines(row.text)
            for row in rows
            if row.split != "train" and row.label != languages.LABEL_INDICES[languages.NONE]
        )
    )

    def copied(row: datasets.Row) -> bool:
        lines = long_lines(row.text) if row.set in (SOURCES, FURTHER) else set()
        return len(lines & held) > 1 and 4 * len(lines & held) >= len(lines)

    return [row for row in rows if not copied(row)]


def cut(row: datasets.Row, count: int, choice: random.Random) -> Iterator[datasets.Row]:
    lines = row.text.split("\n")
    seen = set()
    for _ in range(count):
        shortest, longest = choice.choice(LENGTHS)
        length = choice.randint(shortest, longest)
        start = choice.randrange(max(1, len(lines) - length + 1))
        text = "\n".join(lines[start : start + length]).strip("\n")
        if choice.random() < 0.7:
            text = textwrap.dedent(text).strip()
        text = text[:WHOLE]
        if text in seen or sum(c.isalnum() for c in text) < CONTENT:
            continue
        seen.add(text)
        yield replace(row, text=text, kind=kind_of(text.count("\n") + 1))


def balanced(rows: list[datasets.Row]) -> list[datasets.Row]:
    """Labels with few rows count more, but not as much as the others: weight (median / own)^0.5, at most 3."""
    counts = Counter(row.label for row in rows if row.split == "train")
    median = sorted(counts.values())[len(counts) // 2]
    weights = {label: min(3.0, (median / count) ** 0.5) for label, count in counts.items()}
    return [replace(row, weight=row.weight * weights.get(row.label, 1.0)) for row in rows]
