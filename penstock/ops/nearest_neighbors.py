"""Which buckets of hash tables to look into for points near a given one."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.registry import not_differentiable, op
from penstock.shapes import Shape

__all__ = ["hyperplane_lsh_probes"]

HyperplaneLSHProbes = op(
    "HyperplaneLSHProbes(point_hyperplane_product: CoordinateType, num_tables: int32, "
    "num_hyperplanes_per_table: int32, num_probes: int32) -> probes: int32, table_ids: int32",
    CoordinateType=(dtypes.float32, dtypes.float64),
)

not_differentiable("HyperplaneLSHProbes")


@HyperplaneLSHProbes.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [None, None]


def hyperplane_lsh_probes(
    point_hyperplane_product: Any,
    num_tables: Any,
    num_hyperplanes_per_table: Any,
    num_probes: Any,
    name: str | None = None,
) -> Any:
    """The buckets of hash tables that are likeliest to hold what is near to points.

    A bucket's number has a bit for each hyperplane of its table: on which side of it a point is.

    Args:
      point_hyperplane_product: a point's products with all tables' hyperplanes, a row for each.
      num_probes: how many buckets to give for each point.

    Returns:
      The numbers of the buckets, and those of their tables, each [points, probes].
    """
    return HyperplaneLSHProbes(
        point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=name
    )
