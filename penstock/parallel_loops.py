"""Loops whose iterations don't depend on each other: their results are stacked.

TensorFlow's `pfor` replaces the nodes of an iteration by nodes for all of them at once. Here it is
a `tf.while_loop` with the same results: the plan of a loop costs little beside its kernels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock import dtypes, nest
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant, placeholder
from penstock.ops.control import control_dependencies, group
from penstock.ops.gather import gather
from penstock.ops.loops import while_loop
from penstock.ops.reductions import reduce_mean, reduce_sum
from penstock.ops.shaping import expand_dims, shape
from penstock.ops.tensor_array import TensorArray
from penstock.ops.tensor_values import get_static_value
from penstock.shapes import TensorShape, dimension_value

__all__ = ["for_loop", "pfor", "vectorized_map"]

LoopFunction = Callable[..., Any]


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
    missing: list[bool] = []

    def body(i: Any, *arrays: Any) -> tuple[Any, ...]:
        outputs = nest.flatten(loop_fn(i))
        if len(outputs) != len(types):
            raise ValueError(
                f"Number of expected outputs, {len(types)}, does not match the number of actual "
                f"outputs, {len(outputs)}, from loop_fn"
            )
        missing[:] = [output is None for output in outputs]
        written = [
            array if output is None else array.write(i, expand_dims(output, 0))
            for output, array in zip(outputs, arrays, strict=True)
        ]
        return (i + 1, *written)

    arrays = [TensorArray(dtypes.as_dtype(dtype).base_dtype, iters) for dtype in types]
    at_a_time = 10 if parallel_iterations is None else parallel_iterations
    _, *filled = while_loop(
        lambda i, *_: i < iters, body, [0, *arrays], parallel_iterations=at_a_time
    )
    if not missing:
        return None
    stacked = [
        None if none else array.concat() for array, none in zip(filled, missing, strict=True)
    ]
    return nest.pack_sequence_as(loop_fn_dtypes, stacked)


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
    if _takes_config(loop_fn):
        loop_fn = _with_reductions(loop_fn, iters, parallel_iterations)
    with name_scope("loop_body"):
        example = loop_fn(placeholder(dtypes.int32, []))
        outputs = [_as_tensor(output) for output in nest.flatten(example)]
    with name_scope("pfor"):
        stacked = for_loop(
            lambda i: [_as_tensor(output) for output in nest.flatten(loop_fn(i))],
            [dtypes.int32 if output is None else output.dtype for output in outputs],
            convert_to_tensor(iters, dtypes.int32),
            parallel_iterations,
        )
        rows = TensorShape([_known(iters)])
        for values, output in zip(stacked, outputs, strict=True):
            if output is not None:
                values.set_shape(rows.concatenate(output.shape))
        results = [
            group(values) if isinstance(output, Operation) else values
            for output, values in zip(nest.flatten(example), stacked, strict=True)
        ]
    return nest.pack_sequence_as(example, results)


def _known(iters: Any) -> int | None:
    value = get_static_value(iters)
    return None if value is None else int(value)


def _as_tensor(output: Any) -> Tensor | None:
    """What is stacked for an output: for an operation, a number that waits for it."""
    if isinstance(output, Operation):
        with control_dependencies([output]):
            return constant(0)
    return None if output is None else convert_to_tensor(output)


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
