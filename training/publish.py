"""python -m training.publish OUT MODELS/NAME: copies a trained model to the folder `models` of the package.

Word vectors go to the folder `words` beside the model: all models with the same base share them. Run `npm run generate` afterwards to write
the manifest. The new model must give the answers in `self-test.json`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from .export import WORDS

FILES = ("model.onnx", "tokenizer.json", "config.json")


def publish(source: Path, target: Path) -> None:
    """Copies the files of a model.

    Raises SystemExit if the published models have other word vectors.
    """
    words, shared = target.parent / "words" / WORDS, (source / WORDS).exists()
    if shared and words.exists() and words.read_bytes() != (source / WORDS).read_bytes():
        raise SystemExit(f"{words} belongs to another base: retrain all models that use it from one base")
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, target / name)
    # The curves in this file are those of the replaced model.
    (target / "evaluation.json").unlink(missing_ok=True)
    if not shared:
        return
    words.parent.mkdir(exist_ok=True)
    shutil.copyfile(source / WORDS, words)
    config = json.loads((target / "config.json").read_text("utf-8"))
    config["guard"]["external_data"] = "../words"
    (target / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.publish", description=__doc__)
    parser.add_argument("source", type=Path, help="the --out folder of a training")
    parser.add_argument("target", type=Path, help="a folder in models")
    args = parser.parse_args()
    publish(args.source, args.target)


if __name__ == "__main__":
    main()
