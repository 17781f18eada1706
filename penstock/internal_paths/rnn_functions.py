"""What `tensorflow.python.ops.rnn` and `rnn_cell_impl` have besides the public API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.tensor import Tensor
from penstock.rnn.cell import assert_like_rnncell
from penstock.rnn.dynamic import best_effort_input_batch_size as _best_effort_input_batch_size
from penstock.rnn.dynamic import transpose_batch_time as _transpose_batch_time
from penstock.rnn.lstm_cells import LSTMStateTuple as _LSTMStateTuple
from penstock.rnn.sizes import known_size, shape_with, static_shape_with
from penstock.rnn.sizes import only_dtype as _infer_state_dtype
from penstock.rnn.sizes import zero_state_tensors as _zero_state_tensors
from penstock.rnn.static import _reversed as _reverse_seq
from penstock.rnn.step import Lengths

__all__ = [
    "_LSTMStateTuple",
    "_best_effort_input_batch_size",
    "_concat",
    "_infer_state_dtype",
    "_like_rnncell",
    "_maybe_tensor_shape_from_tensor",
    "_reverse_seq",
    "_rnn_step",
    "_transpose_batch_time",
    "_zero_state_tensors",
]


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    return static_shape_with(prefix, suffix) if static else shape_with(prefix, suffix)


def _like_rnncell(cell: Any) -> bool:
    try:
        assert_like_rnncell("cell", cell)
    except TypeError:
        return False
    return True


def _maybe_tensor_shape_from_tensor(shape: Any) -> Any:
    return known_size(shape) if isinstance(shape, Tensor) else shape


def _rnn_step(
    time: Any,
    sequence_length: Any,
    min_sequence_length: Any,
    max_sequence_length: Any,
    zero_output: Any,
    state: Any,
    call_cell: Callable[[], Any],
    state_size: Any,
    skip_conditionals: bool = False,
) -> tuple[Any, Any]:
    lengths = Lengths(sequence_length, min_sequence_length, max_sequence_length, zero_output)
    return lengths.step(time, state, call_cell, always_call=skip_conditionals)
