"""What metrics are made of: local variables that updates add to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.filling import zeros
from penstock.ops.variable_creation import create_variable
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization
from penstock.train.replicas import has_strategy

_Metric = TypeVar("_Metric", bound=Callable[..., Any])


def graph_mode_only(metric: _Metric) -> _Metric:
    """Lets a metric be refused in eager mode, where its updates would not be nodes to run."""

    @functools.wraps(metric)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if executing_eagerly():
            raise RuntimeError(
                f"tf.metrics.{metric.__name__} is not supported when eager execution is enabled."
            )
        return metric(*args, **kwargs)

    return cast("_Metric", checked)


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


def collect_across_replicas(collections: Any, compute: Callable[..., Any], *args: Any) -> Any:
    """`compute(*args)`, once it is in the collections.

    The replicas of a strategy have one value: what is computed of the variables of all of them.
    """
    if not has_strategy():
        return collect(collections, compute(*args))
    from penstock.distribute import get_replica_context, get_strategy

    def joined(strategy: Any, *given: Any) -> Any:
        return collect(collections, compute(*given))

    replica = get_replica_context()
    if replica is None:
        return joined(get_strategy(), *args)
    return replica.merge_call(joined, args=args)
