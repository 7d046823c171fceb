"""The rows of one run: texts with spans, joined into paragraphs and varied in case."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from .. import datasets, trainer
from ..spans import UNSPACED, Span
from .sets import sets

# The number of neighbouring rows that are joined into one training text, and the probability of it.
JOINED = {1: 0.45, 2: 0.25, 3: 0.15, 4: 0.15}
# The shares of training texts in lower case, like chats, and in capitals, like forms.
LOWER, UPPER = 0.06, 0.02


@dataclass(frozen=True)
class SpanRow:
    text: str
    spans: list[Span]
    set: str
    lang: str
    split: str


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--licences", default="open", help="licence classes to use")
    parser.add_argument("--seed", type=int, default=trainer.Settings.seed)
    parser.add_argument("--threads", type=int, default=trainer.Settings.threads)


def rows_for(args: argparse.Namespace) -> list[SpanRow]:
    """The unchanged rows of all splits. Only the first of duplicate rows is kept."""
    licences = args.licences.split(",")
    folder, seen, rows = datasets.data_folder(args.data), set(), []
    for spec in sets():
        if spec.licence not in licences:
            continue
        own = []
        for raw in datasets.read_jsonl((datasets.OWN_DATA if spec.own else folder) / spec.file):
            read = spec.read(raw)
            key = datasets.normalise(read[0]) if read else ""
            if read and key and key not in seen:
                seen.add(key)
                own.append(SpanRow(*read, spec.name, raw["lang"], spec.split or datasets.split_of(read[0])))
        own = limit_rows(own, spec.cap, args.seed)
        # The whole set is repeated, so that a row is never next to itself.
        rows += own + [row for _ in range(spec.repeat - 1) for row in own if row.split == "train"]
    return rows


def limit_rows(rows: list[SpanRow], cap: int | None, seed: int) -> list[SpanRow]:
    """At most `cap` training rows, selected by the hash of their text, in their order: files are sorted by language."""
    training = sorted((r for r in rows if r.split == "train"), key=lambda r: datasets.digest(r.text, str(seed)))
    left_out = {row.text for row in training[cap:]} if cap is not None else set()
    return [row for row in rows if row.split != "train" or row.text not in left_out]


def change_case(row: SpanRow, rng: random.Random) -> SpanRow:
    chance = rng.random()
    text = row.text.lower() if chance < LOWER else row.text.upper() if chance < LOWER + UPPER else row.text
    # A letter such as "ß" has another number of code points in the other case, which would shift the spans.
    return SpanRow(text, row.spans, row.set, row.lang, row.split) if len(text) == len(row.text) else row


def join_rows(rows: Iterable[SpanRow], seed: int) -> list[SpanRow]:
    """Joins neighbouring rows of a set and language into one text, so that the model learns from paragraphs too."""
    rng = random.Random(seed)
    result: list[SpanRow] = []
    for (name, lang), group in groupby(rows, key=lambda row: (row.set, row.lang)):
        members = list(group)
        if name.startswith("own"):
            rng.shuffle(members)
        at = 0
        while at < len(members):
            count = rng.choices([*JOINED], [*JOINED.values()])[0]
            text, spans = "", []
            for row in (change_case(member, rng) for member in members[at : at + count]):
                if text:
                    text += "\n" if rng.random() < 0.2 else "" if lang in UNSPACED else " "
                spans += [(start + len(text), end + len(text), kind) for start, end, kind in row.spans]
                text += row.text
            result.append(SpanRow(text, spans, name, lang, members[at].split))
            at += count
    return result
