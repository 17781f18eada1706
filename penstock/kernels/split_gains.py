"""How much splitting a node of a boosted tree gains, for many splits at once.

The loss is taken to be quadratic: with a gradient g and a hessian h, a leaf of weight w costs
g·w + (h + l2)·w²/2 + l1·|w|. T. Chen and C. Guestrin, XGBoost: a scalable tree boosting system
(2016).
"""

from __future__ import annotations

import numpy as np

TOLERANCE = np.float32(1e-15)


def weights_and_gains(
    gradients: np.ndarray, hessians: np.ndarray, l1: float, l2: float
) -> tuple[np.ndarray, np.ndarray]:
    """The best weights [n, logits] of n leaves, and what they gain.

    Args:
      gradients: [n, logits].
      hessians: [n, logits] for diagonal hessians, [n, logits²] for whole ones.
    """
    logits = gradients.shape[1]
    if logits == 1:
        return _of_one_logit(gradients[:, 0], hessians[:, 0], np.float32(l1), np.float32(l2))
    if hessians.shape[1] == logits:
        return _of_diagonal(gradients, hessians + np.float32(l2))
    square = hessians.reshape(-1, logits, logits) + np.float32(l2) * np.eye(logits, dtype="f")
    return _of_matrices(gradients, square)


def _of_one_logit(
    gradients: np.ndarray, hessians: np.ndarray, l1: np.float32, l2: np.float32
) -> tuple[np.ndarray, np.ndarray]:
    shrunk = gradients
    if l1 > 0:
        shrunk = np.sign(gradients) * np.maximum(np.abs(gradients) - l1, np.float32(0))
    curvature = hessians + l2
    flat = curvature <= TOLERANCE
    weights = np.where(flat, np.float32(0), -shrunk / np.where(flat, np.float32(1), curvature))
    return weights[:, None], -shrunk * weights


def _of_diagonal(gradients: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    safe = np.where(curvature == 0, np.float32(1), curvature)
    weights = np.where(curvature == 0, np.float32(0), -(np.float32(1) / safe) * gradients)
    return weights, (-gradients * weights).sum(axis=1)


def _of_matrices(gradients: np.ndarray, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    solved = [
        np.linalg.lstsq(matrix, gradient, rcond=None)[0]
        for matrix, gradient in zip(matrices, gradients, strict=True)
    ]
    weights = -np.array(solved, np.float32).reshape(gradients.shape)
    return weights, (-gradients * weights).sum(axis=1)


def first_largest(gains: np.ndarray) -> int:
    """The first of the largest gains; those that hardly differ count as equal."""
    return int(np.argmax(gains.max() - gains < TOLERANCE))
