"""A cell that attends to its own last outputs."""

from __future__ import annotations

from typing import Any

from penstock.nest import flatten, is_nested
from penstock.ops.convolution import conv2d
from penstock.ops.elementwise import tanh
from penstock.ops.joining import concat
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import expand_dims, reshape
from penstock.ops.slicing import slice as slice_of
from penstock.ops.softmax import softmax
from penstock.ops.variable_scope import get_variable, variable_scope
from penstock.rnn.cell import RNNCell, assert_like_rnncell
from penstock.rnn.linear import Linear

__all__ = ["AttentionCellWrapper"]


class AttentionCellWrapper(RNNCell):
    """A cell with attention over a window of its last outputs.

    Args:
      cell: The cell.
      attn_length: The size of the window.
      attn_size: The size of an attention vector; that of the cell's output if None.
      attn_vec_size: The number of features that attention compares; `attn_size` if None.
      input_size: The size of the inputs of the cell; that of the inputs if None.
      state_is_tuple: Whether the state is a tuple of the cell's, the attention and the window.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State "
                f"size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell = cell
        self._state_is_tuple = state_is_tuple
        self._attn_length = attn_length
        self._attn_size: Any = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._linear: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        window = self._attn_size * self._attn_length
        sizes = (self._cell.state_size, self._attn_size, window)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._attn_size

    def _mapped(self, key: str, args: Any, size: int) -> Any:
        if key not in self._linear:
            self._linear[key] = Linear(args, size, True)
        return self._linear[key](args)

    def call(self, inputs: Any, state: Any) -> Any:
        state, attention, window = self._parts(state)
        window = reshape(window, [-1, self._attn_length, self._attn_size])
        size = inputs.get_shape().as_list()[1] if self._input_size is None else self._input_size
        inputs = self._mapped("inputs", [inputs, attention], size)
        output, state = self._cell(inputs, state)
        query = concat(flatten(state), 1) if self._state_is_tuple else state
        attention, rest = self._attend(query, window)
        with variable_scope("attn_output_projection"):
            output = self._mapped("output", [output, attention], self._attn_size)
        window = concat([rest, expand_dims(output, 1)], 1)
        window = reshape(window, [-1, self._attn_length * self._attn_size])
        state = (state, attention, window)
        return output, state if self._state_is_tuple else concat(list(state), 1)

    def _parts(self, state: Any) -> Any:
        """The cell's state, the last attention and the window."""
        if self._state_is_tuple:
            return state
        start, parts = 0, []
        for size in (
            self._cell.state_size,
            self._attn_size,
            self._attn_size * self._attn_length,
        ):
            parts.append(slice_of(state, [0, start], [-1, size]))
            start += size
        return parts

    def _attend(self, query: Any, window: Any) -> tuple[Any, Any]:
        """What the query attends to, and the window without its oldest entry."""
        size, features = self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            k = get_variable("attn_w", [1, 1, size, features])
            v = get_variable("attn_v", [features])
            hidden = reshape(window, [-1, self._attn_length, 1, size])
            compared = conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = reshape(self._mapped("query", query, features), [-1, 1, 1, features])
            weights = softmax(reduce_sum(v * tanh(compared + y), [2, 3]))
            weighted = reshape(weights, [-1, self._attn_length, 1, 1]) * hidden
            attention = reshape(reduce_sum(weighted, [1, 2]), [-1, size])
            return attention, slice_of(window, [0, 1, 0], [-1, -1, -1])
