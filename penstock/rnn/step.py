"""One step of a batch of sequences that end at different times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.layers.core_layer import CoreLayer
from penstock.nest import assert_same_structure, flatten, is_nested, pack_sequence_as
from penstock.ops.conditionals import cond
from penstock.ops.masking import where
from penstock.ops.tensor_array import TensorArray
from penstock.ops.variable_scope import VariableScope
from penstock.rnn.cell import RNNCell


def cache_variables(scope: VariableScope) -> None:
    """Variables of the cell are read once, not in each step; inside a loop that can't be."""
    context = get_default_graph()._get_control_flow_context()
    in_loop = context is not None and context.while_context is not None
    if not in_loop and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


class CellCall:
    """Calls of a cell; a Keras cell has its state in a list, also where it is one tensor."""

    def __init__(self, cell: Any):
        self.cell = cell
        self.wants_list = (
            not isinstance(cell, RNNCell)
            and isinstance(cell, CoreLayer)
            and getattr(cell, "zero_state", None) is None
        )

    def taken_in(self, state: Any) -> Any:
        return [state] if self.wants_list and not is_nested(state) else state

    def given_back(self, state: Any) -> Any:
        return state[0] if self.wants_list and len(state) == 1 else state

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        if getattr(self.cell, "get_initial_state", None) is not None:
            return self.cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
        return self.cell.zero_state(batch_size, dtype)


class Lengths:
    """The lengths of the sequences of a batch, and what an ended sequence gives."""

    def __init__(self, lengths: Any, shortest: Any, longest: Any, zero_output: Any):
        self.lengths = lengths
        self.shortest = shortest
        self.longest = longest
        self.zero_output = zero_output

    def step(
        self, time: Any, state: Any, call_cell: Callable[[], Any], *, always_call: bool = False
    ) -> tuple[Any, Any]:
        """Output and state of a step: where a sequence has ended, zeros and the old state.

        The cell isn't run after the end of the longest sequence, unless it is `always_call`.
        """
        before, zeros = flatten(state), flatten(self.zero_output)
        ended = time >= self.lengths

        def called() -> list[Any]:
            output, new = call_cell()
            assert_same_structure(self.zero_output, output)
            assert_same_structure(state, new)
            return flatten(output) + flatten(new)

        def copied(found: Sequence[Any]) -> list[Any]:
            pairs = zip(zeros + before, found, strict=True)
            return [unless(ended, old, new) for old, new in pairs]

        def called_or_copied() -> Any:
            found = called()
            return cond(time < self.shortest, lambda: found, lambda: copied(found))

        if always_call:
            results = copied(called())
        else:
            results = cond(time >= self.longest, lambda: zeros + before, called_or_copied)
        for result, old in zip(results, zeros + before, strict=True):
            if not isinstance(result, TensorArray):
                result.set_shape(old.get_shape())
        output = pack_sequence_as(self.zero_output, list(results[: len(zeros)]))
        return output, pack_sequence_as(state, list(results[len(zeros) :]))


def unless(ended: Any, old: Any, new: Any) -> Any:
    """The new value, or the old one for the sequences that have ended."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with get_default_graph().colocate_with(new):
        return where(ended, old, new)
