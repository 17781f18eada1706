"""Cells that are one op each: fewer nodes and less time per step."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.layers.base import Layer
from penstock.layers.input_spec import InputSpec
from penstock.ops import block_cells
from penstock.ops.broadcasting import tile
from penstock.ops.casts import cast
from penstock.ops.filling import range as range_of
from penstock.ops.filling import zeros
from penstock.ops.gather import gather_nd
from penstock.ops.initializers import constant_initializer
from penstock.ops.joining import concat, stack, unstack
from penstock.ops.masking import sequence_mask
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_max
from penstock.ops.shaping import expand_dims
from penstock.ops.shaping import shape as shape_of
from penstock.rnn.cell import LayerRNNCell, input_depth
from penstock.rnn.lstm_cells import LSTMStateTuple
from penstock.shapes import TensorShape

__all__ = [
    "GRUBlockCell",
    "GRUBlockCellV2",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
]


class _BlockWeights:
    """The variables of an LSTM as its ops take them, made by a layer."""

    def __init__(self, layer: Layer, depth: int, units: int, use_peephole: bool):
        self._units = units
        self._kernel = layer.add_variable("kernel", [depth + units, units * 4])
        self._bias = layer.add_variable("bias", [units * 4], initializer=constant_initializer(0.0))
        self._peepholes: list[Any] | None = None
        if use_peephole:
            names = ("w_i_diag", "w_f_diag", "w_o_diag")
            self._peepholes = [layer.add_variable(name, [units]) for name in names]

    def inputs(self, dtype: Any) -> list[Any]:
        peepholes = self._peepholes
        if peepholes is None:
            peepholes = [zeros([self._units], dtype=dtype)] * 3
        return [self._kernel, *peepholes, self._bias]


class LSTMBlockCell(LayerRNNCell):
    """The LSTM of `tf.nn.rnn_cell.BasicLSTMCell` as one op.

    Args:
      num_units: The size of memory and output.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      cell_clip: Keeps the memory between -cell_clip and cell_clip.
      use_peephole: Whether the gates see the memory.
      dtype: The type of the variables; that of the first inputs if None.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = TensorShape(input_shape).as_list()[1]
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {input_shape}")
        self._weights = _BlockWeights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        found = block_cells.LSTMBlockCell(
            inputs,
            *state,
            *self._weights.inputs(self.dtype),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return found.h, LSTMStateTuple(found.cs, found.h)


class LSTMBlockWrapper(Layer):
    """An LSTM over a whole sequence at once; a subclass says how with `_call_cell`."""

    @property
    def num_units(self) -> int:
        """The size of memory and output."""
        raise NotImplementedError

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:
        """The memories and outputs of all steps, both [time, batch, num_units]."""
        raise NotImplementedError

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Runs over `inputs` [time, batch, depth], or a list of [batch, depth].

        Returns the outputs, in the form of the inputs, and the last state.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = stack(inputs)
        time, batch, depth = inputs.get_shape().with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.get_shape()}")
        batch = shape_of(inputs)[1] if batch is None else batch
        time = shape_of(inputs)[0] if time is None else time
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zero = zeros(stack([batch, self.num_units]), dtype=dtype)
            initial_state = zero, zero
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = to_tensor(sequence_length)
        memory, output = initial_state
        memories, outputs = self._call_cell(inputs, memory, output, dtype, sequence_length)
        if sequence_length is None:
            last = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            outputs *= self._mask(sequence_length, time, dtype)
            last = LSTMStateTuple(
                _state_at(sequence_length, memory, memories, batch),
                _state_at(sequence_length, output, outputs, batch),
            )
        return unstack(outputs) if is_list else outputs, last

    def _mask(self, lengths: Any, time: Any, dtype: Any) -> Any:
        mask = transpose(sequence_mask(lengths, time, dtype=dtype), [1, 0])
        return tile(expand_dims(mask, [-1]), [1, 1, self.num_units])


def _state_at(lengths: Any, initial: Any, states: Any, batch: Any) -> Any:
    """The state of each sequence at its end."""
    states = concat([expand_dims(initial, [0]), states], 0)
    return gather_nd(states, stack([lengths, range_of(batch)], axis=1))


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence as one op; see `LSTMBlockCell` for the arguments."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        self._weights = _BlockWeights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any = None,
        initial_output: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> tuple[Any, Any]:
        if sequence_length is None:
            time = inputs.get_shape().with_rank(3).as_list()[0]
            steps = shape_of(inputs)[0] if time is None else time
        else:
            steps = reduce_max(sequence_length)
        found = block_cells.BlockLSTM(
            cast(steps, dtypes.int64),
            inputs,
            initial_cell_state,
            initial_output,
            *self._weights.inputs(dtype),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return found.cs, found.h


class GRUBlockCell(LayerRNNCell):
    """The gated recurrent unit as one op.

    Args:
      num_units: The size of state and output; `cell_size` is its old name.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope.
    """

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> int:
        return self._cell_size

    @property
    def output_size(self) -> int:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        depth = TensorShape(input_shape).as_list()[1]
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        units = self._cell_size
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._names
        self._gate_kernel = self.add_variable(gate_kernel, [depth + units, units * 2])
        self._gate_bias = self.add_variable(
            gate_bias, [units * 2], initializer=constant_initializer(1.0)
        )
        self._candidate_kernel = self.add_variable(candidate_kernel, [depth + units, units])
        self._candidate_bias = self.add_variable(
            candidate_bias, [units], initializer=constant_initializer(0.0)
        )
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:
        size = h_prev.get_shape().with_rank(2).as_list()[1]
        if size != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {size}")
        found = block_cells.GRUBlockCell(
            inputs,
            h_prev,
            self._gate_kernel,
            self._candidate_kernel,
            self._gate_bias,
            self._candidate_bias,
        )
        return found.h, found.h


class GRUBlockCellV2(GRUBlockCell):
    """`GRUBlockCell` with variables that are named as those of `tf.nn.rnn_cell.GRUCell`."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
