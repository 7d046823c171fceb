"""The data sets of the code model and the use of their rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import datasets
from ..datasets import Row, Spec
from . import languages

OPEN = "open"


def named(raw: dict) -> tuple[int, float] | None:
    index = languages.label_index_of(raw["label"])
    return None if index is None else (index, 1.0)


# The packages that are held out completely, and those for calibration only, by the hash of their names in percent.
HELD_PACKAGES, CALIBRATION_PACKAGES = range(5), range(9, 13)
# The maximum number of training files of one language from a set of packages.
FILES = 250
CAPS = {index: FILES for index in languages.LABEL_INDICES.values()}


def of_packages(split: str) -> Callable[[dict], tuple[int, float] | None]:
    """Picks the files of the packages of a split, by the hash of the package name."""

    def pick(raw: dict) -> tuple[int, float] | None:
        percent = datasets.digest(raw["source"].partition(":")[0], "package") % 100
        found = "dev" if percent in HELD_PACKAGES else "calibration" if percent in CALIBRATION_PACKAGES else "train"
        return named(raw) if found == split else None

    return pick


NONE = languages.LABEL_INDICES[languages.NONE]
# Signs of code in texts of people: fences, tags, braces at the end of a line, statements, and data formats.
CODE_SIGNS = re.compile(
    r"```|</?[a-z]\w*[^<>]{0,80}>|[{};]\s*$|^\s*[\[{]"
    r"|^\s*(def|class|import|from|func|function|public|var|let|const|return|if|for|while)\b.*[:({]\s*$"
    r"|^(diff|---|\+\+\+|@@|#include|#!) ?|\w+\([^()]*\)\s*[;{]|^\s*\$ \w",
    re.MULTILINE,
)


def prose(raw: dict) -> tuple[int, float]:
    return NONE, 1.0


def prose_without_code(raw: dict) -> tuple[int, float] | None:
    """Picks texts without signs of code, for sets whose authors also paste code."""
    return None if CODE_SIGNS.search(datasets.text_of(raw)) else (NONE, 1.0)


def prose_set(
    name: str, file: str, most: int, pick: Callable[[dict], tuple[int, float] | None] = prose, **options: Any
) -> Spec:
    return Spec(name, f"{file}.jsonl.gz", OPEN, pick, {NONE: most}, **options)


def with_language(row: Row, raw: dict) -> Row:
    """Takes the label of a language set as the language, because composed texts have one language each."""
    return replace(row, lang=raw["label"])


SOURCES, FURTHER, OWN = "sources", "further", "own"
# Files by many authors and projects. The accuracy target refers to these.
SAMPLES = ("linguist", "highlighters")
SETS = [
    # Only measures, because every sample is under a licence of its own.
    Spec("linguist", "code/linguist_samples.jsonl.gz", OPEN, named, split="dev"),
    Spec("highlighters", "code/highlighter_samples.jsonl.gz", OPEN, named),
    Spec(SOURCES, "code/sources.jsonl.gz", OPEN, of_packages("train"), CAPS, split="train"),
    Spec("held packages", "code/sources.jsonl.gz", OPEN, of_packages("dev"), split="dev"),
    Spec("calibration packages", "code/sources.jsonl.gz", OPEN, of_packages("calibration"), split="calibration"),
    # Test samples of more highlighters and grammars, and packages in languages that are rare in the other sets.
    Spec(FURTHER, "code/further.jsonl.gz", OPEN, named, CAPS, split="train"),
    # Written for guard, in languages that are rare in the other sets.
    Spec(OWN, "code/own.jsonl", OPEN, named, own=True),
    prose_set("prose", "code/prose_open", 2000),
    prose_set("sentences", "language/sentences_open", 1500, complete=with_language),
    prose_set("requests", "injection/oasst_requests_en", 800, prose_without_code),
    prose_set("answers", "refusal/oasst_answers_en", 400, prose_without_code),
    prose_set("mixed_genres", "nli/mnli_dev_part", 800),
    prose_set("encyclopedia", "nli/conjnli", 400),
    prose_set("questions", "injection/questions_7_languages", 400),
    prose_set("passages", "injection/part_passages", 400),
    prose_set("mails", "injection/documents_mail", 300, prose_without_code),
    prose_set("logs", "injection/documents_logs_open", 300, prose_without_code),
    prose_set("chat", "emotion/goemotions_train_dev", 800),
    prose_set("assistant_intents", "topics/clinc_train", 400),
    prose_set("bank_questions", "topics/banking77_train", 200),
    prose_set("conversations", "conversation/benign", 300),
]
