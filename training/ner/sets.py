"""The data sets of the NER model: files, licences and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..spans import Span, has_marked_names, read_spans
from . import TYPES

SpanText = tuple[str, list[Span]]


@dataclass(frozen=True)
class SpanSet:
    """One set: its file, and a function that maps a raw object to a text with spans, or to None to skip it.

    `cap` limits the number of training rows. `own` files are in `training/data`. `split` puts a whole file into one split.
    """

    name: str
    file: str
    licence: str
    read: Callable[[dict], SpanText | None]
    cap: int | None = None
    own: bool = False
    split: str = ""
    repeat: int = 1


def tokens(file: str, language: str = "") -> Callable[[dict], SpanText | None]:
    """Reads all rows of a file of `ner`, or those of one language."""

    def read(raw: dict) -> SpanText | None:
        if language and raw["lang"] != language:
            return None
        text, found = read_spans(raw, file)
        return (text, found) if has_marked_names(raw, text, found) else None

    return read


def marked(raw: dict) -> SpanText:
    return raw["text"], [(start, end, kind) for start, end, kind in raw["spans"] if kind in TYPES]


# The files with their licence classes.
NEWS_AND_TWEETS = {
    "conll2003_en_train": "non-commercial",
    "wnut17_train": "open",
    "broad_twitter": "open",
    "nerel_ru": "unclear",
    "factrueval_ru_devset": "open",
    "bsnlp_ru": "non-commercial",
    "chinese": "unclear",
}
# The maximum number of rows of each language. The texts are from Wikipedia, annotated by models.
WIKINEURAL = {"en": 4000, "ru": 7000, "de": 2000, "es": 2000, "fr": 2000, "pt": 800, "nl": 800, "it": 800, "pl": 800}
# Files of one language, with their licence classes and maximum numbers of training rows.
OF_A_LANGUAGE = {
    "tweets_en": ("copyleft", 6000),
    "cluener_zh": ("unclear", 6000),
    "msra_val_zh": ("unclear", 2000),
    "korean_klue": ("open", 1500),
    "greek_elner4": ("non-commercial", 1200),
    "italian_kind": ("non-commercial", 1200),
}
# Universal NER, annotated by hand: the maximum number of rows of each language. The English rows, web texts, are not used in training.
UNIVERSAL = {"en": 0, "da": 500, "hr": 500, "pt": 800, "ru": 800, "sk": 500, "sr": 500, "sv": 500, "zh": 2000}
# News of other languages, a little of each, so that the model learns their scripts. The Hungarian and Italian rows have broken letters.
TRANSFER = "am ar da fa fi fr ha id ig lv ne nl no pt ro sv sw uk yo zu".split()
OF_TRANSFER = 250


def sets() -> Iterator[SpanSet]:
    for file, licence in NEWS_AND_TWEETS.items():
        # With repetition Chinese has as many pieces as English and Russian. WNUT has few texts of a unique kind.
        repeat = 2 if file in ("chinese", "wnut17_train") else 1
        yield SpanSet(file, f"ner/{file}.jsonl.gz", licence, tokens(file), repeat=repeat)
    file = "wikineural_9_languages"
    for language, cap in WIKINEURAL.items():
        yield SpanSet(f"wikineural_{language}", f"ner/{file}.jsonl.gz", "non-commercial", tokens(file, language), cap)
    for file, (licence, cap) in OF_A_LANGUAGE.items():
        yield SpanSet(file, f"ner/{file}.jsonl.gz", licence, tokens(file), cap)
    file = "universal_ner"
    for language, cap in UNIVERSAL.items():
        yield SpanSet(f"universal_{language}", f"ner/{file}.jsonl.gz", "open", tokens(file, language), cap)
    file = "transfer_18_languages"
    for language in TRANSFER:
        read = tokens(file, language)
        yield SpanSet(f"transfer_{language}", f"ner/{file}.jsonl.gz", "non-commercial", read, OF_TRANSFER)
    yield SpanSet("pii_made", "pii/made_5_languages.jsonl.gz", "open", marked, 5000)
    for name in ("english", "russian_chinese", "chinese_social", "social"):
        yield SpanSet(f"own_{name}", f"ner/{name}.jsonl", "open", marked, own=True, split="train", repeat=3)
    yield SpanSet("own_exam", "ner/exam.jsonl", "open", marked, own=True, split="dev")
