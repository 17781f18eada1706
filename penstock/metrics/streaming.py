"""What metrics are made of: local variables that updates add to."""

from __future__ import annotations

from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops.filling import zeros
from penstock.ops.variable_creation import create_variable
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization


def metric_variable(
    shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None
) -> Variable:
    """A local variable of zeros in the collection of metric variables."""
    return create_variable(
        initial_value=lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collect(collections: Any, value: Any) -> Any:
    """`value`, once it is in the collections; None or an empty list are none."""
    if collections:
        get_default_graph().add_to_collections(collections, value)
    return value
