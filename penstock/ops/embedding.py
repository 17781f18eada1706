"""Embeddings: rows of a large matrix, which may be spread over several tensors, looked up by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_n_to_tensor, convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import div, maximum
from penstock.ops.binary import pow as power
from penstock.ops.broadcasting import tile
from penstock.ops.casts import cast
from penstock.ops.clip import clip_by_norm
from penstock.ops.comparison import greater, greater_equal, logical_and
from penstock.ops.constants import constant
from penstock.ops.elementwise import sqrt
from penstock.ops.filling import fill, ones_like, zeros_like
from penstock.ops.filling import range as count
from penstock.ops.gather import gather
from penstock.ops.identity import identity
from penstock.ops.joining import concat, stack
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.partitioning import ParallelDynamicStitch, dynamic_partition
from penstock.ops.reductions import reduce_prod, reduce_sum
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.segments import segment_sum
from penstock.ops.select import Select
from penstock.ops.shaping import expand_dims, rank, reshape, shape, size
from penstock.ops.slicing import slice as slice_of
from penstock.ops.sparse_segments import SparseSegmentMean, SparseSegmentSqrtN, SparseSegmentSum
from penstock.ops.sparse_structure import (
    sparse_fill_empty_rows,
    sparse_reshape,
    sparse_retain,
)
from penstock.ops.unique import unique
from penstock.shapes import TensorShape, dimension_value

__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:
    """The rows `ids` of `params`.

    Args:
      params: A tensor or variable, or a list of them (or a partitioned variable) that share the
        rows among them.
      partition_strategy: How they do: with "mod" row i is in part i modulo their number, with
        "div" each part has a contiguous range of rows.
      validate_indices: Means nothing: ids are always checked.
      max_norm: Rows that are longer are scaled down to this length.
    """
    del validate_indices
    return _embedding_lookup_and_transform(params, ids, partition_strategy, name, max_norm)


def _embedding_lookup_and_transform(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    max_norm: Any = None,
    transform_fn: Callable[[Tensor], Any] | None = None,
) -> Tensor:
    """`embedding_lookup`, whose rows a function changes beside the parts that they come from."""
    params = _parts(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        if not any(_is_resource(part) for part in params):
            params = convert_n_to_tensor(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1 and (transform_fn is None or ids.get_shape().ndims == 1):
            with get_default_graph().colocate_with(_op(params[0])):
                rows = _clipped(gather(params[0], ids, name=scope), ids, max_norm)
                if transform_fn is not None:
                    rows = transform_fn(rows)
            return identity(rows)
        if transform_fn is None:
            rows = _looked_up(params, ids, partition_strategy, scope)
            return _clipped(rows, ids, max_norm)

        def changed(answer: Tensor, wanted: Tensor) -> Any:
            return transform_fn(_clipped(answer, wanted, max_norm))

        return _looked_up(params, ids, partition_strategy, scope, changed)


def _parts(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    several = isinstance(params, (list, tuple, PartitionedVariable))
    parts = list(params) if several else [params]
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    return parts


def _is_resource(part: Any) -> bool:
    """Whether a part is a resource variable, of which only the wanted rows should be read."""
    return isinstance(part, ResourceVariable)


def _op(part: Any) -> Any:
    if isinstance(part, Tensor):
        return part._op
    # Between replicas a variable with copies has no one handle, but one that is near.
    return part._handle._op if _is_resource(part) else part.op


def _clipped(rows: Tensor, ids: Tensor, max_norm: Any) -> Tensor:
    """Rows scaled down to length `max_norm` at most."""
    if max_norm is None:
        return rows
    ids_rank, rows_rank = ids.get_shape().ndims, rows.get_shape().ndims
    axes: Any
    if ids_rank is not None and rows_rank is not None:
        axes = list(range(ids_rank, rows_rank))
    else:
        axes = count(rank(ids), rank(rows))
    return clip_by_norm(rows, max_norm, axes=axes)


def _looked_up(
    params: list[Any],
    ids: Tensor,
    strategy: str,
    name: str,
    changed: Callable[[Tensor, Tensor], Any] | None = None,
) -> Tensor:
    """The rows `ids` of several parts: each part is asked for its own, the answers are merged."""
    flat = reshape(ids, [-1])
    positions = count(size(flat))
    if strategy == "mod":
        part_of: Any = flat % len(params)
        row_of: Any = flat // len(params)
    elif strategy == "div":
        part_of, row_of = _divided(params, flat)
    else:
        raise ValueError(
            f"Unrecognized partition strategy: {strategy}. Must be one of either `mod` or `div`."
        )
    part_of = cast(part_of, dtypes.int32)
    rows = dynamic_partition(row_of, part_of, len(params))
    places = dynamic_partition(positions, part_of, len(params))
    answers = []
    for part, wanted in zip(params, rows, strict=True):
        with get_default_graph().colocate_with(_op(part)):
            answer = gather(part, wanted)
            answers.append(answer if changed is None else changed(answer, wanted))
    merged = ParallelDynamicStitch(places, answers, name=name)
    static = _row_shape(params) if changed is None else merged.get_shape()[1:]
    if static.is_fully_defined():
        merged = reshape(merged, concat([shape(ids), static.as_list()], 0))
    else:
        whole: Any
        if changed is not None:
            whole = shape(merged)
        else:
            with get_default_graph().colocate_with(_op(params[0])):
                whole = shape(params[0])
        row: Any = whole[1:]
        merged = reshape(merged, concat([shape(ids), row], 0))
    merged.set_shape(ids.get_shape().concatenate(static))
    return merged


def _row_shape(params: Sequence[Any]) -> TensorShape:
    """The shape of one row, as far as the parts' shapes tell."""
    merged = params[0].get_shape()[1:]
    for part in params[1:]:
        merged = merged.merge_with(part.get_shape()[1:])
    return merged


