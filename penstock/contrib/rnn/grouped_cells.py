"""`tf.contrib.rnn.GLSTMCell`: an LSTM whose units are in groups with matrices of their own."""

from __future__ import annotations

from typing import Any

from penstock.ops.activations import bias_add
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import constant_initializer
from penstock.ops.joining import concat, split
from penstock.ops.shaping import shape as shape_of
from penstock.ops.slicing import slice as slice_of
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from penstock.rnn.cell import RNNCell
from penstock.rnn.linear import Linear
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["GLSTMCell"]


class GLSTMCell(RNNCell):
    """The LSTM unit in groups: each sees its part of the inputs and of the output.

    Args:
      num_units: The size of the memory, a multiple of the number of groups.
      initializer: Of the matrices.
      num_proj: The size of the output, if it is projected.
      number_of_groups: How many groups there are.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        if num_units % number_of_groups != 0:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups != 0:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._number_of_groups = number_of_groups
        self._forget_bias = forget_bias
        self._activation = activation
        self._of_groups: dict[int, Linear] = {}
        self._projection: Linear | None = None

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, h)
        c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(h, self._num_proj, False)
                h = self._projection(h)
        return h, LSTMStateTuple(c, h)

    def _gates(self, inputs: Any, h: Any) -> list[Any]:
        """Input, transform, forget and output gate of all groups, before their activations."""
        depth = inputs.shape.dims[1].value
        groups = self._number_of_groups
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups != 0:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups ({groups})"
            )
        batch = inputs.shape.dims[0].value or shape_of(inputs)[0]
        found = [self._gates_of(group, inputs, h, batch) for group in range(groups)]
        zeros = constant_initializer(0.0, dtype=inputs.dtype)
        biases = [
            get_variable(
                f"bias_{name}", shape=[self._num_units], dtype=inputs.dtype, initializer=zeros
            )
            for name in "ijfo"
        ]
        joined = [concat(parts, axis=1) for parts in zip(*found, strict=True)]
        return [bias_add(gate, bias) for gate, bias in zip(joined, biases, strict=True)]

    def _gates_of(self, group: int, inputs: Any, h: Any, batch: Any) -> Any:
        """The four gates of one group."""
        with variable_scope(f"group{group}"):
            seen = concat([self._part(each, group, batch) for each in (inputs, h)], axis=1)
            if group not in self._of_groups:
                size = 4 * (self._num_units // self._number_of_groups)
                self._of_groups[group] = Linear(seen, size, False)
            return split(self._of_groups[group](seen), 4, 1)

    def _part(self, value: Any, group: int, batch: Any) -> Any:
        """The columns that a group sees."""
        width = value.shape.dims[1].value // self._number_of_groups
        name = f"GLSTM_group{group}_input_generation"
        return slice_of(value, [0, group * width], [batch, width], name=name)
