"""Convolutions in one, two and three dimensions, and their transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers.building import (
    KERNEL_AND_BIAS,
    add_to_collections,
    finished,
    keras_data_format,
    model_variable_getter,
)
from penstock.contrib.layers.initializers import xavier_initializer

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
]

_LAYER_BY_RANK = {3: tf.layers.Conv1D, 4: tf.layers.Conv2D, 5: tf.layers.Conv3D}


def _applied(
    layer_class: type, inputs: Any, opened: Any, variables_collections: Any, **settings: Any
) -> Any:
    """The outputs of a layer of `tf.layers` whose variables live in an open scope."""
    layer = layer_class(name=opened.name, dtype=inputs.dtype.base_dtype, _scope=opened, **settings)
    outputs = layer.apply(inputs)
    add_to_collections(layer.kernel, variables_collections, "weights")
    if layer.bias is not None:
        add_to_collections(layer.bias, variables_collections, "biases")
    return outputs


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """A convolution over the one, two or three spatial dimensions of the inputs.

    Args:
      rate: distance between the inputs that a window sees (atrous convolution).
      normalizer_fn: applied to the outputs in place of biases, with `normalizer_params`.
      conv_dims: number of spatial dimensions to insist on.
    """
    if data_format not in [None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"]:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with tf.variable_scope(
        scope,
        "Conv",
        [inputs],
        reuse=reuse,
        custom_getter=model_variable_getter(KERNEL_AND_BIAS),
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _LAYER_BY_RANK:
            raise ValueError("Convolution not supported for input with rank", rank)
        outputs = _applied(
            _LAYER_BY_RANK[rank],
            inputs,
            opened,
            variables_collections,
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=keras_data_format(data_format),
            dilation_rate=rate,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            _reuse=reuse,
        )
        return finished(
            outputs,
            opened.name,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )


def _of_dimensions(dimensions: int) -> Callable[..., Any]:
    """The convolution of a fixed number of spatial dimensions, with arguments in the same order."""

    def fixed(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str | None = None,
        rate: Any = 1,
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
        return convolution(
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            data_format,
            rate,
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
            conv_dims=dimensions,
        )

    # The name is part of what users see: `repeat` and `stack` make scopes of it.
    fixed.__name__ = fixed.__qualname__ = f"convolution{dimensions}d"
    fixed.__doc__ = convolution.__doc__
    return add_arg_scope(fixed)


convolution1d = _of_dimensions(1)
convolution2d = _of_dimensions(2)
convolution3d = _of_dimensions(3)


def _transposed(
    layer_class: type, default_scope: str, formats: tuple[str, str]
) -> Callable[..., Any]:
    def transposed(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str = formats[1],
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
        """The transpose of a convolution: a stride makes the outputs larger than the inputs."""
        with tf.variable_scope(
            scope,
            default_scope,
            [inputs],
            reuse=reuse,
            custom_getter=model_variable_getter(KERNEL_AND_BIAS),
        ) as opened:
            channels = keras_data_format(data_format, *formats)
            inputs = tf.convert_to_tensor(inputs)
            outputs = _applied(
                layer_class,
                inputs,
                opened,
                variables_collections,
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=channels,
                use_bias=bool(not normalizer_fn and biases_initializer),
                kernel_initializer=weights_initializer,
                bias_initializer=biases_initializer,
                kernel_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                trainable=trainable,
                _reuse=reuse,
            )
            return finished(
                outputs,
                opened.name,
                activation_fn,
                outputs_collections,
                normalizer_fn,
                normalizer_params,
            )

    dimensions = default_scope[4]
    transposed.__name__ = transposed.__qualname__ = f"convolution{dimensions}d_transpose"
    return add_arg_scope(transposed)


convolution2d_transpose = _transposed(
    tf.layers.Conv2DTranspose, "Conv2d_transpose", ("NCHW", "NHWC")
)
convolution3d_transpose = _transposed(
    tf.layers.Conv3DTranspose, "Conv3d_transpose", ("NCDHW", "NDHWC")
)

conv1d = convolution1d
conv2d = convolution2d
conv3d = convolution3d
conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose
