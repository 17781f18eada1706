"""`tf.layers.dense`, `dropout` and `flatten`."""

from __future__ import annotations

from typing import Any

from penstock.layers.base import Layer
from penstock.layers.identifiers import ZEROS
from penstock.layers.kinds import dense as dense_kind
from penstock.layers.kinds import dropout as dropout_kind

__all__ = ["Dense", "Dropout", "Flatten", "dense", "dropout", "flatten"]


class Dense(dense_kind.Dense, Layer):
    """A fully connected layer with variables `kernel` and `bias` in a variable scope."""


class Dropout(dropout_kind.Dropout, Layer):
    """Sets random inputs to zero where it is called with `training=True`."""


class Flatten(dense_kind.Flatten, Layer):
    """Makes one axis of all but the batch axis."""


def dense(
    inputs: Any,
    units: int,
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
) -> Any:
    """`activation(inputs x kernel + bias)` with variables `<name>/kernel` and `<name>/bias`.

    Args:
      units: size of the last axis of the result.
      activation: function or name of one; None for none.
      reuse: whether to share the variables of an earlier layer of that name.
    """
    layer = Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: Any = None,
) -> Any:
    """Sets a part of the inputs to zero and scales up the others, if `training` is true.

    Args:
      rate: the part that is set to zero.
      noise_shape: shape of the random choice, which is broadcast.
      training: a Python bool or a tensor.
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)


def flatten(inputs: Any, name: Any = None, data_format: str = "channels_last") -> Any:
    """Makes one axis of all but the batch axis."""
    return Flatten(name=name, data_format=data_format).apply(inputs)


FullyConnected = Dense
fully_connected = dense
