"""Summing the gradients that meet at one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


class AggregationMethod:
    """How `tf.gradients` adds up gradients.

    ADD_N waits for all of them and adds at once; the experimental ones add as they come, which
    frees memory earlier. The values are the same.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_METHODS = (0, 1, 2)


def aggregate(op: Operation, gradients: Sequence[Any], method: int | None) -> Any:
    """The sum of the gradients of an output of `op`; None for no gradients."""
    if method is not None and method not in _METHODS:
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    given = [gradient for gradient in gradients if gradient is not None]
    if len(given) < 2:
        return given[0] if given else None
    if all(isinstance(gradient, IndexedSlices) for gradient in given):
        return _concatenate(given)
    if any(isinstance(gradient, IndexedSlices) for gradient in given):
        from penstock.ops.binary import add_n

        return add_n(given)
    dense: list[Tensor] = given
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(dense) > 2:
        from penstock.ops.binary import accumulate_n

        return accumulate_n(dense)
    if method in (1, 2):
        return _sum_pairwise(op, dense)
    return _sum_by_device(dense)


def _sum_pairwise(op: Operation, tensors: Sequence[Tensor]) -> Tensor:
    from penstock.ops.binary import add_n

    with get_default_graph().name_scope(f"{op.name}_gradient_sum"):
        total = tensors[0]
        for tensor in tensors[1:]:
            total = add_n([total, tensor])
        return total


def _sum_by_device(tensors: Sequence[Tensor]) -> Tensor:
    """One AddN per device, then one over the devices' sums: no gradient crosses a border alone."""
    from penstock.ops.binary import add_n

    by_device: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        by_device.setdefault(tensor.device, []).append(tensor)
    sums = []
    for device in sorted(by_device):
        members = by_device[device]
        if len(members) == 1:
            sums.append(members[0])
            continue
        with get_default_graph().colocate_with(members[0]._op, ignore_existing=True):
            sums.append(add_n(members))
    return sums[0] if len(sums) == 1 else add_n(sums)


def _concatenate(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    from penstock.ops.array import concat
    from penstock.ops.casts import cast

    indices = [entry.indices for entry in slices]
    if len({each._dtype for each in indices}) > 1:
        indices = [cast(each, dtypes.int64) for each in indices]
    return IndexedSlices(
        concat([entry.values for entry in slices], 0),
        concat(indices, 0),
        slices[0].dense_shape,
    )
