"""Pooling as users call it: the maximum or the mean of windows over images and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import window
from penstock.ops.dilated import strides_and_rates, with_space_to_batch
from penstock.ops.pool import AvgPool, AvgPool3D, MaxPool, MaxPool3D, MaxPoolWithArgmax
from penstock.ops.shaping import expand_dims, renamed_argument, squeeze

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "pool",
]


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of each window of an image.

    Args:
      value: [batch, height, width, channels], or channels second for NCHW.
      ksize: The window: a number, two (height, width), or one per dimension.
      strides: How far apart windows are, in the same forms.
      padding: "SAME", "VALID", or a list of [before, after] pairs, one per dimension.
    """
    value = renamed_argument("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as scope:
        return _max_pool(value, ksize, strides, padding, data_format, scope)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of an image: `max_pool` under its later name."""
    with name_scope(name, "MaxPool2d", [input]) as scope:
        return _max_pool(input, ksize, strides, padding, data_format, scope)


def _max_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, name: str
) -> Tensor:
    data_format = data_format or "NHWC"
    channels = window.channel_axis(data_format)
    ksize = window.per_dimension(ksize, 2, channels, "ksize")
    strides = window.per_dimension(strides, 2, channels, "strides")
    if 0 in ksize:
        raise ValueError(f"ksize cannot be zero. Got {ksize}")
    padding, explicit = window.padding_attrs(padding)
    return MaxPool(
        value,
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        name=name,
    )


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window of an image; padding doesn't count.

    Args:
      value: [batch, height, width, channels], or channels second for NCHW.
      ksize: The window: a number, two (height, width), or one per dimension.
      strides: How far apart windows are, in the same forms.
    """
    with name_scope(name, "AvgPool", [value]) as scope:
        value = renamed_argument("input", input, "value", value)
        data_format = data_format or "NHWC"
        channels = window.channel_axis(data_format)
        return AvgPool(
            value,
            ksize=window.per_dimension(ksize, 2, channels, "ksize"),
            strides=window.per_dimension(strides, 2, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


avg_pool2d = avg_pool


def _pool1d(
    spec: Any,
    default_name: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, default_name, [input]) as scope:
        channels = window.channel_axis(data_format or "NWC")
        axis = 2 if channels == 1 else 1
        sizes = window.per_dimension(ksize, 1, channels, "ksize")
        steps = window.per_dimension(strides, 1, channels, "strides")
        images = expand_dims(input, axis)
        result = spec(
            images,
            ksize=[*sizes[:axis], 1, *sizes[axis:]],
            strides=[*steps[:axis], 1, *steps[axis:]],
            padding=padding,
            data_format="NCHW" if channels == 1 else "NHWC",
            name=scope,
        )
        return squeeze(result, axis)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a sequence [batch, width, channels]."""
    return _pool1d(MaxPool, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a sequence [batch, width, channels]."""
    return _pool1d(AvgPool, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def _pool3d(
    spec: Any,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, spec.name, [input]) as scope:
        data_format = data_format or "NDHWC"
        channels = window.channel_axis(data_format)
        return spec(
            input,
            ksize=window.per_dimension(ksize, 3, channels, "ksize"),
            strides=window.per_dimension(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a volume [batch, depth, height, width, channels]."""
    return _pool3d(MaxPool3D, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a volume [batch, depth, height, width, channels]."""
    return _pool3d(AvgPool3D, input, ksize, strides, padding, data_format, name)


_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
_BY_RANK: dict[str, dict[int, Any]] = {
    "max": {1: max_pool1d, 2: max_pool2d, 3: max_pool3d},
    "avg": {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d},
}


def _pool_v2(
    kind: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    input = convert_to_tensor(input, name="input")
    rank = input.get_shape().ndims
    count = rank - 2 if rank is not None else len(data_format or "NHWC") - 2
    if count not in (1, 2, 3):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}.")
    if name is None and (kind, count) == ("max", 2):
        name = "MaxPool"  # not the name of `max_pool2d`
    function: Any = _BY_RANK[kind][count]
    return function(input, ksize, strides, padding, data_format or _FORMATS[count][0], name)


def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window over one to three spatial dimensions, as `input` has."""
    return _pool_v2("max", input, ksize, strides, padding, data_format, name)


def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window over one to three spatial dimensions, as `input` has."""
    return _pool_v2("avg", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The maximum of each window, and where it stands in the flattened image.

    Args:
      output_dtype: Of the positions: int64 or int32.
      include_batch_in_index: Whether positions count through the whole batch.
    """
    if data_format != "NHWC":
        raise ValueError(
            f"Data formats other than 'NHWC' are not yet supported, got {data_format!r}"
        )
    return MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=renamed_argument("output_dtype", output_dtype, "Targmax", Targmax),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Pools over one to three spatial dimensions.

    Args:
      window_shape: One size per spatial dimension.
      pooling_type: "MAX" or "AVG".
      dilation_rate: How far apart the elements of a window are; needs padding "VALID" if above
        one, and strides of one.
    """
    rate = renamed_argument("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input, strides, rate]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        poolers = _BY_RANK.get(pooling_type.lower(), {}) if pooling_type.isupper() else {}
        if not 1 <= count <= 3:
            raise ValueError(f"It is required that 1 <= num_spatial_dims <= 3. Got {count}")
        if count not in poolers:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        input.shape.with_rank(count + 2)
        steps, rates = strides_and_rates(strides, rate, count)
        if np.any(steps > np.asarray(window_shape)):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between CPU and GPU "
                f"implementations, got strides {steps.tolist()} and windows {list(window_shape)}"
            )
        if padding == "SAME" and np.any(rates > 1):
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        channels = window.channel_axis(data_format)
        full_format = _FORMATS[count][channels == 1]

        def apply(converted: Tensor, _: int, padding: str) -> Tensor:
            pooler: Any = poolers[count]
            return pooler(
                converted, list(window_shape), steps.tolist(), padding, full_format, scope
            )

        return with_space_to_batch(
            input=input,
            dilation_rate=rates,
            padding=padding,
            op=apply,
            filter_shape=window_shape,
            data_format=data_format,
        )
