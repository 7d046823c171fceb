"""The data sets of the code model and the use of their rows."""

from __future__ import annotations

from collections.abc import Callable

from .. import datasets
from ..datasets import Spec
from . import languages

OPEN, UNCLEAR, NC = "open", "unclear", "non-commercial"


def named(raw: dict) -> tuple[int, float] | None:
    index = languages.label_index_of(raw["label"])
    return None if index is None else (index, 1.0)


# The percentage of packages that are held out completely.
HELD_PACKAGES = 5
# The maximum number of training files of one language from packages.
FILES = 250


# Packages whose metadata state a copyleft or commercial licence. The model does not learn from them.
RESTRICTED = {
    "deb-junit5", "npm-chainlink-contracts", "npm-itunes-bridge", "npm-primeng", "npm-rescript", "npm-tree-sitter-jq",
    "pip-cobol_parser", "pip-gensim", "pip-keystone-engine", "pip-myhdl", "pip-pglast", "pip-python_cobol",
}  # fmt: skip


def of_packages(held: bool) -> Callable[[dict], tuple[int, float] | None]:
    """Picks the files of held-out packages, or those of the others, by the hash of the package name."""

    def pick(raw: dict) -> tuple[int, float] | None:
        package = raw["source"].partition(":")[0]
        if package in RESTRICTED and not held:
            return None
        return named(raw) if (datasets.digest(package, "package") % 100 < HELD_PACKAGES) == held else None

    return pick


def prose(source: str = "") -> Callable[[dict], tuple[int, float] | None]:
    none = languages.LABEL_INDICES[languages.NONE]
    return lambda raw: (none, 1.0) if raw.get("source", "").startswith(source) else None


NONE = languages.LABEL_INDICES[languages.NONE]
SOURCES, FURTHER = "sources", "further"
# Files by many authors and projects. The accuracy target refers to these.
SAMPLES = ("linguist", "highlighters")
SETS = [
    Spec("linguist", "code/linguist_samples.jsonl.gz", OPEN, named),
    Spec("highlighters", "code/highlighter_samples.jsonl.gz", OPEN, named),
    Spec("packages", "code/packages.jsonl.gz", OPEN, named),
    Spec(
        SOURCES,
        "code/sources.jsonl.gz",
        OPEN,
        of_packages(held=False),
        {index: FILES for index in languages.LABEL_INDICES.values()},
        split="train",
    ),
    Spec("held packages", "code/sources.jsonl.gz", OPEN, of_packages(held=True), split="dev"),
    # Test samples of more highlighters, and packages in languages that are rare in the other sets.
    Spec(FURTHER, "code/further.jsonl.gz", OPEN, named, split="train"),
    # Written for guard, in languages that are rare in the other sets.
    Spec("own", "code/own.jsonl", OPEN, named, own=True),
    Spec("wikipedia_alpaca", "code/prose.jsonl.gz", NC, prose(), {NONE: 1500}),
    Spec("wikipedia", "language/sentences_10_languages.jsonl.gz", NC, prose("Babelscape"), {NONE: 1500}),
    Spec("alpaca_zh", "language/sentences_10_languages.jsonl.gz", UNCLEAR, prose("carbonz0"), {NONE: 300}),
    Spec("chat", "emotion/goemotions_train_dev.jsonl.gz", OPEN, prose(), {NONE: 800}),
    Spec("assistant_intents", "topics/clinc_train.jsonl.gz", OPEN, prose(), {NONE: 400}),
    Spec("bank_questions", "topics/banking77_train.jsonl.gz", OPEN, prose(), {NONE: 200}),
    Spec("news", "relevance/trecqa_qnli.jsonl.gz", UNCLEAR, prose(), {NONE: 400}),
    Spec("conversations", "conversation/benign.jsonl.gz", OPEN, prose(), {NONE: 300}),
    Spec("chat_ru", "toxicity/ru_detox_train.jsonl.gz", UNCLEAR, prose(), {NONE: 400}),
]
