"""Small changes that leave the meaning: how people really type. Both labels are varied alike, so that no change tells anything."""

from __future__ import annotations

import base64
import codecs
import random
import re
from collections.abc import Sequence
from dataclasses import replace

from ..datasets import Row
from . import SAFE
from .compose import word_start

# Of the second and later copies of a text.
SHARE = 0.6


def lower(text: str, rng: random.Random) -> str:
    return text.lower()


def upper(text: str, rng: random.Random) -> str:
    """One sentence, or all of a short text."""
    parts = re.split(r"(?<=[.!?\n])", text)
    at = rng.randrange(len(parts))
    return "".join(part.upper() if index == at else part for index, part in enumerate(parts))


def bare(text: str, rng: random.Random) -> str:
    """Without punctuation."""
    return re.sub(r"[.,;:!?'’\"“”]", "", text)


def typos(text: str, rng: random.Random) -> str:
    """One letter in thirty is swapped with the next, left out or doubled."""
    letters = list(text)
    for at in range(len(letters) - 1):
        if rng.random() < 1 / 30 and letters[at].isalpha() and letters[at + 1].isalpha():
            kind = rng.randrange(3)
            if kind == 0:
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
            else:
                letters[at] = "" if kind == 1 else letters[at] * 2
    return "".join(letters)


def framed(text: str, rng: random.Random) -> str:
    """With the marks of a chat, a quotation or a list around it."""
    before, after = rng.choice(
        [
            ("User: ", ""),
            ("> ", ""),
            ('"', '"'),
            ("- ", ""),
            ("```\n", "\n```"),
            ("### Input\n", "\n\n### Response\n"),
            ("\n\n", "\n"),
            ("(", ")"),
        ]
    )
    return before + text + after


# A text of so many characters is longer than what the model reads whole; so long are pieces of it.
LONG, PIECE = 1200, (500, 1000)
PIECES = 3


def pieces(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows, and pieces from within the long harmless ones: scanners read windows, of which only the first has the beginning.

    Of an attack a piece may be harmless, so attacks are not cut.
    """
    rng = random.Random(f"{seed} pieces")
    result = list(rows)
    for row in dict.fromkeys(rows):
        if row.split == "train" and row.label == SAFE and len(row.text) > LONG:
            for _ in range(min(PIECES, len(row.text) // max(PIECE))):
                length = rng.choice(PIECE)
                start = word_start(row.text, rng.randrange(len(row.text) - length // 2))
                result.append(replace(row, text=row.text[start : start + length]))
    return result


def leetspeak(text: str) -> str:
    return text.translate(str.maketrans("aeiostAEIOST", "431057431057"))


def spaced(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


DISGUISES = (
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: text.encode().hex(),
    lambda text: codecs.encode(text, "rot13"),
    lambda text: text[::-1],
    leetspeak,
    spaced,
)
# Of a text that is disguised: encodings have many tokens.
DISGUISED = range(8, 160)


def disguised(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Harmless training texts in disguises that attackers use, alone or in another text.

    The scanner reads what is behind a disguise, too. So a disguise alone need not, and must not, look like an attack.
    """
    rng = random.Random(f"{seed} disguised")
    pool = [r for r in rows if r.split == "train" and r.label == SAFE and len(r.text) in DISGUISED]
    result = []
    for _ in range(count if pool else 0):
        row, other = rng.choice(pool), rng.choice(pool)
        text = rng.choice(DISGUISES)(row.text)
        text = rng.choice([text, text, f"{other.text}\n{text}", f"{text}\n\n{other.text}", f'{{"data": "{text}"}}'])
        result.append(replace(row, text=text, set="disguised", weight=0.8, kind=""))
    return result


CHANGES = (lower, upper, bare, typos, framed)


def vary(rows: Sequence[Row], seed: int) -> list[Row]:
    """Varies the repeated training rows; first copies stay as they were written."""
    rng = random.Random(f"{seed} vary")
    seen: set[str] = set()
    result = []
    for row in rows:
        if row.split == "train" and row.text in seen and rng.random() < SHARE:
            row = replace(row, text=rng.choice(CHANGES)(row.text, rng))
        seen.add(row.text)
        result.append(row)
    return result
