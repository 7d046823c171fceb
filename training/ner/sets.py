"""The data sets of the model of names: their files and licences, and what is left out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..spans import Span, marks_names, spans_of
from . import TYPES

Marked = tuple[str, list[Span]]


@dataclass(frozen=True)
class SpanSet:
    """One set: its file, and how a raw object becomes a text with spans, or None to leave it out.

    `cap` bounds the number of its training rows. `own` files are in `training/data`. `split` puts a whole file of ours into one split.
    """

    name: str
    file: str
    licence: str
    read: Callable[[dict], Marked | None]
    cap: int | None = None
    own: bool = False
    split: str = ""
    repeat: int = 1


def tokens(file: str, language: str = "") -> Callable[[dict], Marked | None]:
    """Reads the rows of a file of `ner`: all of them, or those of one language."""

    def read(raw: dict) -> Marked | None:
        if language and raw["lang"] != language:
            return None
        text, found = spans_of(raw, file)
        return (text, found) if marks_names(raw, text, found) else None

    return read


def marked(raw: dict) -> Marked:
    return raw["text"], [(start, end, kind) for start, end, kind in raw["spans"] if kind in TYPES]


# The files, and their classes of licences.
NEWS_AND_TWEETS = {
    "conll2003_en_train": "non-commercial",
    "wnut17_train": "open",
    "broad_twitter": "open",
    "nerel_ru": "unclear",
    "factrueval_ru_devset": "open",
    "bsnlp_ru": "non-commercial",
    "chinese": "unclear",
}
# The most rows of each language. Texts are from Wikipedia, and models marked the names.
WIKINEURAL = {"en": 4000, "ru": 7000, "de": 2000, "es": 2000, "fr": 2000, "pt": 800, "nl": 800, "it": 800, "pl": 800}
# Files of one language each, with their classes of licences and the most training rows.
OF_A_LANGUAGE = {
    "tweets_en": ("copyleft", 6000),
    "cluener_zh": ("unclear", 6000),
    "msra_val_zh": ("unclear", 2000),
    "korean_klue": ("open", 1500),
    "greek_elner4": ("non-commercial", 1200),
    "italian_kind": ("non-commercial", 1200),
}
# Universal NER, marked by hand: the most rows of each language. Nothing is learnt from the English ones, which are texts of the web.
UNIVERSAL = {"en": 0, "da": 500, "hr": 500, "pt": 800, "ru": 800, "sk": 500, "sr": 500, "sv": 500, "zh": 2000}
# News of further languages, a little of each, so that names are known in their scripts. The Hungarian and Italian rows have broken letters.
TRANSFER = "am ar da fa fi fr ha id ig lv ne nl no pt ro sv sw uk yo zu".split()
OF_TRANSFER = 250


def sets() -> Iterator[SpanSet]:
    for file, licence in NEWS_AND_TWEETS.items():
        # Chinese has then as many pieces as English and Russian. The texts of WNUT are few, and like nothing else here.
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
