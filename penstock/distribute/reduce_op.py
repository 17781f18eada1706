"""`tf.distribute.ReduceOp`: how the values of replicas become one."""

from __future__ import annotations

import enum
from typing import Any

from penstock.ops.variables import VariableAggregation


class ReduceOp(enum.Enum):
    """Sum or mean of the replicas' values."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The one that a variable's aggregation means."""
        known = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in known:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to "
                "`tf.distribute.ReduceOp` type"
            )
        return known[aggregation]


def as_reduce_op(value: Any) -> ReduceOp:
    """A `ReduceOp`, which may be given by its name."""
    if isinstance(value, str):
        value = ReduceOp(value.upper())
    if not isinstance(value, ReduceOp):
        raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {value!r}")
    return value
