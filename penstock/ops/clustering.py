"""Nearest centers of points, and the choice of the first centers."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

__all__ = ["kmc2_chain_initialization", "kmeans_plus_plus_initialization", "nearest_neighbors"]

NearestNeighbors = op(
    "NearestNeighbors(points: float32, centers: float32, k: int64) -> "
    "nearest_center_indices: int64, nearest_center_distances: float32"
)
KmeansPlusPlusInitialization = op(
    "KmeansPlusPlusInitialization(points: float32, num_to_sample: int64, seed: int64, "
    "num_retries_per_sample: int64) -> samples: float32"
)
KMC2ChainInitialization = op(
    "KMC2ChainInitialization(distances: float32, seed: int64) -> index: int64"
)

not_differentiable("NearestNeighbors", "KmeansPlusPlusInitialization", "KMC2ChainInitialization")


@NearestNeighbors.shape
def _(op: Any, points: Shape, centers: Shape, k: Shape) -> list[Shape]:
    # TensorFlow tells nothing here; its graphs rely on that where centers get their shape later.
    return [None, None]


@KmeansPlusPlusInitialization.shape
def _(op: Any, points: Shape, num_to_sample: Shape, seed: Shape, retries: Shape) -> Shape:
    return None


@KMC2ChainInitialization.shape
def _(op: Any, distances: Shape, seed: Shape) -> Shape:
    return ()


def nearest_neighbors(points: Any, centers: Any, k: Any, name: str | None = None) -> Any:
    """The `k` nearest centers of each point: their indices, and the squared distances."""
    return NearestNeighbors(points, centers, k, name=name)


def kmeans_plus_plus_initialization(
    points: Any, num_to_sample: Any, seed: Any, num_retries_per_sample: Any, name: str | None = None
) -> Tensor:
    """Points far from each other, drawn in proportion to the squared distance to those chosen.

    Args:
      num_retries_per_sample: how many more are drawn for each, of which the best is taken; a number
        that grows with the logarithm of `num_to_sample` if negative.
    """
    return KmeansPlusPlusInitialization(
        points, num_to_sample, seed, num_retries_per_sample, name=name
    )


def kmc2_chain_initialization(distances: Any, seed: Any, name: str | None = None) -> Tensor:
    """The index of the next center: the end of a Markov chain over the points' distances."""
    return KMC2ChainInitialization(distances, seed, name=name)
