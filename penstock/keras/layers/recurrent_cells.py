"""The cells of simple recurrent networks, GRUs and LSTMs."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import activations
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.layers.recurrent import zero_states
from penstock.layers import identifiers

__all__ = ["GRUCell", "LSTMCell", "PeepholeLSTMCell", "SimpleRNNCell"]


class _Cell(Layer):
    """A kernel for the inputs, one for the last output, and a bias; one block for each gate.

    Dropout masks are drawn once per call of the layer around, and are the same for all steps.
    """

    gates: int

    _CONFIG: tuple[str, ...] = (
        "units",
        "activation",
        "use_bias",
        "kernel_initializer",
        "recurrent_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "recurrent_regularizer",
        "bias_regularizer",
        "kernel_constraint",
        "recurrent_constraint",
        "bias_constraint",
        "dropout",
        "recurrent_dropout",
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.recurrent_initializer = identifiers.initializer(recurrent_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = identifiers.regularizer(kernel_regularizer)
        self.recurrent_regularizer = identifiers.regularizer(recurrent_regularizer)
        self.bias_regularizer = identifiers.regularizer(bias_regularizer)
        self.kernel_constraint = identifiers.constraint(kernel_constraint)
        self.recurrent_constraint = identifiers.constraint(recurrent_constraint)
        self.bias_constraint = identifiers.constraint(bias_constraint)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size: Any = units
        self.output_size = units
        self.bias: Any = None
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    # Variables ----------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        features = tf.TensorShape(input_shape).as_list()[-1]
        width = self.units * self.gates
        self.kernel = self.add_weight(
            shape=(features, width),
            name="kernel",
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, width),
            name="recurrent_kernel",
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                shape=self._bias_shape(),
                name="bias",
                initializer=self._initial_bias(),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self.gates,)

    def _initial_bias(self) -> Any:
        return self.bias_initializer

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The states before the first step: zeros."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return zero_states(batch_size, self.state_size, dtype)

    # Dropout ------------------------------------------------------------------------------------

    def reset_dropout_mask(self) -> None:
        """Lets the next step draw new masks for the inputs."""
        self.__dict__["_dropout_masks"] = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Lets the next step draw new masks for the last output."""
        self.__dict__["_recurrent_dropout_masks"] = None

    def _masks(self, kind: str, rate: float, like: Any, training: Any) -> Any:
        if rate == 0:
            return None
        if self.__dict__[kind] is None:
            ones = tf.ones_like(like)
            self.__dict__[kind] = [
                K.in_train_phase(lambda: K.dropout(ones, rate), ones, training=training)
                for _ in range(self.gates)
            ]
        return self.__dict__[kind]

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The masks of the inputs, None without dropout."""
        return self._masks("_dropout_masks", self.dropout, inputs, training)

    def get_recurrent_dropout_mask_for_cell(
        self, inputs: Any, training: Any, count: int = 1
    ) -> Any:
        """The masks of the last output, None without dropout."""
        return self._masks("_recurrent_dropout_masks", self.recurrent_dropout, inputs, training)

    # Products -----------------------------------------------------------------------------------

    def _products(self, values: Any, kernel: Any, masks: Any) -> list[Any]:
        """The product with each gate's block of a kernel."""
        if masks is None or getattr(self, "implementation", 1) == 2:
            if masks is not None:
                values = values * masks[0]
            return _split(K.dot(values, kernel), self.gates)
        blocks = tf.split(kernel, num_or_size_splits=self.gates, axis=1)
        return [K.dot(values * m, block) for m, block in zip(masks, blocks, strict=True)]

    def _gate_inputs(self, inputs: Any, training: Any) -> list[Any]:
        masks = self.get_dropout_mask_for_cell(inputs, training, self.gates)
        return self._products(inputs, self.kernel, masks)


def _split(tensor: Any, gates: int) -> list[Any]:
    return [tensor] if gates == 1 else tf.split(tensor, num_or_size_splits=gates, axis=1)


class SimpleRNNCell(_Cell):
    """`output = activation(inputs x kernel + last output x recurrent_kernel + bias)`."""

    gates = 1

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        (before,) = states
        (from_inputs,) = self._gate_inputs(inputs, training)
        if self.bias is not None:
            from_inputs = K.bias_add(from_inputs, self.bias)
        masks = self.get_recurrent_dropout_mask_for_cell(before, training)
        (from_before,) = self._products(before, self.recurrent_kernel, masks)
        output = self.activation(from_inputs + from_before)
        return output, [output]


_GATED = tuple(
    part
    for key in _Cell._CONFIG
    for part in ((key, "recurrent_activation") if key == "activation" else (key,))
)


