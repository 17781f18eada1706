"""Convolutions that treat each channel by itself first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.building import (
    add_to_collections,
    finished,
    keras_data_format,
    model_variable_getter,
)
from penstock.contrib.layers.initializers import xavier_initializer
from penstock.contrib.layers.known_values import (
    channel_dimension,
    get_variable_collections,
    last_dimension,
    two_element_tuple,
)

__all__ = [
    "conv2d_in_plane",
    "convolution2d_in_plane",
    "separable_conv2d",
    "separable_convolution2d",
]

_NAMES = {
    "bias": "biases",
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
}


def _biased(
    outputs: Any,
    channels: int,
    data_format: str,
    initializer: Any,
    regularizer: Any,
    collections: Any,
    trainable: bool,
) -> Any:
    """Outputs with biases added, if there is an initializer for them."""
    if initializer is None:
        return outputs
    biases = model_variable(
        "biases",
        shape=[channels],
        dtype=outputs.dtype.base_dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=get_variable_collections(collections, "biases"),
        trainable=trainable,
    )
    return tf.nn.bias_add(outputs, biases, data_format=data_format)


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
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
    """A convolution of each channel by itself, by one window for all of them."""
    with tf.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        rows, columns = two_element_tuple(stride)
        channels = last_dimension(inputs.get_shape(), min_rank=4)
        weights = model_variable(
            "weights",
            shape=[*two_element_tuple(kernel_size), 1, 1],
            dtype=inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"),
            trainable=trainable,
        )
        outputs = tf.nn.depthwise_conv2d(
            inputs, tf.tile(weights, [1, 1, channels, 1]), [1, rows, columns, 1], padding
        )
        if normalizer_fn is None:
            outputs = _biased(
                outputs,
                channels,
                "NHWC",
                biases_initializer,
                biases_regularizer,
                variables_collections,
                trainable,
            )
        return finished(
            outputs,
            opened.name,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel, then one across channels.

    Args:
      num_outputs: channels of the outputs; None leaves out the convolution across channels.
      depth_multiplier: how many channels come out of each in the first convolution.
      pointwise_initializer: initializer of the second convolution's weights; by default
        `weights_initializer`.
    """
    channels = keras_data_format(data_format, "NCHW", "NHWC")
    with tf.variable_scope(
        scope,
        "SeparableConv2d",
        [inputs],
        reuse=reuse,
        custom_getter=model_variable_getter(_NAMES),
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        if num_outputs is not None:
            layer = tf.layers.SeparableConv2D(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=channels,
                dilation_rate=two_element_tuple(rate),
                depth_multiplier=depth_multiplier,
                use_bias=bool(not normalizer_fn and biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                trainable=trainable,
                name=opened.name,
                dtype=inputs.dtype.base_dtype,
                _scope=opened,
                _reuse=reuse,
            )
            outputs = layer.apply(inputs)
            add_to_collections(layer.depthwise_kernel, variables_collections, "weights")
            add_to_collections(layer.pointwise_kernel, variables_collections, "weights")
            if layer.bias is not None:
                add_to_collections(layer.bias, variables_collections, "biases")
        else:
            depth = channel_dimension(inputs.get_shape(), channels, min_rank=4)
            weights = model_variable(
                "depthwise_weights",
                shape=[*two_element_tuple(kernel_size), depth, depth_multiplier],
                dtype=inputs.dtype.base_dtype,
                initializer=weights_initializer,
                regularizer=weights_regularizer,
                trainable=trainable,
                collections=get_variable_collections(variables_collections, "weights"),
            )
            rows, columns = two_element_tuple(stride)
            is_first = channels == "channels_first"
            outputs = tf.nn.depthwise_conv2d(
                inputs,
                weights,
                [1, 1, rows, columns] if is_first else [1, rows, columns, 1],
                padding,
                rate=two_element_tuple(rate),
                data_format=data_format,
            )
            if normalizer_fn is None:
                outputs = _biased(
                    outputs,
                    depth_multiplier * depth,
                    data_format,
                    biases_initializer,
                    biases_regularizer,
                    variables_collections,
                    trainable,
                )
        return finished(
            outputs,
            opened.name,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )


conv2d_in_plane = convolution2d_in_plane
separable_conv2d = separable_convolution2d
