"""Optimizers under a `tf.distribute.Strategy`: replicas add their gradients, then all are updated.

Programs that know of no strategy must not pay for them: `penstock.distribute` is not imported
before the program does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ops.variable_updates import assign_add


def has_strategy() -> bool:
    """Whether the program is in the scope of a strategy."""
    context = sys.modules.get("penstock.distribute.context")
    return context is not None and context.has_strategy()


def container_of(variable: Any) -> Any:
    """The variable that a replica's variable is a copy of, or the variable itself."""
    reference = getattr(variable, "_distributed_container", None)
    container = None if reference is None else reference()
    # What an assignment returns stands for the variable, but is not the variable.
    inside = container is not None and any(variable is each for each in container.values)
    return container if inside else variable


def variables_beside(variable: Any) -> AbstractContextManager[Any]:
    """A block in which variables are made where another one is."""
    strategy = getattr(container_of(variable), "_distribute_strategy", None)
    if strategy is None:
        graph = get_default_graph()
        return graph.colocate_with(variable)
    beside: AbstractContextManager[Any] = strategy.extended.colocate_vars_with(
        container_of(variable)
    )
    return beside


def scaled_loss(loss: Any) -> Any:
    """A replica's part of the loss of all, where an Estimator's loss is a mean.

    The graph notes whether the last loss was divided here: one that was not is such a part already.
    """
    graph = get_default_graph()
    graph._is_loss_scaled_by_optimizer = False  # TensorFlow's name
    if not has_strategy():
        return loss
    from penstock.distribute import ReduceOp, get_loss_reduction, get_strategy

    count = get_strategy().num_replicas_in_sync
    if count == 1 or get_loss_reduction() is not ReduceOp.MEAN:
        return loss
    graph._is_loss_scaled_by_optimizer = True
    return loss * (1.0 / count)


def between_replicas(function: Callable[[], Any]) -> Any:
    """Calls a function; where replicas come along here, once for all of them."""
    if not has_strategy():
        return function()
    from penstock.distribute import get_replica_context

    replica = get_replica_context()
    return function() if replica is None else replica.merge_call(lambda _: function())


def update_by_mean(
    variable: Any,
    update: Callable[..., Any],
    value: Any,
    others: Callable[[Any], tuple[Any, ...]] = lambda _: (),
) -> Any:
    """Calls `update(variable, value, ...)`; replicas update their variable by the mean of values.

    Args:
      others: makes further variables for the update; the replicas share them.
    """
    if not has_strategy():
        return update(variable, value, *others(variable))
    from penstock.distribute import get_replica_context, get_strategy

    def between(strategy: Any, whole: Any, by: Any) -> Any:
        mean = strategy.extended.reduce_to("MEAN", by, whole)
        return strategy.extended.update(whole, update, args=(mean, *others(whole)))

    replica = get_replica_context()
    if replica is not None:
        return replica.merge_call(between, args=(variable, value))
    return get_strategy().extended.update(variable, update, args=(value, *others(variable)))


def apply_in_replica(
    optimizer: Any, grads_and_vars: list[tuple[Any, Any]], global_step: Any, name: str | None
) -> Any:
    """The training operation of a replica: that of all of them."""
    from penstock.distribute import get_replica_context

    replica = get_replica_context()
    if replica is None:
        raise RuntimeError(
            "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context."
        )
    pairs = [(gradient, container_of(variable)) for gradient, variable in grads_and_vars]
    return replica.merge_call(optimizer._distributed_apply, args=(pairs, global_step, name))


def apply_between_replicas(
    optimizer: Any,
    strategy: Any,
    grads_and_vars: Any,
    global_step: Any,
    name: str | None,
    apply_update: Callable[[Any, Any, Any], Any],
) -> Any:
    """Adds the replicas' gradients, updates all copies of each variable, and counts the step."""
    extended = strategy.extended
    pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
    reduced = extended.batch_reduce_to("SUM", pairs)
    variables = [variable for _, variable in pairs]
    # Slots outlive the step that is being built: they must not wait for its control inputs.
    with get_default_graph().control_dependencies(None), name_scope(""):
        optimizer._create_slots(variables)

    def update(variable: Any, gradient: Any) -> Any:
        given = gradient if isinstance(gradient, IndexedSlices) else convert_to_tensor(gradient)
        with name_scope(f"update_{variable.name.partition(':')[0]}"):
            return apply_update(optimizer, given, variable)

    with name_scope(name, optimizer.get_name()) as scope:
        optimizer._prepare()
        updates = [
            each
            for gradient, variable in zip(reduced, variables, strict=True)
            for each in extended.update(variable, update, args=(gradient,), group=False)
        ]
        finished = extended.update_non_slot(
            extended.non_slot_devices(variables),
            lambda: optimizer._finish(updates, "update"),
            group=False,
        )
        if global_step is None:
            return strategy.group(finished, name=scope)
        with get_default_graph().control_dependencies(finished):
            return extended.update(global_step, assign_add, args=(1,), kwargs={"name": scope})
