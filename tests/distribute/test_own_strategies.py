"""Strategies that a program writes itself, and the scopes of strategies."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.distribute import context


class Counting(tf.distribute.StrategyExtended):
    """A strategy of one replica that makes names of variables."""

    def _call_for_each_replica(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        with tf.distribute.ReplicaContext(self._container_strategy(), tf.constant(0)):
            return fn(*args, **kwargs)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        return kwargs["name"], kwargs["synchronization"], kwargs["aggregation"]

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return reduce_op, value


def _strategy() -> Any:
    class Own(tf.distribute.Strategy):
        def __init__(self) -> None:
            super().__init__(Counting(self))

    return Own()


def test_the_methods_of_a_strategy_are_asked() -> None:
    own = _strategy()
    made = ("v", tf.VariableSynchronization.AUTO, tf.VariableAggregation.NONE)
    assert own.extended.call_for_each_replica(lambda: tf.Variable(1.0, name="v")) == made
    assert own.extended.reduce_to("mean", 5, "/cpu:0") == (tf.distribute.ReduceOp.MEAN, 5)
    with _strategy().scope(), pytest.raises(RuntimeError, match="Mixing different"):
        own.extended.reduce_to("mean", 5, "/cpu:0")


def test_a_scope_can_be_entered_again() -> None:
    own = _strategy()
    first, second = own.scope(), own.scope()
    with first, second, first:
        assert tf.distribute.get_strategy() is own
    with second:
        assert tf.distribute.get_strategy() is own
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize(
    ("inner", "kind"),
    [
        (lambda: tf.device("/cpu:0"), "Device scope"),
        (lambda: tf.variable_creator_scope(lambda make, **k: make(**k)), "Variable creator scope"),
        (lambda: tf.variable_scope("inner"), "Variable scope"),
    ],
)
def test_a_scope_ends_after_those_inside(inner: Any, kind: str) -> None:
    scope = _strategy().scope()
    scope.__enter__()
    with inner(), pytest.raises(RuntimeError, match=f"{kind} nesting error"):
        scope.__exit__(None, None, None)
    scope.__exit__(None, None, None)
    assert not tf.distribute.has_strategy()


def test_the_default_strategy_changes_nothing() -> None:
    default = context._get_default_strategy()
    other = tf.distribute.OneDeviceStrategy("/cpu:0")
    with default.scope(), other.scope(), pytest.raises(RuntimeError, match="Mixing"):
        tf.Variable(1.0)
    seen = tf.distribute.get_replica_context().merge_call(
        lambda strategy: (strategy, tf.distribute.has_strategy())
    )
    assert seen == (default, False)
