"""Normalization within an example: by layer, instance, group, or to unit length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers.building import finished, keras_data_format
from penstock.contrib.layers.moving_statistics import parameter

__all__ = ["group_norm", "instance_norm", "layer_norm", "poincare_normalize", "unit_norm"]


def _known_rank(inputs: Any) -> int:
    rank = inputs.get_shape().ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    return int(rank)


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalizes each example by the mean and variance over its dimensions.

    Args:
      begin_norm_axis: first dimension to take the moments over.
      begin_params_axis: first dimension that `beta` and `gamma` have.
    """
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = _known_rank(inputs)
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                f"({begin_norm_axis}) must be < rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully "
                f"defined: {inputs.shape}"
            )
        beta, gamma = (
            parameter(name, shape, dtype, None, variables_collections, trainable)
            if wanted
            else None
            for name, wanted in (("beta", center), ("gamma", scale))
        )
        mean, variance = tf.nn.moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        outputs = tf.nn.batch_normalization(
            inputs,
            mean,
            variance,
            offset=beta,
            scale=gamma,
            variance_epsilon=1e-3 if dtype == tf.float16 else 1e-12,
        )
        outputs.set_shape(inputs.shape)
        return finished(outputs, opened.name, activation_fn, outputs_collections)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Normalizes each channel of each example by its own mean and variance."""
    inputs = tf.convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    is_first = keras_data_format(data_format, "NCHW", "NHWC") == "channels_first"
    channel = 1 if is_first else rank - 1
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        shape = inputs.shape[channel : channel + 1]
        if not shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
        along = [1, shape.as_list()[0], *[1] * (rank - 2)] if is_first else None
        beta, gamma = _shift_and_scale(
            inputs,
            shape,
            along,
            center,
            scale,
            param_initializers,
            variables_collections,
            trainable,
        )
        axes = [axis for axis in range(1, rank) if axis != channel]
        mean, variance = tf.nn.moments(inputs, axes, keep_dims=True)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        return finished(outputs, opened.name, activation_fn, outputs_collections)


def _shift_and_scale(
    inputs: Any,
    shape: Any,
    along: Sequence[int] | None,
    center: bool,
    scale: bool,
    initializers: Any,
    collections: Any,
    trainable: bool,
) -> list[Any]:
    """The variables `beta` and `gamma`, reshaped to lie along a dimension; None if not wanted."""
    made: list[Any] = []
    for name, wanted in (("beta", center), ("gamma", scale)):
        if not wanted:
            made.append(None)
            continue
        variable = parameter(
            name, shape, inputs.dtype.base_dtype, initializers, collections, trainable
        )
        made.append(tf.reshape(variable, along) if along else variable)
    return made


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalizes each group of channels of each example by its own mean and variance.

    Args:
      reduction_axes: the dimensions to take the moments over, beside the channels of a group.
      mean_close_to_zero: whether the variance may be computed from squares, which is faster.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    channel, reduced = _group_axes(inputs, groups, channels_axis, reduction_axes)
    channels = inputs.shape.as_list()[channel]
    dynamic = tf.shape(inputs)
    sizes = [
        dynamic[axis] if size is None else size for axis, size in enumerate(inputs.shape.as_list())
    ]
    divided = [groups, channels // groups]
    grouped = tf.reshape(inputs, [*sizes[:channel], *divided, *sizes[channel + 1 :]])
    axes = [channel + 1, *(axis + 1 if axis > channel else axis for axis in reduced)]
    with tf.variable_scope(scope, "GroupNorm", [grouped], reuse=reuse) as opened:
        along = [*[1] * channel, *divided, *[1] * (rank - channel - 1)]
        beta, gamma = _shift_and_scale(
            grouped,
            [channels],
            along,
            center,
            scale,
            param_initializers,
            variables_collections,
            trainable,
        )
        if mean_close_to_zero:
            count, mean_ss, variance_ss, _ = tf.nn.sufficient_statistics(
                grouped, axes, keep_dims=True
            )
            mean, variance = tf.nn.normalize_moments(count, mean_ss, variance_ss, shift=None)
        else:
            mean, variance = tf.nn.moments(grouped, axes, keep_dims=True)
        gain = tf.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = tf.reshape(grouped * gain + offset, sizes)
        return finished(outputs, opened.name, activation_fn, outputs_collections)


def _group_axes(
    inputs: Any, groups: int, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int]]:
    """The axes, checked and counted from the front."""
    sizes = inputs.shape.as_list()
    rank = len(sizes)
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    channel = channels_axis % rank
    channels = sizes[channel]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channel}.")
    reduced = [axis + rank if axis < 0 else axis for axis in reduction_axes]
    for axis in reduced:
        if axis >= rank:
            raise ValueError("Axis is out of bounds.")
        if sizes[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if axis == channel:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return channel, reduced


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Scales the vectors along a dimension to length one."""
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.get_shape().ndims
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, True))
        size = tf.strided_slice(tf.shape(inputs), [dim], [dim + 1])
        around = [tf.ones([count], tf.int32) if count else None for count in (dim, rank - 1 - dim)]
        multiples = [each for each in (around[0], size, around[1]) if each is not None]
        return tf.div(inputs, tf.tile(lengths, tf.concat(multiples, 0)))


def poincare_normalize(
    x: Any, axis: int = 1, epsilon: float = 1e-5, name: str | None = None
) -> Any:
    """Projects vectors into the unit ball, to length `1 - epsilon` at most."""
    with tf.name_scope(name, "poincare_normalize", [x]) as scope:
        x = tf.convert_to_tensor(x, name="x")
        inverse = tf.rsqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True))
        return tf.multiply(x, tf.minimum((1.0 - epsilon) * inverse, 1.0), name=scope)
