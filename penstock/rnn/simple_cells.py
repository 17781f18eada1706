"""Cells with one state: the plain recurrent unit and the gated recurrent unit."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.layers import identifiers
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.elementwise import sigmoid
from penstock.ops.initializers import constant_initializer, zeros_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.rnn.cell import (
    LayerRNNCell,
    activation_or_tanh,
    check_type,
    check_types,
    input_depth,
    serialized,
)

__all__ = ["BasicRNNCell", "GRUCell"]


class BasicRNNCell(LayerRNNCell):
    """The plain recurrent unit: `state = tanh(W [inputs, state] + b)`.

    Args:
      num_units: The size of state and output.
      activation: In place of tanh; a function or its name.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope; `basic_rnn_cell` by default.
      dtype: The type of the variables; that of the first inputs if None.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_type(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_or_tanh(activation)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        check_type(self.dtype)
        units = self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, units])
        self._bias = self.add_variable(
            "bias", shape=[units], initializer=zeros_initializer(dtype=self.dtype or dtypes.float32)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        check_types(inputs, state)
        joined = matmul(concat([inputs, state], 1), self._kernel)
        output = self._activation(bias_add(joined, self._bias))
        return output, output

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": serialized(self._activation),
            "reuse": self._reuse,
        }


class GRUCell(LayerRNNCell):
    """The gated recurrent unit: gates decide what is kept of the state and what is replaced.

    Args:
      num_units: The size of state and output.
      activation: In place of tanh; a function or its name.
      reuse: Whether the variables are those of an existing scope.
      kernel_initializer: Of the matrices.
      bias_initializer: Of the biases; by default 1 for the gates and 0 for the candidate.
      name: The name of the scope; `gru_cell` by default.
      dtype: The type of the variables; that of the first inputs if None.
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
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_type(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_or_tanh(activation)
        self._kernel_initializer = identifiers.initializer(kernel_initializer)
        self._bias_initializer = identifiers.initializer(bias_initializer)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        check_type(self.dtype)
        ones = constant_initializer(1.0, dtype=self.dtype or dtypes.float32)
        zeros = zeros_initializer(dtype=self.dtype or dtypes.float32)
        self._gate_kernel, self._gate_bias = self._weights("gates", depth, 2, ones)
        self._candidate_kernel, self._candidate_bias = self._weights("candidate", depth, 1, zeros)
        self.built = True

    def _weights(self, name: str, depth: int, count: int, bias_initializer: Any) -> tuple[Any, Any]:
        """The matrix and the bias of `count` gates."""
        units = self._num_units
        kernel = self.add_variable(
            f"{name}/kernel",
            shape=[depth + units, count * units],
            initializer=self._kernel_initializer,
        )
        if self._bias_initializer is not None:
            bias_initializer = self._bias_initializer
        bias = self.add_variable(
            f"{name}/bias", shape=[count * units], initializer=bias_initializer
        )
        return kernel, bias

    def call(self, inputs: Any, state: Any) -> Any:
        check_types(inputs, state)
        gates = matmul(concat([inputs, state], 1), self._gate_kernel)
        gates = sigmoid(bias_add(gates, self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        kept = reset * state
        candidate = matmul(concat([inputs, kept], 1), self._candidate_kernel)
        candidate = bias_add(candidate, self._candidate_bias)
        new = self._activation(candidate)
        state = update * state + (1 - update) * new
        return state, state

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "kernel_initializer": serialized(self._kernel_initializer),
            "bias_initializer": serialized(self._bias_initializer),
            "activation": serialized(self._activation),
            "reuse": self._reuse,
        }
