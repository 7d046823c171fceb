"""The parts of a text that the model reads: the whole text, or windows like those of the scanner. Training uses one of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from ..runtime import ExportedModel
from . import INJECTION, MAX_LENGTH, READ_LENGTH, SAFE, WINDOW_LENGTH
from .sets import Text

# The special tokens around a text.
FRAME = 2
# The overlap of windows, as a divisor of their length.
OVERLAP = 4
# Labels of tokens: whether they are part of an order to a model.
NO_ORDER, ORDER, NOT_KNOWN = 0, 1, -1


@dataclass(frozen=True)
class Window:
    """The ids of a row with its special tokens, and the order label of each token."""

    ids: list[int]
    orders: np.ndarray
    row: Text


def windows_of(tokenizer: Tokenizer, rows: Sequence[Text], seed: int) -> list[Window]:
    """One window of each row. If a long text contains an order at a known position, the window contains it."""
    rng = random.Random(f"{seed} windows")
    first, last = tokenizer.encode("").ids
    result = []
    for row, encoding in zip(
        rows, tokenizer.encode_batch([row.text for row in rows], add_special_tokens=False), strict=True
    ):
        known = order_labels(row, encoding.offsets)
        start, end = select_tokens(row, known, rng)
        frame = np.array([NOT_KNOWN], np.int8)
        result.append(
            Window(
                [first, *encoding.ids[start:end], last],
                np.concatenate([frame, known[start:end], frame]),
                row,
            )
        )
    return result


def order_labels(row: Text, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
    if row.indirect == SAFE:
        return np.full(len(offsets), NO_ORDER, np.int8)
    if row.indirect != INJECTION or not row.orders:
        return np.full(len(offsets), NOT_KNOWN, np.int8)
    spans = [(start, end) for start, end in offsets]
    return np.array([any(a < end and b > start for a, b in row.orders) for start, end in spans], np.int8)


def select_tokens(row: Text, known: np.ndarray, rng: random.Random) -> tuple[int, int]:
    """Selects the tokens to read: all if they fit, otherwise a window."""
    count, window = len(known), WINDOW_LENGTH - FRAME
    if count <= MAX_LENGTH - FRAME:
        return 0, count
    places = np.flatnonzero(known == ORDER)
    if 0 < len(places) < count:
        low, high = int(places[0]), int(places[-1])
        if high - low < window:
            start = rng.randint(max(0, high - window + 1), max(0, min(low, count - window), high - window + 1))
        else:
            start = rng.choice(places.tolist()) - rng.randrange(window)
        start = max(0, min(count - window, start))
        return start, start + window
    if INJECTION in (row.indirect, row.label):
        # The position of the attack is unknown: mostly it begins the text or is the whole text.
        return 0, MAX_LENGTH - FRAME
    # Half of the harmless texts are cut like attacks, so that the length tells nothing.
    window = rng.choice((window, MAX_LENGTH - FRAME))
    start = rng.randrange(count - window + 1)
    return start, start + window


def split_windows(
    tokens: Sequence, read_length: int = READ_LENGTH, window_length: int = WINDOW_LENGTH
) -> list[Sequence]:
    """The windows of a text like those of the scanner, without special tokens. A text of up to `read_length` is one window."""
    if len(tokens) <= read_length - FRAME:
        return [tokens]
    window = window_length - FRAME
    starts = range(0, len(tokens) - window // OVERLAP, window - window // OVERLAP)
    return [tokens[start : start + window] for start in starts]


def logits_of_worst_windows(model: ExportedModel, texts: Sequence[str], heads: Sequence[str]) -> list[np.ndarray]:
    """The logits `[texts, 2]` of each question for the window with the highest injection probability of each text."""
    first, last = model.tokenizer.encode("").ids
    windows, owners = [], []
    for owner, encoding in enumerate(model.tokenizer.encode_batch(list(texts), add_special_tokens=False)):
        for part in split_windows(encoding.ids):
            windows.append([first, *part, last])
            owners.append(owner)
    result = [np.tile(np.array([np.inf, -np.inf], np.float32), (len(texts), 1)) for _ in heads]
    for owner, found in zip(owners, model.outputs_of(windows, heads), strict=True):
        for worst, logits in zip(result, found, strict=True):
            if logits[INJECTION] - logits[SAFE] > worst[owner, INJECTION] - worst[owner, SAFE]:
                worst[owner] = logits
    return result
