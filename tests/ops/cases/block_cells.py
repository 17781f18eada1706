"""Cases of whole recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, array, f16, f32


def _weights(make: Any, depth: int, units: int) -> tuple[np.ndarray, ...]:
    peepholes = [make(units) for _ in range(3)]
    return (make(depth + units, 4 * units), *peepholes, make(4 * units))


def _cell(make: Any, batch: int, depth: int, units: int) -> tuple[np.ndarray, ...]:
    state = make(batch, units), make(batch, units)
    return (make(batch, depth), *state, *_weights(make, depth, units))


def _sequence(make: Any, steps: int, time: int, batch: int = 2) -> tuple[np.ndarray, ...]:
    state = make(batch, 3), make(batch, 3)
    return (array(steps, "int64"), make(time, batch, 4), *state, *_weights(make, 4, 3))


def _cell_gradient() -> tuple[np.ndarray, ...]:
    return (*_cell(f32, 2, 3, 2), *(f32(2, 2) for _ in range(8)))


def _sequence_gradient() -> tuple[np.ndarray, ...]:
    return (*_sequence(f32, 3, 4), *(f32(4, 2, 3) for _ in range(9)))


def _gru(batch: int = 2) -> tuple[np.ndarray, ...]:
    return f32(batch, 3), f32(batch, 2), f32(5, 4), f32(5, 2), f32(4), f32(2)


CASES = [
    Case("LSTMBlockCell", _cell(f32, 2, 3, 4)),
    Case("LSTMBlockCell", _cell(f32, 2, 3, 4), {"use_peephole": True, "cell_clip": 0.5}),
    Case("LSTMBlockCell", _cell(f32, 1, 2, 3), {"cell_clip": -1.0, "forget_bias": 0.0}),
    Case("LSTMBlockCell", _cell(f16, 2, 3, 2), label="half"),
    Case(
        "LSTMBlockCell",
        (*_cell(f32, 2, 3, 4)[:3], f32(7, 8), f32(4), f32(4), f32(4), f32(16)),
        label="sizes differ",
        fails=True,
    ),
    Case("LSTMBlockCellGrad", _cell_gradient(), {"use_peephole": True}),
    # Without peepholes TensorFlow leaves their gradients as they are in memory.
    Case("LSTMBlockCellGrad", _cell_gradient(), {"use_peephole": False}, outputs=(0, 1)),
    Case("BlockLSTM", _sequence(f32, 4, 4)),
    # After the longest sequence only memory and output are defined.
    Case(
        "BlockLSTM",
        _sequence(f32, 2, 4),
        {"use_peephole": True, "cell_clip": 0.4},
        outputs=(1, 6),
    ),
    Case("BlockLSTM", _sequence(f32, 3, 3), {"cell_clip": -1.0}, label="one", grad=(1, 2, 3, 4)),
    Case("BlockLSTMGrad", _sequence_gradient(), {"use_peephole": True}),
    Case("BlockLSTMGrad", _sequence_gradient(), {"use_peephole": False}, label="plain"),
    Case("GRUBlockCell", _gru()),
    Case("GRUBlockCellGrad", (*_gru(), *(f32(2, 2) for _ in range(4)))),
]
