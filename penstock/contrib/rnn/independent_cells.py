"""Cells whose units see their own past only: the recurrent matrix is a vector."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.binary import add, multiply
from penstock.ops.broadcasting import tile
from penstock.ops.constants import constant
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import (
    constant_initializer,
    random_uniform_initializer,
    zeros_initializer,
)
from penstock.ops.joining import split
from penstock.ops.matmul import matmul
from penstock.rnn.cell import LayerRNNCell, input_depth
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["IndRNNCell", "IndyGRUCell", "IndyLSTMCell"]


class _IndependentCell(LayerRNNCell):
    """What the three have in common: `num_units` outputs, and how their variables are made."""

    def __init__(
        self, num_units: int, activation: Any, reuse: bool | None, name: str | None, dtype: Any
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tanh

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _recurrent(self, name: str, size: int) -> Any:
        """The weights of the units' own past, each in [-1, 1)."""
        uniform = random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype)
        return self.add_variable(name, shape=[1, size], initializer=uniform)


class IndRNNCell(_IndependentCell):
    """The simple recurrent cell with independent units.

    Args:
      num_units: The size of state and output.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope.
      dtype: The type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, input_shape: Any) -> None:
        units = self._num_units
        self._kernel_w = self.add_variable("kernel_w", shape=[input_depth(input_shape), units])
        self._kernel_u = self._recurrent("kernel_u", units)
        zeros = zeros_initializer(dtype=self.dtype)
        self._bias = self.add_variable("bias", shape=[units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(bias_add(gates, self._bias))
        return output, output


class IndyGRUCell(_IndependentCell):
    """The gated recurrent unit with independent units.

    Args:
      num_units: The size of state and output.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
      kernel_initializer: Of the matrices of the inputs.
      bias_initializer: Of both biases; by default ones for the gates, zeros for the candidate.
      name: The name of the scope.
      dtype: The type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, input_shape: Any) -> None:
        units, depth = self._num_units, input_depth(input_shape)
        given = self._bias_initializer
        self._gate_kernel_w = self.add_variable(
            "gates/kernel_w", shape=[depth, 2 * units], initializer=self._kernel_initializer
        )
        self._gate_kernel_u = self._recurrent("gates/kernel_u", 2 * units)
        self._gate_bias = self.add_variable(
            "gates/bias",
            shape=[2 * units],
            initializer=constant_initializer(1.0, dtype=self.dtype) if given is None else given,
        )
        self._candidate_kernel_w = self.add_variable(
            "candidate/kernel", shape=[depth, units], initializer=self._kernel_initializer
        )
        self._candidate_kernel_u = self._recurrent("candidate/kernel_u", units)
        self._candidate_bias = self.add_variable(
            "candidate/bias",
            shape=[units],
            initializer=zeros_initializer(dtype=self.dtype) if given is None else given,
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = matmul(inputs, self._gate_kernel_w) + tile(state, [1, 2]) * self._gate_kernel_u
        opened = sigmoid(bias_add(gates, self._gate_bias))
        r, u = split(value=opened, num_or_size_splits=2, axis=1)
        candidate = (
            matmul(inputs, self._candidate_kernel_w) + (r * state) * self._candidate_kernel_u
        )
        new = self._activation(bias_add(candidate, self._candidate_bias))
        state = u * state + (1 - u) * new
        return state, state


class IndyLSTMCell(_IndependentCell):
    """The LSTM unit with independent units.

    Args:
      num_units: The size of memory and output.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
      kernel_initializer: Of the matrix of the inputs.
      bias_initializer: Of the bias; by default zeros.
      name: The name of the scope.
      dtype: The type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, input_shape: Any) -> None:
        size = 4 * self._num_units
        given = self._bias_initializer
        self._kernel_w = self.add_variable(
            "kernel_w",
            shape=[input_depth(input_shape), size],
            initializer=self._kernel_initializer,
        )
        self._kernel_u = self._recurrent("kernel_u", size)
        self._bias = self.add_variable(
            "bias",
            shape=[size],
            initializer=zeros_initializer(dtype=self.dtype) if given is None else given,
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        gates = matmul(inputs, self._kernel_w) + tile(h, [1, 4]) * self._kernel_u
        axis = constant(1, dtype=dtypes.int32)
        i, j, f, o = split(value=bias_add(gates, self._bias), num_or_size_splits=4, axis=axis)
        forgotten = sigmoid(add(f, constant(self._forget_bias, dtype=f.dtype)))
        c = add(multiply(c, forgotten), multiply(sigmoid(i), self._activation(j)))
        h = multiply(self._activation(c), sigmoid(o))
        return h, LSTMStateTuple(c, h)
