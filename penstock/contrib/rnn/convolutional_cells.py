"""LSTM cells whose gates are convolutions, for states that are images."""

from __future__ import annotations

from typing import Any

from penstock.ops.convolution import conv1d, conv2d, conv3d
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import constant_initializer
from penstock.ops.joining import concat, split
from penstock.ops.variable_scope import get_variable
from penstock.rnn.cell import RNNCell
from penstock.rnn.lstm_cells import LSTMStateTuple
from penstock.shapes import TensorShape

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"]


class ConvLSTMCell(RNNCell):
    """The LSTM unit with convolutions in place of matrix products.

    Args:
      conv_ndims: 1, 2 or 3: how many dimensions the convolution has.
      input_shape: The shape of the inputs without the batch, channels last.
      output_channels: The channels of memory and output.
      kernel_shape: The size of the convolution's kernel.
      use_bias: Whether the gates have a bias.
      skip_connection: Whether the inputs are joined to the outputs.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      name: The name of the scope.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._kernel_shape = list(kernel_shape)
        self._output_channels = output_channels
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        image, channels = list(input_shape[:-1]), output_channels
        self._state_shape = TensorShape([*image, channels])
        joined = channels + input_shape[-1] if skip_connection else channels
        self._output_shape = TensorShape([*image, joined])

    @property
    def output_size(self) -> TensorShape:
        return self._output_shape

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._state_shape, self._state_shape)

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        gates = self._convolved(concat([inputs, h], axis=self._conv_ndims + 1))
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        c = sigmoid(f + self._forget_bias) * c
        c += sigmoid(i) * tanh(j)
        output = tanh(c) * sigmoid(o)
        if self._skip_connection:
            output = concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(c, output)

    def _convolved(self, joined: Any) -> Any:
        depth, features = joined.get_shape().as_list()[-1], 4 * self._output_channels
        dtype = joined.dtype
        kernel = get_variable("kernel", [*self._kernel_shape, depth, features], dtype=dtype)
        strides = [1] * (self._conv_ndims + 2)
        if self._conv_ndims == 1:
            result = conv1d(joined, kernel, 1, padding="SAME")
        else:
            convolve = conv2d if self._conv_ndims == 2 else conv3d
            result = convolve(joined, kernel, strides, padding="SAME")
        if not self._use_bias:
            return result
        zero = constant_initializer(0.0, dtype=dtype)
        return result + get_variable("biases", [features], dtype=dtype, initializer=zero)


class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` in one dimension."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` in two dimensions."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` in three dimensions."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
