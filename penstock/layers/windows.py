"""Arguments of layers that slide a window, and the lengths that come out."""

from __future__ import annotations

from typing import Any

_FORMATS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def convert_data_format(data_format: str, ndim: int) -> str:
    """The ops' name of a data format: "channels_last" of rank 4 is "NHWC"."""
    if data_format not in _FORMATS:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in _FORMATS[data_format]:
        raise ValueError("Input rank not supported:", ndim)
    return _FORMATS[data_format][ndim]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """`n` integers from one for all of them, or from `n`."""
    if isinstance(value, int):
        return (value,) * n
    fault = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        entries = tuple(value)
    except TypeError:
        raise ValueError(fault) from None
    if len(entries) != n:
        raise ValueError(fault)
    for entry in entries:
        try:
            int(entry)
        except (ValueError, TypeError):
            raise ValueError(f"{fault} including element {entry} of type {type(entry)}") from None
    return entries


def normalize_data_format(value: str | None) -> str:
    """A data format in lower case; None is "channels_last"."""
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in _FORMATS:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return data_format


def normalize_padding(value: Any) -> Any:
    """A padding in lower case; explicit paddings stay as they are."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", '
            f"only for `Conv1D). Received: {padding}"
        )
    return padding


def channel_axis(data_format: str) -> int:
    """The position of the channels in inputs of a data format."""
    return 1 if data_format == "channels_first" else -1


def with_space(shape: list[Any], data_format: str, space: list[Any], channels: Any) -> list[Any]:
    """A shape with other spatial sizes and another number of channels."""
    if data_format == "channels_first":
        return [shape[0], channels, *space]
    return [shape[0], *space, channels]


def space_of(shape: Any, data_format: str, rank: int) -> list[Any]:
    """The spatial sizes of a shape with `rank` of them."""
    first = 2 if data_format == "channels_first" else 1
    return [shape[axis] for axis in range(first, first + rank)]


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How long a convolution's or pooling's output is, or None if the input's length is unknown."""
    if input_length is None:
        return None
    assert padding in ("same", "valid", "full", "causal"), padding
    reach = (filter_size - 1) * dilation
    length = {
        "same": input_length,
        "causal": input_length,
        "valid": input_length - reach,
        "full": input_length + reach,
    }[padding]
    return (length + stride - 1) // stride


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long the input of a convolution with an output of that length is."""
    if output_length is None:
        return None
    assert padding in ("same", "valid", "full"), padding
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(
    input_length: Any,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> Any:
    """How long a transposed convolution's output is; the input's length may be a tensor."""
    assert padding in ("same", "valid", "full"), padding
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation
    if output_padding is not None:
        pad = {"same": (reach + 1) // 2, "valid": 0, "full": reach}[padding]
        return (input_length - 1) * stride + reach + 1 - 2 * pad + output_padding
    length = input_length * stride
    if padding == "valid":
        return length + max(reach + 1 - stride, 0)
    return length - (stride + reach - 1) if padding == "full" else length
