"""The data sets of the gibberish model and the use of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..datasets import Spec, split_of, text_of
from . import CLEAN, LABELS

OPEN = "open"
Picker = Callable[[dict], "tuple[int, float] | None"]


def made(raw: dict) -> tuple[int, float]:
    return LABELS.index(raw["label"].replace("_", " ")), 1.5


def clean(raw: dict) -> tuple[int, float]:
    return CLEAN, 1.0


def for_training(raw: dict) -> tuple[int, float] | None:
    """Picks clean rows for training only. Rows of other splits are skipped."""
    return (CLEAN, 1.0) if split_of(text_of(raw).strip()) == "train" else None


def pieces_of_code(raw: dict) -> tuple[int, float] | None:
    return (CLEAN, 1.0) if len(raw["text"]) > 200 else None


def clean_set(name: str, file: str, most: int | None = None, pick: Picker = clean, **options: Any) -> Spec:
    """A set of clean texts, with at most `most` training rows."""
    return Spec(name, f"{file}.jsonl.gz", OPEN, pick, None if most is None else {CLEAN: most}, **options)


def training_set(name: str, file: str, most: int | None = None) -> Spec:
    """A set of clean texts that are only learnt from: its rows of other splits are skipped."""
    return clean_set(name, file, most, for_training)


SETS = [
    Spec("made", "gibberish/made_open_24_languages.jsonl.gz", OPEN, made),
    clean_set("requests", "injection/oasst_requests_en"),
    clean_set("requests_fi", "injection/oasst_requests_fi", 3000),
    clean_set("mixed_genres", "nli/mnli_dev_part"),
    clean_set("chat", "emotion/goemotions_train_dev"),
    clean_set("assistant_intents", "topics/clinc_train"),
    clean_set("bank_questions", "topics/banking77_train"),
    clean_set("conversations", "conversation/benign"),
    clean_set("subtitles", "emotion/xed_32_languages"),
    clean_set("interfaces", "injection/interface_texts_50_languages"),
    clean_set("sib200", "injection/harmless_sib200", max_per_language=60),
    clean_set("tatoeba", "injection/harmless_tatoeba", max_per_language=80),
    clean_set("questions", "injection/questions_7_languages"),
    Spec("code", "code/highlighter_samples.jsonl.gz", OPEN, pieces_of_code),
    Spec("more_code", "injection/code_open.jsonl.gz", OPEN, pieces_of_code),
    training_set("rude_chat", "toxicity/paradetox", 10000),
    training_set("comments_zh", "toxicity/cold_train_zh", 6000),
    training_set("comments_ko", "emotion/kote_ko", 6000),
    training_set("comments_ro", "toxicity/part_ro_offense", 5000),
    training_set("tweets_pt", "toxicity/part_told_br", 5000),
    training_set("tweets_de", "toxicity/part_germeval_2018", 5000),
    training_set("tweets_tr", "toxicity/offenseval_tr", 5000),
    training_set("tweets_el", "toxicity/ogtd_el", 4000),
    training_set("tweets_id", "emotion/indonlu_id"),
    training_set("tweets_ar", "toxicity/part_arabic_osact", 4000),
    training_set("comments_asia", "toxicity/part_asia", 8000),
    training_set("comments_india", "toxicity/uli_en_hi_ta", 6000),
    training_set("captions", "nli/snli_dev", 3000),
    training_set("captions_ja", "nli/jnli_ja", 3000),
    training_set("sentences_id", "nli/indonli_id", 4000),
    training_set("sentences_fa", "nli/farstail_fa", 4000),
    training_set("sentences_es", "nli/inferes_es", 4000),
    training_set("questions_en", "relevance/part_qnli"),
    training_set("answers", "refusal/oasst_answers_en"),
    training_set("answers_fi", "refusal/oasst_answers_fi", 1500),
    training_set("reviews", "injection/part_reviews"),
    training_set("passages", "injection/part_passages"),
    training_set("guide", "injection/opensource_guide_29_languages"),
    training_set("tasks", "injection/part_tasks"),
    training_set("requests_of_languages", "injection/harmless_requests_multilingual"),
    training_set("documents", "injection/harmless_documents_multilingual", 8000),
    training_set("prose", "code/prose_open"),
    training_set("sentences", "language/sentences_open"),
    training_set("answer_sentences", "relevance/qa_sentences_7_languages", 12000),
    training_set("encyclopedia", "nli/conjnli", 10000),
    training_set("claims", "nli/fever_symmetric_en"),
    training_set("rude_chat_en", "toxicity/dynahate_en", 12000),
    training_set("forum_en", "toxicity/edos_train", 8000),
    training_set("tweets_en", "ner/broad_twitter", 5000),
    training_set("treebanks", "ner/universal_ner"),
    training_set("encyclopedia_en", "ner/crossner_en"),
    training_set("encyclopedia_tr", "ner/turkish_wiki_tr"),
    training_set("sentences_fi", "ner/turku_fi", 8000),
    training_set("sentences_hu", "ner/nerkor_hu"),
    training_set("sentences_ro", "ner/ronec_ro"),
    training_set("news_id", "ner/indonlu_id"),
]
