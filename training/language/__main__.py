"""python -m training.language --data DIR --out DIR: trains, calibrates, quantizes and evaluates the model."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from ..datasets import Row, Spec, digest
from ..linear.model import Settings
from ..linear.task import Task, run
from .languages import LABELS, LLM_GUARD, LABEL_INDICES

FEATURES = {
    "bits": 19,
    "groups": [
        {"kind": "chars", "min": 1, "max": 5, "lower": True, "digits": True},
        {"kind": "tokens", "min": 1, "max": 1, "lower": True},
    ],
}
# Groups of similar languages. Confusing them is a minor mistake.
WEIGHT = 1.0


def named(raw: dict) -> tuple[int, float] | None:
    index = LABEL_INDICES.get(raw["label"])
    return None if index is None else (index, WEIGHT)


# Codes that other tasks' sets use for languages, by our codes, if they differ.
OTHER_CODES = {"nb": "no", "nn": "no"}
# The script to use for languages that the sets have in several scripts.
SCRIPTS = {"ar": "Arab", "zh": "Hans"}


def ordinary(raw: dict) -> tuple[int, float] | None:
    """Picks rows of a set of another task that states languages."""
    code = OTHER_CODES.get(raw["lang"], raw["lang"])
    if code not in LABEL_INDICES or raw.get("script", "") not in ("", SCRIPTS.get(code, raw.get("script", ""))):
        return None
    return LABEL_INDICES[code], WEIGHT


OPEN = "open"
SETS = [
    Spec("leipzig", "language/leipzig.jsonl.gz", OPEN, named),
    Spec("words", "language/words.jsonl.gz", OPEN, named),
    Spec("interfaces", "language/interfaces.jsonl.gz", OPEN, named),
    Spec("sentences", "language/sentences_open.jsonl.gz", OPEN, named),
    Spec("sib200", "injection/harmless_sib200.jsonl.gz", OPEN, ordinary),
    Spec("tatoeba", "injection/harmless_tatoeba.jsonl.gz", OPEN, ordinary),
    Spec("treebanks", "injection/part_treebanks.jsonl.gz", OPEN, ordinary),
    Spec("passages", "injection/part_passages.jsonl.gz", OPEN, ordinary),
    Spec("guide", "injection/opensource_guide_29_languages.jsonl.gz", OPEN, ordinary),
    Spec("subtitles", "emotion/xed_32_languages.jsonl.gz", OPEN, ordinary),
]


def augment(rows: list[Row], seed: int) -> list[Row]:
    """Holds out a tenth of the Leipzig rows and no others, and adds pieces of sentences: one of up to five words, and two each of one and two
    words, which are harder."""
    found = []
    pick = random.Random(seed)
    for row in rows:
        percent = digest(row.text, "language") % 100
        held = row.set == "leipzig" and percent < 15
        row = replace(row, split="train" if not held else "dev" if percent < 10 else "calibration")
        found.append(row)
        words = row.text.split()
        if row.split == "train" and row.set != "words" and len(words) > 5:
            for size in (pick.randint(1, 5), *SHORT):
                start = pick.randrange(len(words) - size + 1)
                piece = " ".join(words[start : start + size])
                if size > 1 or len(piece) >= WORD:
                    found.append(replace(row, text=piece))
        elif row.split == "train" and row.label in UNSPACED and len(row.text) > 8:
            size = pick.randint(2, 8)
            start = pick.randrange(len(row.text) - size + 1)
            found.append(replace(row, text=row.text[start : start + size]))
    return weight_rows(found)


# The numbers of words in the short pieces of a sentence, and the minimum length of an informative word.
SHORT = (1, 1, 2, 2)
WORD = 4
UNSPACED = {LABEL_INDICES[label] for label in ("zh", "ja", "th")}


def weight_rows(rows: list[Row]) -> list[Row]:
    """Balances the weights of all languages. Leipzig's sentences have the highest weight, because they are most similar to real texts."""
    counts: dict[int, int] = {}
    for row in rows:
        if row.split == "train":
            counts[row.label] = counts.get(row.label, 0) + 1
    middle = sorted(counts.values())[len(counts) // 2]
    return [
        replace(row, weight=(2.0 if row.set == "leipzig" else 1.0) * (middle / counts[row.label]) ** 0.7)
        if row.split == "train"
        else row
        for row in rows
    ]


def figures(rows: list[Row], probabilities: np.ndarray) -> dict:
    """Accuracy by kind of text, for the languages of llm-guard and for all languages."""
    kinds = np.array([row.kind for row in rows])
    truth = np.array([row.label for row in rows])
    right = probabilities.argmax(axis=1) == truth
    common = np.isin(truth, [LABEL_INDICES[label] for label in LLM_GUARD])
    return {
        kind: {
            "llm-guard's 20": round(float(right[(kinds == kind) & common].mean()), 4),
            f"all {len(LABELS)}": round(float(right[kinds == kind].mean()), 4),
            "sure and wrong": round(float(((probabilities.max(axis=1) > 0.6) & ~right)[kinds == kind].mean()), 4),
        }
        for kind in ("sentence", "pair", "word")
    }


TASK = Task(
    "language",
    "0.3.0",
    LABELS,
    FEATURES,
    SETS,
    augment=augment,
    settings=Settings(epochs=4, rate=0.5, weights=1_600_000, dropout=0.1, smoothing=0.0),
    threshold=0.6,
    figures=figures,
)

if __name__ == "__main__":
    run(TASK)
