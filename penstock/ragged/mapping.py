"""A function of each row: `map_fn` whose elements and results may be ragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock import nest
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.partition_checks import row_count
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_spec import RaggedTensorType


class _Rows(NamedTuple):
    """The parts of one ragged result, of each element or of all of them."""

    flat_values: Any
    nested_row_lengths: tuple[Any, ...]
    outer_row_length: Any

    def parts(self) -> list[Any]:
        return [self.flat_values, *self.nested_row_lengths, self.outer_row_length]


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.map_fn` over the rows of tensors and ragged tensors.

    A ragged result is announced in `dtype` by a RaggedTensorType.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, tf.SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either "
            " SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            " SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    given = match_row_splits_dtypes(*nest.flatten(elems))
    with tf.name_scope(name, "map", list(given)):
        values = [convert_to_tensor_or_ragged_tensor(each, name="elem") for each in given]
        if dtype is None:
            dtype = nest.pack_sequence_as(elems, [each.dtype for each in values])
        declared = nest.flatten(dtype)
        count = _length(values)
        types = [part for each in declared for part in _part_types(each)]
        arrays = [tf.TensorArray(t, size=count, infer_shape=infer_shape) for t in types]

        def compute(i: Any, arrays: Sequence[Any]) -> Any:
            row = nest.pack_sequence_as(elems, [value[i] for value in values])
            results = nest.flatten(fn(row))
            pairs = zip(results, declared, strict=False)
            parts = [part for result, kind in pairs for part in _parts_of(result, kind)]
            written = [a.write(i, part) for a, part in zip(arrays, parts, strict=True)]
            return i + 1, written

        _, arrays = tf.while_loop(
            lambda i, _: i < count,
            compute,
            (tf.constant(0), arrays),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        remaining = iter(arrays)
        results = [_collected(kind, remaining) for kind in declared]
        return nest.pack_sequence_as(dtype, results)


def _length(values: Sequence[Any]) -> Any:
    first = values[0]
    if not is_ragged(first) and first.shape.ndims == 0:
        if len(values) == 1:
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    known = first.shape.as_list()[0] if first.shape.ndims is not None else None
    if known and not is_ragged(first):
        return tf.constant(known, tf.int32)
    return row_count(first, tf.int32)


def _part_types(declared: Any) -> list[Any]:
    """The types of the tensors that a declared result is made of."""
    if not isinstance(declared, RaggedTensorType):
        return [declared]
    lengths = [declared.row_splits_dtype] * declared.ragged_rank
    return [declared.dtype, *lengths]


def _parts_of(result: Any, declared: Any) -> list[Any]:
    """The tensors of the result of one row."""
    if not isinstance(declared, RaggedTensorType):
        return [result]
    own_rank = getattr(result, "ragged_rank", 0)
    if declared.ragged_rank != own_rank + 1:
        raise ValueError(
            f"The declared ragged rank ({declared.ragged_rank}) mismatches the result "
            f"({own_rank + 1})"
        )
    if declared.dtype != result.dtype:
        raise ValueError(
            f"The declared dtype ({declared.dtype}) mismatches the result ({result.dtype})"
        )
    splits_type = declared.row_splits_dtype
    if not is_ragged(result):
        rows = tf.shape(result, out_type=splits_type)[:1]
        return _Rows(result, (), rows).parts()
    if splits_type != result.row_splits.dtype:
        raise ValueError(
            f"The declared row_splits dtype ({splits_type}) mismatches the result "
            f"({result.row_splits.dtype}).  Use RaggedTensor.with_row_splits_dtype to convert it."
        )
    lengths = tuple(splits[1:] - splits[:-1] for splits in result.nested_row_splits)
    return _Rows(result.flat_values, lengths, tf.expand_dims(result.nrows(), 0)).parts()


def _collected(declared: Any, arrays: Any) -> Any:
    """The results of all rows as one tensor or ragged tensor."""
    if not isinstance(declared, RaggedTensorType):
        return next(arrays).stack()
    result = next(arrays).concat()
    lengths = [next(arrays).concat() for _ in range(declared.ragged_rank - 1)]
    for each in [next(arrays).concat(), *lengths][::-1]:
        result = RaggedTensor.from_row_lengths(result, each, validate=False)
    return result
