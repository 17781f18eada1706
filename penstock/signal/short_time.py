"""Short-time Fourier transforms: spectra of the frames of a signal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, binary, casts, elementwise
from penstock.ops.constants import constant
from penstock.ops.fourier import irfft, rfft
from penstock.ops.reductions import reduce_sum
from penstock.shapes import dimension_value
from penstock.signal.frames import frame, overlap_and_add
from penstock.signal.windows import hann_window

Window = Callable[..., Tensor]


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The spectra of the frames of signals: `[..., frames, fft_length // 2 + 1]`.

    Args:
      fft_length: length of the transforms, by default the power of two that holds a frame.
      window_fn: `window_fn(frame_length, dtype=...)` gives the weights of a frame's samples.
      pad_end: whether frames may reach beyond the end of a signal, where it is zero.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length, frame_step = _scalars(frame_length, frame_step)
        length = _transform_length(fft_length, frame_length)
        framed: Any = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            framed *= window_fn(frame_length, dtype=framed.dtype)
        return rfft(framed, [length])


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window function with which `inverse_stft` undoes `stft` with `forward_window_fn`."""
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step: Any = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)

    def window(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length: Any = convert_to_tensor(frame_length, name="frame_length")
            length.shape.assert_has_rank(0)
            forward: Any = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            squares = array.pad(elementwise.square(forward), [[0, overlaps * step - length]])
            weights = reduce_sum(array.reshape(squares, [overlaps, step]), 0, keepdims=True)
            repeated: Any = array.reshape(array.tile(weights, [overlaps, 1]), [overlaps * step])
            return forward / repeated[:length]

    return window


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signals that have the spectra `stfts`; see `inverse_stft_window_fn`."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length, frame_step = _scalars(frame_length, frame_step)
        length = _transform_length(fft_length, frame_length)
        length.shape.assert_has_rank(0)
        frames: Any = _with_length(irfft(stfts, [length]), frame_length)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _scalars(frame_length: Any, frame_step: Any) -> tuple[Any, Any]:
    length = convert_to_tensor(frame_length, name="frame_length")
    length.shape.assert_has_rank(0)
    step = convert_to_tensor(frame_step, name="frame_step")
    step.shape.assert_has_rank(0)
    return length, step


def _transform_length(fft_length: Any, frame_length: Tensor) -> Any:
    if fft_length is None:
        return _enclosing_power_of_two(frame_length)
    return convert_to_tensor(fft_length, name="fft_length")


def _enclosing_power_of_two(value: Tensor) -> Tensor:
    known = constant_value(value)
    if known is not None:
        return constant(1 << max(int(known) - 1, 0).bit_length(), value.dtype)
    exponent: Any = elementwise.log(casts.cast(value, dtypes.float32)) / math.log(2.0)
    return casts.cast(binary.pow(2.0, elementwise.ceil(exponent)), value.dtype)


def _with_length(frames: Any, frame_length: Any) -> Tensor:
    """The frames cut, or filled up with zeros, to a length."""
    known = constant_value(frame_length)
    own = None if frames.shape.ndims is None else dimension_value(frames.shape[-1])
    if known is None or own is None:
        frames = frames[..., :frame_length]
        sizes: Any = array.shape(frames)
        missing = binary.maximum(0, frame_length - sizes[-1])
        outer = array.zeros([array.rank(frames) - 1, 2], dtype=frame_length.dtype)
        frames = array.pad(frames, array.concat([outer, [[0, missing]]], 0))
    elif own > known:
        frames = frames[..., : int(known)]
    elif own < known:
        frames = array.pad(frames, [[0, 0]] * (frames.shape.ndims - 1) + [[0, int(known) - own]])
    if known is not None and frames.shape.ndims is not None:
        frames.set_shape([None] * (frames.shape.ndims - 1) + [int(known)])
    return frames
