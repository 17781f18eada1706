"""Pictures that are bent so that some of their points come to lie elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.image.splines import interpolate_spline
from penstock.ir.tensor import Tensor
from penstock.ops.image_warping import dense_image_warp

__all__ = ["sparse_image_warp"]


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Pictures bent by a spline through the flows of control points, and the flow of each pixel.

    Args:
      image: `[batch, height, width, channels]`, of known size.
      source_control_point_locations: `[batch, n, 2]`, rows and columns.
      dest_control_point_locations: where those points come to lie.
      num_boundary_points: how many points of each edge, from corner to corner, stay in place.
    """
    pixels = tf.convert_to_tensor(image)
    source = tf.convert_to_tensor(source_control_point_locations)
    target = tf.convert_to_tensor(dest_control_point_locations)
    flows = target - source
    with tf.name_scope(name):
        batch, height, width, _ = (int(size) for size in pixels.get_shape())
        if num_boundary_points > 0:
            edge = _on_edges(height, width, num_boundary_points + 1)
            target = tf.concat([target, _repeated(edge, batch, target.dtype)], 1)
            flows = tf.concat([flows, _repeated(np.zeros_like(edge), batch, flows.dtype)], 1)
        places = np.indices((height, width)).reshape(2, -1).T.astype(np.float64)
        each = interpolate_spline(
            target,
            flows,
            _repeated(places, batch, pixels.dtype),
            interpolation_order,
            regularization_weight,
        )
        dense = tf.reshape(each, [batch, height, width, 2])
        return dense_image_warp(pixels, dense), dense


def _repeated(points: np.ndarray, batch: int, dtype: Any) -> Tensor:
    made: Tensor = tf.constant(np.tile(points[np.newaxis], [batch, 1, 1]), dtype=dtype)
    return made


def _on_edges(height: int, width: int, per_edge: int) -> np.ndarray:
    """Points of a picture's edges, equally far from each other, corners included."""
    rows, columns = np.linspace(0, height - 1, per_edge), np.linspace(0, width - 1, per_edge)
    ys, xs = np.meshgrid(rows, columns, indexing="ij")
    outside = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    return np.stack([ys[outside], xs[outside]], axis=-1)
