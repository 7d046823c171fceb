"""python -m training.publish OUT MODELS/NAME: puts a trained model into the folder `models`, which the package contains.

Word vectors go to the folder `words` beside the model, where all models that were made from one base share them. `npm run generate`
writes the manifest of the model afterwards; what `self-test.json` says of its texts must hold for the new model too.
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

    Raises SystemExit where the published models have other word vectors.
    """
    words, shared = target.parent / "words" / WORDS, (source / WORDS).exists()
    if shared and words.exists() and words.read_bytes() != (source / WORDS).read_bytes():
        raise SystemExit(f"{words} belongs to another base: all models that use it must be made anew from one base")
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, target / name)
    # The curves in this file are those of the model that is replaced.
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
    parser.add_argument("source", type=Path, help="what a training wrote")
    parser.add_argument("target", type=Path, help="a folder in models")
    args = parser.parse_args()
    publish(args.source, args.target)


if __name__ == "__main__":
    main()
