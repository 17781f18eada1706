"""`tf.nn.rnn_cell.MultiRNNCell`: cells on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ir.trackable import Trackable
from penstock.layers.base import Layer
from penstock.nest import is_nested
from penstock.ops.joining import concat
from penstock.ops.slicing import slice as slice_of
from penstock.ops.variable_scope import variable_scope
from penstock.rnn.cell import RNNCell

__all__ = ["MultiRNNCell"]


class MultiRNNCell(RNNCell):
    """One cell out of several: the output of each is the input of the next.

    Args:
      cells: The cells, from the first to the last.
      state_is_tuple: Whether the state is a tuple with one entry for each cell; else all states
        in one tensor.
    """

    _cells: Sequence[Any]

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        # Not as an attribute that the layer owns: in object-based checkpoints cells have names.
        object.__setattr__(self, "_cells", cells)
        for index, cell in enumerate(cells):
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{index}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(is_nested(cell.state_size) for cell in cells):
            sizes = [cell.state_size for cell in cells]
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return tuple(cell.state_size for cell in self._cells)
        return sum(cell.state_size for cell in self._cells)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def _of_cells(self, attribute: str) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [weight for cell in layers for weight in getattr(cell, attribute)]

    @property
    def trainable_weights(self) -> list[Any]:
        return self._of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        fixed = self._of_cells("non_trainable_weights")
        return fixed if self.trainable else self._of_cells("trainable_weights") + fixed

    def call(self, inputs: Any, state: Any) -> Any:
        states = []
        start = 0
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    if not is_nested(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but "
                            f"received: {state}"
                        )
                    own = state[i]
                else:
                    own = slice_of(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)
