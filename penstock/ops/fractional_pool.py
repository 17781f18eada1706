"""Pooling by a ratio that need not be whole: regions of two sizes in a random order."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape
from penstock.ir.registry import OpSpec, attr, op, types
from penstock.ir.type_sets import INDEX, SINGLE_DOUBLE
from penstock.ops import window
from penstock.ops.seeds import get_seed
from penstock.ops.shape_checks import with_rank
from penstock.ops.shaping import shape
from penstock.shapes import Shape

__all__ = [
    "fractional_avg_pool",
    "fractional_avg_pool_v2",
    "fractional_max_pool",
    "fractional_max_pool_v2",
]

_POOL_ATTRS: dict[str, Any] = {
    "pooling_ratio": attr("list(float)", minimum=4),
    "pseudo_random": False,
    "overlapping": False,
    "deterministic": False,
    "seed": 0,
    "seed2": 0,
    "T": types(SINGLE_DOUBLE, INDEX),
}
FractionalMaxPool = op(
    "FractionalMaxPool(value: T) -> output: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64",
    **_POOL_ATTRS,
)
FractionalAvgPool = op(
    "FractionalAvgPool(value: T) -> output: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64",
    **_POOL_ATTRS,
)
FractionalMaxPoolGrad = op(
    "FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, "
    "row_pooling_sequence: int64, col_pooling_sequence: int64) -> output: T",
    overlapping=False,
    T=types(SINGLE_DOUBLE, INDEX),
)
FractionalAvgPoolGrad = op(
    "FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, "
    "row_pooling_sequence: int64, col_pooling_sequence: int64) -> output: T",
    overlapping=False,
    T=types(SINGLE_DOUBLE, INDEX),
)


@FractionalMaxPool.shape
@FractionalAvgPool.shape
def _(op: Any, value: Shape) -> list[Shape]:
    sizes = with_rank(value, 4)
    ratios = op.attrs["pooling_ratio"]
    if len(ratios) != 4:
        raise ValueError("pooling_ratio field must specify 4 dimensions")
    for ratio in ratios:
        if ratio < 1:
            raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")
    pooled = [
        None if size is None else math.floor(size / ratio)
        for size, ratio in zip(sizes, ratios, strict=True)
    ]
    borders: list[Shape] = [(None if count is None else count + 1,) for count in pooled[1:3]]
    return [tuple(pooled), *borders]


@FractionalMaxPoolGrad.shape
def _(op: Any, input: Shape, output: Shape, grad: Shape, rows: Shape, columns: Shape) -> Shape:
    return with_rank(input, 4)


@FractionalAvgPoolGrad.shape
def _(op: Any, sizes: Shape, grad: Shape, rows: Shape, columns: Shape) -> Shape:
    known = constant_shape(op.inputs[0])
    return (None,) * 4 if known is None else known


@FractionalMaxPool.gradient
def _(op: Any, grad: Any, *_: Any) -> Any:
    pooled, rows, columns = op.outputs
    return FractionalMaxPoolGrad(
        op.inputs[0], pooled, grad, rows, columns, overlapping=op.attrs["overlapping"]
    )


@FractionalAvgPool.gradient
def _(op: Any, grad: Any, *_: Any) -> Any:
    _, rows, columns = op.outputs
    return FractionalAvgPoolGrad(
        shape(op.inputs[0], out_type=dtypes.int64),
        grad,
        rows,
        columns,
        overlapping=op.attrs["overlapping"],
    )


# Functions ------------------------------------------------------------------------------------


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The maximum of each region, where regions have two sizes in a random order.

    Args:
      value: A batch of images [batch, height, width, channels].
      pooling_ratio: [1, rows, columns, 1]: how many times smaller the result is, at least 1.0.
      pseudo_random: Whether sizes alternate as evenly as they can, from a random start.
      overlapping: Whether a region shares its last row and column with the next.
      deterministic: Whether every step draws the same regions; seeds need it.

    Returns:
      The result, and where regions start in rows and in columns.
    """
    return FractionalMaxPool(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The mean of each region; see `fractional_max_pool`."""
    return FractionalAvgPool(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


def fractional_max_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """The maximum of each region; `pooling_ratio` may be one number, or (rows, columns)."""
    return _pool_v2(FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


def fractional_avg_pool_v2(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """The mean of each region; `pooling_ratio` may be one number, or (rows, columns)."""
    return _pool_v2(FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


def _pool_v2(
    spec: OpSpec,
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool,
    overlapping: bool,
    seed: int,
    name: str | None,
) -> Any:
    drawn = get_seed(seed) if seed else (0, 0)
    return spec(
        value,
        pooling_ratio=window.per_dimension(pooling_ratio, 2, 3, "pooling_ratio"),
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=bool(seed),
        seed=drawn[0],
        seed2=drawn[1],
        name=name,
    )
