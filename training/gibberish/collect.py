"""python -m training.gibberish.collect --out FILE FOLDER: sentences of many languages from crates of the detector lingua.

Makes the set `gibberish/lingua.jsonl.gz`. FOLDER contains the unpacked crates `lingua-*-language-model` (Apache-2.0). Each contains a
thousand test sentences of the detector.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.gibberish.collect", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    with gzip.open(args.out, "wt", encoding="utf-8") as out:
        for crate in sorted(args.folder.glob("lingua-*-language-model-*")):
            language = crate.name.split("-")[1]
            for line in (crate / "testdata" / "sentences.txt").read_text("utf-8").splitlines():
                row = {"text": line.strip(), "label": "clean", "source": crate.name, "lang": language}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
