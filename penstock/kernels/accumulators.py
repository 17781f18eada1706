"""Kernels of conditional accumulators: how gradients are checked, added and averaged."""

import operator
from typing import NamedTuple

import torch

from penstock import shapes
from penstock.kernels.queues import invalid, owned, shared
from penstock.kernels.registry import HOST, kernel
from penstock.state.accumulators import ConditionalAccumulator

_DENSE = ("ConditionalAccumulator", "ResourceConditionalAccumulator")


@kernel(*_DENSE, "SparseConditionalAccumulator", devices=HOST)
def _(node, env):
    attrs = node.attrs
    reduction = attrs["reduction_type"]
    reduction = reduction.decode() if isinstance(reduction, bytes) else reduction

    def make(name):
        return ConditionalAccumulator(
            name, attrs["dtype"], attrs["shape"], reduction, sparse=node.type not in _DENSE
        )

    return shared(node, env, ConditionalAccumulator, make)


@kernel("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated", devices=HOST, fresh=True)
def _(node):
    return lambda accumulator: torch.tensor(accumulator.count, dtype=torch.int32)


@kernel("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep", devices=HOST)
def _(node):
    return lambda accumulator, step: accumulator.set_global_step(int(step))


def _check_type(accumulator, dtype):
    if accumulator.dtype is not dtype:
        raise invalid(
            f"Signature mismatch: the accumulator '{accumulator.name}' is of type "
            f"{accumulator.dtype.name}, the gradient of type {dtype.name}"
        )


def _required(value):
    required = int(value)
    if required <= 0:
        raise invalid(f"Argument num_required must be positive, but was {required}")
    return required


def _divided(total, count):
    """A sum that nobody else has, divided in its own memory."""
    if total.dtype.is_floating_point or total.dtype.is_complex:
        return total.div_(count)
    return total.div_(count, rounding_mode="trunc")


# Dense ----------------------------------------------------------------------------------------


def _added(total, gradient):
    if total.shape != gradient.shape:
        raise invalid(
            f"Shape mismatch: expected {shapes.text(tuple(total.shape))}, got "
            f"{shapes.text(tuple(gradient.shape))}"
        )
    return total.add_(gradient)


@kernel("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient", devices=HOST)
def _(node):
    dtype = node.attrs["dtype"]

    def run(accumulator, local_step, gradient):
        _check_type(accumulator, dtype)
        if int(local_step) < accumulator.global_step:
            return  # too old to count, and to be looked at
        if not shapes.compatible(accumulator.shape, tuple(gradient.shape)):
            raise invalid(
                f"Shape mismatch: expected {shapes.text(accumulator.shape)}, got "
                f"{shapes.text(tuple(gradient.shape))}"
            )
        accumulator.apply(int(local_step), gradient, _added, owned)

    return run


@kernel(
    "AccumulatorTakeGradient",
    "ResourceAccumulatorTakeGradient",
    devices=HOST,
    fresh=True,
    step=True,
    resumes=True,
)
def _(node):
    dtype = node.attrs["dtype"]

    def run(step, accumulator, num_required):
        _check_type(accumulator, dtype)
        total, count = accumulator.take(_required(num_required), step)
        return total if accumulator.reduction == "SUM" else _divided(total, count)

    return run