def _divided(params: list[Any], ids: Any) -> tuple[Any, Any]:
    """Part and row of each id where parts hold contiguous ranges, the first ones a row more."""
    total: Any = _total_rows(params, ids.dtype)
    per_part = total // len(params)
    extras = total % len(params)
    part_of: Any = maximum(ids // (per_part + 1), (ids - extras) // per_part)
    row_of = Select(part_of < extras, ids % (per_part + 1), (ids - extras) % per_part)
    return part_of, row_of


def _total_rows(params: list[Any], dtype: Any) -> Tensor:
    static = [part.get_shape().dims[0].value if part.get_shape().ndims else None for part in params]
    if None not in static:
        return constant(sum(static), dtype)
    sizes = []
    for part, known in zip(params, static, strict=True):
        if known is not None:
            sizes.append(known)
        else:
            with get_default_graph().colocate_with(_op(part)):
                whole: Any = shape(part)
                sizes.append(whole[0])
    return reduce_sum(cast(stack(sizes), dtype))


# Sums of embeddings ---------------------------------------------------------------------------

_SEGMENTS = {"sum": SparseSegmentSum, "mean": SparseSegmentMean, "sqrtn": SparseSegmentSqrtN}


def embedding_lookup_sparse(
    params: Any,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Tensor:
    """For each row of `sp_ids` the rows of `params` that it names, combined into one.

    Args:
      sp_ids: A matrix whose values are ids; every row must have at least one.
      sp_weights: Weights of the ids, of the same indices; None for ones.
      combiner: "sum", "mean" (the default), or "sqrtn": the sum by the root of the sum of squared
        weights.
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in _SEGMENTS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    parts = _parts(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        _check_weights(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as scope:
        indices: Any = sp_ids.indices
        rows = cast(indices[:, 0], dtypes.int32)
        ids, places = unique(sp_ids.values)
        embeddings = embedding_lookup(parts, ids, partition_strategy, max_norm=max_norm)
        if embeddings.dtype in (dtypes.float16, dtypes.bfloat16):
            embeddings = cast(embeddings, dtypes.float32)
        if sp_weights is None:
            return _SEGMENTS[combiner](embeddings, places, rows, name=scope)
        return _weighted(embeddings, places, sp_weights.values, rows, combiner, scope)


def _check_weights(sp_ids: SparseTensor, sp_weights: Any) -> None:
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    for name in ("values", "indices", "dense_shape"):
        of_ids, of_weights = getattr(sp_ids, name), getattr(sp_weights, name)
        of_ids.get_shape().assert_is_compatible_with(of_weights.get_shape())


def _weighted(
    embeddings: Tensor, places: Tensor, weights: Tensor, rows: Tensor, combiner: str, name: str
) -> Tensor:
    if weights.dtype.base_dtype is not embeddings.dtype.base_dtype:
        weights = cast(weights, embeddings.dtype.base_dtype)
    embeddings = gather(embeddings, places)
    # Weights shaped to broadcast over the dimensions of an embedding.
    extra = expand_dims(rank(embeddings) - 1, 0)
    trailing = fill(extra, 1)
    sizes = concat([shape(weights), trailing], 0)
    static = weights.get_shape()
    weights = reshape(weights, sizes)
    dimensions = embeddings.get_shape().ndims
    if dimensions is not None:
        weights.set_shape(static.concatenate([1] * (dimensions - 1)))
    scaled: Any = embeddings * weights
    if combiner == "sum":
        return segment_sum(scaled, rows, name=name)
    total = segment_sum(scaled, rows)
    if combiner == "mean":
        return div(total, segment_sum(weights, rows), name=name)
    squares = segment_sum(power(weights, 2), rows)
    return div(total, sqrt(squares), name=name)


# Rows without ids -----------------------------------------------------------------------------


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """`embedding_lookup_sparse` that allows rows without ids, and ids of any rank.

    Negative ids are left out, and unless the combiner is "sum", ids whose weight is not positive.
    Ids are combined along the last dimension. A row that has none left gets the embedding of
    `default_id`, or zeros.
    """
    parts = _weights_as_tensors(embedding_weights, sparse_weights)
    with name_scope(name, "embedding_lookup", [*parts, sparse_ids, sparse_weights]) as scope:
        sizes = sparse_ids.dense_shape
        known_rank = dimension_value(sizes.get_shape()[0])
        last: Any = (size(sizes) if known_rank is None else known_rank) - 1
        outer = reduce_prod(slice_of(sizes, [0], [last]))
        sparse_ids = sparse_reshape(sparse_ids, [outer, gather(sizes, last)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(
                sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape
            )
        sparse_ids, sparse_weights = _pruned(sparse_ids, sparse_weights, combiner)
        sparse_ids, was_empty = sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            parts,
            sparse_ids,
            sparse_weights,
            partition_strategy,
            None if default_id is None else scope,
            combiner,
            max_norm,
        )
        if default_id is None:
            column = reshape(was_empty, [-1, 1])
            sizes_of_result: Any = shape(result)
            was_empty = tile(column, stack([1, sizes_of_result[1]]))
            result = Select(was_empty, zeros_like(result), result, name=scope)
        outer_sizes = slice_of(cast(sizes, dtypes.int32), [0], [last])
        inner_sizes = slice_of(shape(result), [1], [-1])
        final = reshape(result, concat([outer_sizes, inner_sizes], 0))
        outer_shape = TensorShape(None if known_rank is None else [None] * (known_rank - 1))
        final.set_shape(outer_shape.concatenate(result.get_shape()[1:]))
        return final


def _weights_as_tensors(embedding_weights: Any, sparse_weights: SparseTensor | None) -> list[Any]:
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    several = isinstance(embedding_weights, (list, PartitionedVariable))
    parts = list(embedding_weights) if several else [embedding_weights]
    if not parts:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    return [
        part
        if _is_resource(part) and dtype in (None, part.dtype.base_dtype)
        else convert_to_tensor(part, dtype)
        for part in parts
    ]


def _pruned(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str
) -> tuple[SparseTensor, SparseTensor | None]:
    """Ids and weights without what counts for nothing."""
    is_valid = greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_valid), None
    is_valid = logical_and(is_valid, ones_like(weights.values, dtype=dtypes.bool))
    ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    if combiner == "sum":
        return ids, weights
    counts = greater(weights.values, 0)
    return sparse_retain(ids, counts), sparse_retain(weights, counts)
