"""Recurrent layers and cells with the defaults of TensorFlow 2, which cuDNN can compute."""

from __future__ import annotations

from typing import Any, ClassVar

import penstock as tf
from penstock.execution_modes import executing_eagerly_outside_functions
from penstock.keras import activations
from penstock.keras.layers import recurrent_cells, recurrent_layers

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell"]


# What computed a layer that was asked for it, as TensorFlow numbers it.
_RUNTIME_UNKNOWN = 0
_RUNTIME_CPU = 1
_RUNTIME_GPU = 2


def _runtime(number: int) -> tf.Tensor:
    with tf.device("cpu:0"):
        return tf.constant(number, dtype=tf.float32, name="runtime")


class GRUCell(recurrent_cells.GRUCell):
    """A step of a GRU: sigmoid gates, the reset gate after the product with the last output."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        *args: Any,
        implementation: int = 2,
        reset_after: bool = True,
        **kwargs: Any,
    ):
        kwargs.update(implementation=implementation, reset_after=reset_after)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)


class LSTMCell(recurrent_cells.LSTMCell):
    """A step of an LSTM with sigmoid gates."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        *args: Any,
        implementation: int = 2,
        **kwargs: Any,
    ):
        kwargs.update(implementation=implementation)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)


class _SecondDefaults:
    _defaults: ClassVar[dict[str, Any]] = {"recurrent_activation": "sigmoid", "implementation": 2}

    def __init__(self, units: int, *args: Any, **kwargs: Any):
        given = ("activation", "recurrent_activation")[: len(args)]
        defaults = {key: value for key, value in self._defaults.items() if key not in given}
        self._return_runtime = kwargs.pop("return_runtime", False)
        super().__init__(units, *args, **{**defaults, **kwargs})  # type: ignore[call-arg]
        self.could_use_cudnn = executing_eagerly_outside_functions() and self._is_as_in_cudnn()

    def _is_as_in_cudnn(self) -> bool:
        """Whether cuDNN's kernels know these activations and settings."""
        layer: Any = self
        cell = layer.cell
        gates = activations.serialize(cell.recurrent_activation)
        has_activations = activations.serialize(cell.activation) == "tanh" and gates == "sigmoid"
        is_plain = not cell.recurrent_dropout and not layer.unroll
        return has_activations and is_plain and cell.use_bias

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        """Runs the cell; with `return_runtime` a number tells by which implementation."""
        result = super().call(inputs, mask, training, initial_state, constants)  # type: ignore[misc]
        if not self._return_runtime or self.return_state:  # type: ignore[attr-defined]
            return result
        return result, _runtime(_RUNTIME_CPU if self.could_use_cudnn else _RUNTIME_UNKNOWN)


class GRU(_SecondDefaults, recurrent_layers.GRU):
    """A layer of gated recurrent units, as cuDNN computes them."""

    _defaults: ClassVar[dict[str, Any]] = {**_SecondDefaults._defaults, "reset_after": True}


class LSTM(_SecondDefaults, recurrent_layers.LSTM):
    """A layer of long short-term memories, as cuDNN computes them."""


def is_sequence_right_padded(mask: Any, time_major: bool) -> Any:
    """Whether no step that counts comes after one that does not.

    Args:
      mask: booleans (batch, step), or (step, batch) if `time_major`.
    """
    by_batch = tf.transpose(mask) if time_major else mask
    lengths = tf.reduce_sum(tf.cast(by_batch, tf.int32), axis=1)
    padded = tf.sequence_mask(lengths, maxlen=tf.shape(by_batch)[1])
    return tf.reduce_all(tf.equal(by_batch, padded))


def calculate_sequence_by_mask(mask: Any, time_major: bool) -> Any:
    """How many steps of each sample count."""
    return tf.reduce_sum(tf.cast(mask, tf.int32), axis=0 if time_major else 1)
