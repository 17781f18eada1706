"""Fully connected layers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers.building import (
    KERNEL_AND_BIAS,
    add_to_collections,
    finished,
    model_variable_getter,
)
from penstock.contrib.layers.initializers import xavier_initializer

__all__ = [
    "elu",
    "fully_connected",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "relu",
    "relu6",
]


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A layer of `num_outputs` units that see all inputs of the last dimension.

    Args:
      normalizer_fn: applied to the outputs in place of biases, with `normalizer_params`.
      variables_collections: a list of collections for all variables, or a dict of lists by
        `weights` and `biases`.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    with tf.variable_scope(
        scope,
        "fully_connected",
        [inputs],
        reuse=reuse,
        custom_getter=model_variable_getter(KERNEL_AND_BIAS),
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        layer = tf.layers.Dense(
            units=num_outputs,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            add_to_collections(layer.bias, variables_collections, "biases")
        return finished(
            outputs,
            opened.name,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )


elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
linear = functools.partial(fully_connected, activation_fn=None)


def _global(collections: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys([*(collections or ()), tf.GraphKeys.GLOBAL_VARIABLES]))


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[[Any], Any] | None = None,
    weight_init: Any = xavier_initializer(),
    bias_init: Any = tf.zeros_initializer(),
    name: Any = None,
    weight_collections: Any = (tf.GraphKeys.WEIGHTS,),
    bias_collections: Any = (tf.GraphKeys.BIASES,),
    output_collections: Any = (tf.GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """The fully connected layer of TensorFlow 0.x: variables `weights` and `bias`."""
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        sizes = _sizes(x)
        kind = {"dtype": x.dtype.base_dtype, "trainable": trainable}
        weights = tf.get_variable(
            "weights",
            shape=[sizes[-1], num_output_units],
            initializer=weight_init,
            collections=_global(weight_collections),
            regularizer=weight_regularizer,
            **kind,
        )
        rows = x if len(sizes) <= 2 else tf.reshape(x, [-1, sizes[-1]])
        y = tf.matmul(rows, weights)
        if bias_init is not None:
            bias = tf.get_variable(
                "bias",
                shape=[num_output_units],
                initializer=bias_init,
                collections=_global(bias_collections),
                regularizer=bias_regularizer,
                **kind,
            )
            y = tf.nn.bias_add(y, bias)
        if len(sizes) > 2:
            y = _reshaped_like(y, x, num_output_units)
        if activation_fn is not None:
            y = activation_fn(y)
        collections = [*(output_collections or ()), tf.GraphKeys.ACTIVATIONS]
        tf.add_to_collections(collections, y)
        return y


def _sizes(x: Any) -> list[int | None]:
    shape = x.get_shape()
    if shape.ndims is None:
        raise ValueError("dims of x must be known but is None")
    if shape.ndims < 2:
        raise ValueError(f"rank of x must be at least 2 not: {shape.ndims}")
    sizes: list[int | None] = shape.as_list()
    if sizes[-1] is None:
        raise ValueError("last dimension of x must be known but is None")
    return sizes


def _reshaped_like(y: Any, x: Any, last: int) -> Any:
    """`y` with the dimensions of `x` but for the last."""
    result = tf.reshape(y, tf.stack([*tf.unstack(tf.shape(x))[:-1], last]))
    result.set_shape([*x.get_shape().as_list()[:-1], last])
    return result


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
