"""Functions of functions: `tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr`.

Each takes tensors apart along their first dimension into tensor arrays, and runs a loop over the
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import nest
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.loops import while_loop
from penstock.ops.shaping import shape as shape_of
from penstock.ops.tensor_array import TensorArray
from penstock.ops.variable_scope import get_variable_scope
from penstock.shapes import Dimension, TensorShape

__all__ = ["foldl", "foldr", "map_fn", "scan"]


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Applies `fn` to each row of `elems` and stacks the results.

    `elems` may be a structure of tensors, of which `fn` then gets the rows. `dtype` is the
    structure of types that `fn` returns, if that isn't the structure of `elems`.

    >>> squares = tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))
    >>> pairs = tf.map_fn(lambda x: (x, -x), elems, dtype=(tf.int32, tf.int32))
    """
    _check_callable(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  "
            "SparseTensor(input.indices, fn(input.values), input.dense_shape) or  "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    with name_scope(name, "map", nest.flatten(elems)), _caching_variables():
        rows = _Rows(elems)
        types = dtype
        if dtype is None:
            types = nest.pack_sequence_as(elems, [tensor.dtype for tensor in rows.tensors])
        rows.check_rank()
        count = rows.count()
        arrays = rows.arrays(count)
        start = constant(0)
        results = [
            TensorArray(each, count, dynamic_size=False, infer_shape=infer_shape)
            for each in nest.flatten(types)
        ]

        def body(i: Any, results: Any) -> Any:
            value = fn(rows.at(i, arrays))
            nest.assert_same_structure(types, value)
            values = nest.flatten(value)
            results = [r.write(i, v) for r, v in zip(results, values, strict=True)]
            return i + 1, results

        _, results = while_loop(
            lambda i, _: i < count,
            body,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(types, rows.stacked(results))


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All states of `state = fn(state, row)` over the rows of `elems`, stacked.

    The first state is `initializer`, or the first row itself if that is None. With `reverse` the
    rows are taken from the last to the first.

    >>> sums = tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3]))  # [1, 3, 6]
    """
    _check_callable(fn)
    form = elems if initializer is None else initializer
    with name_scope(name, "scan", nest.flatten(elems)), _caching_variables():
        rows = _Rows(elems)
        count = rows.count(keeps_zero=True)
        arrays = rows.arrays(count, with_shapes=True)
        if initializer is None:
            done, first = 1, count - 1 if reverse else 0
            states = [array.read(first) for array in arrays]
        else:
            done = 0
            states = [to_tensor(value) for value in nest.flatten(initializer)]
        results = [
            TensorArray(
                state.dtype,
                count,
                element_shape=state.shape if infer_shape else None,
                dynamic_size=False,
                infer_shape=infer_shape,
            )
            for state in states
        ]
        if initializer is None:
            results = [r.write(first, s) for r, s in zip(results, states, strict=True)]

        def body(i: Any, states: Any, results: Any) -> Any:
            row = rows.at(i, arrays)
            state = fn(nest.pack_sequence_as(form, states), row)
            nest.assert_same_structure(form, state)
            states = nest.flatten(state)
            results = [r.write(i, s) for r, s in zip(results, states, strict=True)]
            return i - 1 if reverse else i + 1, states, results

        _, _, results = while_loop(
            lambda i, *_: i >= 0 if reverse else i < count,
            body,
            (count - 1 - done if reverse else done, states, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(form, rows.stacked(results))


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last state of `state = fn(state, row)` over the rows of `elems`, from first to last.

    The first state is `initializer`, or the first row itself if that is None.
    """
    _check_callable(fn)
    with name_scope(name, "foldl", nest.flatten(elems)), _caching_variables():
        rows = _Rows(elems)
        count = rows.count()
        arrays = rows.arrays_of_given(count)
        if initializer is None:
            state = rows.at(0, arrays)
            start = constant(1)
        else:
            state, start = initializer, constant(0)

        def body(i: Any, state: Any) -> Any:
            state = fn(state, rows.at(i, arrays))
            return [i + 1, state]

        _, state = while_loop(
            lambda i, _: i < count,
            body,
            [start, state],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return state


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last state of `state = fn(state, row)` over the rows of `elems`, from last to first.

    The first state is `initializer`, or the last row itself if that is None.
    """
    _check_callable(fn)
    with name_scope(name, "foldr", nest.flatten(elems)), _caching_variables():
        rows = _Rows(elems)
        count = rows.count()
        arrays = rows.arrays_of_given(count)
        if initializer is None:
            start = count - 1
            state = rows.at(start, arrays)
        else:
            state, start = initializer, count

        def body(i: Any, state: Any) -> Any:
            i -= 1
            state = fn(state, rows.at(i, arrays))
            return [i, state]

        _, state = while_loop(
            lambda i, _: i > 0,
            body,
            [start, state],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return state


class _Rows:
    """The tensors that are taken apart, with their number of rows."""

    def __init__(self, structure: Any):
        self.structure = structure
        self.given = nest.flatten(structure)
        self.tensors = [to_tensor(value, name="elem") for value in self.given]

    def check_rank(self) -> None:
        if self.tensors[0].shape.ndims == 0:
            raise ValueError(
                "elems must be a 1+ dimensional Tensor, not a scalar"
                if len(self.tensors) == 1
                else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )

    def count(self, *, keeps_zero: bool = False) -> Any:
        """The number of rows, a Python number if it is known; 0 only if it `keeps_zero`."""
        known = _first_size(self.tensors[0]).value
        if known or (known == 0 and keeps_zero):
            return known
        return shape_of(self.tensors[0])[0]

    def arrays(self, count: Any, *, with_shapes: bool = False) -> list[TensorArray]:
        """The rows as tensor arrays."""
        arrays = [
            TensorArray(
                tensor.dtype,
                count,
                dynamic_size=False,
                infer_shape=True,
                element_shape=tensor.shape[1:] if with_shapes else None,
            )
            for tensor in self.tensors
        ]
        return [a.unstack(tensor) for a, tensor in zip(arrays, self.tensors, strict=True)]

    def arrays_of_given(self, count: Any) -> list[TensorArray]:
        """The same, of the values as they were given: that is how folds make their nodes."""
        return [
            TensorArray(value.dtype, count, dynamic_size=False, infer_shape=True).unstack(value)
            for value in self.given
        ]

    def at(self, i: Any, arrays: Sequence[TensorArray]) -> Any:
        """Row number `i`, in the structure of the tensors."""
        return nest.pack_sequence_as(self.structure, [array.read(i) for array in arrays])

    def stacked(self, results: Sequence[TensorArray]) -> list[Tensor]:
        """The results of all rows; their first dimension is that of the rows."""
        tensors = [result.stack() for result in results]
        size = Dimension(None)
        for tensor in self.tensors:
            size = size.merge_with(_first_size(tensor))
        for tensor in tensors:
            tensor.set_shape(TensorShape([size]).concatenate(tensor.shape[1:]))
        return tensors


def _first_size(tensor: Tensor) -> Dimension:
    dims = tensor.shape.with_rank_at_least(1).dims
    return Dimension(None) if dims is None else dims[0]


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


@contextmanager
def _caching_variables() -> Iterator[None]:
    """Variables made by the function are read once, not in each iteration."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)
