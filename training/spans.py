"""Texts with spans: detokenizes words, and reads the sets of names and of personal data.

Sets of names consist of words with BIO tags. Models and scanners read texts, so the words are joined like an author would write them, and
the tags become spans of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import datasets
from .name_suffixes import without_suffix

Span = tuple[int, int, str]

# Languages without spaces between words.
UNSPACED = ("zh", "ja", "th")
OPENING = set("([{«„‚¿¡《「『（【〈")
CLOSING = set(")]}»,.;:!?%…,।。、》」』）】〉°") | {
    "..",
    "...",
    "....",
    "!!",
    "??",
    "?!",
    "!?",
    "!!!",
    "???",
    '."',
    ',"',
    '..."',
}
CURRENCIES = set("$£€¥₽#")
CLITICS = {"s", "m", "re", "ve", "ll", "d", "t"}
# Signs with a space before them: several in French, the percent sign in German and Russian.
APART = {"fr": set(":;!?»%"), "de": set("%"), "ru": set("%")}
# Languages with elided articles and pronouns before the next word: l', dell', d'.
ELIDING = ("fr", "it", "ca")
SENTENCE_SIGNS = set(".,;:!?…")

# Sets that mark whole words, with the particles or suffixes at their ends.
MARK_WHOLE_WORDS = ("korean_klue", "turkish_wiki_tr")

# Signs at which a set splits words that are written together: "пресс - служба", "@ name", "1 , 552".
SPLIT = {"nerel_ru": "-,", "factrueval_ru_devset": "-,", "broad_twitter": "@,"}


def detokenise(tokens: Sequence[str], lang: str, split: str = "") -> tuple[str, list[tuple[int, int]]]:
    """Reconstructs the text of `tokens` as far as possible, with the start and end of each token.

    `split` contains signs at which the set splits words. These words are joined again.
    """
    joins = _joins(tokens, lang, split)
    text, offsets = "", []
    for index, token in enumerate(tokens):
        if index > 0 and not joins[index]:
            text += " "
        offsets.append((len(text), len(text) + len(token)))
        text += token
    return text, offsets


def _joins(tokens: Sequence[str], lang: str, split: str) -> list[bool]:
    """Whether each token follows the previous one without a space."""
    if lang in UNSPACED:
        return [_unspaced(tokens[index - 1], token) if index else True for index, token in enumerate(tokens)]
    joins = [False] * (len(tokens) + 1)
    apart = APART.get(lang, set())
    open_quotes: list[str] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in ('"', "'", "''", "``", "“", "”", "‘", "’"):
            side = _quote(token, before, after, tokens[index + 1 :], open_quotes)
            joins[index] |= side != "opens"
            joins[index + 1] |= side in ("opens", "inside")
        elif token in OPENING:
            joins[index + 1] = not (lang == "fr" and token == "«")
            if token == "„":
                open_quotes.append("„")
        elif token in CLOSING:
            joins[index] = token not in apart
            # "http://", "10:30"
            joins[index + 1] |= token == ":" and after == "/"
            joins[index + 1] |= (token == ":" or token in split) and _number(before) and _number(after)
        elif token in CURRENCIES:
            joins[index + 1] |= after[:1].isdigit() or token == "#" and after[:1].isalnum()
        elif token == "@":
            joins[index + 1] |= token in split and after[:1].isalnum()
        elif token in ("/", "//", "/#"):
            joins[index] |= (before[-1:].isalnum() and "://" not in before or before in (":", "/")) and bool(after)
            joins[index + 1] |= joins[index]
        elif token in ("-", "‑"):
            inside = _hyphen(before, after) if token in split else _number(before) and _number(after)
            joins[index] |= inside
            joins[index + 1] |= inside
        elif lang == "en" and (token.lower() == "n't" or token[:1] in "'’" and token[1:].lower() in CLITICS):
            joins[index] = True
        elif token[:1] in "-'" and token[1:2].isalpha() and lang in ("fr", "pt", "it"):
            # "celui" "-ci"
            joins[index] |= token[0] == "-"
        if lang in ELIDING and len(token) > 1 and token[-1] in "'’" and token[-2].isalpha():
            joins[index + 1] = True
    joins[0] = True
    return joins[:-1]


def _quote(token: str, before: str, after: str, rest: Sequence[str], open_quotes: list[str]) -> str:
    """Whether a quotation mark opens, closes, or is inside a word."""
    if token in "'’" and before[-1:].isalpha() and after.lower() in CLITICS:
        return "inside"
    if token == "“":
        # The mark closes a quotation that „ opened.
        if "„" in open_quotes:
            open_quotes.remove("„")
            return "closes"
        return "opens"
    if token in ("``", "‘"):
        open_quotes.append(token)
        return "opens"
    if token == "”":
        return "closes"
    twin = {"''": "``", "’": "‘"}.get(token, "")
    for mark in (token, twin):
        if mark and mark in open_quotes:
            open_quotes.remove(mark)
            return "closes"
    # An apostrophe without a closing one, as in "the teams' games".
    if token == "’" or token not in rest:
        return "closes"
    open_quotes.append(token)
    return "opens"


def _hyphen(before: str, after: str) -> bool:
    """Whether a hyphen is inside a word and not a dash, in a set that splits words at hyphens."""
    if not before[-1:].isalnum() or not after[:1].isalnum():
        return False
    # "преследователей - Кими"
    return not (len(before) > 1 and before.islower() and before.isalpha() and after[:1].isupper())


def _number(token: str) -> bool:
    return token[:1].isdigit() and token[-1:].isdigit()


def _unspaced(before: str, token: str) -> bool:
    """Whether Chinese text has no space between two tokens. It has spaces only between Latin words.

    Sets that split texts into characters have no spaces between Latin letters either.
    """
    both_latin = before[-1:].isascii() and before[-1:].isalpha() and token[:1].isascii() and token[:1].isalpha()
    return not (both_latin and (len(before) > 1 or len(token) > 1))


def read_spans(raw: dict, set_name: str) -> tuple[str, list[Span]]:
    """The text of a row with tokens and BIO tags, and its spans: (start, end, type), in characters.

    A handle such as "@name" names an account. Person spans of handles in tweets are ignored.
    """
    text, offsets = detokenise(raw["tokens"], raw["lang"], SPLIT.get(set_name, ""))
    spans: list[Span] = []
    last = "O"
    for (start, end), tag in zip(offsets, raw["tags"], strict=True):
        kind = tag[2:]
        # Some sets mark "@" and the following name as two spans.
        of_handle = bool(spans) and spans[-1][1] == start and text[spans[-1][0] : start] == "@"
        if tag != "O" and last[2:] == kind and (tag.startswith("I-") or of_handle):
            spans[-1] = (spans[-1][0], end, kind)
        elif tag != "O":
            spans.append((start, end, kind))
        last = tag
    if set_name in MARK_WHOLE_WORDS:
        spans = [(start, start + len(without_suffix(text[start:end], raw["lang"], kind)), kind) for start, end, kind in spans]
    return text, [span for span in spans if not text.startswith("@", span[0])]


# The most frequent Chinese surnames, by the reports on names of the Ministry of Public Security.
SURNAMES = set(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任卢姚沈钟姜崔谭陆汪范金石廖贾夏韦付"
    "方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)


def has_marked_names(raw: dict, text: str, spans: Iterable[Span]) -> bool:
    """Whether the person spans of a row are names. Weibo texts mostly mark nouns, such as "the women" and "friends"."""
    people = [text[start:end] for start, end, kind in spans if kind == "PERSON"]
    return "Weibo" not in raw["source"] or all(len(name) in (2, 3) and name[0] in SURNAMES for name in people)


@dataclass(frozen=True)
class SpanText:
    """A text with its spans: start and end in characters, and type."""

    text: str
    spans: list[Span]
    set: str
    lang: str

    def row(self) -> dict:
        return {"text": self.text, "spans": self.spans, "set": self.set, "lang": self.lang}


# Types of the sets of personal data, with guard's names for them. Rows with other types, such as passwords, are skipped.
PII_TYPES = {
    **{
        name: name
        for name in ("CREDIT_CARD", "CRYPTO", "DATE_OF_BIRTH", "DRIVER_LICENSE", "EMAIL_ADDRESS", "IBAN_CODE")
    },
    **{
        name: name
        for name in ("IP_ADDRESS", "LOCATION", "ORGANIZATION", "PASSPORT", "PERSON", "PHONE_NUMBER", "RU_INN")
    },
    **{name: name for name in ("RU_PASSPORT", "RU_SNILS", "STREET_ADDRESS", "URL", "US_SSN", "ZH_ID")},
    "EMAIL": "EMAIL_ADDRESS",
    "IBAN": "IBAN_CODE",
    "ORG": "ORGANIZATION",
    "PAN": "IN_PAN",
    "PHONE": "PHONE_NUMBER",
    "ROUTING_NUMBER": "US_ABA_ROUTING",
    "SSN": "US_SSN",
}


def names(folder: Path, file: str, split: str, langs: Sequence[str] = ()) -> Iterator[SpanText]:
    """The rows of one split of a set of names, without duplicate texts."""
    path = folder / "ner" / f"{file}.jsonl.gz"
    seen: set[str] = set()
    for raw in datasets.read_jsonl(path):
        if langs and raw["lang"] not in langs:
            continue
        text, spans = read_spans(raw, file)
        key = datasets.normalise(text)
        if key and key not in seen and datasets.split_of(text) == split and has_marked_names(raw, text, spans):
            seen.add(key)
            yield SpanText(text, spans, file, raw["lang"])


def personal_data(folder: Path, split: str) -> Iterator[SpanText]:
    """The rows of one split of all sets of personal data, without duplicate texts."""
    seen: set[str] = set()
    for path in sorted((folder / "pii").glob("*.jsonl.gz")):
        for raw in datasets.read_jsonl(path):
            text, key = raw["text"], datasets.normalise(raw["text"])
            if not key or key in seen or datasets.split_of(text) != split:
                continue
            if all(kind in PII_TYPES for *_, kind in raw["spans"]):
                seen.add(key)
                spans = [(start, end, PII_TYPES[kind]) for start, end, kind in raw["spans"]]
                yield SpanText(text, spans, path.name.split(".")[0], raw.get("lang", "en"))


def sample_rows(rows: Iterable[SpanText], most: int, seed: int) -> list[SpanText]:
    """At most `most` rows, selected by the hashes of their texts."""
    return sorted(rows, key=lambda row: datasets.digest(row.text, str(seed)))[:most]
