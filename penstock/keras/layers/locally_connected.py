"""Convolutions whose weights are not shared between positions."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import activations
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.layers import identifiers, windows
from penstock.layers.input_spec import InputSpec
from penstock.layers.window_connections import (
    conv_kernel_idxs,
    conv_kernel_mask,
    conv_output_shape,
)

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


class _LocallyConnected(Layer):
    """A kernel for each position of the output.

    Args:
      filters: channels of the output.
      kernel_size: sizes of the window.
      strides: steps between windows.
      padding: "valid", or "same" with another implementation than the first.
      data_format: "channels_last" or "channels_first".
      implementation: how the kernel is kept: 1 per window, 2 as a dense matrix with zeros,
        3 as the values of a sparse matrix.
    """

    _rank: int

    _CONFIG = (
        "filters",
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
        "implementation",
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = windows.normalize_tuple(kernel_size, self._rank, "kernel_size")
        self.strides = windows.normalize_tuple(strides, self._rank, "strides")
        self.padding = windows.normalize_padding(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f'Invalid border mode for {type(self).__name__} (only "valid" is supported if '
                f"implementation is 1): {padding}"
            )
        self.data_format = windows.normalize_data_format(data_format or K.image_data_format())
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = identifiers.regularizer(kernel_regularizer)
        self.bias_regularizer = identifiers.regularizer(bias_regularizer)
        self.activity_regularizer = identifiers.regularizer(activity_regularizer)
        self.kernel_constraint = identifiers.constraint(kernel_constraint)
        self.bias_constraint = identifiers.constraint(bias_constraint)
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self._rank + 2)
        self.bias: Any = None

    # Variables ----------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        sizes = tf.TensorShape(input_shape).as_list()
        space = windows.space_of(sizes, self.data_format, self._rank)
        axis = windows.channel_axis(self.data_format)
        channels = sizes[axis]
        if channels is None:
            raise ValueError(f"Axis {axis} of input should be fully-defined. Found shape: {sizes}")
        if None in space:
            raise ValueError(
                f"The spatial dimensions of the inputs to  a {type(self).__name__} layer should be "
                f"fully-defined, but layer received the inputs shape {tuple(sizes)}"
            )
        self._channels, self._space = channels, tuple(space)
        self._output_space = self._window(conv_output_shape, self._space)
        self.kernel_shape = self._kernel_shape()
        self.kernel = self.add_weight(
            shape=self.kernel_shape,
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*self._output_space, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(ndim=self._rank + 2, axes={axis: channels})
        self.built = True

    def _window(self, function: Any, space: tuple[int, ...], **more: Any) -> Any:
        return function(space, self.kernel_size, self.strides, self.padding, **more)

    def _kernel_shape(self) -> tuple[int, ...]:
        if self.implementation == 1:
            window = int(np.prod(self.kernel_size)) * self._channels
            return (int(np.prod(self._output_space)), window, self.filters)
        if self.implementation == 2:
            self.kernel_mask = get_locallyconnected_mask(
                self._space, self.kernel_size, self.strides, self.padding, self.data_format
            )
            return (
                *self._in_format(self._space, self._channels),
                *self._in_format(self._output_space, self.filters),
            )
        if self.implementation == 3:
            found = self._window(
                conv_kernel_idxs,
                self._space,
                filters_in=self._channels,
                filters_out=self.filters,
                data_format=self.data_format,
            )
            self.kernel_idxs = sorted(found)
            return (len(self.kernel_idxs),)
        raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")

    def _in_format(self, space: Any, channels: int) -> tuple[int, ...]:
        return (channels, *space) if self.data_format == "channels_first" else (*space, channels)

    # Computing ----------------------------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        space = windows.space_of(sizes, self.data_format, self._rank)
        outputs = [
            windows.conv_output_length(size, kernel, self.padding, stride)
            for size, kernel, stride in zip(space, self.kernel_size, self.strides, strict=True)
        ]
        return tf.TensorShape([sizes[0], *self._in_format(outputs, self.filters)])

    def call(self, inputs: Any) -> Any:
        outputs = {1: self._by_windows, 2: self._by_matrix, 3: self._by_sparse_matrix}[
            self.implementation
        ](inputs)
        if self.use_bias:
            outputs = K.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def _by_windows(self, inputs: Any) -> Any:
        return K.local_conv(
            inputs,
            self.kernel,
            self.kernel_size,
            self.strides,
            self._output_space,
            self.data_format,
        )

    def _by_matrix(self, inputs: Any) -> Any:
        """One product with the whole kernel; a mask keeps zero what is in no window."""
        rows = int(np.prod(self._space)) * self._channels
        kernel = make_2d(self.kernel * self.kernel_mask, self._rank + 1)
        return self._unflattened(tf.matmul(tf.reshape(inputs, [-1, rows]), kernel))

    def _by_sparse_matrix(self, inputs: Any) -> Any:
        rows = int(np.prod(self._space)) * self._channels
        outputs = int(np.prod(self._output_space)) * self.filters
        kernel = tf.SparseTensor(self.kernel_idxs, self.kernel, [outputs, rows])
        flat = tf.reshape(inputs, [-1, rows])
        product = tf.sparse_tensor_dense_matmul(kernel, flat, adjoint_b=True)
        return self._unflattened(tf.transpose(product))

    def _unflattened(self, outputs: Any) -> Any:
        return tf.reshape(outputs, [-1, *self._in_format(self._output_space, self.filters)])


class LocallyConnected1D(_LocallyConnected):
    """A convolution of sequences with weights of its own at each step."""

    _rank = 1


class LocallyConnected2D(_LocallyConnected):
    """A convolution of images with weights of its own at each position."""

    _rank = 2


def get_locallyconnected_mask(
    input_shape: Any, kernel_shape: Any, strides: Any, padding: str, data_format: str
) -> Any:
    """1 where an output's window has an input, else 0, with an axis of size 1 for each channel."""
    mask = conv_kernel_mask(input_shape, kernel_shape, strides, padding)
    rank = mask.ndim // 2
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unrecognized data_format: {data_format}")
    is_first = data_format == "channels_first"
    mask = np.expand_dims(mask, 0 if is_first else rank)
    return np.expand_dims(mask, rank + 1 if is_first else mask.ndim).astype("float32")


def make_2d(tensor: Any, split_dim: int) -> Any:
    """A tensor as a matrix: the axes before `split_dim` are its rows, the others its columns."""
    shape = tf.shape(tensor)
    return tf.reshape(
        tensor, [tf.reduce_prod(shape[:split_dim]), tf.reduce_prod(shape[split_dim:])]
    )
