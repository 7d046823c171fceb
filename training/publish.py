"""python -m training.publish OUT MODELS/NAME: copies a trained model to the folder `models` of the package.

Word vectors and their tokenizer go to the folder `words` beside the model: all models with the same base share them. Run `npm run generate` afterwards to write
the manifest. The new model must give the answers in `self-test.json`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from .export import WORDS

FILES = ("model.onnx", "config.json")
TOKENIZER = "tokenizer.json"


def publish(source: Path, target: Path) -> None:
    """Copies the files of a model.

    Raises SystemExit if the published models have other word vectors or another tokenizer.
    """
    words, is_shared = target.parent / "words", (source / WORDS).exists()
    shared = (WORDS, TOKENIZER) if is_shared else ()
    for name in shared:
        if (words / name).exists() and (words / name).read_bytes() != (source / name).read_bytes():
            raise SystemExit(f"{words / name} belongs to another base: retrain all models that use it from one base")
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES if is_shared else (*FILES, TOKENIZER):
        shutil.copyfile(source / name, target / name)
    # The curves in this file are those of the replaced model.
    (target / "evaluation.json").unlink(missing_ok=True)
    if not is_shared:
        return
    words.mkdir(exist_ok=True)
    for name in shared:
        shutil.copyfile(source / name, words / name)
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
