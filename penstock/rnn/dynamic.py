"""`tf.nn.dynamic_rnn`: a cell run over time by a loop in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.nest import flatten, map_structure, pack_sequence_as
from penstock.ops.binary import maximum, minimum
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.constants import constant
from penstock.ops.debugging import Assert
from penstock.ops.filling import range as range_of
from penstock.ops.filling import zeros
from penstock.ops.identity import identity
from penstock.ops.joining import concat, stack
from penstock.ops.loops import while_loop
from penstock.ops.permuting import reverse, reverse_sequence, transpose
from penstock.ops.reductions import reduce_all, reduce_max, reduce_min
from penstock.ops.shaping import rank as rank_of
from penstock.ops.shaping import shape as shape_of
from penstock.ops.tensor_array import TensorArray
from penstock.ops.variable_scope import variable_scope
from penstock.rnn.cell import assert_like_rnncell
from penstock.rnn.sizes import known_size, only_dtype, shape_with, static_shape_with
from penstock.rnn.step import CellCall, Lengths, cache_variables
from penstock.shapes import TensorShape

__all__ = [
    "best_effort_input_batch_size",
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "transpose_batch_time",
]


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Runs a cell over the time steps of `inputs` and returns its outputs and its last state.

    Args:
      cell: The cell, such as `tf.nn.rnn_cell.LSTMCell(128)`.
      inputs: A tensor [batch, time, depth], or a structure of such tensors.
      sequence_length: A vector of lengths: after its end, a sequence's outputs are zero and its
        state stays as it is.
      initial_state: The first state; zeros of type `dtype` if None.
      time_major: Whether inputs and outputs are [time, batch, depth], which saves transposing.
      scope: The variable scope; "rnn" if None.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        flat: Sequence[Any] = flatten(inputs)
        if not time_major:
            flat = [to_tensor(value) for value in flat]
            flat = tuple(transpose_batch_time(value) for value in flat)
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat)
        if initial_state is not None:
            state = initial_state
        elif dtype:
            state = CellCall(cell).initial_state(batch_size, dtype)
        else:
            raise ValueError("If there is no initial_state, you must give a dtype.")
        if sequence_length is not None and not executing_eagerly():
            checked = _assert_shape(sequence_length, [batch_size])
            with get_default_graph().control_dependencies([checked]):
                sequence_length = identity(sequence_length, name="CheckSeqLen")
        loop = _Loop(cell, pack_sequence_as(inputs, list(flat)), state, dtype, sequence_length)
        outputs, state = loop.run(parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = map_structure(transpose_batch_time, outputs)
        return outputs, state


def transpose_batch_time(x: Any) -> Any:
    """`x` with its first two dimensions, batch and time, exchanged."""
    shape = x.get_shape()
    if shape.ndims is not None and shape.ndims < 2:
        return x
    order = concat(([1, 0], range_of(2, rank_of(x))), axis=0)
    swapped = transpose(x, order)
    if shape.ndims is not None:
        swapped.set_shape(TensorShape([shape[1], shape[0]]).concatenate(shape[2:]))
    return swapped


def _lengths(sequence_length: Any) -> Tensor:
    lengths = cast(sequence_length, dtypes.int32)
    if lengths.get_shape().ndims not in (None, 1):
        raise ValueError(
            "sequence_length must be a vector of length batch_size, but saw shape: "
            f"{lengths.get_shape()}"
        )
    return identity(lengths, name="sequence_length")


def best_effort_input_batch_size(flat_inputs: Sequence[Any]) -> Any:
    """The second size of time-major inputs, a number where it is known."""
    for tensor in flat_inputs:
        shape = tensor.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if shape.dims[1].value is not None:
            return shape.dims[1].value
    return shape_of(flat_inputs[0])[1]


def _assert_shape(x: Tensor, sizes: Sequence[Any]) -> Operation:
    actual, wanted = shape_of(x), stack(list(sizes))
    said = [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", actual]
    return Assert(reduce_all(equal(actual, wanted)), said)


class _Loop:
    """The loop over time of one call; inputs are time-major."""

    def __init__(self, cell: Any, inputs: Any, state: Any, dtype: Any, lengths: Any):
        self.call = CellCall(cell)
        self.cell = cell
        self.inputs = inputs
        self.state = state
        flat = flatten(inputs)
        self.output_sizes = flatten(cell.output_size)
        self.steps = shape_of(flat[0])[0]
        batch_size = best_effort_input_batch_size(flat)
        self.shapes = [tensor.get_shape().with_rank_at_least(3) for tensor in flat]
        self.static_steps, self.static_batch = self.shapes[0].as_list()[:2]
        self._check_shapes()
        self.dtype = only_dtype(dtype, state)
        zero = [zeros(stack(shape_with(batch_size, s)), self.dtype) for s in self.output_sizes]
        self.lengths: Lengths | None = None
        longest = self.steps
        if lengths is not None:
            shortest, longest = reduce_min(lengths), reduce_max(lengths)
            zero_output = pack_sequence_as(cell.output_size, zero)
            self.lengths = Lengths(lengths, shortest, longest, zero_output)
        self.longest = longest

    def _check_shapes(self) -> None:
        for shape in self.shapes:
            if not shape[2:].is_fully_defined():
                raise ValueError(
                    "Input size (depth of inputs) must be accessible via shape inference, but saw "
                    "value None."
                )
            if shape.dims[0].value != self.static_steps:
                raise ValueError(
                    "Time steps is not the same for all the elements in the input in a batch."
                )
            if shape.dims[1].value != self.static_batch:
                raise ValueError("Batch_size is not the same for all the elements in the input.")

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        time = constant(0, dtype=dtypes.int32, name="time")
        outputs, inputs = self._arrays()

        def body(time: Any, outputs: Any, state: Any) -> Any:
            output, state = self._step(time, inputs, state)
            written = zip(outputs, flatten(output), strict=True)
            outputs = tuple([array.write(time, value) for array, value in written])
            return time + 1, outputs, state

        # At least one step, so that the arrays learn the shapes of their elements.
        bound = minimum(self.steps, maximum(1, self.longest))
        _, outputs, state = while_loop(
            lambda time, *_: time < bound,
            body,
            (time, outputs, self.state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.steps,
            swap_memory=swap_memory,
        )
        stacked = [array.stack() for array in outputs]
        for tensor, size in zip(stacked, self.output_sizes, strict=True):
            tensor.set_shape(static_shape_with([self.static_steps, self.static_batch], size))
        return pack_sequence_as(self.cell.output_size, stacked), state

    def _arrays(self) -> tuple[tuple[TensorArray, ...], tuple[TensorArray, ...]]:
        """The arrays that the outputs go to, and those that the inputs come from."""
        with name_scope("dynamic_rnn") as scope:
            base_name = scope
        batch = TensorShape([self.static_batch])
        flat = flatten(self.inputs)
        outputs = tuple(
            self._array(f"{base_name}output_{i}", batch.concatenate(known_size(size)), self.dtype)
            for i, size in enumerate(self.output_sizes)
        )
        arrays = [
            self._array(f"{base_name}input_{i}", tensor.shape[1:], tensor.dtype)
            for i, tensor in enumerate(flat)
        ]
        inputs = tuple(array.unstack(x) for array, x in zip(arrays, flat, strict=True))
        return outputs, inputs

    def _array(self, name: str, element_shape: Any, dtype: Any) -> TensorArray:
        return TensorArray(dtype, self.steps, element_shape=element_shape, tensor_array_name=name)

    def _step(self, time: Any, arrays: Sequence[TensorArray], state: Any) -> tuple[Any, Any]:
        row = [array.read(time) for array in arrays]
        for tensor, shape in zip(row, self.shapes, strict=True):
            tensor.set_shape(shape[1:])
        inputs = pack_sequence_as(self.inputs, row)
        state = self.call.taken_in(state)
        if self.lengths is not None:
            output, state = self.lengths.step(
                time, state, lambda: self.cell(inputs, state), always_call=True
            )
        else:
            output, state = self.cell(inputs, state)
        return output, self.call.given_back(state)


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Runs one cell forwards and another backwards; see `tf.nn.dynamic_rnn`.

    Returns the pair of outputs and the pair of last states; the outputs of the second cell are in
    the order of the inputs.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    options: dict[str, Any] = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(x: Any) -> Tensor:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(
            input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=forward, **options
            )
        with variable_scope("bw") as backward:
            backwards = map_structure(reversed_in_time, inputs)
            output_bw, state_bw = dynamic_rnn(
                cell_bw, backwards, initial_state=initial_state_bw, scope=backward, **options
            )
    return (output_fw, reversed_in_time(output_bw)), (state_fw, state_bw)
