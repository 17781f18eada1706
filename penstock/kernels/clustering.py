"""Kernels of clustering: distances are one product, draws are those of TensorFlow's generator."""

import math

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.philox import Stream
from penstock.kernels.registry import kernel
from penstock.kernels.single_draws import Draws


def _require(holds, message):
    if not holds:
        raise InvalidArgumentError(None, None, message)


@kernel("NearestNeighbors", fresh=True)
def _(node):
    def run(points, centers, k):
        _require(points.dim() == 2, "Input points should be a matrix.")
        _require(centers.dim() == 2, "Input centers should be a matrix.")
        _require(k.dim() == 0, "Input k should be a scalar.")
        _require(len(points), "Expected points.rows() > 0.")
        _require(
            points.shape[1] == centers.shape[1],
            "Expected point_dimensions == center_dimensions: "
            f"{points.shape[1]} vs {centers.shape[1]}.",
        )
        _require(int(k) >= 0, "Expected k >= 0.")
        return _nearest(points, centers, min(int(k), len(centers)))

    return run


def _nearest(points, centers, k):
    if k == 0:
        return points.new_empty((len(points), 0), dtype=torch.int64), points[:, :0].clone()
    norms = (0.5 * points.square().sum(1, keepdim=True), 0.5 * centers.square().sum(1))
    half = (norms[0] - points @ centers.T) + norms[1]
    if k == 1:
        indices = half.argmin(1, keepdim=True)
    else:
        indices = half.argsort(dim=1, stable=True)[:, :k]
    return indices, (2 * half.gather(1, indices)).clamp_(min=0)


@kernel("KMC2ChainInitialization", fresh=True)
def _(node):
    def run(distances, seed):
        _require(distances.dim() == 1, "Input distances should be a vector.")
        _require(seed.dim() == 0, "Input seed should be a scalar.")
        _require(len(distances), "Expected distances_tensor.size() > 0.")
        draws, chosen = Draws(Stream(int(seed) % 2**64, 0)), 0
        candidates = distances.numpy(force=True)
        for index in range(1, len(candidates)):
            if candidates[index] > draws.below_one() * candidates[chosen]:
                chosen = index
        return torch.tensor(chosen, dtype=torch.int64)

    return run


@kernel("KmeansPlusPlusInitialization", fresh=True)
def _(node):
    def run(points, num_to_sample, seed, retries):
        _require(points.dim() == 2, "Input points should be a matrix.")
        _require(num_to_sample.dim() == 0, "Input num_to_sample should be a scalar.")
        _require(seed.dim() == 0, "Input seed should be a scalar.")
        _require(retries.dim() == 0, "Input num_retries_per_sample should be a scalar.")
        count, again = int(num_to_sample), int(retries)
        _require(len(points), "Expected points.rows() > 0.")
        _require(count > 0, "Expected num_to_sample > 0.")
        _require(
            count <= len(points),
            f"Expected num_to_sample <= points.rows(). {count} vs {len(points)}.",
        )
        if again < 0:
            again = 2 + int(math.log(count))
        indices = _spread(
            points.numpy(force=True), count, again, Draws(Stream(int(seed) % 2**64, 0))
        )
        return points[torch.tensor(indices, device=points.device)]

    return run


def _spread(points, count, retries, draws):
    """Indices of `count` points; each new one is the best of `1 + retries` draws."""
    half_norms = np.float32(0.5) * np.square(points).sum(1)
    nearest = np.full(len(points), np.inf, np.float32)
    chosen = []
    for _ in range(count):
        cumulated = np.cumsum(nearest) if chosen else None
        best_sum, best, best_nearest = np.float32(np.inf), 0, nearest
        for _ in range(1 + retries):
            index = _draw(draws, len(points), chosen, cumulated)
            distances = (half_norms - points @ points[index]) + half_norms[index]
            with_it = np.minimum(nearest, distances)
            if (total := with_it.sum()) < best_sum or not retries:
                best_sum, best, best_nearest = total, index, with_it
        nearest = best_nearest
        chosen.append(best)
    return chosen


def _draw(draws, count, chosen, cumulated):
    if cumulated is None:
        return draws.below(count, words=2)
    total = cumulated[-1]
    while True:
        if total > 0:
            place = np.searchsorted(cumulated, draws.below_one() * total, side="right")
            index = min(int(place), count - 1)
        else:  # all points are where centers are already
            index = draws.below(count, words=2)
        if index not in chosen:
            return index
