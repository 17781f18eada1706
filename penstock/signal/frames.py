"""Signals as overlapping frames, and frames added up to signals."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, binary, casts
from penstock.ops.reductions import reduce_sum
from penstock.shapes import dimension_value


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Replaces an axis of a signal by two: its frames, and the samples of a frame.

    Args:
      frame_length: samples of a frame.
      frame_step: samples from the start of a frame to that of the next.
      pad_end: whether frames that reach beyond the end are filled up with `pad_value`.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(1)
        length = _scalar(frame_length, "frame_length")
        step = _scalar(frame_step, "frame_step")
        axis = _scalar(axis, "axis")
        result_shape = _frame_shape(signal, length, step, pad_end, axis)
        place = _from_front(signal, axis)
        sizes: Any = array.shape(signal)
        samples = sizes[place]
        if pad_end:
            count: Any = -(-samples // step)
            missing = binary.maximum(0, length + step * (count - 1) - samples)
            signal = _padded_end(signal, place, missing, pad_value)
        else:
            count = binary.maximum(0, 1 + (samples - length) // step)
        starts: Any = array.expand_dims(array.range(count) * step, 1)
        selected = starts + array.expand_dims(array.range(length), 0)
        # The rows of a signal overlap in its frames: behind a reshape their gradient is dense.
        whole = array.reshape(signal, array.shape(signal))
        frames = array.gather(whole, selected, axis=place)
        if result_shape is not None:
            frames.set_shape(result_shape)
        return frames


def _scalar(value: Any, name: str) -> Any:
    tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return casts.cast(tensor, dtypes.int32)


def _from_front(signal: Tensor, axis: Any) -> Any:
    """The axis counted from the first, so that a new one behind it does not move it."""
    known, rank = constant_value(axis), signal.shape.ndims
    if known is not None and rank is not None:
        return range(rank)[int(known)]
    axes: Any = array.range(array.rank(signal))
    return axes[axis]


def _padded_end(signal: Any, axis: Any, count: Any, value: Any) -> Tensor:
    value = convert_to_tensor(value, signal.dtype)
    value.shape.assert_has_rank(0)
    rank: Any = array.rank(signal)
    after = array.one_hot(axis, rank, on_value=count, off_value=0, dtype=dtypes.int32)
    paddings = array.stack([array.zeros_like(after), after], axis=1)
    return array.pad(signal, paddings, constant_values=value)


def _frame_shape(signal: Tensor, length: Any, step: Any, pad_end: bool, axis: Any) -> Any:
    """The static shape of the frames, as far as it is known."""
    known_length, known_step, known_axis = map(constant_value, (length, step, axis))
    if signal.shape.ndims is None:
        return None
    if known_axis is None:
        return [None] * (signal.shape.ndims + 1)
    sizes = signal.shape.as_list()
    place = range(len(sizes))[int(known_axis)]
    samples, count = sizes[place], None
    if samples is not None and known_step is not None:
        if pad_end:
            count = max(0, -(-samples // int(known_step)))
        elif known_length is not None:
            count = max(0, (samples - int(known_length) + int(known_step)) // int(known_step))
    of_frame = None if known_length is None else int(known_length)
    return [*sizes[:place], count, of_frame, *sizes[place + 1 :]]


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Adds up frames, each of which starts `frame_step` samples after the one before it.

    `signal` has the frames in its last dimension but one; they become one signal.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step: Any = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        step = casts.cast(step, dtypes.int32)
        sizes: Any = array.shape(signal)
        outer, count, length = sizes[:-2], sizes[-2], sizes[-1]
        total = length + step * (count - 1)
        known = constant_value(step)
        if (
            known is not None
            and signal.shape.ndims is not None
            and known == dimension_value(signal.shape[-1])
        ):
            return array.reshape(signal, array.concat([outer, [total]], 0), name="fast_path")
        result: Any = _sheared_sum(signal, outer, count, length, step)
        result = result[..., :total]
        result.set_shape(_signal_shape(signal, known))
        return result


def _sheared_sum(signal: Any, outer: Any, count: Any, length: Any, step: Any) -> Tensor:
    """The sum of frames that are cut into pieces of one step.

    Piece p of frame f belongs to block f + p of the result. With as many empty frames behind as
    there are pieces, written out piece by piece and read again in rows that are one shorter, the
    pieces p are p blocks further to the right: what belongs together stands in one column.
    """
    pieces = -(-length // step)
    padded = array.pad(
        signal,
        array.concat(
            [
                array.zeros([array.size(outer), 2], dtypes.int32),
                [[0, pieces], [0, pieces * step - length]],
            ],
            0,
        ),
    )
    rows = count + pieces

    def shaped(x: Any, *inner: Any) -> Any:
        return array.reshape(x, array.concat([outer, list(inner)], 0))

    cut = shaped(padded, rows, pieces, step)
    rank: Any = array.size(outer)
    order = array.concat([array.range(rank), [rank + 1, rank, rank + 2]], 0)
    by_piece = shaped(array.transpose(cut, order), pieces * rows, step)
    sheared = shaped(by_piece[..., : pieces * (rows - 1), :], pieces, rows - 1, step)
    return shaped(reduce_sum(sheared, -3), (rows - 1) * step)


def _signal_shape(signal: Tensor, step: Any) -> Any:
    sizes = signal.shape.as_list() if signal.shape.ndims is not None else None
    if sizes is None:
        return None
    total = None
    if step is not None and sizes[-1] is not None and sizes[-2] is not None:
        total = sizes[-1] + int(step) * (sizes[-2] - 1)
    return [*sizes[:-2], total]
