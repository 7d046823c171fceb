"""python -m training.publish OUT MODELS/NAME: copies a trained model to the folder `models` of the package.

Word vectors and their tokenizer go to the folder `words` beside the model: all models with the same base share them. With `--shared-layers 6`,
the six lowest layers go to the folder `shared-layers`, and other models with equal layers share them. Run `npm run generate` afterwards to
write the manifest. The new model must give the answers in `self-test.json`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import onnx

from .export import WORDS
from .shared_layers import split

GRAPH, CONFIG, TOKENIZER = "model.onnx", "config.json", "tokenizer.json"
# The folder of the shared layers, beside those of the models.
LAYERS = "shared-layers"


def publish(source: Path, target: Path, shared_layers: int = 0, replace: bool = False) -> None:
    """Copies the files of a model.

    The lowest `shared_layers` layers go to a file of their own. `replace` allows other layers than those of published models.

    Raises SystemExit if the published models have other word vectors, another tokenizer or other shared layers.
    """
    words, is_shared = target.parent / "words", (source / WORDS).exists()
    shared = (WORDS, TOKENIZER) if is_shared else ()
    for name in shared:
        if (words / name).exists() and (words / name).read_bytes() != (source / name).read_bytes():
            raise SystemExit(f"{words / name} belongs to another base: retrain all models that use it from one base")
    config = json.loads((source / CONFIG).read_text("utf-8"))
    lower, graph = b"", (source / GRAPH).read_bytes()
    layers = target.parent / LAYERS / GRAPH
    if shared_layers:
        whole = onnx.load_model_from_string(graph)
        parts = split(whole, shared_layers, config["hidden_size"])
        lower, graph = (part.SerializeToString(deterministic=True) for part in parts)
        if not replace and layers.exists() and layers.read_bytes() != lower:
            raise SystemExit(f"{layers} has other weights: publish all models that share it, the first with --replace")
    target.mkdir(parents=True, exist_ok=True)
    (target / GRAPH).write_bytes(graph)
    for name in (CONFIG,) if is_shared else (CONFIG, TOKENIZER):
        shutil.copyfile(source / name, target / name)
    # The curves in this file are those of the replaced model.
    (target / "evaluation.json").unlink(missing_ok=True)
    if not is_shared:
        return
    words.mkdir(exist_ok=True)
    for name in shared:
        shutil.copyfile(source / name, words / name)
    config["guard"]["external_data"] = "../words"
    if shared_layers:
        layers.parent.mkdir(exist_ok=True)
        layers.write_bytes(lower)
        config["guard"]["shared_layers"] = f"../{LAYERS}/{GRAPH}"
    (target / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.publish", description=__doc__)
    parser.add_argument("source", type=Path, help="the --out folder of a training")
    parser.add_argument("target", type=Path, help="a folder in models")
    parser.add_argument("--shared-layers", type=int, default=0, help="number of lowest layers that other models share")
    parser.add_argument("--replace", action="store_true", help="replace shared layers of published models")
    args = parser.parse_args()
    publish(args.source, args.target, args.shared_layers, args.replace)


if __name__ == "__main__":
    main()
