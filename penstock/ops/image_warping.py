"""Images whose pixels move each by its own way."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import binary, broadcasting, casts, elementwise, filling, gather, joining, shaping

__all__ = ["dense_image_warp", "interpolate_bilinear"]


def interpolate_bilinear(
    grid: Any, query_points: Any, name: str | None = "interpolate_bilinear", indexing: str = "ij"
) -> Tensor:
    """The values of images at points between pixels; beyond the border, those of the border.

    Args:
      grid: images, `[batch, height, width, channels]`, of at least 2 x 2 pixels.
      query_points: `[batch, N, 2]`.
      indexing: "ij" for points (row, column), "xy" for (column, row).
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name, "interpolate_bilinear", [grid, query_points]):
        grid = convert_to_tensor(grid)
        points = convert_to_tensor(query_points)
        _check_shapes(grid, points)
        sizes = shaping.shape(grid)
        rows, columns = joining.unstack(points, axis=2)
        if indexing == "xy":
            rows, columns = columns, rows
        top, down = _cell(rows, sizes[1], grid.dtype)
        left, right = _cell(columns, sizes[2], grid.dtype)
        batch = filling.range(sizes[0])[:, None] + filling.zeros_like(top)

        def pixels(row: Tensor, column: Tensor) -> Tensor:
            return gather.gather_nd(grid, joining.stack([batch, row, column], axis=-1))

        def between(first: Tensor, second: Tensor, part: Tensor) -> Tensor:
            return part * (second - first) + first

        upper = between(pixels(top, left), pixels(top, left + 1), right)
        lower = between(pixels(top + 1, left), pixels(top + 1, left + 1), right)
        return between(upper, lower, down)


def _check_shapes(grid: Tensor, points: Tensor) -> None:
    if grid.shape.ndims not in (None, 4):
        raise ValueError("Grid must be 4 dimensional. Received size: ", grid.shape)
    if points.shape.ndims not in (None, 3):
        raise ValueError("Query points must be 3 dimensional.")
    if points.shape.ndims == 3 and points.shape.as_list()[2] not in (None, 2):
        raise ValueError("Query points must be size 2 in dim 2.")
    if grid.shape.ndims == 4 and any(size in (0, 1) for size in grid.shape.as_list()[1:3]):
        raise ValueError("Grid must be at least 2x2.")


def _cell(positions: Tensor, size: Tensor, dtype: Any) -> tuple[Tensor, Tensor]:
    """The pixel before each position, never the last, and the part of the way to the next."""
    last = casts.cast(size - 2, positions.dtype)
    zero = filling.zeros([], positions.dtype)
    before = binary.minimum(binary.maximum(zero, elementwise.floor(positions)), last)
    part = binary.minimum(binary.maximum(zero, positions - before), 1.0)
    return casts.cast(before, dtypes.int32), casts.cast(part, dtype)[..., None]


def dense_image_warp(image: Any, flow: Any, name: str | None = "dense_image_warp") -> Tensor:
    """Images whose pixel (row, column) is that at (row, column) - flow of the given ones.

    Args:
      image: `[batch, height, width, channels]`.
      flow: `[batch, height, width, 2]`, in pixels.
    """
    with name_scope(name, "dense_image_warp", [image, flow]):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        sizes = shaping.shape(image)
        grid = broadcasting.meshgrid(
            filling.range(sizes[1]), filling.range(sizes[2]), indexing="ij"
        )
        places = casts.cast(joining.stack(grid, axis=2), flow.dtype)[None]
        points = shaping.reshape(places - flow, [sizes[0], sizes[1] * sizes[2], 2])
        warped = shaping.reshape(interpolate_bilinear(image, points), sizes)
        warped.set_shape(image.shape)
        return warped


#: The name that TensorFlow has for it.
_interpolate_bilinear = interpolate_bilinear
