"""Ops on rows of unequal length: a vector of values, and for each dimension where rows begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.gather import gather
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.ops.shaping import reshape, shape
from penstock.shapes import Shape

RaggedRange = op(
    "RaggedRange(starts: T, limits: T, deltas: T) -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=types(
        dtypes.bfloat16,
        dtypes.float32,
        dtypes.float64,
        dtypes.int32,
        dtypes.int64,
        default=dtypes.int32,
    ),
    Tsplits=types(INDEX, default=dtypes.int64),
)
RaggedGather = op(
    "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, "
    "indices: Tindices) -> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, "
    "output_dense_values: Tvalues",
    Tindices=INDEX,
    Tsplits=types(INDEX, default=dtypes.int64),
    OUTPUT_RAGGED_RANK=attr("int", minimum=0),
)
RaggedTensorToSparse = op(
    "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T) "
    "-> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    Tsplits=types(INDEX, default=dtypes.int64),
)
RaggedTensorToTensor = op(
    "RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors*Tindex) -> result: T",
    Tindex=INDEX,
    Tshape=INDEX,
    row_partition_types=attr("list(string)"),
)
RaggedTensorToVariant = op(
    "RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues) "
    "-> encoded_ragged: variant",
    RAGGED_RANK=attr("int", minimum=0),
    Tsplits=types(INDEX, default=dtypes.int64),
    batched_input=attr("bool"),
)
RaggedTensorFromVariant = op(
    "RaggedTensorFromVariant(encoded_ragged: variant) "
    "-> output_nested_splits: output_ragged_rank*Tsplits, output_dense_values: Tvalues",
    input_ragged_rank=attr("int", minimum=-1),
    output_ragged_rank=attr("int", minimum=0),
    Tsplits=types(INDEX, default=dtypes.int64),
)
not_differentiable(RaggedRange, RaggedTensorToVariant, RaggedTensorFromVariant)


# Shapes ---------------------------------------------------------------------------------------


@RaggedRange.shape
def _(op: Operation, *inputs: Shape) -> Any:
    known: list[Shape] = []
    for each in inputs:
        if each is not None and len(each) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(each)}")
        if each is not None and len(each) == 1:
            known.append(each)
    if any(each is None for each in inputs) and not known:
        return [(None,), (None,)]
    rows: Shape = known[0] if known else (1,)
    for each in known[1:]:
        rows = merge_shapes(rows, each)
    assert rows is not None
    return [(None if rows[0] is None else rows[0] + 1,), (None,)]


@RaggedGather.shape
def _(op: Operation, *inputs: Shape) -> Any:
    *splits, values, indices = inputs
    for each in splits:
        with_rank(each, 1)
    with_rank_at_least(values, 1)
    output_rank, params_rank = op.attrs["OUTPUT_RAGGED_RANK"], len(splits)
    if indices is not None and len(indices) + params_rank - 1 != output_rank:
        raise ValueError(
            "OUTPUT_RAGGED_RANK should be `PARAMS_RAGGED_RANK + indices.rank - 1`, got "
            f"{output_rank}, {params_rank} and {len(indices)}"
        )
    inner: Shape = None if values is None else (None, *values[1:])
    return [*[(None,)] * output_rank, inner]


@RaggedTensorToSparse.shape
def _(op: Operation, *inputs: Shape) -> Any:
    *splits, values = inputs
    for each in splits:
        with_rank(each, 1)
    with_rank_at_least(values, 1)
    if values is None:
        return [(None, None), (None,), (None,)]
    size = _product(values)
    rank = len(splits) + len(values)
    return [(size, rank), (size,), (rank,)]


def _product(sizes: Sequence[int | None]) -> int | None:
    total = 1
    for size in sizes:
        if size is None:
            return None
        total *= size
    return total


@RaggedTensorToTensor.shape
def _(op: Operation, shape: Shape, values: Shape, default: Shape, *partitions: Shape) -> Shape:
    kinds = _partition_names(op)
    ragged_rank = len(kinds) - (1 if kinds[0] == "FIRST_DIM_SIZE" else 0)
    wanted = constant_value(op.inputs[0])
    known = None
    if wanted is not None and wanted.ndim == 1:
        known = tuple(None if size < 0 else int(size) for size in wanted)
    if values is None:
        return known
    with_rank_at_least(values, 1)
    if default is not None and len(default) > len(values) - 1:
        raise ValueError(
            f"default_value.shape={list(default)} and value.shape={list(values)} are incompatible: "
            "the default must be of a smaller rank"
        )
    natural: tuple[int | None, ...] = (*[None] * (ragged_rank + 1), *values[1:])
    if known is None:
        return natural
    if len(known) != len(natural):
        raise ValueError(
            f"The shape {list(known)} has rank {len(known)}, but the values need {len(natural)}"
        )
    return tuple(a if a is not None else b for a, b in zip(known, natural, strict=True))


def _partition_names(op: Operation) -> list[str]:
    kinds = op.attrs["row_partition_types"]
    return [kind.decode() if isinstance(kind, bytes) else kind for kind in kinds]


@RaggedTensorToVariant.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    if not op.attrs["batched_input"]:
        return ()
    first = inputs[0]
    if len(inputs) == 1:
        return None if first is None else first[:1]
    return (None,) if not first or first[0] is None else (first[0] - 1,)


@RaggedTensorFromVariant.shape
def _(op: Operation, encoded: Shape) -> Any:
    outer, inner = op.attrs["output_ragged_rank"], op.attrs["input_ragged_rank"]
    if encoded is not None and inner >= 0 and len(encoded) + inner != outer:
        raise ValueError(
            f"input_ragged_rank + encoded_ragged.rank must be output_ragged_rank, got {inner}, "
            f"{len(encoded)} and {outer}"
        )
    return [*[(None,)] * outer, None]


# Gradients ------------------------------------------------------------------------------------


@RaggedGather.gradient
def _(op: Operation, *grads: Any) -> list[Any]:
    *nested_splits, values, indices = op.inputs
    bounds = nested_splits[0]  # of the outermost rows, in the flat values
    for splits in nested_splits[1:]:
        bounds = gather(splits, bounds)
    chosen = reshape(indices, [-1])
    _, taken = RaggedRange(
        gather(bounds, chosen), gather(bounds[1:], chosen), _one(bounds), Tsplits=bounds.dtype
    )
    slices = IndexedSlices(grads[-1], taken, shape(values))
    return [*[None] * len(nested_splits), slices, None]


def _one(like: Tensor) -> Tensor:
    from penstock.ops.constants import constant

    return constant(1, like.dtype.base_dtype)


@RaggedTensorToSparse.gradient
def _(op: Operation, indices: Any, grad: Any, dense_shape: Any) -> list[Any]:
    *splits, values = op.inputs
    return [*[None] * len(splits), reshape(grad, shape(values))]
