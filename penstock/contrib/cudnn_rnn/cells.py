"""Cells that compute what cuDNN's recurrent layers do, one step at a time."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.rnn.block_cells import LSTMBlockCell
from penstock.rnn.cell import input_depth
from penstock.rnn.simple_cells import GRUCell

__all__ = ["CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell"]


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM without a bias of its forget gate."""

    def __init__(self, num_units: int, reuse: bool | None = None):
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU whose reset gate is applied after the state's projection, not before it.

    Args:
      num_units: The size of state and output.
      reuse: Whether the variables are those of an existing scope.
      kernel_initializer: Of the matrices.
      bias_initializer: Of the biases; by default 1 for the gates and 0 for the rest.
    """

    def __init__(
        self,
        num_units: int,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
    ):
        super().__init__(
            num_units,
            reuse=reuse,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
        )

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        ones = tf.constant_initializer(1.0, dtype=self.dtype)
        self._gate_kernel, self._gate_bias = self._weights("gates", depth, 2, ones)
        self._input_kernel = self._projection("input", depth)
        self._hidden_kernel = self._projection("hidden", self._num_units)
        self._input_bias = self._projected_bias("input")
        self._hidden_bias = self._projected_bias("hidden")
        self.built = True

    def _projection(self, of: str, depth: int) -> Any:
        return self.add_variable(
            f"candidate/{of}_projection/kernel",
            shape=[depth, self._num_units],
            initializer=self._kernel_initializer,
        )

    def _projected_bias(self, of: str) -> Any:
        zeros = tf.zeros_initializer(dtype=self.dtype)
        return self.add_variable(
            f"candidate/{of}_projection/bias",
            shape=[self._num_units],
            initializer=zeros if self._bias_initializer is None else self._bias_initializer,
        )

    def call(self, inputs: Any, state: Any) -> Any:
        gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias))
        reset, update = tf.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = tf.nn.bias_add(tf.matmul(inputs, self._input_kernel), self._input_bias)
        hidden = tf.nn.bias_add(tf.matmul(state, self._hidden_kernel), self._hidden_bias)
        new = self._activation(candidate + reset * hidden)
        state = (1 - update) * new + update * state
        return state, state
