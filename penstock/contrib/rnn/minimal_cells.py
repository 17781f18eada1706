"""Cells with few gates: the minimal recurrent unit, and the chaos-free network's."""

from __future__ import annotations

from typing import Any

from penstock.keras import activations, initializers
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.elementwise import sigmoid
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.rnn.cell import LayerRNNCell, input_depth

__all__ = ["CFNCell", "MinimalRNNCell"]


class _FewGates(LayerRNNCell):
    """What the two have in common.

    Args:
      units: The size of state and output.
      activation: A function, or the name of one.
      kernel_initializer, bias_initializer: Of the matrices and of the bias, or their names.
      name: The name of the scope.
      dtype: The type of the variables.
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units


class MinimalRNNCell(_FewGates):
    """The recurrent unit with one gate, between the state and what the inputs say."""

    def build(self, input_shape: Any) -> None:
        self._depth = input_depth(input_shape)
        self.kernel = self.add_variable(
            "kernel",
            shape=[self._depth + 2 * self.units, self.units],
            initializer=self.kernel_initializer,
        )
        self.bias = self.add_variable("bias", shape=[self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        of_inputs, of_gate = split(
            value=self.kernel, num_or_size_splits=[self._depth, 2 * self.units], axis=0
        )
        new = self.activation(matmul(inputs, of_inputs))
        kept = sigmoid(bias_add(matmul(concat([new, state], 1), of_gate), self.bias))
        state = kept * state + (1 - kept) * new
        return state, state


class CFNCell(_FewGates):
    """The chaos-free unit: without inputs its state dies out."""

    def build(self, input_shape: Any) -> None:
        units = self.units
        self.kernel = self.add_variable(
            "kernel",
            shape=[input_depth(input_shape), 3 * units],
            initializer=self.kernel_initializer,
        )
        self.recurrent_kernel = self.add_variable(
            "recurrent_kernel", shape=[units, 2 * units], initializer=self.kernel_initializer
        )
        self.bias = self.add_variable("bias", shape=[2 * units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        of_gates, of_inputs = split(
            value=self.kernel, num_or_size_splits=[2 * self.units, self.units], axis=1
        )
        gates = matmul(state, self.recurrent_kernel) + matmul(inputs, of_gates)
        opened = sigmoid(bias_add(gates, self.bias))
        horizontal, vertical = split(value=opened, num_or_size_splits=2, axis=1)
        new = self.activation(matmul(inputs, of_inputs))
        state = horizontal * self.activation(state) + (1 - vertical) * new
        return state, state
