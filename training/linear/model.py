"""Training, calibration, quantization and storage of a linear model."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

MAGIC = b"GLM1"
MODEL_TYPE = "guard-linear"


@dataclass(frozen=True)
class Settings:
    epochs: int = 12
    rate: float = 0.05
    smoothing: float = 0.02
    # The number of buckets with weights: those that vary most between labels. None means all.
    buckets: int | None = None
    # The number of weights that are kept, the largest first. Each takes two bytes of the model file.
    weights: int = 800_000
    # The share of a row's features that each training step drops, so that no single word decides.
    dropout: float = 0.2
    # A bucket in fewer training rows gets no weight.
    seen: int = 3
    seed: int = 20240611


@dataclass
class Weights:
    """Weights `[buckets, labels]` and biases `[labels]`, in float64."""

    weights: np.ndarray
    biases: np.ndarray

    def logits(self, features: sparse.csr_matrix) -> np.ndarray:
        return features @ self.weights + self.biases


@dataclass
class Quantized:
    """The content of model.bin: int8 values `[buckets, labels]`, and a scale and a bias for each label."""

    values: np.ndarray
    scales: np.ndarray
    biases: np.ndarray

    def logits(self, features: sparse.csr_matrix) -> np.ndarray:
        return (features @ self.values.astype(np.float32)) * self.scales + self.biases

    def probabilities(self, features: sparse.csr_matrix) -> np.ndarray:
        return softmax(self.logits(features))

    def save(self, path: Path) -> None:
        buckets, labels = self.values.shape
        rows, columns = np.nonzero(self.values)
        counts = np.bincount(rows, minlength=buckets)
        used = counts > 0
        with path.open("wb") as file:
            file.write(MAGIC + struct.pack("<III", buckets, labels, len(rows)))
            file.write(self.scales.astype("<f4").tobytes() + self.biases.astype("<f4").tobytes())
            file.write(np.packbits(used, bitorder="little").tobytes() + counts[used].astype(np.uint8).tobytes())
            file.write(columns.astype(np.uint8).tobytes())
            file.write(self.values[rows, columns].astype(np.int8).tobytes())

    @classmethod
    def load(cls, path: Path) -> Quantized:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise SystemExit(f"{path} is not a linear model")
            buckets, labels, count = struct.unpack("<III", file.read(12))
            scales, biases = (np.fromfile(file, "<f4", labels) for _ in range(2))
            used = np.unpackbits(np.fromfile(file, np.uint8, -(-buckets // 8)), bitorder="little")[:buckets] > 0
            counts = np.zeros(buckets, np.uint8)
            counts[used] = np.fromfile(file, np.uint8, int(used.sum()))
            columns, weights = np.fromfile(file, np.uint8, count), np.fromfile(file, np.int8, count)
        values = np.zeros((buckets, labels), np.int8)
        values[np.repeat(np.arange(buckets), counts), columns] = weights
        return cls(values, scales, biases)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def select(features: sparse.csr_matrix, labels: np.ndarray, count: int, settings: Settings) -> np.ndarray:
    """Selects the buckets that occur in enough rows and whose frequency varies most between the labels."""
    rows = np.bincount(features.indices, minlength=features.shape[1])
    frequent = np.flatnonzero(rows >= settings.seen)
    presence = features[:, frequent]
    presence.data[:] = 1
    owners = sparse.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(count, len(labels)))
    sizes = np.bincount(labels, minlength=count)
    # Every label has the same weight, independent of its number of rows.
    shares = np.asarray((owners @ presence).todense())[sizes > 0] / sizes[sizes > 0][:, None]
    mean = shares.mean(axis=0)
    scores = ((shares - mean) ** 2).sum(axis=0) / (mean * (1 - mean) + 0.02)
    return np.sort(frequent[np.argsort(-scores, kind="stable")[: settings.buckets]])


def quantize(weights: Weights, settings: Settings) -> Quantized:
    """Keeps the largest weights, as multiples of 1/127 of the largest weight of each label."""
    table = weights.weights
    if table.shape[1] > 2:
        # Softmax ignores the common part of the weights of all labels. Without it most weights are near 0 and can be dropped.
        table = table - np.median(table, axis=1, keepdims=True)
    magnitudes = np.abs(table[table != 0])
    if len(magnitudes) > settings.weights:
        edge = np.partition(magnitudes, -settings.weights)[-settings.weights]
        table = np.where(np.abs(table) >= edge, table, 0)
    # A quantile instead of the maximum, so that a few very large weights do not coarsen all others.
    tops = np.array([np.quantile(np.abs(c[c != 0]), 0.9995) if c.any() else 1.0 for c in table.T])
    scales = tops / 127
    return Quantized(np.clip(np.rint(table / scales), -127, 127).astype(np.int8), scales, weights.biases)


def calibrate(model: Quantized, features: sparse.csr_matrix, labels: np.ndarray) -> float:
    """Folds the temperature with the least log loss into the model, and returns the factor of the logits."""
    logits = model.logits(features)

    def loss(factor: float) -> float:
        return float(-np.log(softmax(logits * factor)[np.arange(len(labels)), labels] + 1e-12).mean())

    factors = np.exp(np.linspace(np.log(0.2), np.log(8), 150))
    best = float(min(factors, key=loss))
    model.scales, model.biases = model.scales * best, model.biases * best
    return best


def write_config(
    path: Path, labels: Sequence[str], features: dict, guard: dict, aliases: dict[str, str] | None = None
) -> None:
    """Writes a config.json with the labels in Hugging Face's format, and with our own keys `features`, `aliases` and `guard`."""
    config = {
        "model_type": MODEL_TYPE,
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "features": features,
        **({"aliases": aliases} if aliases else {}),
        "guard": guard,
    }
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n")


def read_config(path: Path) -> dict:
    return json.loads(path.read_text())
