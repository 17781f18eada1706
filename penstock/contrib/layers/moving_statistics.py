"""The variables of batch normalization, and the updates of its moving averages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.known_values import (
    constant_value,
    get_variable_collections,
    smart_cond,
)
from penstock.train.moving_averages import assign_moving_average

#: What each variable begins with.
DEFAULT_INITIALIZERS: dict[str, Callable[[], Any]] = {
    "beta": tf.zeros_initializer,
    "gamma": tf.ones_initializer,
    "moving_mean": tf.zeros_initializer,
    "moving_variance": tf.ones_initializer,
}


def initializer_of(name: str, given: Mapping[str, Any] | None) -> Any:
    """The given initializer of a variable, or the usual one."""
    return (given or {}).get(name) or DEFAULT_INITIALIZERS[name]()


class Moments(NamedTuple):
    """A mean and a variance: tensors of a batch, or the variables of their moving averages."""

    mean: Any
    variance: Any


def parameter(
    name: str,
    shape: Any,
    dtype: Any,
    initializers: Mapping[str, Any] | None,
    collections: Any,
    trainable: bool,
    regularizer: Any = None,
) -> Any:
    """One variable of a normalization."""
    return model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer_of(name, initializers),
        regularizer=regularizer,
        collections=get_variable_collections(collections, name),
        trainable=trainable,
    )


def moving_moments(
    shape: Any, dtype: Any, initializers: Mapping[str, Any] | None, collections: Any
) -> Moments:
    """The variables of the moving averages, which are never partitioned."""
    with tf.variable_scope(tf.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        made = [
            parameter(name, shape, dtype, initializers, collections, trainable=False)
            for name in ("moving_mean", "moving_variance")
        ]
        return Moments(*made)


def is_known_not_training(is_training: Any) -> bool:
    """Whether it is known while building that this is no training."""
    value = constant_value(is_training)
    return value is not None and not value


def updates(moving: Moments, batch: Moments, decay: float, zero_debias: bool) -> Moments:
    """Moves the averages towards the moments of a batch."""
    return Moments(
        assign_moving_average(moving.mean, batch.mean, decay, zero_debias=zero_debias),
        assign_moving_average(moving.variance, batch.variance, decay, zero_debias=False),
    )


def collect_updates(
    collections: Any,
    is_training: Any,
    moving: Moments,
    batch: Moments,
    decay: float,
    zero_debias: bool,
) -> None:
    """Puts the updates into collections; they do nothing when not training."""
    made = smart_cond(
        is_training,
        lambda: tuple(updates(moving, batch, decay, zero_debias)),
        lambda: tuple(moving),
    )
    for update in made:
        tf.add_to_collections(collections, update)