class GRUCell(_Cell):
    """A gated recurrent unit.

    Args:
      implementation: 1 draws a dropout mask for each gate, 2 one for all of them.
      reset_after: whether the reset gate comes after the product with the last output.
    """

    gates = 3
    _CONFIG = (*_GATED, "implementation", "reset_after")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        *args: Any,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ):
        super().__init__(units, activation, *args, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation = implementation
        self.reset_after = reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        width = self.units * self.gates
        return (2, width) if self.reset_after else (width,)

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        before = states[0]
        update, reset, new = self._gate_inputs(inputs, training)
        biases: list[Any] = [None] * 3
        recurrent_biases: list[Any] = [None] * 3
        if self.bias is not None and self.reset_after:
            of_inputs, of_before = tf.unstack(self.bias)
            biases, recurrent_biases = tf.split(of_inputs, 3), tf.split(of_before, 3)
        elif self.bias is not None:
            biases = tf.split(self.bias, 3)
        update, reset, new = (
            value if bias is None else K.bias_add(value, bias)
            for value, bias in zip((update, reset, new), biases, strict=True)
        )
        masks = self.get_recurrent_dropout_mask_for_cell(before, training, 3)
        if self.reset_after:
            parts = self._products(before, self.recurrent_kernel, masks)
            parts = [
                part if bias is None else K.bias_add(part, bias)
                for part, bias in zip(parts, recurrent_biases, strict=True)
            ]
            z = self.recurrent_activation(update + parts[0])
            r = self.recurrent_activation(reset + parts[1])
            candidate = self.activation(new + r * parts[2])
        else:
            blocks = tf.split(self.recurrent_kernel, num_or_size_splits=3, axis=1)
            masked = [before if masks is None else before * mask for mask in masks or [0, 0, 0]]
            z = self.recurrent_activation(update + K.dot(masked[0], blocks[0]))
            r = self.recurrent_activation(reset + K.dot(masked[1], blocks[1]))
            candidate = self.activation(new + K.dot(r * masked[2], blocks[2]))
        output = z * before + (1 - z) * candidate
        return output, [output]


class LSTMCell(_Cell):
    """A long short-term memory: an output and a carry, with gates for input, forgetting, output.

    Args:
      unit_forget_bias: whether the forget gate's bias starts at 1.
      implementation: 1 draws a dropout mask for each gate, 2 one for all of them.
    """

    gates = 4
    _CONFIG = (
        *_GATED[: _GATED.index("bias_initializer") + 1],
        "unit_forget_bias",
        *_GATED[_GATED.index("bias_initializer") + 1 :],
        "implementation",
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        *args: Any,
        implementation: int = 1,
        **kwargs: Any,
    ):
        super().__init__(
            units,
            activation,
            use_bias,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            *args,
            **kwargs,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = implementation
        self.state_size = [units, units]

    def _initial_bias(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer
        units = self.units

        def initial(shape: Any, *args: Any, **kwargs: Any) -> Any:
            ones = identifiers.initializer("ones")
            return K.concatenate(
                [
                    self.bias_initializer((units,), *args, **kwargs),
                    ones((units,), *args, **kwargs),
                    self.bias_initializer((units * 2,), *args, **kwargs),
                ]
            )

        return initial

    def _gate_values(self, inputs: Any, output: Any, training: Any) -> list[Any]:
        from_inputs = self._gate_inputs(inputs, training)
        masks = self.get_recurrent_dropout_mask_for_cell(output, training, 4)
        from_output = self._products(output, self.recurrent_kernel, masks)
        values = [x + h for x, h in zip(from_inputs, from_output, strict=True)]
        if self.bias is None:
            return values
        biases = tf.split(self.bias, num_or_size_splits=4, axis=0)
        return [K.bias_add(v, bias) for v, bias in zip(values, biases, strict=True)]

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        output, carry = states[0], states[1]
        i, f, c, o = self._gate_values(inputs, output, training)
        new_carry = self.recurrent_activation(f) * carry
        new_carry = new_carry + self.recurrent_activation(i) * self.activation(c)
        output = self.recurrent_activation(o) * self.activation(new_carry)
        return output, [output, new_carry]


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the carry too."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for name in (
            "input_gate_peephole_weights",
            "forget_gate_peephole_weights",
            "output_gate_peephole_weights",
        ):
            weight = self.add_weight(
                shape=(self.units,), name=name, initializer=self.kernel_initializer
            )
            setattr(self, name, weight)

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        output, carry = states[0], states[1]
        i, f, c, o = self._gate_values(inputs, output, training)
        i = self.recurrent_activation(i + self.input_gate_peephole_weights * carry)
        f = self.recurrent_activation(f + self.forget_gate_peephole_weights * carry)
        new_carry = f * carry + i * self.activation(c)
        o = self.recurrent_activation(o + self.output_gate_peephole_weights * new_carry)
        output = o * self.activation(new_carry)
        return output, [output, new_carry]
