"""Ragged tensors masked, tiled, given a new dimension, dealt out into rows."""

from __future__ import annotations

from typing import Any, cast

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.row_ranges import (
    assert_splits_match,
    convert_to_int_tensor,
    get_positive_axis,
    lengths_to_splits,
    repeat_ranges,
)
from penstock.ragged.tensor import RaggedTensor


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `data` where `mask` is true; the mask's last dimension becomes ragged.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3])
    """
    with tf.name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, tf.bool, name="mask")
        splits_type, (data, mask) = match_row_splits_dtypes(data, mask, return_dtype=True)
        rank = mask.shape.ndims
        if rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if is_ragged(mask):
            return _masked_by_ragged(data, mask)
        if not is_ragged(data):
            return _masked_dense(data, mask, splits_type)
        if rank == 1:
            return _masked_rows(data, mask)
        depth = min(data.ragged_rank, rank - 1)
        ragged_mask = RaggedTensor.from_tensor(
            mask, ragged_rank=depth, row_splits_dtype=data.row_splits.dtype
        )
        return boolean_mask(data, ragged_mask)


def _masked_by_ragged(data: Any, mask: RaggedTensor) -> Any:
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(
            data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype
        )
    checks = assert_splits_match(
        [mask.nested_row_splits, data.nested_row_splits[: mask.ragged_rank]]
    )
    with tf.control_dependencies(checks):
        splits = []
        inner_data, inner_mask = data, cast(Any, mask)
        while isinstance(inner_mask, RaggedTensor):
            if inner_mask.shape.ndims > 2:
                splits.append(inner_mask.row_splits)
            else:
                kept = inner_mask.with_values(tf.cast(inner_mask.values, splits_type(inner_mask)))
                splits.append(lengths_to_splits(tf.reduce_sum(kept, axis=1)))
            inner_data, inner_mask = inner_data.values, inner_mask.values
        values = boolean_mask(inner_data, inner_mask)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def splits_type(ragged: RaggedTensor) -> Any:
    """The type of a ragged tensor's row splits."""
    return ragged.row_splits.dtype


def _masked_rows(data: RaggedTensor, mask: Any) -> RaggedTensor:
    """Whole rows by a mask of one dimension."""
    lengths = tf.boolean_mask(data.row_lengths(), mask)
    values = boolean_mask(data.values, tf.gather(mask, data.value_rowids()))
    return RaggedTensor.from_row_splits(values, lengths_to_splits(lengths), validate=False)


