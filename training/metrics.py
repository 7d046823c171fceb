"""Quality figures and score calibration for two classes."""

from __future__ import annotations

import math

import numpy as np


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The area under the ROC curve: the probability that a positive scores higher than a negative. Ties count half."""
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left")
    upto = np.searchsorted(ordered, positive, "right")
    return float((below + upto).sum() / 2 / len(positive) / len(negative))


def threshold_at(negative: np.ndarray, rate: float) -> float:
    """The lowest threshold that at most a share `rate` of the negatives exceeds."""
    ordered = np.sort(negative)[::-1]
    return float(ordered[min(math.floor(rate * len(ordered)), len(ordered) - 1)])


def share_above(scores: np.ndarray, threshold: float) -> float:
    return float((scores > threshold).mean()) if len(scores) else float("nan")


def logit(probability: float | np.ndarray) -> float | np.ndarray:
    return np.log(probability / (1 - probability))


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def fit_line(margin: np.ndarray, label: np.ndarray, balanced: bool = False) -> tuple[float, float]:
    """Fits (scale, bias) so that sigmoid(scale * margin + bias) has the least log loss, by Newton's method.

    With `balanced`, positives and negatives have the same total weight.
    """
    weight = np.ones(len(label))
    if balanced:
        weight = np.where(label > 0, 0.5 / max(label.mean(), 1e-9), 0.5 / max(1 - label.mean(), 1e-9))
    scale, bias = 1.0, 0.0
    for _ in range(50):
        p = sigmoid(scale * margin + bias)
        error, curve = weight * (p - label), weight * np.maximum(p * (1 - p), 1e-9)
        gradient = np.array([(error * margin).mean(), error.mean()])
        cross = (curve * margin).mean()
        hessian = np.array([[(curve * margin**2).mean() + 1e-6, cross], [cross, curve.mean() + 1e-6]])
        step = np.linalg.solve(hessian, gradient)
        scale, bias = scale - float(step[0]), bias - float(step[1])
        if abs(step).max() < 1e-7:
            break
    return scale, bias
