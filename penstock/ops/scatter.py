"""Values written to positions of a tensor: into zeros, or into a copy of another tensor."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, NUMERIC
from penstock.ops.filling import zeros_like
from penstock.ops.gather import gather_nd
from penstock.ops.identity import identity
from penstock.ops.shape_checks import asked_shape, merge_shapes, with_rank, with_rank_at_least
from penstock.ops.shaping import shape as shape_of
from penstock.shapes import Shape, is_full, text

__all__ = [
    "scatter_nd",
    "tensor_scatter_add",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

ScatterNd = op(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T",
    Tindices=types(dtypes.int16, dtypes.int32, dtypes.int64),
    bad_indices_policy="",
)
TensorScatterUpdate = op(
    "TensorScatterUpdate(tensor: T, indices: Tindices, updates: T) -> output: T",
    Tindices=types(dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint16),
    bad_indices_policy="",
)
TensorScatterAdd = op(
    "TensorScatterAdd(tensor: T, indices: Tindices, updates: T) -> output: T",
    Tindices=INDEX,
    bad_indices_policy="",
)
TensorScatterSub = op(
    "TensorScatterSub(tensor: T, indices: Tindices, updates: T) -> output: T",
    Tindices=INDEX,
    bad_indices_policy="",
)
TensorScatterMin = op(
    "TensorScatterMin(tensor: T, indices: Tindices, updates: T) -> output: T",
    Tindices=INDEX,
    bad_indices_policy="",
)
TensorScatterMax = op(
    "TensorScatterMax(tensor: T, indices: Tindices, updates: T) -> output: T",
    Tindices=INDEX,
    bad_indices_policy="",
)
ScatterNdNonAliasingAdd = op(
    "ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> output: T",
    T=types(NUMERIC, dtypes.bool),
    Tindices=INDEX,
    bad_indices_policy="",
)


@ScatterNd.shape
def _(op: Operation, indices: Shape, updates: Shape, sizes: Shape) -> Shape:
    with_rank(sizes, 1)
    output = asked_shape(op.inputs[2])
    if output is not None and 0 in output and _has_entries(indices) and _has_entries(updates):
        raise ValueError("Indices and updates specified for empty output shape")
    check_scatter(output, indices, updates)
    return output


def _has_entries(shape: Shape) -> bool:
    return is_full(shape) and 0 not in (shape or ())


@TensorScatterUpdate.shape
@TensorScatterAdd.shape
@TensorScatterSub.shape
@TensorScatterMin.shape
@TensorScatterMax.shape
@ScatterNdNonAliasingAdd.shape
def _(op: Operation, tensor: Shape, indices: Shape, updates: Shape) -> Shape:
    check_scatter(tensor, indices, updates)
    return tensor


def check_scatter(
    target: Shape, indices: Shape, updates: Shape, target_name: str = "output"
) -> None:
    """ValueError where updates don't have the shape of what the indices pick from the target."""
    with_rank_at_least(indices, 1)
    if indices is None or updates is None:
        return
    outer = len(indices) - 1
    if len(updates) >= outer:
        _check_part("outer", "indices", indices, indices[:-1], updates, updates[:outer])
    if target is None or indices[-1] is None:
        return
    inner = target[indices[-1] :]
    _check_part("inner", target_name, target, inner, updates, updates[outer:])


def _check_part(
    where: str, name: str, whole: Shape, part: Shape, updates: Shape, updates_part: Shape
) -> None:
    try:
        merge_shapes(part, updates_part)
    except ValueError as error:
        assert part is not None and updates_part is not None
        raise ValueError(
            f"The {where} {len(part)} dimensions of {name}.shape={text(whole)} must match the "
            f"{where} {len(updates_part)} dimensions of updates.shape={text(updates)}: {error}"
        ) from None


@ScatterNd.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [None, gather_nd(grad, op.inputs[0]), None]


@TensorScatterUpdate.gradient
def _(op: Operation, grad: Tensor) -> Any:
    indices = op.inputs[1]
    taken = gather_nd(grad, indices)
    rest = tensor_scatter_update(identity(grad), indices, zeros_like(op.inputs[2], grad.dtype))
    return [rest, None, taken]


@TensorScatterAdd.gradient
@ScatterNdNonAliasingAdd.gradient
def _(op: Operation, grad: Tensor) -> Any:
    taken = gather_nd(grad, op.inputs[1])
    return [identity(grad), None, taken]


@TensorScatterSub.gradient
def _(op: Operation, grad: Tensor) -> Any:
    taken = gather_nd(grad, op.inputs[1])
    return [identity(grad), None, -taken]


@TensorScatterMin.gradient
@TensorScatterMax.gradient
def _(op: Operation, grad: Any) -> Any:
    """The gradient goes to the elements that won, in equal parts where several did."""
    from penstock.ops.casts import cast
    from penstock.ops.comparison import equal

    tensor, indices, updates = op.inputs
    output = op.outputs[0]
    kept: Any = cast(equal(tensor, output), grad.dtype)
    written: Any = cast(equal(updates, gather_nd(output, indices)), grad.dtype)
    sizes = shape_of(output, out_type=indices.dtype)
    winners = kept + scatter_nd(indices, written, sizes)
    of_tensor = grad * kept / winners
    of_updates = gather_nd(grad / winners, indices) * written
    return [of_tensor, None, of_updates]


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of shape `shape` with `updates` added at positions that `indices` holds."""
    return ScatterNd(indices, updates, shape, name=name)


def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` in place of what stands at positions that `indices` holds."""
    return TensorScatterUpdate(tensor, indices, updates, name=name)


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added at positions that `indices` holds."""
    return TensorScatterAdd(tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted at positions that `indices` holds."""
    return TensorScatterSub(tensor, indices, updates, name=name)


def tensor_scatter_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with the smaller of itself and `updates` at positions that `indices` holds."""
    return TensorScatterMin(tensor, indices, updates, name=name)


def tensor_scatter_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with the larger of itself and `updates` at positions that `indices` holds."""
    return TensorScatterMax(tensor, indices, updates, name=name)


tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
tensor_scatter_nd_min = tensor_scatter_min
tensor_scatter_nd_max = tensor_scatter_max
