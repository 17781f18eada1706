"""Kernels of reductions of rows by segment."""

import itertools

import torch

from penstock import dtypes, errors, shapes
from penstock.kernels.bounds_on_gpu import add_rows, count_inside, reduce_rows
from penstock.kernels.host_loops import LARGE
from penstock.kernels.known_inputs import known_number
from penstock.kernels.registry import kernel
from penstock.kernels.unsigned import TOP_BIT, WIDE_UNSIGNED, in_int64
from penstock.kernels.values import torch_type


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _sum_rows(result, ids, rows):
    if result.is_cuda:
        add_rows(result, ids, rows)
    else:
        result.index_add_(0, ids, rows)


def _reduce_rows(how):
    def into(result, ids, rows):
        if result.is_cuda:
            reduce_rows(result, ids, rows, how)
            return
        index = ids.to(torch.int64).view(-1, *[1] * (rows.dim() - 1)).expand_as(rows)
        result.scatter_reduce_(0, index, rows, how)

    return into


_multiply_rows = _reduce_rows("prod")
_largest_rows = _reduce_rows("amax")
_smallest_rows = _reduce_rows("amin")


# Sorted ids: the last one says how many segments there are -------------------------------------


def check_sorted(ids, segments=None):
    """The number of segments of sorted ids; InvalidArgumentError where they are not sorted.

    `segments` is how many there are if it is not the last id that tells. On a GPU only the last
    one is looked at.
    """
    if ids.numel() == 0:
        return 0
    if ids.is_cuda:
        last = int(ids[-1])
        if last < 0:
            raise _invalid("segment ids must be >= 0")
        return last + 1
    sorted_ids = ids.numel() == 1 or bool((ids[1:] >= ids[:-1]).all())
    if not sorted_ids or int(ids[0]) < 0:
        raise _invalid(_fault(ids.tolist(), segments))
    return int(ids[-1]) + 1


def _fault(ids, segments):
    """What is wrong with ids that are not sorted or negative, in the order of TensorFlow's loop."""
    segments = ids[-1] + 1 if segments is None else segments
    if segments <= 0:
        return "segment ids must be >= 0"
    for current, following in itertools.pairwise([*ids, ids[-1] + 1]):
        if following < current:
            return "segment ids are not increasing"
        if following > current and not 0 <= current < segments:
            break
    return (
        f"Segment id {current} out of range [0, {segments}), possibly because 'segment_ids' input "
        "is not sorted."
    )


def sum_sorted(data, ids, segments, rows=None):
    """Sums of rows by sorted segment ids; of the rows of `data` with the numbers `rows`, or all."""
    result_shape = (segments, *data.shape[1:])
    fast = data.dtype in (torch.float32, torch.float64) and data.is_cpu
    if not fast or data.numel() < LARGE or not ids.numel():
        chosen = data if rows is None else torch.index_select(data, 0, rows)
        result = data.new_zeros(result_shape)
        _sum_rows(result, ids, chosen)
        return result
    rows = torch.arange(len(ids)) if rows is None else rows.long()
    starts = torch.searchsorted(ids, torch.arange(segments, dtype=ids.dtype))
    # A bag is a segment: ATen adds its rows one after the other, with vector instructions.
    return torch.embedding_bag(data.reshape(len(data), -1), rows, starts)[0].reshape(result_shape)


def count_rows(ids, segments):
    """How many rows each segment has, at least 1 so that it divides."""
    if ids.is_cuda:
        return count_inside(ids, segments).clamp_(min=1)
    return torch.bincount(ids, minlength=segments).clamp_(min=1)


