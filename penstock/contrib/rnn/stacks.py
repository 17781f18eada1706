"""Several bidirectional layers on top of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ops.joining import concat
from penstock.ops.variable_scope import VariableScope, variable_scope
from penstock.rnn.dynamic import bidirectional_dynamic_rnn
from penstock.rnn.static import static_bidirectional_rnn

__all__ = ["stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"]


def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of `tf.nn.static_bidirectional_rnn`, each over the outputs of the one before.

    Returns the outputs of the last layer, and the last states of all layers in both directions.
    """

    def layer(scope: VariableScope, fw: Any, bw: Any, inputs: Any, states: Any) -> Any:
        return static_bidirectional_rnn(
            fw,
            bw,
            inputs,
            initial_state_fw=states[0],
            initial_state_bw=states[1],
            sequence_length=sequence_length,
            dtype=dtype,
            scope=scope,
        )

    states = initial_states_fw, initial_states_bw
    return _stacked(cells_fw, cells_bw, inputs, states, scope, layer)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of `tf.nn.bidirectional_dynamic_rnn`, each over the outputs of the one before.

    Returns the outputs of the last layer, and the last states of all layers in both directions.
    """

    def layer(scope: VariableScope, fw: Any, bw: Any, inputs: Any, states: Any) -> Any:
        outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
            fw,
            bw,
            inputs,
            initial_state_fw=states[0],
            initial_state_bw=states[1],
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return concat(outputs, 2), state_fw, state_bw

    states = initial_states_fw, initial_states_bw
    return _stacked(cells_fw, cells_bw, inputs, states, scope, layer)


def _stacked(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial: tuple[list[Any] | None, list[Any] | None],
    scope: Any,
    layer: Callable[..., Any],
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    _check(cells_fw, cells_bw, initial)
    nothing = [None] * len(cells_fw)
    starts = zip(initial[0] or nothing, initial[1] or nothing, strict=True)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, states) in enumerate(zip(cells_fw, cells_bw, starts, strict=True)):
            with variable_scope(f"cell_{i}") as opened:
                inputs, state_fw, state_bw = layer(opened, fw, bw, inputs, states)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def _check(cells_fw: Any, cells_bw: Any, initial: tuple[Any, Any]) -> None:
    for cells, way in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {way} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{way} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, way in zip(initial, ("fw", "bw"), strict=True):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(
                f"initial_states_{way} must be a list of state tensors (one per layer)."
            )
