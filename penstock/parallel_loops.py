"""Loops whose iterations don't depend on each other: their results are stacked.

TensorFlow's `pfor` replaces the nodes of an iteration by nodes for all of them at once. Here it is
a `tf.while_loop` with the same results: the plan of a loop costs little beside its kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any

from penstock import dtypes, nest
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.constants import constant, placeholder, placeholder_with_default
from penstock.ops.control import control_dependencies, group
from penstock.ops.filling import fill
from penstock.ops.gather import gather
from penstock.ops.graph_functions import defun
from penstock.ops.identity import identity
from penstock.ops.joining import concat, stack
from penstock.ops.loops import while_loop
from penstock.ops.reductions import reduce_max, reduce_mean, reduce_sum
from penstock.ops.shaping import expand_dims, shape
from penstock.ops.tensor_array import TensorArray
from penstock.ops.tensor_values import get_static_value
from penstock.shapes import TensorShape, dimension_value

__all__ = ["for_loop", "pfor", "vectorized_map"]

LoopFunction = Callable[..., Any]

#: So many iterations at most are put side by side where a loop could be around them.
_FEW_ITERATIONS = 8


def for_loop(
    loop_fn: LoopFunction,
    loop_fn_dtypes: Any,
    iters: Any,
    parallel_iterations: int | None = None,
) -> Any:
    """Calls `loop_fn` with 0, 1, … `iters - 1` one after the other, and stacks what it returns.

    Args:
      loop_fn: gives a structure of tensors, or None, for the number of an iteration.
      loop_fn_dtypes: the types of the tensors, in the same structure.
      iters: how many iterations there are.
      parallel_iterations: how many of them may run at a time.
    """
    types = nest.flatten(loop_fn_dtypes)
    return _packed(loop_fn_dtypes, _looped(loop_fn, types, iters, parallel_iterations))


def _packed(structure: Any, flat: list[Any] | None) -> Any:
    return None if flat is None else nest.pack_sequence_as(structure, flat)


def _looped(
    loop_fn: LoopFunction,
    types: list[Any],
    iters: Any,
    parallel_iterations: int | None,
    joined: Collection[int] = (),
) -> list[Any] | None:
    """The outputs of all iterations, stacked; at the places `joined` one behind the other."""
    missing: list[bool] = []

    def body(i: Any, *arrays: Any) -> tuple[Any, ...]:
        outputs = nest.flatten(loop_fn(i))
        if len(outputs) != len(types):
            raise ValueError(
                f"Number of expected outputs, {len(types)}, does not match the number of actual "
                f"outputs, {len(outputs)}, from loop_fn"
            )
        missing[:] = [output is None for output in outputs]
        rows = [
            output if output is None or place in joined else expand_dims(output, 0)
            for place, output in enumerate(outputs)
        ]
        written = [
            array if row is None else array.write(i, row)
            for row, array in zip(rows, arrays, strict=True)
        ]
        return (i + 1, *written)

    arrays = [
        TensorArray(dtypes.as_dtype(dtype).base_dtype, iters, infer_shape=place not in joined)
        for place, dtype in enumerate(types)
    ]
    at_a_time = 10 if parallel_iterations is None else parallel_iterations
    _, *filled = while_loop(
        lambda i, *_: i < iters, body, [0, *arrays], parallel_iterations=at_a_time
    )
    if not missing:
        return None
    return [None if none else array.concat() for array, none in zip(filled, missing, strict=True)]


def pfor(loop_fn: LoopFunction, iters: Any, parallel_iterations: int | None = None) -> Any:
    """Calls `loop_fn` with 0, 1, … `iters - 1`, and stacks what it returns.

    Args:
      loop_fn: gives a structure of tensors and operations for the number of an iteration. It is
        called twice: once to see what it gives. One that takes `pfor_config`, a `PForConfig`, can
        ask for values of all iterations.
      iters: how many iterations there are.
      parallel_iterations: how many may run at a time, 2 at least; as many as there are if None.
    """
    if parallel_iterations is not None:
        if parallel_iterations < 1:
            raise ValueError("parallel_iterations must be None or a positive integer")
        if parallel_iterations == 1:
            raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if executing_eagerly():
        return defun(lambda: _pfor(loop_fn, iters, parallel_iterations))()
    return _pfor(loop_fn, iters, parallel_iterations)


def _pfor(loop_fn: LoopFunction, iters: Any, parallel_iterations: int | None) -> Any:
    if _takes_config(loop_fn):
        loop_fn = _with_reductions(loop_fn, iters, parallel_iterations)
    before = len(get_default_graph().get_operations())
    with name_scope("loop_body"):
        # A function runs what has effects, in this body, too: it needs some number.
        in_function = isinstance(get_default_graph(), FunctionGraph)
        number = placeholder_with_default(0, []) if in_function else placeholder(dtypes.int32, [])
        example = loop_fn(number)
        outputs = [_as_output(output) for output in nest.flatten(example)]
    from penstock.parallel_conversion import check_convertible  # it has a flag, and imports absl

    made = get_default_graph().get_operations()[before:]
    parts = [part for output in outputs for part in _parts(output)]
    check_convertible(number, made, parts)

    def flat_fn(i: Any) -> list[Any]:
        found = [_as_output(output) for output in nest.flatten(loop_fn(i))]
        return [_in_iteration(part, i) for output in found for part in _parts(output, i)]

    with name_scope("pfor"):
        stacked = _stacked(flat_fn, outputs, iters, parallel_iterations, _unrolls(iters, made))
    return _packed(example, stacked)


def _stacked(
    flat_fn: LoopFunction,
    outputs: list[Any],
    iters: Any,
    parallel_iterations: int | None,
    unrolls: bool,
) -> list[Any]:
    """The results of `pfor`: for each output of an iteration, that of all of them."""
    types: list[Any] = []
    joined: set[int] = set()
    for output in outputs:
        if isinstance(output, SparseTensor):
            joined |= {len(types), len(types) + 1}
        parts = _parts(output)
        types += [dtypes.int32 if isinstance(x, Operation) else x.dtype for x in parts]
    rows: Any
    if unrolls:
        columns = zip(*[flat_fn(constant(i)) for i in range(_known(iters) or 0)], strict=True)
        rows = iter(
            concat(column, 0) if place in joined else stack(column)
            for place, column in enumerate(columns)
        )
    else:
        count = convert_to_tensor(iters, dtypes.int32)
        rows = iter(_looped(flat_fn, types, count, parallel_iterations, joined) or [])
    return [_result(output, rows, iters) for output in outputs]


def _unrolls(iters: Any, made: list[Operation]) -> bool:
    """Whether the iterations are put side by side: no loop can be around gradients of a loop.

    Few iterations are, too, so that gradients of the results can be in a loop.
    """
    count = _known(iters)
    if not count:
        return False
    has_loops = any(op.type in {"Enter", "RefEnter", "TensorArrayGradV3"} for op in made)
    return has_loops or count <= _FEW_ITERATIONS


def _known(iters: Any) -> int | None:
    value = get_static_value(iters)
    return None if value is None else int(value)


def _as_output(output: Any) -> Any:
    if output is None or isinstance(output, Operation | SparseTensor):
        return output
    return convert_to_tensor(output)


def _parts(output: Any, i: Any = None) -> list[Any]:
    """The tensors of an output; with the number of the iteration in the indices of a sparse one."""
    if output is None:
        return []
    if not isinstance(output, SparseTensor):
        return [output]
    indices = output.indices
    if i is not None:
        number = fill([shape(indices)[0], 1], cast(i, dtypes.int64))
        indices = concat([number, indices], 1)
    return [indices, output.values, output.dense_shape]


def _in_iteration(part: Any, i: Any) -> Tensor:
    """What is stacked for a part: for an operation, a number that waits for it."""
    if isinstance(part, Operation):
        with control_dependencies([part]):
            return identity(i)
    return part


def _result(output: Any, rows: Iterator[Any], iters: Any) -> Any:
    if output is None:
        return None
    if isinstance(output, Operation):
        return group(next(rows))
    if isinstance(output, SparseTensor):
        indices, values, shapes = next(rows), next(rows), next(rows)
        count = cast(convert_to_tensor(iters), dtypes.int64)
        return SparseTensor(indices, values, concat([[count], reduce_max(shapes, 0)], 0))
    stacked = next(rows)
    stacked.set_shape(TensorShape([_known(iters)]).concatenate(output.shape))
    return stacked


# Values of all iterations --------------------------------------------------------------------


class PForConfig:
    """What an iteration of `pfor` may know of the others."""

    def __init__(self, found: list[Tensor]):
        self._found = iter(found)

    def reduce_concat(self, x: Tensor) -> Tensor:
        """The value of `x` in all iterations, stacked."""
        for stacked in self._found:
            return stacked
        raise _NotYetFound(x)

    def reduce(self, fn: Callable[..., Any], *args: Tensor) -> Any:
        """What a function makes of tensors of all iterations, stacked."""
        return fn(*[self.reduce_concat(x) for x in args])

    def reduce_mean(self, x: Tensor) -> Tensor:
        """The mean of the values of `x` in all iterations."""
        return reduce_mean(self.reduce_concat(x), axis=0)

    def reduce_sum(self, x: Tensor) -> Tensor:
        """The sum of the values of `x` in all iterations."""
        return reduce_sum(self.reduce_concat(x), axis=0)


class _NotYetFound(Exception):
    """Leaves an iteration at the first value that must be known of all of them."""

    def __init__(self, value: Tensor):
        super().__init__("a value of all iterations")
        self.value = value


def _takes_config(loop_fn: LoopFunction) -> bool:
    return "pfor_config" in inspect.signature(loop_fn).parameters


def _with_reductions(loop_fn: LoopFunction, iters: Any, parallel_iterations: Any) -> LoopFunction:
    """The function of the number alone: a loop before it finds each value of all iterations."""
    found: list[Tensor] = []

    def up_to_next(i: Any) -> Tensor | None:
        try:
            loop_fn(i, pfor_config=PForConfig(found))
        except _NotYetFound as reached:
            return reached.value
        return None

    while True:
        with name_scope("loop_body"):
            value = up_to_next(placeholder(dtypes.int32, []))
        if value is None:
            break
        if parallel_iterations is not None:
            raise ValueError(
                "parallel_iterations currently unsupported for reductions across iterations."
            )
        count = convert_to_tensor(iters, dtypes.int32)
        stacked = for_loop(up_to_next, value.dtype, count)
        stacked.set_shape(TensorShape([_known(iters)]).concatenate(value.shape))
        found.append(stacked)
    return lambda i: loop_fn(i, pfor_config=PForConfig(found))


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """Calls a function with each row of tensors, and stacks what it returns.

    Args:
      fn: gives a structure of tensors for a structure like `elems`.
      elems: a structure of tensors with the same number of rows.
    """
    tensors = nest.map_structure(convert_to_tensor, elems)
    first = nest.flatten(tensors)[0]
    known = None if first.shape.ndims is None else dimension_value(first.shape[0])
    rows = shape(first)[0] if known is None else known
    return pfor(lambda i: fn(nest.map_structure(lambda x: gather(x, i), tensors)), rows)
