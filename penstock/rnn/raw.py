"""`tf.nn.raw_rnn`: a loop over time whose inputs, outputs and end a function decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.nest import assert_same_structure, flatten, map_structure, pack_sequence_as
from penstock.ops.comparison import logical_not, logical_or
from penstock.ops.constants import constant
from penstock.ops.filling import zeros
from penstock.ops.loops import while_loop
from penstock.ops.reductions import reduce_all
from penstock.ops.shaping import shape as shape_of
from penstock.ops.tensor_array import TensorArray
from penstock.ops.variable_scope import variable_scope
from penstock.rnn.cell import assert_like_rnncell
from penstock.rnn.sizes import known_size, shape_with
from penstock.rnn.step import cache_variables, unless
from penstock.shapes import Dimension, TensorShape, dimension_at_index

__all__ = ["raw_rnn"]


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Runs a cell in a loop that `loop_fn` steers; returns its outputs, states and loop state.

    `loop_fn(time, cell_output, cell_state, loop_state)` returns `(elements_finished, next_input,
    next_state, emit_output, next_loop_state)`. It is called once before the loop, with None for
    all but the time: then it gives the first input and state, and an example of what it emits
    (without the batch dimension; None: the cell's output). The outputs are TensorArrays.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        time = constant(0, dtype=dtypes.int32)
        finished, first_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        has_loop_state = loop_state is not None
        if not has_loop_state:
            loop_state = constant(0, dtype=dtypes.int32)
        flat_input = flatten(first_input)
        known_batch = Dimension(None)
        for tensor in flat_input:
            known_batch = known_batch.merge_with(dimension_at_index(tensor.get_shape(), 0))
        batch = known_batch.value
        batch_size = shape_of(flat_input[0])[0] if batch is None else batch
        assert_same_structure(state, cell.state_size)
        state = pack_sequence_as(state, [to_tensor(part) for part in flatten(state)])
        emit = _Emitted(cell, emitted, state, batch)
        arrays, zero_emit = emit.arrays(), emit.zeros(batch_size)

        def body(time: Any, done: Any, inputs: Any, arrays: Any, state: Any, loop: Any) -> Any:
            output, new = cell(inputs, state)
            assert_same_structure(state, new)
            assert_same_structure(cell.output_size, output)
            following = time + 1
            next_done, next_inputs, new, output, next_loop = loop_fn(following, output, new, loop)
            assert_same_structure(state, new)
            assert_same_structure(inputs, next_inputs)
            assert_same_structure(arrays, output)
            output = _copied(done, zero_emit, output)
            new = _copied(done, state, new)
            arrays = map_structure(lambda array, value: array.write(time, value), arrays, output)
            next_loop = loop if next_loop is None else next_loop
            return following, logical_or(done, next_done), next_inputs, arrays, new, next_loop

        *_, arrays, state, loop_state = while_loop(
            lambda time, done, *_: logical_not(reduce_all(done)),
            body,
            [time, finished, first_input, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return arrays, state, loop_state if has_loop_state else None


class _Emitted:
    """The form of what the loop emits: a structure of sizes and types."""

    def __init__(self, cell: Any, emitted: Any, state: Any, batch: int | None):
        self.batch = batch
        if emitted is None:
            self.structure = cell.output_size
            self.sizes = flatten(self.structure)
            self.types = [flatten(state)[0].dtype] * len(self.sizes)
        else:
            self.structure = emitted
            tensors = flatten(emitted)
            self.sizes = [t.shape if t.shape.is_fully_defined() else shape_of(t) for t in tensors]
            self.types = [t.dtype for t in tensors]

    def arrays(self) -> Any:
        batch = TensorShape([self.batch])
        return self._packed(
            lambda i, size, dtype: TensorArray(
                dtype,
                dynamic_size=True,
                element_shape=batch.concatenate(known_size(size)),
                size=0,
                name=f"rnn_output_{i}",
            )
        )

    def zeros(self, batch_size: Any) -> Any:
        return self._packed(lambda i, size, dtype: zeros(shape_with(batch_size, size), dtype))

    def _packed(self, make: Callable[[int, Any, Any], Any]) -> Any:
        sizes = zip(self.sizes, self.types, strict=True)
        return pack_sequence_as(self.structure, [make(i, *each) for i, each in enumerate(sizes)])


def _copied(done: Any, current: Any, candidate: Any) -> Any:
    """The candidate, or the current value for the elements that are finished."""
    return map_structure(lambda old, new: unless(done, old, new), current, candidate)
