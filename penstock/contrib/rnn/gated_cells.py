"""Other gated cells: NAS, update gate, intersection, simple recurrent unit, highways."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.layers.input_spec import InputSpec
from penstock.nest import assert_same_structure, map_structure
from penstock.ops.activations import bias_add, relu, xw_plus_b
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import constant_initializer, zeros_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from penstock.rnn.cell import LayerRNNCell, RNNCell, input_depth
from penstock.rnn.linear import Linear
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["HighwayWrapper", "IntersectionRNNCell", "NASCell", "SRUCell", "UGRNNCell"]


class NASCell(LayerRNNCell):
    """The cell that neural architecture search found.

    Args:
      num_units: The size of the memory, and of the output without a projection.
      num_proj: The size of the output, if it is projected.
      use_bias: Whether there is a bias.
      reuse: Whether the variables are those of an existing scope.
    """

    _GATES = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, input_shape: Any) -> None:
        columns = self._GATES * self._num_units
        depth = input_depth(input_shape)
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, columns])
        self.kernel = self.add_variable("kernel", [depth, columns])
        if self._use_bias:
            self.bias = self.add_variable("bias", [columns], initializer=zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj]
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        from_state = matmul(h, self.recurrent_kernel)
        from_inputs = matmul(inputs, self.kernel)
        if self._use_bias:
            from_state = bias_add(from_state, self.bias)
        m = split(value=from_state, num_or_size_splits=self._GATES, axis=1)
        x = split(value=from_inputs, num_or_size_splits=self._GATES, axis=1)
        first = tanh(sigmoid(x[0] + m[0]) * relu(x[1] + m[1]))
        second = tanh(sigmoid(x[2] + m[2]) + relu(x[3] * m[3]))
        third = tanh(tanh(x[4] + m[4]) * sigmoid(x[5] + m[5]))
        fourth = sigmoid(tanh(x[6] + m[6]) + sigmoid(x[7] + m[7]))
        c = tanh(first + c) * second
        h = tanh(c * tanh(third + fourth))
        if self._num_proj is not None:
            h = matmul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)


def _known_depth(inputs: Any) -> int:
    depth: int | None = inputs.get_shape().with_rank(2).dims[1].value
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


class UGRNNCell(RNNCell):
    """The recurrent unit with an update gate.

    Args:
      num_units: The size of state and output.
      initializer: Of the matrices.
      forget_bias: Added to the gate, so that much is kept at first.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Linear | None = None

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        _known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units, True)
            g, c = split(value=self._linear(joined), num_or_size_splits=2, axis=1)
            new = self._activation(c)
            kept = sigmoid(g + self._forget_bias)
            state = kept * state + (1.0 - kept) * new
        return state, state


class IntersectionRNNCell(RNNCell):
    """A recurrent unit with gates in time and in depth.

    Args:
      num_units: The size of state and output.
      num_in_proj: Given to project inputs of another size to `num_units`.
      initializer: Of the matrices.
      forget_bias: Added to both gates, so that much is kept at first.
      y_activation: Of what goes on in depth.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = relu,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._projection: Linear | None = None
        self._linear: Linear | None = None

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if _known_depth(inputs) != self._num_units:
                inputs = self._projected(inputs)
            joined = concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 4 * self._num_units, True)
            parts = split(value=self._linear(joined), num_or_size_splits=4, axis=1)
            in_time, h, in_depth, y = parts
            kept = sigmoid(in_time + self._forget_bias)
            passed = sigmoid(in_depth + self._forget_bias)
            state = kept * state + (1.0 - kept) * tanh(h)
            output = passed * inputs + (1.0 - passed) * self._y_activation(y)
        return output, state

    def _projected(self, inputs: Any) -> Any:
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                "should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(inputs, self._num_units, True)
            return self._projection(inputs)


class SRUCell(LayerRNNCell):
    """The simple recurrent unit: gates that see the inputs alone.

    Args:
      num_units: The size of state and output.
      activation: In place of tanh.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or tanh
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        units = self._num_units
        self._kernel = self.add_variable("kernel", [input_depth(input_shape), 4 * units])
        self._bias = self.add_variable("bias", [2 * units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        x, f, r, passed = split(value=matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([f, r], 1), self._bias))
        f, r = split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x
        return r * self._activation(c) + (1.0 - r) * passed, c


class HighwayWrapper(RNNCell):
    """A cell with a highway from its inputs to its outputs: gates decide what is carried over.

    Args:
      cell: The cell; its output has the size of its inputs.
      couple_carry_transform_gates: Whether one gate decides both what is carried and what isn't.
      carry_bias_init: The first value of the gate's bias.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ):
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        outputs, state = self._cell(inputs, state, scope=scope)
        assert_same_structure(inputs, outputs)
        return map_structure(self._highway, inputs, outputs), state

    def _highway(self, inputs: Any, outputs: Any) -> Any:
        inputs.get_shape().assert_is_compatible_with(outputs.get_shape())
        carried = self._gate("carry", inputs, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transformed = 1 - carried
        else:
            transformed = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carried + outputs * transformed

    @staticmethod
    def _gate(name: str, inputs: Any, bias: float) -> Any:
        size = _known_depth(inputs)
        w = get_variable(f"{name}_w", [size, size])
        b = get_variable(f"{name}_b", [size], initializer=constant_initializer(bias))
        return sigmoid(xw_plus_b(inputs, w, b))
