"""Quality figures and score calibration for two classes."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


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


def fit_line(margin: np.ndarray, label: np.ndarray, balanced: bool = False) -> tuple[float, float]:
    """Fits (scale, bias) so that sigmoid(scale * margin + bias) has the least log loss.

    With `balanced`, positives and negatives have the same total weight.
    """
    weight = np.ones(len(label))
    if balanced:
        weight = np.where(label > 0, 0.5 / max(label.mean(), 1e-9), 0.5 / max(1 - label.mean(), 1e-9))

    def loss(line: np.ndarray) -> tuple[float, np.ndarray]:
        told = line[0] * margin + line[1]
        error = weight * (expit(told) - label)
        return (weight * (np.logaddexp(0, told) - label * told)).mean(), np.array([(error * margin).mean(), error.mean()])

    scale, bias = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B", options={"ftol": 1e-12}).x
    return float(scale), float(bias)
