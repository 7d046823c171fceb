"""Cuts files into windows, because people mostly paste a few lines."""

from __future__ import annotations

import random
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from .. import datasets
from . import languages, prose
from .sets import FURTHER, OWN, SAMPLES, SOURCES

# The number of windows of each label by split, distributed evenly among the files of the label.
WINDOWS = {"train": 600, "calibration": 40, "dev": 120}
# The maximum number of windows of a file.
PER_FILE = {"train": 60, "calibration": 10, "dev": 12}
# Files of one package are similar, samples and our own texts are not. In training these therefore provide more windows than other files,
# and their whole text is repeated.
SAMPLE_WINDOWS, SAMPLE_REPEAT = 36, 3
# The maximum number of characters of a file's "whole" text.
WHOLE = 6000
# Ranges of window lengths in lines. Each range is equally frequent.
LENGTHS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 40))
# The minimum number of letters and digits of a window.
CONTENT = 8
# Two authors rarely write the same line with at least this many letters and digits.
LONG_LINE = 25
KIND_FILE = "file"


def kind_of(lines: int) -> str:
    return "1 line" if lines == 1 else "2-5 lines" if lines <= 5 else "6-20 lines" if lines <= 20 else "21-40 lines"


def augment(rows: list[datasets.Row], seed: int) -> list[datasets.Row]:
    """Whole files and windows of code, and composed prose. Each row keeps the split of its file."""
    none = languages.LABEL_INDICES[languages.NONE]
    files: dict[tuple[int, str], list[datasets.Row]] = defaultdict(list)
    for row in remove_copies(rows):
        if row.label != none:
            files[row.label, row.split].append(row)
    result = prose.shapes([row for row in rows if row.label == none], seed)
    for (label, split), group in sorted(files.items()):
        share = max(2, min(PER_FILE[split], -(-WINDOWS[split] // len(group))))
        for row in group:
            sample = split == "train" and row.set in (*SAMPLES, OWN)
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


def remove_copies(rows: list[datasets.Row]) -> list[datasets.Row]:
    """Removes files of packages that share at least a quarter of their long lines with held-out files.

    Such a file is mostly another version of a held-out sample and would inflate the figures.
    """
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
    """Increases the weight of rows with rare labels: (median count / count of the label)^0.5, at most 3.

    With this exponent rare labels still have less total weight than frequent ones.
    """
    counts = Counter(row.label for row in rows if row.split == "train")
    median = sorted(counts.values())[len(counts) // 2]
    weights = {label: min(3.0, (median / count) ** 0.5) for label, count in counts.items()}
    return [replace(row, weight=row.weight * weights.get(row.label, 1.0)) for row in rows]
