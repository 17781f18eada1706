"""Recurrent cells on a grid: one recurrence along each of several dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib import layers
from penstock.contrib.grid_rnn.layout import Dimensions, layout
from penstock.rnn.cell import RNNCell
from penstock.rnn.lstm_cells import LSTMCell

__all__ = ["GridRNNCell"]


class GridRNNCell(RNNCell):
    """A grid cell (Kalchbrenner et al., 2015) of any number of dimensions.

    Args:
      num_units: The size of the state along each dimension.
      num_dims: The number of dimensions.
      input_dims: Those that take the input.
      output_dims: Those whose outputs are the cell's.
      priority_dims: Those that see the new outputs of the others.
      non_recurrent_dims: Those without a state, which `non_recurrent_fn` computes.
      tied: Whether all dimensions share their weights.
      cell_fn: Makes the cell of a dimension from the number of units; an LSTM if None.
      non_recurrent_fn: The activation of dimensions without a state; a ReLU if None.
      state_is_tuple: Whether the state is a tuple with an entry for each dimension that has one.
      output_is_tuple: Whether the output is a tuple with an entry for each of `output_dims`.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Dimensions = None,
        output_dims: Dimensions = None,
        priority_dims: Dimensions = None,
        non_recurrent_dims: Dimensions = None,
        tied: bool = False,
        cell_fn: Callable[[int], Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__()
        for kind, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                logging.warning(
                    "%s: Using a concatenated %s is slower and will soon be deprecated.  Use "
                    "%s_is_tuple=True.",
                    self,
                    kind,
                    kind,
                )
        self._config = layout(
            num_units, num_dims, input_dims, output_dims, priority_dims, non_recurrent_dims, tied
        )
        self._non_recurrent_fn = non_recurrent_fn or tf.nn.relu
        self._state_is_tuple = state_is_tuple
        self._output_is_tuple = output_is_tuple

        def make() -> Any:
            if cell_fn is None:
                return LSTMCell(num_units, state_is_tuple=state_is_tuple)
            return cell_fn(num_units)

        self._cells = [make()] * num_dims if tied else [make() for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def output_size(self) -> Any:
        sizes = (self._cells[0].output_size,) * len(self._config.outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        states = len(self._config.recurrents)
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * states
        return self._cell_state_size() * states

    def _cell_state_size(self) -> int:
        sizes = self._cells[0].state_size
        return sum(sizes) if isinstance(sizes, tuple) else sizes

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step: outputs and states, in the forms that the cell was made with."""
        c_prev, m_prev = self._states_before(state)
        with tf.variable_scope(scope or type(self).__name__):
            self._project_input(inputs, c_prev, m_prev)
            step = _Step(self, c_prev, m_prev)
            step.propagate(self._config.non_priority, first=True)
            step.propagate(self._config.priority, first=False)
            outputs = [step.outputs[i] for i in self._config.outputs]
            states = [step.states[i] for i in self._config.recurrents]
            if self._output_is_tuple:
                output: Any = tuple(outputs)
            else:
                output = tf.concat(outputs, 1) if outputs else tf.zeros([0, 0], inputs.dtype)
            if self._state_is_tuple:
                return output, tuple(states)
            # The whole state of each dimension, one behind the other.
            parts = [part for one in states for part in one]
            return output, tf.concat(parts, 1) if parts else tf.zeros([0, 0], inputs.dtype)

    def _states_before(self, state: Any) -> tuple[list[Any], list[Any]]:
        """Cell values and outputs of each dimension, None where it has none."""
        config = self._config
        c_prev: list[Any] = [None] * config.num_dims
        m_prev: list[Any] = [None] * config.num_dims
        if self._state_is_tuple:
            if len(config.recurrents) != len(state):
                raise ValueError(f"Expected state as a tuple of {len(config.recurrents)} element")
            for i, own in zip(config.recurrents, state, strict=True):
                if self._has_cell_values():
                    c_prev[i], m_prev[i] = own
                else:
                    m_prev[i] = own
            return c_prev, m_prev
        size, units = self._cell_state_size(), config.num_units
        for start, i in zip(range(0, self.state_size, size), config.recurrents, strict=True):
            if self._has_cell_values():
                c_prev[i] = tf.slice(state, [0, start], [-1, units])
                m_prev[i] = tf.slice(state, [0, start + units], [-1, size - units])
            else:
                m_prev[i] = tf.slice(state, [0, start], [-1, units])
        return c_prev, m_prev

    def _has_cell_values(self) -> bool:
        # An LSTM's state has a cell value besides its output; other cells' is their output.
        return self._cell_state_size() > self._config.num_units

    def _project_input(self, inputs: Any, c_prev: list[Any], m_prev: list[Any]) -> None:
        """Puts projections of the input in the place of the states of the input dimensions."""
        config = self._config
        if inputs is None or not config.inputs:
            return
        if not tf.dimension_value(inputs.shape.with_rank(2)[1]):
            return
        parts = tf.split(value=inputs, num_or_size_splits=len(config.inputs), axis=1)
        shape = [tf.dimension_value(parts[0].shape.with_rank(2)[1]), config.num_units]
        for i, part in zip(config.inputs, parts, strict=True):
            matrix = tf.get_variable(f"project_m_{i}", shape, dtype=inputs.dtype)
            m_prev[i] = tf.matmul(part, matrix)
            if self._has_cell_values():
                matrix = tf.get_variable(f"project_c_{i}", shape, dtype=inputs.dtype)
                c_prev[i] = tf.matmul(part, matrix)


class _Step:
    """One step of a grid cell: outputs and states of the dimensions that were computed so far."""

    def __init__(self, grid: GridRNNCell, c_prev: list[Any], m_prev: list[Any]):
        self._grid = grid
        self._config = grid._config
        self._c_prev, self._m_prev = c_prev, m_prev
        self.outputs: list[Any] = [None] * self._config.num_dims
        self.states: list[Any] = [None] * self._config.num_dims

    def propagate(self, dimensions: list[int], first: bool) -> None:
        """Computes the dimensions, each from what was known of all others before the call."""
        if not dimensions:
            return
        known = [
            before if now is None else now
            for now, before in zip(self.outputs, self._m_prev, strict=True)
        ]
        # The last dimension's output goes in as the state, those of the others as the input.
        *others, last = known
        if others:
            inputs = tf.concat(others, 1)
        else:
            inputs = tf.zeros([known[0].shape.as_list()[0], 0], known[0].dtype)
        for i in dimensions:
            recurrent = i in self._config.recurrents
            with tf.variable_scope(self._scope("recurrent" if recurrent else "non_recurrent", i)):
                if self._config.tied and not (first and i == dimensions[0]):
                    tf.get_variable_scope().reuse_variables()
                if recurrent:
                    state = last if self._c_prev[i] is None else (self._c_prev[i], last)
                    self.outputs[i], self.states[i] = self._grid._cells[i](inputs, state)
                else:
                    self.outputs[i] = self._transferred(tf.concat([*others, last], 1))

    def _scope(self, kind: str, dimension: int) -> str:
        return kind if self._config.tied else f"{kind}/cell_{dimension}"

    def _transferred(self, inputs: Any) -> Any:
        scope = tf.get_variable_scope()
        return layers.fully_connected(
            inputs,
            num_outputs=self._config.num_units,
            activation_fn=self._grid._non_recurrent_fn,
            weights_initializer=scope.initializer or layers.xavier_initializer(),
            weights_regularizer=scope.regularizer,
        )
