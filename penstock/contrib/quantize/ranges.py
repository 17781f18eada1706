"""Tensors rounded as if they were quantized, by ranges that variables keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.train.moving_averages import assign_moving_average

__all__ = ["FixedQuantize", "LastValueQuantize", "MovingAvgQuantize"]

_Update = Callable[[Any, Any, str], Any]


def FixedQuantize(
    inputs: Any, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None
) -> Any:
    """A tensor rounded within a range that stays as it is."""
    with tf.name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def _seen_range(
    inputs: Any, per_channel: bool, num_bits: int, narrow_range: bool, symmetric: bool
) -> tuple[Any, Any]:
    """The least and the greatest value, with zero between them."""
    if per_channel and len(inputs.get_shape()) == 1:
        least, greatest = inputs, inputs
    else:
        axes = list(range(len(inputs.get_shape()) - 1)) if per_channel else None
        least = tf.reduce_min(inputs, axis=axes, name="BatchMin")
        greatest = tf.reduce_max(inputs, axis=axes, name="BatchMax")
    if not symmetric:
        return tf.minimum(least, 0.0), tf.maximum(greatest, 0.0)
    # Without a narrow range there is one step more below zero than above it.
    ratio = -1 if narrow_range else -((1 << num_bits) - 2) / (1 << num_bits)
    return tf.minimum(least, greatest / ratio), tf.maximum(greatest, least * ratio)


def _quantized(
    inputs: Any,
    update: _Update,
    suffix: str,
    per_channel: bool,
    init_min: float,
    init_max: float,
    vars_collection: str | None,
    name_prefix: str,
    reuse: bool | None,
    is_training: bool,
    num_bits: int,
    narrow_range: bool,
    symmetric: bool,
) -> Any:
    round_ = (
        tf.fake_quant_with_min_max_vars_per_channel
        if per_channel
        else tf.fake_quant_with_min_max_vars
    )
    with tf.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape = inputs.get_shape()
        if per_channel:
            assert len(shape) in (1, 2, 4), (
                f"Expected 1D, 2D or 4D input, was: {shape} in  scope: {name_prefix}"
            )

        def end(name: str, value: float) -> Any:
            return tf.get_variable(
                name,
                shape=[shape[-1]] if per_channel else [],
                initializer=tf.constant_initializer(value),
                collections=[*filter(None, [vars_collection]), tf.GraphKeys.GLOBAL_VARIABLES],
                trainable=False,
                aggregation=tf.VariableAggregation.MEAN,
            )

        low, high = end("min", init_min), end("max", init_max)
        if is_training:
            least, greatest = _seen_range(inputs, per_channel, num_bits, narrow_range, symmetric)
            low = update(low, least, f"AssignMin{suffix}")
            high = update(high, greatest, f"AssignMax{suffix}")
        return round_(inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


def LastValueQuantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: str | None = None,
    name_prefix: str = "LastValueQuant",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Any:
    """A tensor rounded within the range that it has, which variables keep for evaluation.

    Args:
      inputs: the tensor.
      per_channel: whether each channel has a range.
      init_min: the lower end before any step.
      init_max: the upper end before any step.
      vars_collection: to which the variables `min` and `max` are added.
      name_prefix: of their scope.
      reuse: whether they are there already.
      is_training: whether they follow the values.
      num_bits: of the quantization.
      narrow_range: whether the least of all steps is left out.
      symmetric: whether zero is in the middle of the range.
    """

    def replace(variable: Any, value: Any, name: str) -> Any:
        return tf.assign(variable, value, name=name)

    return _quantized(
        inputs,
        replace,
        "Last",
        per_channel,
        init_min,
        init_max,
        vars_collection,
        name_prefix,
        reuse,
        is_training,
        num_bits,
        narrow_range,
        symmetric,
    )


def MovingAvgQuantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: str | None = tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: bool | None = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Any:
    """A tensor rounded within a moving average of its ranges; see `LastValueQuantize`."""

    def average(variable: Any, value: Any, name: str) -> Any:
        return assign_moving_average(variable, value, ema_decay, name=name)

    return _quantized(
        inputs,
        average,
        "Ema",
        per_channel,
        init_min,
        init_max,
        vars_collection,
        name_prefix,
        reuse,
        is_training,
        num_bits,
        narrow_range,
        symmetric,
    )
