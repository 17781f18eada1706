"""Spatial softmax, and layers that add biases or change gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.building import finished, keras_data_format
from penstock.contrib.layers.known_values import get_variable_collections

__all__ = ["bias_add", "scale_gradient", "spatial_softmax"]


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[[Any], Any] | None = None,
    initializer: Any = tf.zeros_initializer(),
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds a variable `biases` to the channels."""
    is_first = keras_data_format(data_format, "NCHW", "NHWC") == "channels_first"
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if shape.ndims != 4 and is_first:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        features = shape.as_list()[1 if is_first else -1]
        if features is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[features],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = tf.nn.bias_add(inputs, biases, data_format=data_format)
        return finished(outputs, opened.name, activation_fn, outputs_collections)


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """The inputs, whose gradient is multiplied by a factor."""

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return tf.identity(x), lambda grad: grad * gradient_multiplier

    return scaled(inputs)


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: float | None = None,
    name: Any = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """The expected position of each channel's activation, with coordinates from -1 to 1.

    Args:
      temperature: first value of the variable that features are divided by; 1 by default.
    """
    with tf.variable_scope(name, "spatial_softmax"):
        is_first = keras_data_format(data_format, "NCHW", "NHWC") == "channels_first"
        sizes = tf.shape(features)
        height, width = (sizes[2], sizes[3]) if is_first else (sizes[1], sizes[2])
        channels = features.shape.as_list()[1 if is_first else 3]
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                "Found `None`."
            )
        with tf.name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            positions = tf.meshgrid(
                tf.lin_space(-1.0, 1.0, num=height),
                tf.lin_space(-1.0, 1.0, num=width),
                indexing="ij",
            )
            places = [tf.reshape(each, [height * width]) for each in positions]
            divisor = _temperature(temperature, variables_collections, trainable)
            by_channel = features if is_first else tf.transpose(features, [0, 3, 1, 2])
            attention = tf.nn.softmax(tf.reshape(by_channel, [-1, height * width]) / divisor)
            expected = [tf.reduce_sum(each * attention, [1], keepdims=True) for each in places]
            keypoints = tf.reshape(tf.concat(expected, 1), [-1, channels * 2])
            keypoints.set_shape([None, channels * 2])
    return keypoints


def _temperature(first: float | None, collections: Any, trainable: bool) -> Any:
    return model_variable(
        "temperature",
        shape=(),
        dtype=tf.float32,
        initializer=tf.ones_initializer() if first is None else tf.constant_initializer(first),
        collections=get_variable_collections(collections, "temperature") if trainable else None,
        trainable=trainable,
    )
