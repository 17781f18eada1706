"""Windows that slide over the spatial dimensions of a tensor: sizes, paddings, data formats.

Convolutions, pooling and morphology share this arithmetic; shape rules call it with sizes that
may be unknown (None), kernels with the sizes of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import errors

Pads = list[tuple[int, int]]


def channel_axis(data_format: str | None) -> int:
    """Where the channels of a data format stand: 1 for NCHW and its kin, else -1."""
    return 1 if data_format is not None and data_format.startswith("NC") else -1


def spatial(entries: Sequence[Any], channels: int) -> list[Any]:
    """The entries of a per-dimension list that belong to spatial dimensions."""
    return list(entries[2:] if channels == 1 else entries[1:-1])


def assemble(batch: Any, sizes: Sequence[Any], channel: Any, channels: int) -> tuple[Any, ...]:
    """The inverse of `spatial`: a shape from its parts."""
    return (batch, channel, *sizes) if channels == 1 else (batch, *sizes, channel)


def dilated(window: int | None, rate: int) -> int | None:
    """The extent of a window whose elements are `rate` apart."""
    if rate < 1:
        raise ValueError(f"Dilation rate must be >= 1, but got {rate}")
    return None if window is None else (window - 1) * rate + 1


def output_size(
    size: int | None, window: int | None, stride: int, padding: str, pad: tuple[int, int] = (0, 0)
) -> int | None:
    """The number of positions of a window along one dimension; ValueError where none fits."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if padding == "SAME":
        return None if size is None else -(-size // stride)
    if size is None or window is None:
        return None
    padded = size + sum(pad)
    if padded < window:
        raise ValueError(f"Negative dimension size caused by subtracting {window} from {padded}")
    return (padded - window) // stride + 1


def output_size_or_nothing(
    size: int | None, window: int | None, stride: int, padding: str
) -> int | None:
    """`output_size` for ops that let a window which just doesn't fit give nothing."""
    if size is None or window is None or padding != "VALID":
        return output_size(size, window, stride, padding)
    return _number_of_windows(size, window, stride)


def _number_of_windows(size: int, window: int, stride: int, pad: tuple[int, int] = (0, 0)) -> int:
    """How TensorFlow's kernels count: nothing fits where only a stride is missing."""
    count = int((size + sum(pad) - window + stride) / stride)  # rounds towards zero, as C++ does
    if count < 0:
        raise ValueError(
            f"Computed output size would be negative: {count} [input_size: {size}, "
            f"effective_filter_size: {window}, stride: {stride}]"
        )
    return count


def output_sizes(
    sizes: Sequence[int | None],
    windows: Sequence[int | None],
    strides: Sequence[int],
    padding: str,
    given: Pads,
) -> list[int | None]:
    """`output_size` of every spatial dimension; `windows` are dilated extents."""
    given = given or [(0, 0)] * len(sizes)
    return [
        output_size(size, window, stride, padding, pad)
        for size, window, stride, pad in zip(sizes, windows, strides, given, strict=True)
    ]


def run_output_sizes(
    sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], padding: str, given: Pads
) -> list[int]:
    """`output_sizes` in a step, where TensorFlow's kernels are milder than its shape rules."""
    given = given or [(0, 0)] * len(sizes)
    dims = zip(sizes, windows, strides, given, strict=True)
    if padding == "SAME":
        return [-(-size // stride) for size, _, stride, _ in dims]
    try:
        return [_number_of_windows(*dim) for dim in dims]
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None


def same_pads(size: int, window: int, stride: int) -> tuple[int, int]:
    """SAME padding of one dimension: as even as possible, the odd element behind."""
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def pads(
    sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], padding: str, given: Pads
) -> Pads:
    """The (before, after) padding of each spatial dimension; `windows` are dilated extents."""
    if padding == "SAME":
        return [same_pads(n, k, s) for n, k, s in zip(sizes, windows, strides, strict=True)]
    return given if padding == "EXPLICIT" else [(0, 0)] * len(sizes)


def explicit_pads(attrs: dict[str, Any], channels: int) -> Pads:
    """The spatial pairs of the attr `explicit_paddings`; empty where there are none."""
    flat = attrs.get("explicit_paddings") or []
    return spatial(list(zip(flat[::2], flat[1::2], strict=True)), channels)


def check_explicit_pads(attrs: dict[str, Any], rank: int, channels: int) -> None:
    """Checks what the attrs `padding` and `explicit_paddings` say together."""
    flat = attrs.get("explicit_paddings") or []
    if attrs["padding"] != "EXPLICIT":
        if flat:
            raise ValueError(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
            )
        return
    if len(flat) != 2 * rank:
        raise ValueError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(flat)}"
        )
    if any(entry < 0 for entry in flat):
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    if any(pairs[0]) or any(pairs[channels]):
        raise ValueError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )


def check_length(what: str, name: str, entries: Sequence[Any], length: int) -> None:
    if len(entries) != length:
        raise ValueError(
            f"{what} requires the {name} attribute to contain {length} values, but got: "
            f"{len(entries)}"
        )


def per_dimension(
    value: Any, spatial_rank: int, channels: int, name: str, default: int = 1
) -> list[int]:
    """Strides, window sizes or dilations as a user writes them, for every dimension.

    One number counts for all spatial dimensions, a list of them for each; a list for all
    dimensions stays as it is.
    """
    full = spatial_rank + 2
    if value is None:
        entries = [default]
    elif isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        entries = list(value)
    else:
        entries = [value]
    if len(entries) == 1:
        entries = entries * spatial_rank
    elif len(entries) == full:
        return entries
    elif len(entries) != spatial_rank:
        lengths = f"1, {spatial_rank} or {full}" if spatial_rank > 1 else f"1 or {full}"
        raise ValueError(f"{name} should be of length {lengths} but was {len(entries)}")
    return list(assemble(1, entries, 1, channels))


def padding_attrs(padding: Any, rank: int = 4) -> tuple[Any, list[int]]:
    """The attrs `padding` and `explicit_paddings` for what a user gives as padding."""
    if not isinstance(padding, (list, tuple)):
        if padding == "EXPLICIT":
            raise ValueError(
                '"EXPLICIT" is not a valid value for the padding parameter. To use explicit '
                "padding, the padding parameter must be a list."
            )
        return padding, []
    for i, pair in enumerate(padding):
        is_pair = isinstance(pair, (list, tuple))
        if not is_pair or len(pair) != 2:
            problem = f"has size {len(pair)}" if is_pair else "is not a list/tuple"
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. "
                f"Element with index {i} of padding {problem}"
            )
    if len(padding) != rank:
        raise ValueError(
            f"When padding is a list, it must be of size {rank}. Got padding of size: "
            f"{len(padding)}"
        )
    return "EXPLICIT", [int(entry) for pair in padding for entry in pair]
