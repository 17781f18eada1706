"""Cells that run over a whole sequence in one call."""

from __future__ import annotations

from typing import Any

from penstock.ops.joining import stack, unstack
from penstock.ops.permuting import reverse, reverse_sequence
from penstock.rnn.dynamic import dynamic_rnn
from penstock.rnn.static import static_rnn

__all__ = ["FusedRNNCell", "FusedRNNCellAdaptor", "TimeReversedFusedRNN"]


class FusedRNNCell:
    """What runs over inputs [time, batch, depth] (or a list) and returns outputs and last state."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """An ordinary cell run over time, by a loop in the graph if `use_dynamic_rnn`."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        is_list = isinstance(inputs, list)
        options: dict[str, Any] = {
            "initial_state": initial_state,
            "dtype": dtype,
            "sequence_length": sequence_length,
            "scope": scope,
        }
        outputs: Any
        if self._use_dynamic_rnn:
            inputs = stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, inputs, time_major=True, **options)
            return unstack(outputs) if is_list else outputs, state
        inputs = inputs if is_list else unstack(inputs)
        outputs, state = static_rnn(self._cell, inputs, **options)
        return outputs if is_list else stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell run from the last step to the first; outputs are in the order of the inputs."""

    def __init__(self, cell: Any):
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(sequence: Any, lengths: Any) -> Any:
    if isinstance(sequence, list):
        return list(reversed(sequence))
    if lengths is None:
        return reverse(sequence, [0])
    return reverse_sequence(sequence, lengths, 0, 1)
