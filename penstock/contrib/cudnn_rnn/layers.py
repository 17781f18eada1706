"""Recurrent layers with the arguments and results of cuDNN's.

They are made of cells, on any device. Their variables have the names under which TensorFlow saves
the weights of such a layer, so that checkpoints go both ways.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from penstock.contrib.cudnn_rnn.names import (
    CUDNN_INPUT_AUTO_MODE,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_INPUT_SKIP_MODE,
    CUDNN_RNN_BIDIRECTION,
    CUDNN_RNN_UNIDIRECTION,
)
from penstock.contrib.rnn.stacks import stack_bidirectional_dynamic_rnn
from penstock.layers.base import Layer
from penstock.layers.input_spec import InputSpec
from penstock.rnn.dynamic import dynamic_rnn
from penstock.rnn.lstm_cells import LSTMStateTuple
from penstock.rnn.simple_cells import BasicRNNCell
from penstock.rnn.stacked_cell import MultiRNNCell
from penstock.rnn.wrappers import DropoutWrapper
from penstock.shapes import TensorShape

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]

_INPUT_MODES = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)


class _CudnnRNN(Layer):
    """Layers of cells of one kind, in one direction or in both.

    Args:
      num_layers: how many layers.
      num_units: the size of each cell.
      input_mode: "linear_input", "auto_select", or "skip_input", which is not there.
      direction: "unidirectional" or "bidirectional".
      dropout: the share of values that are dropped between layers.
      seed: of the dropout and of the weights.
      dtype: of the weights.
      kernel_initializer: of matrices; `tf.glorot_uniform_initializer` if None.
      bias_initializer: of biases; zeros if None.
      name: of the scope.
    """

    _rnn_mode = ""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError(
                f"Invalid direction: {direction}, expecting unidirectional or bidirectional"
            )
        if input_mode not in _INPUT_MODES:
            raise ValueError(
                f"Invalid input_mode: {input_mode}, expect {' or '.join(_INPUT_MODES)}"
            )
        if input_mode == "skip_input":
            raise ValueError("Inputs are always projected: use input_mode='linear_input'.")
        if dtype not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or tf.glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or tf.zeros_initializer()
        self._input_size: int | None = None
        self._cells: list[Any] = []

    def _new_cell(self) -> Any:
        raise NotImplementedError

    @property
    def num_layers(self) -> int:
        return self._num_layers

    @property
    def num_units(self) -> int:
        return self._num_units

    @property
    def input_mode(self) -> str:
        return self._input_mode

    @property
    def input_size(self) -> int:
        if self._input_size is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        return self._rnn_mode

    @property
    def direction(self) -> str:
        return self._direction

    @property
    def num_dirs(self) -> int:
        return 1 if self._direction == CUDNN_RNN_UNIDIRECTION else 2

    @property
    def trainable_weights(self) -> list[Any]:
        return [weight for cell in self._cells for weight in cell.trainable_weights]

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """The shape of each tensor of the state."""
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],)

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        self._input_size = shape.as_list()[-1]
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        self._cells = [self._new_cell() for _ in range(self._num_layers * self.num_dirs)]
        self.built = True

    def _cell_states(self, state: tuple[Any, ...], axis: int) -> list[Any]:
        """The states of the cells, from tensors of all of them."""
        return tf.unstack(tf.convert_to_tensor(state[0], dtype=self.dtype), axis=axis)

    def _joined(self, states: list[Any], axis: int) -> tuple[Any, ...]:
        """Tensors of all states, from those of the cells."""
        return (tf.stack(states, axis=axis),)

    def _dropping(self, cells: list[Any], training: bool) -> list[Any]:
        """The cells of a direction, with dropout before all but the first while training."""
        if not training or not self._dropout:
            return cells
        keep = 1.0 - self._dropout
        dropping = [DropoutWrapper(cell, keep, seed=self._seed) for cell in cells[1:]]
        return [cells[0], *dropping]

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Any, tuple[Any, ...]]:
        """Outputs of the last layer, and the last states of all.

        Args:
          inputs: [time, batch, input_size]; batch comes first if not `time_major`.
          initial_state: tensors of shape [num_layers * num_dirs, batch, num_units]; zeros if None.
          sequence_lengths: of each example; all of the inputs if None.
          time_major: whether time comes first.
          training: whether there is dropout.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        axis = 0 if time_major else 1
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        if initial_state is None:
            batch_size = tf.shape(inputs)[1 - axis]
            shapes = self.state_shape(batch_size)
            starts = self._cell_states(tuple(tf.zeros(s, self.dtype) for s in shapes), 0)
        else:
            starts = self._cell_states(initial_state, axis)
        options = {"sequence_length": sequence_lengths, "time_major": time_major}
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._kernel_initializer):
            if self.num_dirs == 1:
                stack = MultiRNNCell(self._dropping(self._cells, training))
                outputs, ends = dynamic_rnn(
                    stack, inputs, initial_state=tuple(starts), dtype=self.dtype, **options
                )
                return outputs, self._joined(list(ends), axis)
            outputs, forward, backward = stack_bidirectional_dynamic_rnn(
                self._dropping(self._cells[0::2], training),
                self._dropping(self._cells[1::2], training),
                inputs,
                starts[0::2],
                starts[1::2],
                dtype=self.dtype,
                **options,
            )
        ends = [state for pair in zip(forward, backward, strict=True) for state in pair]
        return outputs, self._joined(ends, axis)


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTMs; their state is outputs and memories, in this order."""

    _rnn_mode = "lstm"

    def _new_cell(self) -> CudnnCompatibleLSTMCell:
        return CudnnCompatibleLSTMCell(self._num_units)

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        return super().state_shape(batch_size) * 2

    def _cell_states(self, state: tuple[Any, ...], axis: int) -> list[Any]:
        outputs, memories = (
            tf.unstack(tf.convert_to_tensor(each, dtype=self.dtype), axis=axis) for each in state
        )
        return [LSTMStateTuple(c, h) for c, h in zip(memories, outputs, strict=True)]

    def _joined(self, states: list[Any], axis: int) -> tuple[Any, ...]:
        outputs = tf.stack([state.h for state in states], axis=axis)
        return outputs, tf.stack([state.c for state in states], axis=axis)


class CudnnGRU(_CudnnRNN):
    """Layers of GRUs."""

    _rnn_mode = "gru"

    def _new_cell(self) -> CudnnCompatibleGRUCell:
        return CudnnCompatibleGRUCell(
            self._num_units,
            kernel_initializer=self._kernel_initializer,
            bias_initializer=self._bias_initializer,
        )


class CudnnRNNTanh(_CudnnRNN):
    """Layers of plain cells with tanh."""

    _rnn_mode = "rnn_tanh"

    def _new_cell(self) -> BasicRNNCell:
        return BasicRNNCell(self._num_units, activation=tf.tanh)


class CudnnRNNRelu(_CudnnRNN):
    """Layers of plain cells with rectifiers."""

    _rnn_mode = "rnn_relu"

    def _new_cell(self) -> BasicRNNCell:
        return BasicRNNCell(self._num_units, activation=tf.nn.relu)
