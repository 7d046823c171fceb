"""Fits a linear model with `guard-dev fit`, in one thread."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from .features import guard_dev
from .model import Settings, Weights, select


def fit(
    matrix: sparse.csr_matrix,
    labels: np.ndarray,
    row_weights: np.ndarray,
    originals: np.ndarray,
    count: int,
    settings: Settings,
) -> Weights:
    """Multinomial logistic regression on all buckets, or on those of `select` if the settings limit their number.

    `originals` marks rows that are whole texts, not pieces of others. Only they count for the frequency of a bucket.
    """
    texts = matrix[np.flatnonzero(originals)]
    bounded = settings.buckets is not None
    chosen = select(texts, labels[originals], count, settings) if bounded else np.arange(matrix.shape[1])
    features = matrix[:, chosen] if bounded else matrix
    print(f"{len(chosen)} buckets, {features.nnz / features.shape[0]:.0f} of them in a row", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        features_file, labels_file, out_file = (Path(folder) / name for name in ("features", "labels", "out"))
        with features_file.open("wb") as file:
            file.write(np.array([*features.shape, features.nnz], "<u8").tobytes())
            for numbers, kind in ((features.indptr, "<u8"), (features.indices, "<u4"), (features.data, "<f4")):
                numbers.astype(kind).tofile(file)
        pairs = np.empty(len(labels), dtype=[("label", "<u4"), ("weight", "<f4")])
        pairs["label"], pairs["weight"] = labels, row_weights
        labels_file.write_bytes(pairs.tobytes())
        numbers = [count, settings.epochs, settings.rate, settings.dropout, settings.smoothing, settings.seed]
        subprocess.run([guard_dev(), "fit", features_file, labels_file, out_file, *map(str, numbers)], check=True)
        found = np.fromfile(out_file, "<f4").reshape(len(chosen) + 1, count)
    weights = np.zeros((matrix.shape[1], count), np.float32)
    # A bucket that occurs in few texts does not generalize, so it gets no weight.
    rows_with = np.bincount(texts.indices, minlength=matrix.shape[1])[chosen]
    weights[chosen] = found[1:] * (rows_with >= settings.seen)[:, None]
    return Weights(weights, found[0])
