"""Evaluates a NER model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from ..runtime import ExportedModel
from ..spans import Span
from . import MAX_LENGTH, TYPES
from .tags import decode


class SpanText(Protocol):
    text: str
    spans: Sequence[Span]
    set: str


def figures(rows: Sequence[SpanText], found: Sequence[Sequence[Span]]) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of exact spans with their type, by set and by type within a set."""
    counts: dict[str, Counter] = {}
    for row, spans in zip(rows, found, strict=True):
        for kind in ("", *TYPES):
            gold, mine = ({s for s in side if not kind or s[2] == kind} for side in (row.spans, spans))
            part = f"{row.set} {kind}".strip()
            counts.setdefault(part, Counter()).update(right=len(gold & mine), gold=len(gold), found=len(mine), rows=1)
    return {
        part: {
            "rows": n["rows"],
            "precision": n["right"] / max(n["found"], 1),
            "recall": n["right"] / max(n["gold"], 1),
            "f1": 2 * n["right"] / max(n["found"] + n["gold"], 1),
        }
        for part, n in counts.items()
    }


def evaluate(rows: Sequence[SpanText], model: ExportedModel, head: str = "logits") -> tuple[dict, list[list[Span]]]:
    """The figures of a model that reads each text as a whole, and its spans."""
    encodings = model.tokenizer.encode_batch([row.text for row in rows])
    logits = model.logits([row.text for row in rows], MAX_LENGTH, head)
    found = [decode(row.text, e.offsets, own) for row, e, own in zip(rows, encodings, logits, strict=True)]
    return figures(rows, found), found


def table(found: dict) -> str:
    lines = ["| set | rows | precision | recall | F1 |", "|---|---|---|---|---|"]
    for part, n in sorted(found.items()):
        lines.append(
            f"| {part} | {n['rows']} | {100 * n['precision']:.1f} | {100 * n['recall']:.1f} | {100 * n['f1']:.1f} |"
        )
    return "\n".join(lines)
