"""Long short-term memory: cells with a memory `c` beside their output `h`."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock import dtypes
from penstock.layers import identifiers
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.binary import add, multiply
from penstock.ops.clip import clip_by_value
from penstock.ops.constants import constant
from penstock.ops.elementwise import sigmoid
from penstock.ops.initializers import zeros_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.ops.partitioners import fixed_size_partitioner
from penstock.ops.slicing import slice as slice_of
from penstock.rnn.cell import (
    LayerRNNCell,
    activation_or_tanh,
    check_type,
    check_types,
    input_depth,
    serialized,
)

__all__ = ["BasicLSTMCell", "LSTMCell", "LSTMStateTuple"]


class _MemoryAndOutput(NamedTuple):
    c: Any
    h: Any


class LSTMStateTuple(_MemoryAndOutput):
    """The state of an LSTM: its memory `c` and its last output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type of both parts; TypeError where they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class BasicLSTMCell(LayerRNNCell):
    """The LSTM unit without peepholes, clipping or projection.

    Args:
      num_units: The size of memory and output.
      forget_bias: Added to the bias of the forget gate, so that much is remembered at first.
      state_is_tuple: Whether the state is an `LSTMStateTuple`; else both parts in one tensor.
      activation: In place of tanh; a function or its name.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope; `basic_lstm_cell` by default.
      dtype: The type of the variables; that of the first inputs if None.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_type(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_or_tanh(activation)

    @property
    def state_size(self) -> Any:
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        check_type(self.dtype)
        units = self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, 4 * units])
        self._bias = self.add_variable(
            "bias",
            shape=[4 * units],
            initializer=zeros_initializer(dtype=self.dtype or dtypes.float32),
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        check_types(inputs, state)
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = split(value=state, num_or_size_splits=2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        # The input gate, the new memory, the forget gate and the output gate.
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = multiply(c, sigmoid(add(f, forget_bias)))
        c = add(kept, multiply(sigmoid(i), self._activation(j)))
        h = multiply(self._activation(c), sigmoid(o))
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": serialized(self._activation),
            "reuse": self._reuse,
        }


class LSTMCell(LayerRNNCell):
    """The LSTM unit, with peepholes, clipping and a projection of the output where asked for.

    Args:
      num_units: The size of the memory, and of the output without a projection.
      use_peepholes: Whether the gates see the memory.
      cell_clip: Keeps the memory between -cell_clip and cell_clip.
      initializer: Of the matrices and peepholes.
      num_proj: The size of the output, if it is projected.
      proj_clip: Keeps the projected output between -proj_clip and proj_clip.
      num_unit_shards, num_proj_shards: In how many parts the variables are made.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      state_is_tuple: Whether the state is an `LSTMStateTuple`; else both parts in one tensor.
      activation: In place of tanh; a function or its name.
      reuse: Whether the variables are those of an existing scope.
      name: The name of the scope; `lstm_cell` by default.
      dtype: The type of the variables; that of the first inputs if None.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_type(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = identifiers.initializer(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_or_tanh(activation)

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        depth = input_depth(input_shape)
        check_type(self.dtype)
        units = self._num_units
        fed_back = units if self._num_proj is None else self._num_proj
        self._kernel = self.add_variable(
            "kernel",
            shape=[depth + fed_back, 4 * units],
            initializer=self._initializer,
            partitioner=_partitioner(self._num_unit_shards),
        )
        self._bias = self.add_variable(
            "bias",
            shape=[4 * units],
            initializer=zeros_initializer(dtype=self.dtype or dtypes.float32),
        )
        if self._use_peepholes:
            self._w_f_diag = self._peephole("w_f_diag")
            self._w_i_diag = self._peephole("w_i_diag")
            self._w_o_diag = self._peephole("w_o_diag")
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                "projection/kernel",
                shape=[units, self._num_proj],
                initializer=self._initializer,
                partitioner=_partitioner(self._num_proj_shards),
            )
        self.built = True

    def _peephole(self, name: str) -> Any:
        return self.add_variable(name, shape=[self._num_units], initializer=self._initializer)

    def call(self, inputs: Any, state: Any) -> Any:
        check_types(inputs, state)
        c, h = self._parts(state)
        if inputs.get_shape().with_rank(2).dims[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        c, o = self._remember(c, gates)
        if self._use_peepholes:
            h = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = matmul(h, self._proj_kernel)
            if self._proj_clip is not None:
                h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)

    def _parts(self, state: Any) -> tuple[Any, Any]:
        """Memory and last output of a state."""
        if self._state_is_tuple:
            c, h = state
            return c, h
        fed_back = self._num_units if self._num_proj is None else self._num_proj
        c = slice_of(state, [0, 0], [-1, self._num_units])
        return c, slice_of(state, [0, self._num_units], [-1, fed_back])

    def _remember(self, c: Any, gates: Any) -> tuple[Any, Any]:
        """The new memory, and what goes into the output gate."""
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            kept = sigmoid(f + self._forget_bias + self._w_f_diag * c) * c
            c = kept + sigmoid(i + self._w_i_diag * c) * self._activation(j)
        else:
            kept = sigmoid(f + self._forget_bias) * c
            c = kept + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        return c, o

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": serialized(self._initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": serialized(self._activation),
            "reuse": self._reuse,
        }


def _partitioner(shards: int | None) -> Any:
    return None if shards is None else fixed_size_partitioner(shards)