def _sorted(op_type, into, of_nothing, *, ordered=False, finish=None):
    """Registers an op; a segment without rows holds `of_nothing`."""

    @kernel(op_type, fresh=True)
    def _(node):
        def run(data, ids):
            if ids.dim() != 1 or data.dim() == 0 or data.shape[0] != ids.shape[0]:
                raise _invalid(
                    "segment_ids should be the same size as dimension 0 of input."
                    if ids.dim() == 1
                    else "segment_ids should be a vector."
                )
            segments = check_sorted(ids)
            if into is _sum_rows:
                result = sum_sorted(data, ids, segments)
            else:
                result = data.new_full((segments, *data.shape[1:]), start)
                into(result, ids, data)
            return result if finish is None else finish(result, ids, zero)

        zero = 0
        if node.attrs["T"] in WIDE_UNSIGNED:
            start = of_nothing(torch.int64)
            if ordered and node.attrs["T"] is dtypes.uint64:
                zero = TOP_BIT
            return in_int64(run, ordered=ordered)
        start = of_nothing(torch_type(node.attrs["T"]))
        return run


def _by_count(total, ids, _):
    counts = count_rows(ids, total.shape[0]).view(-1, *[1] * (total.dim() - 1))
    if total.is_floating_point() or total.is_complex():
        return total.div_(counts)
    return torch.div(total, counts, rounding_mode="trunc").to(total.dtype)


def _filled_with_zeros(result, ids, zero):
    if ids.is_cuda:
        present = count_inside(ids, result.shape[0]) > 0
    else:
        present = torch.zeros(result.shape[0], dtype=torch.bool)
        present[ids.to(torch.int64)] = True
    return result.masked_fill_(~present.view(-1, *[1] * (result.dim() - 1)), zero)


def _zero(dtype):
    return 0


def _one(dtype):
    return 1


def _lowest(dtype):
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype):
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def _minus_infinity(dtype):
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _infinity(dtype):
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


_sorted("SegmentSum", _sum_rows, _zero)
_sorted("SegmentMean", _sum_rows, _zero, finish=_by_count)
_sorted("SegmentProd", _multiply_rows, _one)
_sorted("SegmentMax", _largest_rows, _minus_infinity, ordered=True, finish=_filled_with_zeros)
_sorted("SegmentMin", _smallest_rows, _infinity, ordered=True, finish=_filled_with_zeros)


# Unsorted ids: rows with a negative one are left out --------------------------------------------


def _unsorted(op_type, into, of_nothing, *, ordered=False):
    @kernel(op_type, fresh=True)
    def _(node, env):
        known = known_number(node, env, 2)

        def run(data, ids, segments):
            segments = int(segments) if known is None else known
            if segments < 0:
                raise _invalid(f"Input num_segments == {segments} must not be negative.")
            inner = data.shape[ids.dim() :]
            if data.shape[: ids.dim()] != ids.shape:
                raise _invalid(
                    f"data.shape = {shapes.text(tuple(data.shape))} does not start with "
                    f"segment_ids.shape = {shapes.text(tuple(ids.shape))}"
                )
            result = data.new_full((segments, *inner), start)
            flat, rows = ids.reshape(-1), data.reshape(ids.numel(), *inner)
            if flat.numel():
                into(result, *_counted(flat, rows, segments, ids))
            return result

        if node.attrs["T"] in WIDE_UNSIGNED:
            start = of_nothing(torch.int64)
            return in_int64(run, ordered=ordered)
        start = of_nothing(torch_type(node.attrs["T"]))
        return run


def _counted(ids, rows, segments, given):
    """Ids and rows without those of negative ids; InvalidArgumentError for one too large.

    `given` are the ids in the shape that they were given in, for that error.
    On a GPU both kinds are left out when they are added up.
    """
    if ids.dtype is torch.int16:
        ids = ids.to(torch.int32)
    if ids.is_cuda:
        return ids, rows
    low, high = torch.aminmax(ids)
    if int(high) >= segments:
        place = (given >= segments).nonzero()[0].tolist()
        raise _invalid(
            f"segment_ids{shapes.text(tuple(place))} = {int(given[tuple(place)])} is out of range "
            f"[0, {segments})"
        )
    if int(low) >= 0:
        return ids, rows
    counts = ids >= 0
    return ids[counts], rows[counts]


_unsorted("UnsortedSegmentSum", _sum_rows, _zero)
_unsorted("UnsortedSegmentProd", _multiply_rows, _one)
_unsorted("UnsortedSegmentMax", _largest_rows, _lowest, ordered=True)
_unsorted("UnsortedSegmentMin", _smallest_rows, _highest, ordered=True)
