"""LSTM cells that go over the frequencies of a spectrum inside each step of time."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from penstock.contrib.rnn.sharded_variables import sharded_matrix
from penstock.ops.activations import bias_add
from penstock.ops.clip import clip_by_value
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.filling import zeros
from penstock.ops.initializers import zeros_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.ops.padding import pad
from penstock.ops.shaping import shape as shape_of
from penstock.ops.slicing import slice as slice_of
from penstock.ops.variable_scope import get_variable, variable_scope
from penstock.platform import logging
from penstock.rnn.cell import RNNCell

__all__ = ["BidirectionalGridLSTMCell", "GridLSTMCell", "TimeFreqLSTMCell"]


def _known_size(inputs: Any) -> int:
    size: int | None = inputs.get_shape().with_rank(2).dims[-1].value
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


def _batch_of(inputs: Any) -> Any:
    return inputs.shape.dims[0].value or shape_of(inputs)[0]


def _windows(inputs: Any, start: int, count: int, skip: int, size: int) -> list[Any]:
    """`count` pieces of `size` columns, each `skip` columns after the one before."""
    return [slice_of(inputs, [0, start + k * skip], [-1, size]) for k in range(count)]


class TimeFreqLSTMCell(RNNCell):
    """The LSTM unit that slides along the frequencies: each sees the output of the one before.

    Args:
      num_units: The size of memory and output at each frequency.
      use_peepholes: Whether the gates see the memory.
      cell_clip: The memory stays between this value and its negative.
      initializer: Not used, as in TensorFlow: the scope's initializer is.
      num_unit_shards: In how many variables the matrix is kept.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      feature_size: How many columns of the inputs are seen at once.
      frequency_skip: By how many columns the view moves on.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self) -> int:
        return self._num_units

    @property
    def state_size(self) -> int:
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        units, dtype, size = self._num_units, inputs.dtype, self._feature_size
        assert size is not None, "feature_size must be given"
        count = (_known_size(inputs) - size) // self._frequency_skip + 1
        kernel = sharded_matrix("W", [size + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=zeros_initializer(), dtype=dtype)
        names = ("W_F_diag", "W_I_diag", "W_O_diag") if self._use_peepholes else ()
        peepholes = [get_variable(name, shape=[units], dtype=dtype) for name in names]
        below = zeros([_batch_of(inputs), units], dtype)
        outputs: list[Any] = []
        states: list[Any] = []
        for k, seen in enumerate(_windows(inputs, 0, count, self._frequency_skip, size)):
            c = slice_of(state, [0, 2 * k * units], [-1, units])
            h = slice_of(state, [0, (2 * k + 1) * units], [-1, units])
            gates = bias_add(matmul(concat([seen, h, below], 1), kernel), bias)
            c, below = self._unit(gates, c, peepholes)
            outputs.append(below)
            states += [c, below]
        return concat(outputs, 1), concat(states, 1)

    def _unit(self, gates: Any, c: Any, peepholes: list[Any]) -> tuple[Any, Any]:
        """The new memory and output at one frequency."""
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        f = f + self._forget_bias
        if peepholes:
            f, i = f + peepholes[0] * c, i + peepholes[1] * c
        c = sigmoid(f) * c + sigmoid(i) * tanh(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if peepholes:
            o = o + peepholes[2] * c
        return c, sigmoid(o) * tanh(c)


class _Direction:
    """The variables of one of a grid's two LSTM units: along the frequencies, or along time."""

    def __init__(self, cell: GridLSTMCell, letter: str, word: str, block: int, size: int):
        units, dtype = cell._num_units, cell._input_dtype
        columns = (3 if cell._couple_input_forget_gates else 4) * units
        self.cell = cell
        self.kernel = sharded_matrix(
            f"W_{letter}_{block}", [size + 2 * units, columns], dtype, cell._num_unit_shards
        )
        self.bias = get_variable(
            f"B_{letter}_{block}", shape=[columns], initializer=zeros_initializer(), dtype=dtype
        )
        self.word, self.block = word, block
        self.peepholes: dict[str, tuple[Any, Any]] = {}

    def make_peepholes(self) -> None:
        """For each gate the weights of the two memories that it sees."""
        units, dtype = [self.cell._num_units], self.cell._input_dtype
        for gate in "IO" if self.cell._couple_input_forget_gates else "FIO":
            of_frequency, of_time = (
                get_variable(f"W_{gate}_diag_{self.word}{end}_{self.block}", units, dtype=dtype)
                for end in "ft"
            )
            self.peepholes[gate] = of_frequency, of_time

    def gates(self, seen: Any) -> tuple[Any, ...]:
        """The four gates before their activations; None for a forget gate that is coupled."""
        matrix = bias_add(matmul(seen, self.kernel), self.bias)
        if self.cell._couple_input_forget_gates:
            i, j, o = split(value=matrix, num_or_size_splits=3, axis=1)
            return i, j, None, o
        return tuple(split(value=matrix, num_or_size_splits=4, axis=1))

    def opened(self, gate: str, value: Any, c_frequency: Any, c_time: Any) -> Any:
        if gate in self.peepholes:
            of_frequency, of_time = self.peepholes[gate]
            value = value + of_frequency * c_frequency + of_time * c_time
        return sigmoid(value)

    def memory(self, gates: tuple[Any, ...], own: Any, c_frequency: Any, c_time: Any) -> Any:
        """The new memory from the one of this direction and both, as the gates see them."""
        i, j, f, _ = gates
        kept_new = self.opened("I", i, c_frequency, c_time)
        if f is None:
            kept = 1.0 - kept_new
        else:
            kept = self.opened("F", f + self.cell._forget_bias, c_frequency, c_time)
        c = kept * own + kept_new * tanh(j)
        clip = self.cell._cell_clip
        return c if clip is None else clip_by_value(c, -clip, clip)


class GridLSTMCell(RNNCell):
    """LSTM units along time and along the frequencies, which see each other's memories.

    Args:
      num_units: The size of memory and output of each unit.
      use_peepholes: Whether the gates see both memories.
      share_time_frequency_weights: Whether both directions have the same weights.
      cell_clip: The memories stay between this value and its negative.
      initializer: Not used, as in TensorFlow: the scope's initializer is.
      num_unit_shards: In how many variables a matrix is kept.
      forget_bias: Added to the forget gates, so that much is remembered at first.
      feature_size: How many columns of the inputs are seen at once.
      frequency_skip: By how many columns the view moves on.
      num_frequency_blocks: For each range of frequencies, how many views there are.
      start_freqindex_list, end_freqindex_list: Where the ranges begin and end; None for one range.
      couple_input_forget_gates: Whether one gate decides what is kept and what is new.
      state_is_tuple: Whether the state is a tuple of memories and outputs, or one tensor.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.warn("%s: a tuple as the state is faster: state_is_tuple=True", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._num_frequency_blocks = [int(count) for count in num_frequency_blocks]
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._total_blocks = sum(self._num_frequency_blocks)
        self._input_dtype: Any = None
        self._state_tuple_type: Any = None
        if state_is_tuple:
            self._state_tuple_type = self._tuple_type("GridLSTMStateTuple", ["state"])

    def _tuple_type(self, name: str, prefixes: Sequence[str]) -> Any:
        fields = [
            f"{prefix}_f{k:02d}_b{block:02d}_{part}"
            for prefix in prefixes
            for block, count in enumerate(self._num_frequency_blocks)
            for k in range(count)
            for part in "cm"
        ]
        return collections.namedtuple(name, fields)

    @property
    def output_size(self) -> int:
        return 2 * self._num_units * self._total_blocks

    @property
    def state_size(self) -> Any:
        if self._state_tuple_type is None:
            return 2 * self._num_units * self._total_blocks
        return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))

    @property
    def state_tuple_type(self) -> Any:
        """The named tuple that the state is; None where it is one tensor."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> Any:
        outputs, states = self._blocks(self._features(inputs), state, "state")
        output = concat(outputs, 1)
        if self._state_tuple_type is None:
            return output, concat(states, 1)
        return output, self._state_tuple_type(*states)

    def _blocks(self, features: list[list[Any]], state: Any, prefix: str) -> tuple[list, list]:
        outputs: list[Any] = []
        states: list[Any] = []
        for block, views in enumerate(features):
            of_block, new = self._compute(views, block, state, prefix)
            outputs += of_block
            states += new
        return outputs, states

    def _compute(
        self, views: list[Any], block: int, state: Any, prefix: str
    ) -> tuple[list[Any], list[Any]]:
        """The outputs and new states of one range of frequencies."""
        self._input_dtype = views[0].dtype
        along_frequency, along_time = self._directions(block, views[0].get_shape().as_list()[1])
        nothing = zeros([_batch_of(views[0]), self._num_units], self._input_dtype)
        m_below, c_below = nothing, nothing
        outputs: list[Any] = []
        states: list[Any] = []
        for k, view in enumerate(views):
            c_before, m_before = self._before(state, prefix, block, k)
            seen = concat([view, m_before, m_below], 1)
            gates = along_frequency.gates(seen)
            gates_of_time = gates if along_time is along_frequency else along_time.gates(seen)
            c_frequency = along_frequency.memory(gates, c_below, c_below, c_before)
            c_time = along_time.memory(gates_of_time, c_before, c_below, c_before)
            m_below = along_frequency.opened("O", gates[3], c_frequency, c_time) * tanh(c_frequency)
            m_time = along_time.opened("O", gates_of_time[3], c_frequency, c_time) * tanh(c_time)
            c_below = c_frequency
            outputs += [m_time, m_below]
            states += [c_time, m_time]
        return outputs, states

    def _directions(self, block: int, size: int) -> tuple[_Direction, _Direction]:
        along_frequency = _Direction(self, "f", "freq", block, size)
        if self._share_time_frequency_weights:
            along_time = along_frequency
        else:
            along_time = _Direction(self, "t", "time", block, size)
        if self._use_peepholes:
            along_frequency.make_peepholes()
            if along_time is not along_frequency:
                along_time.make_peepholes()
        return along_frequency, along_time

    def _before(self, state: Any, prefix: str, block: int, k: int) -> tuple[Any, Any]:
        """The memory and output at one frequency, a step of time ago."""
        if self._state_tuple_type is not None:
            name = f"{prefix}_f{k:02d}_b{block:02d}"
            return getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
        units = self._num_units
        return (
            slice_of(state, [0, 2 * k * units], [-1, units]),
            slice_of(state, [0, (2 * k + 1) * units], [-1, units]),
        )

    def _features(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """For each range of frequencies the views of the inputs, moved by `offset` columns."""
        size = _known_size(inputs)
        if offset > 0:
            inputs = pad(inputs, [[0, 0], [0, offset]])
        elif offset < 0:
            inputs, offset = pad(inputs, [[0, 0], [-offset, 0]]), 0
        assert self._feature_size is not None and self._frequency_skip is not None
        found = []
        for (start, end), count in zip(self._ranges(size), self._num_frequency_blocks, strict=True):
            views = (end - start - self._feature_size) // self._frequency_skip + 1
            if views != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {views}, please "
                    "check the input size and filter config are correct."
                )
            found.append(
                _windows(inputs, start + offset, count, self._frequency_skip, self._feature_size)
            )
        return found

    def _ranges(self, size: int) -> list[tuple[int, int]]:
        blocks, starts, ends = (
            self._num_frequency_blocks,
            self._start_freqindex_list,
            self._end_freqindex_list,
        )
        if not starts:
            if len(blocks) != 1:
                raise ValueError(
                    f"Length of num_frequency_blocks is not 1, but instead is {len(blocks)}"
                )
            return [(0, size)]
        ends = ends or []
        if len(starts) != len(ends):
            raise ValueError(
                f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}"
            )
        if len(blocks) != len(starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(blocks)} {len(starts)}"
            )
        return list(zip(starts, ends, strict=True))


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Two grids: one goes up the frequencies, the other down.

    The arguments are those of `GridLSTMCell`, without `state_is_tuple`.

    Args:
      backward_slice_offset: By how many columns the views of the second grid are moved.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)
        self._state_tuple_type = self._tuple_type(
            "BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"]
        )

    @property
    def output_size(self) -> int:
        return 2 * super().output_size

    def call(self, inputs: Any, state: Any) -> Any:
        upwards = self._features(inputs)
        offset = self._backward_slice_offset
        downwards = self._features(inputs, offset) if offset else upwards
        with variable_scope("fwd"):
            outputs, states = self._blocks(upwards, state, "fwd_state")
        with variable_scope("bwd"):
            reversed_views = [views[::-1] for views in downwards]
            others, other_states = self._blocks(reversed_views, state, "bwd_state")
        return concat(outputs + others, 1), self._state_tuple_type(*states, *other_states)
