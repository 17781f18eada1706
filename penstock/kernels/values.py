"""Runtime values: torch tensors for numbers, NumPy object arrays of bytes for strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

from penstock import dtypes
from penstock.dtypes import DType

TORCH_TYPE: dict[DType, torch.dtype] = {
    dtypes.float16: torch.float16,
    dtypes.bfloat16: torch.bfloat16,
    dtypes.float32: torch.float32,
    dtypes.float64: torch.float64,
    dtypes.int8: torch.int8,
    dtypes.int16: torch.int16,
    dtypes.int32: torch.int32,
    dtypes.int64: torch.int64,
    dtypes.uint8: torch.uint8,
    dtypes.uint16: torch.uint16,
    dtypes.uint32: torch.uint32,
    dtypes.uint64: torch.uint64,
    dtypes.bool: torch.bool,
    dtypes.complex64: torch.complex64,
    dtypes.complex128: torch.complex128,
    dtypes.qint8: torch.int8,
    dtypes.quint8: torch.uint8,
    dtypes.qint16: torch.int16,
    dtypes.quint16: torch.uint16,
    dtypes.qint32: torch.int32,
}
# Types that torch can't exchange with NumPy travel as the bits of another.
_CARRIER = {torch.bfloat16: (torch.int16, np.dtype(ml_dtypes.bfloat16))}


def torch_type(dtype: DType) -> torch.dtype:
    """The torch type of a numeric DType; TypeError where there is none."""
    try:
        return TORCH_TYPE[dtype.base_dtype]
    except KeyError:
        raise TypeError(f"no kernel handles tensors of type {dtype.name}") from None


def is_host_type(dtype: DType) -> bool:
    """Whether values of a type are not torch tensors: strings, resources, variants."""
    return dtype.base_dtype not in TORCH_TYPE


def from_array(array: np.ndarray) -> Any:
    """A NumPy array as a runtime value, sharing memory where torch can."""
    if array.dtype == object:
        return array
    if array.dtype.names is not None:  # NumPy's form of quantized types: one integer field
        array = array.view(array.dtype[0])
    if array.dtype == ml_dtypes.bfloat16:
        return from_array(array.view(np.int16)).view(torch.bfloat16)
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return torch.from_numpy(array)


def sharing(dtype: DType) -> Callable[[np.ndarray], Any]:
    """The cheapest way from a writeable array of this type to a runtime value."""
    exchanged = dtype in TORCH_TYPE and not dtype.is_quantized and dtype is not dtypes.bfloat16
    return torch.from_numpy if exchanged else from_array


def to_array(value: Any) -> np.ndarray:
    """A runtime value as a NumPy array, sharing memory where it is on the host."""
    if not isinstance(value, torch.Tensor):
        return value
    try:
        return value.numpy()
    except (TypeError, RuntimeError):  # on another device, lazily conjugated, or a torch-only type
        value = value.cpu().resolve_conj().resolve_neg()
    carrier = _CARRIER.get(value.dtype)
    if carrier is not None:
        return value.view(carrier[0]).numpy().view(carrier[1])
    return value.numpy()


def mark_fresh(value: Any) -> None:
    """Says that nobody else has the memory of a tensor; other values stay without the mark."""
    if isinstance(value, torch.Tensor):
        value.is_fresh = True


def fetcher(
    dtype: DType, rank: int | None, *, copy: bool, unless_marked: bool = False
) -> Callable[[Any], Any]:
    """The function that turns a fetched value into what `Session.run` returns.

    A rank-0 value becomes a NumPy scalar (bytes for a string); `copy` is needed where the value
    shares memory with state, a constant or a feed, `unless_marked` as fresh.
    """

    def array_of(value: Any) -> np.ndarray:
        array = to_array(value)
        if not copy or (unless_marked and hasattr(value, "is_fresh")):
            return array
        return array.copy()

    if dtype in (dtypes.resource, dtypes.variant):
        return lambda value: value
    if rank:
        return array_of
    if dtype in _PLAIN_NUMBERS:
        return _number_fetcher(dtype.as_numpy_dtype, array_of)

    def general(value: Any) -> Any:
        array = array_of(value)
        return array if array.ndim else array[()]

    return general


_PLAIN_NUMBERS = (dtypes.float32, dtypes.int32, dtypes.int64, dtypes.float64)


def _number_fetcher(scalar_type: Any, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Fetches a number without making an array of it, which half of all fetches are.

    A product with one has NumPy's type, and takes a third of the time of a call of the type.
    """
    one = scalar_type(1)

    def number(value: Any) -> Any:
        return otherwise(value) if value.dim() else one * value.item()

    return number


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
