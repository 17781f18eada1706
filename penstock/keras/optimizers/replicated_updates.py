"""Keras' optimizers under strategies: gradients of all replicas are summed, all copies updated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf


def is_in_replica() -> bool:
    """Whether this is inside of a replica of a strategy."""
    return tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()


def apply_in_replica(optimizer: Any, pairs: list[tuple[Any, Any]], name: str | None) -> Any:
    """What `apply_gradients` does inside of a replica, with pairs of gradients and variables."""

    def between(strategy: Any, pairs_of_all: Any) -> Any:
        return _apply_between_replicas(optimizer, strategy, pairs_of_all, name)

    return tf.distribute.get_replica_context().merge_call(between, args=(pairs,))


def _apply_between_replicas(optimizer: Any, strategy: Any, pairs: Any, name: str | None) -> Any:
    variables = [variable for _, variable in pairs]
    summed = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)
    with tf.name_scope(optimizer._name):
        with tf.init_scope(), strategy.scope():
            _ = optimizer.iterations
            optimizer._create_hypers()
            optimizer._create_slots(variables)
        states: dict[str, Any] = {}

        def apply_one(variable: Any, gradient: Any) -> Any:
            if variable.device not in states:
                states[variable.device] = optimizer._prepare([variable])
            return optimizer._update(gradient, variable, states[variable.device])

        with tf.name_scope(name or optimizer._name):
            updates = [
                strategy.extended.update(variable, apply_one, args=(gradient,), group=True)
                for gradient, variable in zip(summed, variables, strict=True)
            ]
            done = [
                update
                for each in updates
                for update in strategy.experimental_local_results(each)
                if update is not None
            ]
            with tf.control_dependencies(done):
                counted = optimizer.iterations.assign_add(1)
    return None if tf.executing_eagerly() else tf.group(counted)


@contextmanager
def slots_beside(variable: Any) -> Iterator[None]:
    """A block in which variables are made where another one is, with a copy for each of its own."""
    strategy = getattr(variable, "_distribute_strategy", None)
    if strategy is None:
        with tf.get_default_graph().colocate_with(variable):
            yield
        return
    with strategy.scope(), strategy.extended.colocate_vars_with(variable):
        yield


def whole(variable: Any) -> Any:
    """The copy that stands for a variable and all of its copies."""
    container = getattr(variable, "_distributed_container", None)
    found = variable if container is None else container()
    return getattr(found, "primary", found)
