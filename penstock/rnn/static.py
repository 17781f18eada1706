"""`tf.nn.static_rnn`: a cell run over a list of inputs, with nodes for each time step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.nest import flatten, is_nested, pack_sequence_as
from penstock.ops.casts import cast
from penstock.ops.filling import zeros
from penstock.ops.identity import identity
from penstock.ops.joining import concat, stack, unstack
from penstock.ops.permuting import reverse_sequence
from penstock.ops.reductions import reduce_max, reduce_min
from penstock.ops.shaping import shape as shape_of
from penstock.ops.variable_scope import variable_scope
from penstock.rnn.cell import assert_like_rnncell
from penstock.rnn.sizes import only_dtype, shape_with, static_shape_with
from penstock.rnn.step import CellCall, Lengths, cache_variables
from penstock.shapes import Dimension, unknown_shape

__all__ = ["static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn"]


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list of inputs [batch, depth], one for each time step.

    Returns the list of outputs and the last state. After the end of a sequence (`sequence_length`
    is a vector of lengths) its outputs are zero and its state stays as it is. See
    `tf.nn.dynamic_rnn`, which makes the nodes of a step only once.
    """
    assert_like_rnncell("cell", cell)
    _check_inputs(inputs)
    call = CellCall(cell)
    outputs = []
    with variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        first = inputs
        while is_nested(first):
            first = first[0]
        fixed_batch = _fixed_batch(first, inputs)
        batch_size = fixed_batch.value or shape_of(first)[0]
        if initial_state is not None:
            state = initial_state
        elif dtype:
            state = call.initial_state(batch_size, dtype)
        else:
            raise ValueError("If no initial_state is provided, dtype must be specified")
        lengths = None
        if sequence_length is not None:
            lengths = _lengths(
                cell, sequence_length, batch_size, fixed_batch.value, only_dtype(dtype, state)
            )
        state = call.taken_in(state)
        for time, step_input in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if lengths is None:
                output, state = cell(step_input, state)
            else:
                output, state = lengths.step(time, state, _calling(cell, step_input, state))
            outputs.append(output)
        return outputs, call.given_back(state)


def _calling(cell: Any, inputs: Any, state: Any) -> Any:
    return lambda: cell(inputs, state)


def _check_inputs(inputs: Any) -> None:
    if not is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _fixed_batch(first: Any, inputs: Any) -> Dimension:
    """The batch size as far as it is known; all inputs must agree on it."""
    if first.get_shape().ndims == 1:
        return first.get_shape().with_rank_at_least(1).dims[0]
    batch: Dimension = Dimension(None)
    for tensor in flatten(inputs):
        shape = tensor.get_shape().with_rank_at_least(2)
        if shape.dims is None:
            raise ValueError(
                "Input size (dimension 0 of inputs) must be accessible via shape inference, but "
                "saw value None."
            )
        batch = batch.merge_with(shape.dims[0])
        for i, size in enumerate(shape.dims[1:]):
            if size.value is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via shape inference, "
                    "but saw value None."
                )
    return first.get_shape().dims[0]


def _lengths(
    cell: Any, sequence_length: Any, batch_size: Any, known_batch: int | None, dtype: Any
) -> Lengths:
    lengths = to_tensor(sequence_length, name="sequence_length")
    if lengths.get_shape().ndims not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")

    def zero(size: Any) -> Tensor:
        output = zeros(stack(shape_with(batch_size, size)), dtype)
        output.set_shape(static_shape_with(known_batch, size))
        return output

    zero_output = pack_sequence_as(
        cell.output_size, [zero(size) for size in flatten(cell.output_size)]
    )
    lengths = cast(lengths, dtypes.int32)
    return Lengths(lengths, reduce_min(lengths), reduce_max(lengths), zero_output)


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Like `tf.nn.static_rnn`, with a state that goes from step to step of training.

    `state_saver` has `state(name)`, which gives the first state, and `save_state(name, value)`,
    which keeps the last one. `state_name` is a name, or a structure of them like the state's.
    """
    is_tuple = is_nested(cell.state_size)
    if is_tuple != is_nested(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {cell.state_size}"
        )
    names = flatten(state_name)
    if len(names) != len(flatten(cell.state_size)):
        raise ValueError(
            f"#elems(state_name) != #elems(state_size): {len(names)} vs. "
            f"{len(flatten(cell.state_size))}"
        )
    initial = pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(
        cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope
    )
    parts = flatten(state)
    saved = [state_saver.save_state(n, part) for n, part in zip(names, parts, strict=True)]
    with get_default_graph().control_dependencies(saved):
        last = outputs[-1]
        outputs[-1] = pack_sequence_as(last, [identity(output) for output in flatten(last)])
        state = pack_sequence_as(state, [identity(part) for part in parts])
    return outputs, state


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Runs one cell forwards and another backwards over a list of inputs; see `tf.nn.static_rnn`.

    Returns the list of outputs, those of both cells side by side, and the two last states.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward
            )
        with variable_scope("bw") as backward:
            backwards = _reversed(inputs, sequence_length)
            output_bw, state_bw = static_rnn(
                cell_bw, backwards, initial_state_bw, dtype, sequence_length, scope=backward
            )
    output_bw = _reversed(output_bw, sequence_length)
    pairs = zip(flatten(output_fw), flatten(output_bw), strict=True)
    joined = [concat([forwards, reverse], 1) for forwards, reverse in pairs]
    return pack_sequence_as(output_fw, joined), state_fw, state_bw


def _reversed(sequence: Sequence[Any], lengths: Any) -> list[Any]:
    """A list of inputs from last to first, each sequence of the batch by its own length."""
    if lengths is None:
        return list(reversed(sequence))
    results: list[list[Any]] = [[] for _ in sequence]
    for steps in zip(*[flatten(entry) for entry in sequence], strict=True):
        shape = unknown_shape(rank=steps[0].get_shape().ndims)
        for tensor in steps:
            shape = shape.merge_with(tensor.get_shape())
            tensor.set_shape(shape)
        backwards = unstack(reverse_sequence(stack(list(steps)), lengths, 0, 1))
        for result, tensor in zip(results, backwards, strict=True):
            tensor.set_shape(shape)
            result.append(tensor)
    return [pack_sequence_as(e, leaves) for e, leaves in zip(sequence, results, strict=True)]
