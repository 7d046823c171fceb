"""python -m training.language.collect --help: collects texts of many languages from packages.

- sentences, pairs of words and words from the `testdata` of the crates `lingua-<name>-language-model` (Leipzig Corpora);
- random sequences of words by frequency from the Python package `wordfreq`;
- texts of interfaces in a folder of unpacked wheels: catalogs (`*.mo`) of Django, and `translations/*.json` of Home Assistant.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path

from .languages import LABELS, NAMES

KINDS = {"sentence": "sentences", "pair": "word-pairs", "word": "single-words"}
# Codes of wordfreq's lists that differ from ours.
LISTS = {"no": "nb", "tl": "fil", "hr": "sh", "bs": "sh"}
UNSPACED = {"zh", "ja"}
PLACEHOLDER = re.compile(r"%[\w.()-]+|\{[^}]*\}|<[^>]*>|&\w+;|\$\w+|[_&](?=\w)")


def leipzig(registry: Path) -> Iterator[dict]:
    for code, name in [*NAMES.items(), ("no", "nynorsk")]:
        for kind, file in KINDS.items():
            found = list(registry.glob(f"lingua-{name}-language-model-*/testdata/{file}.txt"))
            if not found:
                raise SystemExit(f"no {file} of {name} in {registry}")
            for line in found[0].read_text().splitlines():
                if line.strip():
                    yield {"text": line.strip(), "label": code, "kind": kind, "source": found[0].parent.parent.name}


def words(seed: int, texts: int) -> Iterator[dict]:
    import wordfreq

    lists = set(wordfreq.available_languages("small"))
    for code in LABELS:
        name = LISTS.get(code, code)
        # Croatian, Bosnian and Serbian share one list, so it can't distinguish them.
        if name not in lists or name == "sh":
            continue
        frequencies = wordfreq.get_frequency_dict(name, wordlist="best")
        pick = random.Random(f"{seed} {code}")
        known = [word for word in frequencies if any(c.isalpha() for c in word)][:60000]
        # Frequencies are flattened, because common words appear in all sentences anyway.
        weights = list(accumulate(frequencies[word] ** 0.6 for word in known))
        for _ in range(texts):
            count = pick.choice([1, 1, 2, 2, 3, 4, 6, 8, 12])
            chosen = pick.choices(known, cum_weights=weights, k=count)
            text = ("" if code in UNSPACED else " ").join(chosen)
            yield {"text": text[:1].upper() + text[1:] if pick.random() < 0.4 else text, "label": code, "kind": "words"}


# Codes of interfaces that differ from ours. Codes with a region or a script have the language before the hyphen or underscore.
CODES = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he"}


def interfaces(folder: Path) -> Iterator[dict]:
    """Texts of interfaces that a language does not share with English."""
    for path in sorted(folder.rglob("*.mo")):
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        sources = {id_[0] if isinstance(id_, tuple) else id_: text for id_, text in catalog.items()}
        yield from texts_of(path.parts[path.parts.index("LC_MESSAGES") - 1], sources.items())
    for path in sorted(folder.rglob("translations/*.json")):
        english = dict(strings_of(json.loads((path.parent / "en.json").read_text("utf-8"))))
        found = strings_of(json.loads(path.read_text("utf-8")))
        yield from texts_of(path.stem, ((english.get(key) if path.stem != "en" else "", text) for key, text in found))


def strings_of(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from strings_of(part, f"{key}/{name}")
    elif isinstance(value, str):
        yield key, value


def texts_of(name: str, translations: Iterable[tuple[str | None, str]]) -> Iterator[dict]:
    code = re.split(r"[-_@.]", name)[0]
    code = CODES.get(code, code)
    if code not in NAMES and code != "no" or "@" in name or name == "sr-Latn":
        return
    for original, text in translations:
        letters = sum(c.isalpha() for c in text)
        if original is not None and original != text and not PLACEHOLDER.search(text) and "\x04" not in text:
            if letters >= (4 if code in UNSPACED else 8) and letters > 0.7 * len(text):
                yield {"text": " ".join(text.split())[:300], "label": code, "kind": "interface"}


def write(path: Path, rows: Iterator[dict], cap: int, seed: int) -> None:
    by_label: dict[str, dict[str, dict]] = {}
    for row in rows:
        by_label.setdefault(row["label"], {})[row["text"]] = row
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for label, texts in sorted(by_label.items()):
            kept = sorted(texts.values(), key=lambda row: row["text"])
            random.Random(f"{seed} {label}").shuffle(kept)
            print(path.name, label, len(texts))
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in kept[:cap])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--registry", type=Path, required=True, help="folder with the unpacked lingua crates")
    parser.add_argument("--packages", type=Path, required=True, help="folder with the unpacked wheels of Django and Home Assistant")
    parser.add_argument("--out", type=Path, required=True, help="data folder; the sets are written to its folder language")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    out = args.out / "language"
    out.mkdir(parents=True, exist_ok=True)
    write(out / "leipzig.jsonl.gz", leipzig(args.registry), 10**6, args.seed)
    write(out / "words.jsonl.gz", words(args.seed, 4000), 10**6, args.seed)
    write(out / "interfaces.jsonl.gz", interfaces(args.packages), 4000, args.seed)


if __name__ == "__main__":
    main()
