"""Converts spans to labels of pieces, and labels to spans."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

from .. import trainer
from ..spans import Span
from . import LABELS

IGNORED = -100
OUTSIDE = LABELS.index("O")

Offsets = Sequence[tuple[int, int]]

# Vocabulary pieces that contain a place and the word before it, such as "in Beijing". The model could not label the place alone.
WITH_PLACES = ("在北京", "在上海", "在中国", "在美国", "是中国")
# A score so low that the unigram model never uses the piece.
NEVER = -1000.0


def cut_before_places(tokenizer: Tokenizer) -> Tokenizer:
    """Returns a tokenizer that never emits the pieces `WITH_PLACES`. All ids stay the same."""
    described = json.loads(tokenizer.to_str())
    for piece in described["model"]["vocab"]:
        if piece[0] in WITH_PLACES:
            piece[1] = NEVER
    return Tokenizer.from_str(json.dumps(described))


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def labels_of(text: str, offsets: Offsets, spans: Iterable[Span]) -> list[int]:
    """The label index of each piece, or IGNORED for a piece without a visible character.

    `offsets` has the start and end of each piece in code points.
    """
    kinds: list[tuple[int, str] | None] = [None] * len(text)
    for number, (start, end, kind) in enumerate(spans):
        kinds[start:end] = [(number, kind)] * (end - start)
    labels, last = [], None
    for piece in offsets:
        start, end = trim_span(text, *piece)
        if start == end:
            labels.append(IGNORED)
            continue
        found = next((kind for kind in kinds[start:end] if kind), None)
        if found is None:
            labels.append(OUTSIDE)
        else:
            labels.append(LABELS.index(f"{'I' if found == last else 'B'}-{found[1]}"))
        last = found
    return labels


def tag_loss(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    ids: Sequence[Sequence[int]],
    labels: Sequence[Sequence[int]],
) -> torch.Tensor:
    """Cross entropy of the labels of all pieces. Labels beyond the end of a truncated text are ignored."""
    tokens, mask = trainer.pad(ids)
    wanted = np.full(tokens.shape, IGNORED)
    for index, (row, own) in enumerate(zip(ids, labels, strict=True)):
        kept = own[: len(row) - 1]
        wanted[index, : len(kept)] = kept
    logits = model(torch.from_numpy(tokens), torch.from_numpy(mask)).float()
    return F.cross_entropy(logits.flatten(0, 1), torch.from_numpy(wanted).flatten(), ignore_index=IGNORED)


def _moves() -> np.ndarray:
    """Transition scores: 0 if a label may follow another, else minus infinity. I-X may only follow B-X and I-X."""
    moves = np.zeros((len(LABELS), len(LABELS)))
    for to, label in enumerate(LABELS):
        if label[0] == "I":
            moves[:, to] = -np.inf
            moves[[LABELS.index(f"{prefix}-{label[2:]}") for prefix in "BI"], to] = 0
    return moves


MOVES = _moves()


def decode(text: str, offsets: Offsets, logits: np.ndarray) -> list[Span]:
    """The spans of the most probable valid label sequence (Viterbi, 1967)."""
    real = [(trim_span(text, *piece), row) for piece, row in zip(offsets, logits, strict=False)]
    real = [(span, row) for span, row in real if span[0] < span[1]]
    if not real:
        return []
    score = real[0][1] + np.where([label[0] == "I" for label in LABELS], -np.inf, 0)
    back = []
    for _, row in real[1:]:
        paths = score[:, None] + MOVES
        back.append(paths.argmax(0))
        score = paths.max(0) + row
    best = [int(score.argmax())]
    for step in reversed(back):
        best.append(int(step[best[-1]]))
    spans: list[Span] = []
    for (span, _), label in zip(real, reversed(best), strict=True):
        name = LABELS[label]
        if name[0] == "B":
            spans.append((*span, name[2:]))
        elif name[0] == "I":
            spans[-1] = (spans[-1][0], span[1], name[2:])
    return spans
