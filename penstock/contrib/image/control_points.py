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
            target, flows = _add_zero_flow_controls_at_boundary(
                target, flows, height, width, num_boundary_points - 1
            )
        places = _get_grid_locations(height, width).reshape(-1, 2)
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


def _get_grid_locations(image_height: int, image_width: int) -> np.ndarray:
    """Row and column of each pixel."""
    return np.moveaxis(np.indices((image_height, image_width)), 0, -1).astype(np.float64)


def _get_boundary_locations(
    image_height: int, image_width: int, num_points_per_edge: int
) -> np.ndarray:
    """The corners of a picture, and points of its edges between them, equally far apart."""
    rows = np.linspace(0, image_height - 1, num_points_per_edge + 2)
    columns = np.linspace(0, image_width - 1, num_points_per_edge + 2)
    ys, xs = np.meshgrid(rows, columns, indexing="ij")
    outside = (xs == 0) | (xs == image_width - 1) | (ys == 0) | (ys == image_height - 1)
    return np.stack([ys[outside], xs[outside]], axis=-1)


def _add_zero_flow_controls_at_boundary(
    control_point_locations: Any,
    control_point_flows: Any,
    image_height: int,
    image_width: int,
    boundary_points_per_edge: int,
) -> tuple[Tensor, Tensor]:
    """Control points and their flows, with points of the edges that stay in place."""
    batch = int(control_point_locations.get_shape()[0])
    edge = _get_boundary_locations(image_height, image_width, boundary_points_per_edge)
    points = _repeated(edge, batch, control_point_locations.dtype)
    flows = _repeated(np.zeros_like(edge), batch, control_point_flows.dtype)
    return (
        tf.concat([control_point_locations, points], 1),
        tf.concat([control_point_flows, flows], 1),
    )
