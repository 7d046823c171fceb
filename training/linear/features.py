"""Features of texts. `guard-dev features` computes them with the Rust code of the product."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

ROOT = Path(__file__).parent.parent.parent


@cache
def guard_dev() -> Path:
    """Builds the program of crates/guard-dev if needed, and returns its path."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "guard-dev"], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "guard-dev"


def matrix(texts: Iterable[str], spec: dict) -> sparse.csr_matrix:
    """The feature matrix of texts: a row for each text, a column for each bucket. `spec` is `features` of the model's config.json."""
    with tempfile.TemporaryDirectory() as folder:
        spec_file, rows_file, out_file = (Path(folder) / name for name in ("spec.json", "rows.jsonl", "out.bin"))
        spec_file.write_text(json.dumps(spec))
        with rows_file.open("w", encoding="utf-8") as rows:
            rows.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        with rows_file.open("rb") as rows:
            subprocess.run([guard_dev(), "features", spec_file, out_file], stdin=rows, check=True)
        return read(out_file)


def read(path: Path) -> sparse.csr_matrix:
    with path.open("rb") as file:
        rows, buckets, values = np.fromfile(file, "<u8", 3).tolist()
        starts = np.fromfile(file, "<u8", rows + 1).astype(np.int64)
        columns = np.fromfile(file, "<u4", values).astype(np.int32)
        data = np.fromfile(file, "<f4", values)
    found = sparse.csr_matrix((data, columns, starts), shape=(rows, buckets))
    # Features of two groups may share a bucket, so their values are summed.
    found.sum_duplicates()
    return found
