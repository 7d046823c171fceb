"""The data sets of the gibberish model and the use of their rows."""

from __future__ import annotations

from collections.abc import Callable

from ..datasets import Spec, split_of, text_of
from . import CLEAN, LABELS

OPEN, UNCLEAR, NC = "open", "unclear", "non-commercial"


def made(raw: dict) -> tuple[int, float]:
    return LABELS.index(raw["label"].replace("_", " ")), 1.5


def clean(source: str = "") -> Callable[[dict], tuple[int, float] | None]:
    return lambda raw: (CLEAN, 1.0) if raw.get("source", "").startswith(source) else None


def further(*sources: str) -> Callable[[dict], tuple[int, float] | None]:
    """Picks clean rows for training only. Rows of other splits are skipped."""

    def pick(raw: dict) -> tuple[int, float] | None:
        mine = not sources or raw.get("source", "").startswith(sources)
        return (CLEAN, 1.0) if mine and split_of(text_of(raw).strip()) == "train" else None

    return pick


def pieces_of_code(raw: dict) -> tuple[int, float] | None:
    return (CLEAN, 1.0) if len(raw["text"]) > 200 else None


SETS = [
    Spec("made", "gibberish/made.jsonl.gz", NC, made),
    Spec("lingua", "gibberish/lingua.jsonl.gz", OPEN, clean()),
    Spec("wikipedia", "language/sentences_10_languages.jsonl.gz", NC, clean("Babelscape")),
    Spec("alpaca_zh", "language/sentences_10_languages.jsonl.gz", UNCLEAR, clean("carbonz0")),
    Spec("alpaca", "injection/benign_prompts.jsonl.gz", NC, clean("andyrdt")),
    Spec("wikipedia_ner", "ner/wikineural_9_languages.jsonl.gz", NC, clean()),
    Spec("mixed_genres", "nli/mnli_dev_part.jsonl.gz", OPEN, clean()),
    Spec("chat", "emotion/goemotions_train_dev.jsonl.gz", OPEN, clean()),
    Spec("chat_ru", "toxicity/ru_detox_train.jsonl.gz", UNCLEAR, clean()),
    Spec("assistant_intents", "topics/clinc_train.jsonl.gz", OPEN, clean()),
    Spec("bank_questions", "topics/banking77_train.jsonl.gz", OPEN, clean()),
    Spec("conversations", "conversation/benign.jsonl.gz", OPEN, clean()),
    Spec("code", "code/highlighter_samples.jsonl.gz", OPEN, pieces_of_code),
    Spec("more_code", "code/linguist_samples.jsonl.gz", OPEN, pieces_of_code, {CLEAN: 1200}),
    Spec("more_chat_ru", "toxicity/ru_toxicity_train.jsonl.gz", UNCLEAR, further()),
    Spec("rude_chat", "toxicity/paradetox.jsonl.gz", OPEN, further()),
    Spec("comments", "toxicity/unhealthy_conversations.jsonl.gz", NC, further()),
    Spec("comments_zh", "toxicity/cold_train_zh.jsonl.gz", OPEN, further(), {CLEAN: 6000}),
    Spec("mixed_genres_zh", "nli/ocnli_train_zh.jsonl.gz", UNCLEAR, further(), {CLEAN: 4000}),
    Spec("requests", "injection/benign_prompts.jsonl.gz", NC, further()),
    Spec("questions", "relevance/trecqa_qnli.jsonl.gz", UNCLEAR, further()),
    Spec("captions", "nli/snli_dev.jsonl.gz", OPEN, further(), {CLEAN: 3000}),
    Spec("answers", "refusal/compliance_answers.jsonl.gz", NC, further()),
]
