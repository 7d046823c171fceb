"""The data sets of the NER model: files, licences and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..spans import Span, has_marked_names, read_spans
from . import TYPES

SpanText = tuple[str, list[Span]]

OPEN = "open"


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


# The open files, with the maximum number of training rows. Files without a maximum are used whole.
WHOLE = (
    "broad_twitter crossner_en factrueval_ru_devset germeval2014_de gsd_ja hiner_hi korean_klue weibo_zh "
    "wnut17_train"
).split()
LIMITED = {
    "indonlu_id": 4000,
    "kaznerd_kk": 3000,
    "nerkor_hu": 5000,
    "ronec_ro": 2500,
    "stockmark_ja": 2500,
    "thai_ner": 3000,
    "turkish_wiki_tr": 5000,
    "turku_fi": 5000,
    "sec_filings_en": 800,
    # Templates: a few of them.
    "made_from_pii_27_languages": 1500,
}
# Sets that are repeated, because few texts are of their kind.
REPEATED = ("wnut17_train", "weibo_zh", "factrueval_ru_devset", "germeval2014_de")
# The maximum number of training rows of a language. MultiCoNER has texts in small letters; Europeana has old newspapers with the errors of
# text recognition. The English rows of Universal NER, web texts, only measure.
OF_LANGUAGES = {
    "multiconer_en_hi_bn_fa": {"en": 4000, **dict.fromkeys(("bn", "fa", "hi"), 2000)},
    "europeana_fr_nl_de": dict.fromkeys(("de", "fr", "nl"), 500),
    "universal_ner": {"en": 0, "ru": 1000, "zh": 4000, **dict.fromkeys(("da", "hr", "pt", "sk", "sr", "sv"), 1500)},
}
# Our own texts, each file by another author, with the repetitions of each group.
EVERYDAY = (
    "english russian_chinese chinese_social social english_news english_everyday russian_news chinese_news romance "
    "germanic_polish eastern_europe north_and_east east_asia south_asia africa"
).split()
NEWS = (
    "english_wires english_encyclopedia english_third social_second plain_words chinese_wires chinese_web "
    "chinese_third chinese_business russian_wires romance_encyclopedia germanic_greek middle_east_africa"
).split()
FURTHER = (
    "english_fourth chinese_fourth russian_fourth mediterranean east_asia_second romance_third central_and_north "
    "records_and_chats plain_words_in_languages weak_languages"
).split()
OWN = {**dict.fromkeys(EVERYDAY, 4), **dict.fromkeys(NEWS, 8), **dict.fromkeys(FURTHER, 8)}
# Our own texts by authors of no training text.
HELD_OUT = ("exam", "dev_names", "dev_news", "dev_third", "dev_fourth")


def sets() -> Iterator[SpanSet]:
    for file, cap in {**dict.fromkeys(WHOLE), **LIMITED}.items():
        repeat = 2 if file in REPEATED else 1
        yield SpanSet(file, f"ner/{file}.jsonl.gz", OPEN, tokens(file), cap, repeat=repeat)
    for file, caps in OF_LANGUAGES.items():
        for language, cap in caps.items():
            yield SpanSet(f"{file}_{language}", f"ner/{file}.jsonl.gz", OPEN, tokens(file, language), cap)
    yield SpanSet("pii_made", "pii/made_5_languages.jsonl.gz", OPEN, marked, 3000)
    for name, repeat in OWN.items():
        yield SpanSet(f"own_{name}", f"ner/{name}.jsonl", OPEN, marked, own=True, split="train", repeat=repeat)
    for name in HELD_OUT:
        yield SpanSet(f"own_{name}", f"ner/{name}.jsonl", OPEN, marked, own=True, split="dev")