def _masked_dense(data: Any, mask: Any, row_splits_type: Any) -> Any:
    values = tf.boolean_mask(data, mask)
    rank = mask.shape.ndims
    if rank < 2:
        return values
    lengths = tf.reshape(tf.count_nonzero(mask, axis=-1, dtype=row_splits_type), [-1])
    result = RaggedTensor.from_row_lengths(values, lengths, validate=False)
    sizes = tf.shape(mask, out_type=row_splits_type)
    counts = tf.cumprod(sizes) + 1
    for dim in reversed(range(rank - 2)):
        splits = tf.range(counts[dim]) * sizes[dim + 1]
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """`tf.tile` for a ragged tensor."""
    with tf.name_scope(name, "RaggedTile", [input, multiples]):
        ragged = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(ragged):
            return tf.tile(ragged, multiples, name)
        multiples = convert_to_int_tensor(multiples, "multiples", ragged.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = constant_value(multiples)
        return RaggedTensor.from_nested_row_splits(
            _tiled_values(ragged, multiples, known),
            _tiled_splits(ragged, multiples, known),
            validate=False,
        )


def _repeats(known: Any, axis: int) -> bool:
    """Whether an axis may be repeated: its multiple is not known to be 1."""
    return known is None or bool(known[axis] != 1)


def _tiled_values(ragged: RaggedTensor, multiples: Any, known: Any) -> Any:
    """The elements of the tiled tensor: rows repeated from the inside out, then the inner axes."""
    rank = ragged.ragged_rank
    nested_splits = ragged.nested_row_splits
    places = tf.range(nested_splits[-1][-1])
    below = None  # where rows of the dimension below begin among the repeated elements
    for axis in range(rank, 0, -1):
        splits = nested_splits[axis - 1]
        if below is not None:
            splits = tf.gather(below * multiples[axis + 1], splits)
        if _repeats(known, axis):
            places = repeat_ranges(places, splits, multiples[axis])
        below = splits
    values = tf.gather(ragged.flat_values, places)
    return tf.tile(values, tf.concat([multiples[:1], multiples[rank + 1 :]], axis=0))


def _tiled_splits(ragged: RaggedTensor, multiples: Any, known: Any) -> list[Any]:
    """The row splits of all dimensions of the tiled tensor."""
    nested_splits = ragged.nested_row_splits
    result = []
    for axis, splits in enumerate(nested_splits):
        lengths = (splits[1:] - splits[:-1]) * multiples[axis + 1]
        factor: Any = 1
        for outer in range(axis - 1, -1, -1):
            if _repeats(known, outer + 1):
                bounds = _projected(nested_splits, outer, axis - 1) * factor
                lengths = repeat_ranges(lengths, bounds, multiples[outer + 1])
            factor *= multiples[outer + 1]
        result.append(lengths_to_splits(tf.tile(lengths, multiples[:1])))
    return result


def _projected(nested_splits: tuple[Any, ...], outer: int, inner: int) -> Any:
    """Where rows of an outer dimension begin among the rows of an inner one."""
    splits = nested_splits[outer]
    for dim in range(outer + 1, inner + 1):
        splits = tf.gather(nested_splits[dim], splits)
    return splits


def expand_dims(input: Any, axis: int, name: str | None = None) -> Any:
    """`tf.expand_dims` for a ragged tensor."""
    with tf.name_scope(name, "RaggedExpandDims", [input]):
        ragged = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(ragged):
            return tf.expand_dims(ragged, axis)
        rank = ragged.shape.ndims
        axis = get_positive_axis(axis, None if rank is None else rank + 1)
        if axis == 0:
            values, splits = ragged, tf.stack([0, ragged.nrows()])
        elif axis == 1:
            values, splits = ragged, tf.range(ragged.nrows() + 1)
        else:
            values, splits = expand_dims(ragged.values, axis - 1), ragged.row_splits
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def size(input: Any, out_type: Any = tf.int32, name: str | None = None) -> Any:
    """`tf.size` for a ragged tensor: the number of its elements."""
    elements = input.flat_values if is_ragged(input) else input
    return tf.size(elements, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Any:
    """`tf.rank` for a ragged tensor."""
    with tf.name_scope(name, "RaggedRank", [input]):
        if not is_ragged(input):
            return tf.rank(input, name)
        return input.ragged_rank + tf.rank(input.flat_values)


def ragged_one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.one_hot` for ragged indices."""
    with tf.name_scope(name, "RaggedOneHot", [indices]):
        ragged = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None:
            axis = get_positive_axis(axis, ragged.shape.ndims)
            if axis < ragged.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
        hot = tf.one_hot(ragged.flat_values, depth, on_value, off_value, axis, dtype, name)
        return ragged.with_flat_values(hot)


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The values of `data` in rows by their number in `partitions`.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [0, 2, 0], 3)  # [[a, c], [], [b]]
    """
    with tf.name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        hint = splits_type(data) if isinstance(data, RaggedTensor) else None
        partitions = convert_to_tensor_or_ragged_tensor(
            partitions, name="partitions", preferred_dtype=hint
        )
        num_partitions = tf.convert_to_tensor(
            num_partitions, name="num_partitions", preferred_dtype=partitions.dtype
        )
        if hint is not None:
            partitions = tf.cast(partitions, hint)
        num_partitions = tf.cast(num_partitions, partitions.dtype)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank.")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            return RaggedTensor.from_value_rowids(
                tf.stack([data]), tf.stack([partitions]), num_partitions, validate=False
            )
        if rank == 1:
            return _dealt_out(data, partitions, num_partitions)
        return _dealt_out_nested(data, partitions, num_partitions)


def _dealt_out(data: Any, partitions: Any, num_partitions: Any) -> RaggedTensor:
    order = tf.argsort(partitions, stable=True)
    rows = tf.gather(partitions, order)
    values = tf.gather(data, order)
    check = tf.assert_less(
        rows[-1:], num_partitions, message="partitions must be less than num_partitions"
    )
    with tf.control_dependencies([check]):
        return RaggedTensor.from_value_rowids(values, rows, num_partitions, validate=False)


def _dealt_out_nested(data: Any, partitions: Any, num_partitions: Any) -> Any:
    """Partitions of several dimensions: those of the values below."""
    rank = partitions.shape.ndims
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.dtype)
    if not isinstance(partitions, RaggedTensor):
        partitions = RaggedTensor.from_tensor(
            partitions,
            row_splits_dtype=partitions.dtype,
            ragged_rank=max(data.ragged_rank, rank - 1),
        )
    check = tf.assert_equal(
        data.row_splits,
        partitions.row_splits,
        message="data and partitions have incompatible ragged shapes",
    )
    with tf.control_dependencies([check]):
        return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
