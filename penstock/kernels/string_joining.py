"""Kernels that join strings."""

import numpy as np

from penstock import errors, shapes
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, string_scalar, string_vector, strings_like
from penstock.kernels.values import to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("StringJoin", devices=HOST)
def _(node):
    join = attr_bytes(node.attrs["separator"]).join

    def run(*inputs):
        shaped = [each for each in inputs if each.ndim]
        if not shaped:
            return string_scalar(join([each.item() for each in inputs]))
        like = shaped[0]
        for each in shaped:
            if each.shape != like.shape:
                raise _invalid(
                    f"Input shapes do not match: {shapes.text(like.shape)} vs. "
                    f"{shapes.text(each.shape)}"
                )
        parts = [e.ravel() if e.ndim else [e.item()] * like.size for e in inputs]
        return strings_like(like, [join(entries) for entries in zip(*parts, strict=True)])

    return run


@kernel("ReduceJoin", devices=HOST)
def _(node):
    join, keep = attr_bytes(node.attrs["separator"]).join, node.attrs["keep_dims"]

    def run(inputs, axes):
        joined = _axes(axes.reshape(-1).tolist(), inputs.ndim)
        kept = [axis for axis in range(inputs.ndim) if axis not in joined]
        shape = tuple(inputs.shape[axis] for axis in kept)
        words = _count([inputs.shape[axis] for axis in joined])
        rows = inputs.transpose(kept + joined[::-1]).reshape(_count(shape), words)
        result = string_vector([join(row) for row in rows])
        if keep:
            shape = tuple(1 if axis in joined else n for axis, n in enumerate(inputs.shape))
        return result.reshape(shape)

    return run


def _count(shape):
    return int(np.prod(shape, dtype=np.int64))


def _axes(given, rank):
    found = []
    for axis in given:
        if not -rank <= axis < rank:
            raise errors.OutOfRangeError(
                None, None, f"Invalid reduction dimension {axis} for input with {rank} dimension(s)"
            )
        if axis % rank in found:
            raise _invalid(f"Duplicate reduction dimension {axis}")
        found.append(axis % rank)
    return found


@kernel("UnsortedSegmentJoin", devices=HOST)
def _(node):
    join = attr_bytes(node.attrs["separator"]).join

    def run(inputs, ids, num_segments):
        ids = to_array(ids)
        count = _segment_count(num_segments)
        _check_segment_ids(inputs, ids, count)
        inner = inputs.shape[ids.ndim :]
        rows = inputs.reshape(ids.size, _count(inner))
        if rows.shape[1] == 1:
            segments = [[] for _ in range(count)]
            for segment, word in zip(ids.ravel().tolist(), rows.ravel().tolist(), strict=True):
                segments[segment].append(word)
            return string_vector(list(map(join, segments))).reshape((count, *inner))
        parts = [[[] for _ in range(rows.shape[1])] for _ in range(count)]
        for segment, row in zip(ids.ravel().tolist(), rows, strict=True):
            for words, word in zip(parts[segment], row, strict=True):
                words.append(word)
        joined = string_vector([join(words) for segment in parts for words in segment])
        return joined.reshape((count, *inner))

    return run


def _segment_count(num_segments):
    if num_segments.dim():
        raise _invalid("Number of segments must be a scalar")
    count = num_segments.item()
    if count < 0:
        raise _invalid(f"Number of segments must be non-negative but got {count}")
    return count


def _check_segment_ids(inputs, ids, count):
    if ids.ndim == 0:
        raise _invalid("Segment_id cannot have rank 0")
    if ids.ndim > inputs.ndim:
        raise errors.OutOfRangeError(
            None,
            None,
            f"Invalid segment_id rank {ids.ndim} for input with {inputs.ndim} dimension(s)",
        )
    for axis in range(ids.ndim):
        if ids.shape[axis] != inputs.shape[axis]:
            raise _invalid(
                f"Segment dimension is {ids.shape[axis]} while input dimension is "
                f"{inputs.shape[axis]} in rank {axis}"
            )
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        raise _invalid(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
