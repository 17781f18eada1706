"""Kernels of reductions by segment of gathered rows."""

import torch

from penstock import errors
from penstock.kernels.known_inputs import known_number
from penstock.kernels.registry import kernel
from penstock.kernels.segments import check_sorted, count_rows, sum_sorted
from penstock.kernels.unsigned import WIDE_UNSIGNED, in_int64

# What the sum of a segment is divided by, as a function of its number of rows.
_DIVISORS = {"Sum": None, "Mean": lambda counts: counts, "SqrtN": torch.sqrt}


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _check_indices(indices, rows):
    if not indices.numel():
        return
    low, high = torch.aminmax(indices)
    if int(low) < 0 or int(high) >= rows:
        position = int(((indices < 0) | (indices >= rows)).nonzero()[0])
        raise _invalid(
            f"Bad: indices[{position}] == {int(indices[position])} out of range [0, {rows})"
        )


def _divisors(divisor, ids, segments, like):
    counts = divisor(count_rows(ids, segments).to(like.dtype))
    return counts.view(-1, *[1] * (like.dim() - 1))


def _reduce(divisor):
    def run(data, indices, ids, segments=None):
        if indices.shape != ids.shape:
            raise _invalid("segment_ids and indices should have same size.")
        if segments is not None and ids.numel() and int(ids[-1]) >= segments:
            raise _invalid("segment ids must be < num_segments")
        found = check_sorted(ids, segments)
        if segments is None:
            segments = found
        _check_indices(indices, data.shape[0])
        result = sum_sorted(data, ids, segments, indices)
        if divisor is not None and segments:
            result.div_(_divisors(divisor, ids, segments, result))
        return result

    return run


def _check_gradient(indices, ids, segments, rows):
    """In the order of TensorFlow's kernel: the last id, then all ids, then the indices."""
    if int(ids[-1]) >= segments:
        raise _invalid("Invalid number of segments")
    for name, numbers, limit in (("Segment id", ids, segments), ("Index", indices, rows)):
        outside = (numbers < 0) | (numbers >= limit)
        if outside.any():
            first = int(numbers[outside][0])
            raise _invalid(f"{name} {first} out of range [0, {limit}).")


def _gradient(divisor):
    def run(grad, indices, ids, rows):
        if indices.shape != ids.shape:
            raise _invalid("segment_ids and indices should have same size.")
        if not rows or not ids.numel():
            return grad.new_zeros((rows, *grad.shape[1:]))
        _check_gradient(indices, ids, grad.shape[0], rows)
        if divisor is not None and grad.numel():
            grad = torch.div(grad, _divisors(divisor, ids, grad.shape[0], grad))
        spread = torch.index_select(grad, 0, ids)
        return grad.new_zeros((rows, *grad.shape[1:])).index_add_(0, indices, spread)

    return run


def _register(name, divisor):
    reduce, gradient = _reduce(divisor), _gradient(divisor)

    @kernel(f"SparseSegment{name}", fresh=True)
    def _(node):
        return in_int64(reduce) if node.attrs["T"] in WIDE_UNSIGNED else reduce

    @kernel(f"SparseSegment{name}WithNumSegments", fresh=True)
    def _(node, env):
        run = in_int64(reduce) if node.attrs["T"] in WIDE_UNSIGNED else reduce
        return _with_count(run, known_number(node, env, 3))

    @kernel(f"SparseSegment{name}Grad", fresh=True)
    def _(node, env):
        return _with_count(gradient, known_number(node, env, 3))

    @kernel(f"SparseSegment{name}GradV2", fresh=True)
    def _(node, env):
        return _with_count(_of_gathered_rows(gradient), known_number(node, env, 3))


def _of_gathered_rows(gradient):
    """The rows of a gradient that were gathered, each once, and their indices."""

    def run(grad, indices, ids, rows):
        _check_indices(indices, rows)
        unique, places = torch.unique(indices, return_inverse=True)
        return gradient(grad, places, ids, len(unique)), unique

    return run


def _with_count(run, known):
    """Reads the number of rows of the result once if it is a constant."""

    def checked(data, indices, ids, count):
        if count < 0:
            raise _invalid(f"the number of rows must not be negative, got {count}")
        return run(data, indices, ids, count)

    if known is None:
        return lambda data, indices, ids, count: checked(data, indices, ids, int(count))
    return lambda data, indices, ids, _: checked(data, indices, ids, known)


for _name, _divisor in _DIVISORS.items():
    _register(_name, _divisor)
