"""Varies texts like people type, without changing the meaning. Both labels are varied equally, so that variations do not correlate with
labels."""

from __future__ import annotations

import base64
import codecs
import random
import re
from collections.abc import Sequence
from dataclasses import replace

from . import SAFE
from .compose import word_start
from .sets import Text

# The share of varied texts among the second and later copies.
SHARE = 0.6


def lower(text: str, rng: random.Random) -> str:
    return text.lower()


def upper(text: str, rng: random.Random) -> str:
    """Writes one sentence in capitals, or all of a short text."""
    parts = re.split(r"(?<=[.!?\n])", text)
    at = rng.randrange(len(parts))
    return "".join(part.upper() if index == at else part for index, part in enumerate(parts))


def remove_punctuation(text: str, rng: random.Random) -> str:
    """Removes punctuation."""
    return re.sub(r"[.,;:!?'’\"“”]", "", text)


def typos(text: str, rng: random.Random) -> str:
    """Swaps one letter in thirty with the next, drops it or doubles it."""
    letters = list(text)
    for at in range(len(letters) - 1):
        if rng.random() < 1 / 30 and letters[at].isalpha() and letters[at + 1].isalpha():
            kind = rng.randrange(3)
            if kind == 0:
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
            else:
                letters[at] = "" if kind == 1 else letters[at] * 2
    return "".join(letters)


def mixed_case(text: str, rng: random.Random) -> str:
    """Changes the case of letters at random."""
    return "".join(letter.upper() if rng.random() < 0.5 else letter.lower() for letter in text)


def add_frame(text: str, rng: random.Random) -> str:
    """Adds marks of a chat, a quotation, a list or code around the text."""
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


def with_text(row: Text, text: str) -> Text:
    """The row with another text. Its orders are known only if they are the whole text."""
    is_whole = row.orders == ((0, len(row.text)),)
    return replace(row, text=text, orders=((0, len(text)),) if is_whole else ())


# A text of more than LONG characters exceeds the model's maximum length. PIECE are the lengths of its pieces.
LONG, PIECE = 1200, (500, 1000)
PIECES = 3


def pieces(rows: Sequence[Text], seed: int) -> list[Text]:
    """Adds pieces of long harmless rows, because scanners read windows, which begin anywhere in a text.

    Attacks are not cut, because a piece of an attack may be harmless.
    """
    rng = random.Random(f"{seed} pieces")
    result = list(rows)
    for row in dict.fromkeys(rows):
        if row.split == "train" and row.label == SAFE and len(row.text) > LONG:
            for _ in range(min(PIECES, len(row.text) // max(PIECE))):
                length = rng.choice(PIECE)
                start = word_start(row.text, rng.randrange(len(row.text) - length // 2))
                result.append(with_text(row, row.text[start : start + length]))
    return result


def leetspeak(text: str) -> str:
    return text.translate(str.maketrans("aeiostAEIOST", "431057431057"))


def spaced(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


DISGUISES = (
    lambda text: "".join(letter.upper() if at % 2 else letter.lower() for at, letter in enumerate(text)),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: text.encode().hex(),
    lambda text: codecs.encode(text, "rot13"),
    lambda text: text[::-1],
    leetspeak,
    spaced,
)
# The lengths of disguised texts in characters. Encoded texts have many tokens, so they are short.
DISGUISED = range(8, 160)


def disguise(rows: Sequence[Text], count: int, seed: int) -> list[Text]:
    """Disguises harmless training texts like attackers do, alone or within another text.

    The scanner also reads the decoded text, so a disguise alone must not look like an attack to the model.
    """
    rng = random.Random(f"{seed} disguised")
    pool = [r for r in rows if r.split == "train" and r.label == SAFE and len(r.text) in DISGUISED]
    result = []
    for _ in range(count if pool else 0):
        row, other = rng.choice(pool), rng.choice(pool)
        text = rng.choice(DISGUISES)(row.text)
        text = rng.choice([text, text, f"{other.text}\n{text}", f"{text}\n\n{other.text}", f'{{"data": "{text}"}}'])
        result.append(replace(row, text=text, set="disguised", weight=0.8, kind="", indirect=SAFE, orders=()))
    return result


CHANGES = (lower, upper, remove_punctuation, typos, add_frame, mixed_case)


def vary(rows: Sequence[Text], seed: int) -> list[Text]:
    """Varies repeated training rows. The first copy does not change."""
    rng = random.Random(f"{seed} vary")
    seen: set[str] = set()
    result = []
    for row in rows:
        if row.split == "train" and row.text in seen and rng.random() < SHARE:
            row = with_text(row, rng.choice(CHANGES)(row.text, rng))
        seen.add(row.text)
        result.append(row)
    return result
