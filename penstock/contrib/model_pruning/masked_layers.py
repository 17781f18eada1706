"""Layers whose weights can be pruned."""

from __future__ import annotations

from collections.abc import Callable
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
from penstock.contrib.model_pruning import masks
from penstock.contrib.model_pruning.masks import (
    MASK_COLLECTION,
    MASKED_WEIGHT_COLLECTION,
    MASKED_WEIGHT_NAME,
    THRESHOLD_COLLECTION,
    WEIGHT_COLLECTION,
)

__all__ = [
    "MASKED_WEIGHT_COLLECTION",
    "MASKED_WEIGHT_NAME",
    "MASK_COLLECTION",
    "THRESHOLD_COLLECTION",
    "WEIGHT_COLLECTION",
    "MaskedConv2D",
    "MaskedFullyConnected",
    "masked_conv2d",
    "masked_convolution",
    "masked_fully_connected",
]

_FORMATS = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}
_XAVIER, _ZEROS = xavier_initializer(), tf.zeros_initializer()
_OTHER_FORMATS = ("NWC", "NCW", "NDHWC", "NCDHW")


class MaskedConv2D(tf.layers.Conv2D):
    """A convolution of images by a masked kernel; the arguments are those of `tf.layers.Conv2D`."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        self.masked_kernel = masks.masked_in_layer(self, self.kernel)

    def call(self, inputs: Any) -> Any:
        layout = "NCHW" if self.data_format == "channels_first" else "NHWC"
        outputs = tf.nn.convolution(
            inputs,
            self.masked_kernel,
            padding=self.padding.upper(),
            strides=self.strides,
            dilation_rate=self.dilation_rate,
            data_format=layout,
        )
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias, data_format=layout)
        return outputs if self.activation is None else self.activation(outputs)


class MaskedFullyConnected(tf.layers.Dense):
    """A dense layer of a masked kernel; the arguments are those of `tf.layers.Dense`."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        self.masked_kernel = masks.masked_in_layer(self, self.kernel)

    def call(self, inputs: Any) -> Any:
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        sizes = inputs.get_shape().as_list()
        if len(sizes) > 2:
            outputs = tf.tensordot(inputs, self.masked_kernel, [[len(sizes) - 1], [0]])
            outputs.set_shape([*sizes[:-1], self.units])
        else:
            outputs = tf.matmul(inputs, self.masked_kernel)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


def _used(layer: Any, inputs: Any, variables_collections: Any) -> Any:
    outputs = layer.apply(inputs)
    add_to_collections(layer.kernel, variables_collections, "weights")
    if layer.use_bias:
        add_to_collections(layer.bias, variables_collections, "biases")
    return outputs


@add_arg_scope
def masked_convolution(
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
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """`tf.contrib.layers.conv2d` with weights that can be pruned."""
    if data_format not in _FORMATS and data_format not in _OTHER_FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with tf.variable_scope(
        scope,
        "Conv",
        [inputs],
        reuse=reuse,
        custom_getter=model_variable_getter(KERNEL_AND_BIAS),
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.get_shape().ndims != 4:
            raise ValueError(
                "Sparse Convolution not supported for input with rank", inputs.get_shape().ndims
            )
        if data_format not in _FORMATS:
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_FORMATS[data_format],
            dilation_rate=rate,
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
        outputs = _used(layer, inputs, variables_collections)
        return finished(
            outputs,
            opened.original_name_scope,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """`tf.contrib.layers.fully_connected` with weights that can be pruned."""
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    with tf.variable_scope(
        scope,
        "fully_connected",
        [inputs],
        reuse=reuse,
        custom_getter=model_variable_getter(KERNEL_AND_BIAS),
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        layer = MaskedFullyConnected(
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
        outputs = _used(layer, inputs, variables_collections)
        return finished(
            outputs,
            opened.original_name_scope,
            activation_fn,
            outputs_collections,
            normalizer_fn,
            normalizer_params,
        )