# Sparse ---------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Rows of a gradient by number, and how many gradients each is the sum of.

    A number may occur several times, as it does in the gradient of a table of embeddings: whoever
    applies the rows adds them up.
    """

    indices: torch.Tensor
    values: torch.Tensor
    counts: torch.Tensor


def _merged(a, b):
    """The rows of both, as TensorFlow goes along them: it takes the lower of the next numbers.

    Rows are added up where both have the same number next. So they are for all numbers if these
    ascend; else a number stays there as often as it is not met.
    """
    if _ascend(a.indices) and _ascend(b.indices):
        return _joined(a, b)
    from_a, from_b = _places(a.indices.tolist(), b.indices.tolist())
    count = max(from_a[-1:] + from_b[-1:], default=-1) + 1
    indices = a.indices.new_empty(count)
    values = a.values.new_zeros((count, *a.values.shape[1:]))
    counts = torch.zeros(count, dtype=torch.int64)
    for rows, places in ((a, torch.tensor(from_a)), (b, torch.tensor(from_b))):
        indices[places] = rows.indices
        values[places] += rows.values
        counts[places] += rows.counts
    return _Rows(indices, values, counts)


def _ascend(indices):
    return bool((indices[1:] > indices[:-1]).all())


def _places(a, b):
    """Where the rows of each go: a list of places for each of two lists of numbers."""
    from_a, from_b = [], []
    i = j = place = 0
    while i < len(a) and j < len(b):
        lower, same = a[i] < b[j], a[i] == b[j]
        if lower or same:
            from_a.append(place)
            i += 1
        if not lower:
            from_b.append(place)
            j += 1
        place += 1
    from_a += range(place, place + len(a) - i)
    from_b += range(place, place + len(b) - j)
    return from_a, from_b


def _joined(a, b):
    indices, place = torch.unique(torch.cat([a.indices, b.indices]), return_inverse=True)
    values = a.values.new_zeros((len(indices), *a.values.shape[1:]))
    values.index_add_(0, place, torch.cat([a.values, b.values]))
    counts = torch.zeros(len(indices), dtype=torch.int64)
    counts.index_add_(0, place, torch.cat([a.counts, b.counts]))
    return _Rows(indices, values, counts)


def _check_rows(accumulator, indices, values, shape):
    if indices.dim() != 1:
        raise invalid(
            "Input indices should be vector but received shape: "
            f"{shapes.text(tuple(indices.shape))}"
        )
    if values.dim() < 1:
        raise invalid("Values cannot be 0-dimensional.")
    if len(indices) != len(values):
        raise invalid(f"Expected {len(indices)} non-empty input values, got {len(values)}")
    expected = accumulator.shape
    if expected is None:
        return
    if shape is not None:
        _check_sizes("shape", expected, shape)
    _check_sizes("values", expected, tuple(values.shape), first=1)
    rows = expected[0] if expected else None
    if rows is None:
        return
    for i, index in enumerate(indices.tolist()):
        if index >= rows:
            raise invalid(
                f"Shape mismatch: index of slice {i} exceeded limits of shape; index is {index} "
                f"exceeded {rows}"
            )


def _check_sizes(what, expected, given, *, first=0, exact=False):
    if len(given) < len(expected) or (exact and len(given) != len(expected)):
        least = "" if exact else "at least "
        raise invalid(
            f"Shape mismatch: expected {what} rank {least}{len(expected)}, got {len(given)}"
        )
    for axis in range(first, len(expected)):
        if expected[axis] is not None and expected[axis] != given[axis]:
            raise invalid(
                f"Shape mismatch: expected {what} dim {axis} to be {expected[axis]}, got "
                f"{given[axis]}"
            )


def _plus_rows(total, gradient):
    _check_sizes(
        "values", tuple(total.values.shape), tuple(gradient.values.shape), first=1, exact=True
    )
    return _merged(total, gradient)


def _owned_rows(rows):
    return _Rows(owned(rows.indices), owned(rows.values), rows.counts)


@kernel("SparseAccumulatorApplyGradient", devices=HOST)
def _(node):
    dtype, has_shape = node.attrs["dtype"], node.attrs["has_known_shape"]

    def run(accumulator, local_step, indices, values, shape):
        _check_type(accumulator, dtype)
        if int(local_step) < accumulator.global_step:
            return  # too old to count, and to be looked at
        _check_rows(accumulator, indices, values, tuple(shape.tolist()) if has_shape else None)
        once = torch.ones(len(indices), dtype=torch.int64)
        accumulator.apply(int(local_step), _Rows(indices, values, once), _plus_rows, _owned_rows)

    return run


@kernel("SparseAccumulatorTakeGradient", devices=HOST, fresh=True, step=True, resumes=True)
def _(node):
    dtype = node.attrs["dtype"]

    def run(step, accumulator, num_required):
        _check_type(accumulator, dtype)
        rows, _ = accumulator.take(_required(num_required), step)
        values = rows.values
        if accumulator.reduction != "SUM":
            counts = rows.counts.reshape(-1, *[1] * (values.dim() - 1))
            values = _divided(values, counts)
        first = accumulator.shape[0] if accumulator.shape else None
        sizes = [-1 if first is None else operator.index(first), *values.shape[1:]]
        return rows.indices, values, torch.tensor(sizes, dtype=torch.int64)

    return run
