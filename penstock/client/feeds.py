"""Feeds: Python values checked against the tensors that they stand in for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes, errors, shapes
from penstock.client.fetches import expansion_of
from penstock.ir import nest
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.kernels.values import from_array, sharing
from penstock.ops.literals import to_array
from penstock.ops.session_handles import TensorHandle


def expand_key(graph: Graph, key: Any) -> tuple[list[Tensor], Callable[[Any], list[Any]] | None]:
    """The tensors that a feed key stands for, and how to split a value for several of them."""
    expansion = expansion_of(key)
    if expansion is not None:
        _, feed_function, partial = expansion
        if feed_function is None:
            raise TypeError(f"Feed argument {key!r} can't be fed")
        parts = partial(key) if partial is not None else [t for t, _ in feed_function(key, ())]
        return list(parts), lambda value: [entry for _, entry in feed_function(key, value)]
    if nest.is_nested(key):
        return _expand_nested_key(graph, key)
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except Exception as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    return [tensor], None


def _expand_nested_key(graph: Graph, key: Any) -> tuple[list[Tensor], Callable[[Any], list[Any]]]:
    """A tuple of keys, such as the state of a recurrent cell, takes a value of as many parts."""
    leaves = [expand_key(graph, leaf) for leaf in nest.flatten(key)]

    def split(value: Any) -> list[Any]:
        entries = nest.flatten(value)
        if len(entries) != len(leaves):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(leaves)} elements, but value had "
                f"{len(entries)} elements. Key: {key}, value: {value}."
            )
        parts: list[Any] = []
        for entry, (_, split_leaf) in zip(entries, leaves, strict=True):
            parts += [entry] if split_leaf is None else split_leaf(entry)
        return parts

    return [tensor for tensors, _ in leaves for tensor in tensors], split


def expand_keys(graph: Graph, keys: Iterable[Any]) -> tuple[list[Tensor], list[Any] | None]:
    """The tensors that feed keys stand for, and per key how to split a value, if any is split.

    A tensor that several keys stand for takes the value of the last one.
    """
    expanded = [expand_key(graph, key) for key in keys]
    tensors = [tensor for parts, _ in expanded for tensor in parts]
    if len(set(tensors)) == len(tensors):
        splits = [split for _, split in expanded]
        return tensors, splits if any(split is not None for split in splits) else None
    last = {tensor: position for position, tensor in enumerate(tensors)}
    kept: list[Tensor] = []
    splits, position = [], 0
    for parts, split in expanded:
        chosen = [i for i, tensor in enumerate(parts) if last[tensor] == position + i]
        kept += [parts[i] for i in chosen]
        splits.append(_some_of(split, chosen))
        position += len(parts)
    return kept, splits


def _some_of(
    split: Callable[[Any], list[Any]] | None, chosen: Sequence[int]
) -> Callable[[Any], list[Any]]:
    """A split of a value into chosen parts alone."""

    def parts_of(value: Any) -> list[Any]:
        parts = [value] if split is None else split(value)
        return [parts[i] for i in chosen]

    return parts_of


class _OfAnyShape(np.ndarray):
    """An array that is fed whatever static shape its tensor has."""


def unchecked(tensor: Tensor, given: Any) -> Any:
    """The array such that it may be fed even if its shape contradicts the tensor's."""
    if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return given
    value = np.asarray(given)
    if shapes.compatible(tensor._shape, value.shape) or value.dtype.kind in "OSU":
        return value
    return value.view(_OfAnyShape)


def converter_of_all(tensors: Sequence[Tensor]) -> Callable[[Iterable[Any]], Sequence[Any]]:
    """The function that turns what a user feeds for `tensors` into runtime values."""
    converters = [converter(tensor) for tensor in tensors]
    if len(converters) == 1:  # spares the smallest steps a third of a microsecond
        (convert_only,) = converters
        return lambda values: (convert_only(*values),)
    return lambda values: [
        convert(value) for convert, value in zip(converters, values, strict=True)
    ]


def converter(tensor: Tensor) -> Callable[[Any], Any]:
    """The function that turns what a user feeds for `tensor` into a runtime value."""
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return lambda value: value
    if dtype is dtypes.string:
        return lambda value: _checked_shape(tensor, _string_array(tensor, value))
    wanted = np.dtype(dtype.as_numpy_dtype)
    ndarray = np.ndarray
    share = sharing(dtype)

    def convert(value: Any) -> Any:
        shape = tensor._shape
        if type(value) is not ndarray or value.dtype != wanted:
            if type(value) is _OfAnyShape:
                shape = None
            value = _numeric_array(tensor, value, wanted)
        if shape is not None and value.shape != shape:
            _checked_shape(tensor, value)
        if value.flags.writeable:
            try:
                return share(value)
            except ValueError:  # negative strides
                pass
        return from_array(value)

    return convert


def fed_array(tensor: Tensor, value: Any) -> Any:
    """What a fetch of a fed tensor gives: the value as it was fed, its text not made bytes."""
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return value
    if isinstance(value, TensorHandle):
        value = value.handle if _takes_handle(tensor) else value.eval()
    return np.asarray(value, dtype=dtype.as_numpy_dtype)


def _checked_shape(tensor: Tensor, array: np.ndarray) -> np.ndarray:
    if not shapes.compatible(tensor._shape, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name!r}, "
            f"which has shape {str(tensor.shape)!r}"
        )
    return array


def _takes_handle(tensor: Tensor) -> bool:
    """Whether a fed handle is meant as such, not as the tensor that it stands for."""
    return any(op.type in ("GetSessionTensor", "DeleteSessionTensor") for op in tensor.consumers())


def _stored_value(tensor: Tensor, handle: TensorHandle) -> Any:
    """The tensor that a fed handle stands for."""
    if handle._dtype is not tensor.dtype.base_dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The handle fed for {tensor.name!r} expects to be of {tensor.dtype.base_dtype.name} "
            f"but {handle._dtype.name} is provided",
        )
    return handle.eval()


def _numeric_array(tensor: Tensor, value: Any, wanted: np.dtype) -> np.ndarray:
    if isinstance(value, TensorHandle):
        value = _stored_value(tensor, value)
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
            f"For reference, the tensor object was {value} which was passed to the feed with key "
            f"{tensor}."
        )
    if isinstance(value, int) and not _holds(wanted, value):
        raise _incompatible(tensor, value)
    try:
        return np.asarray(value, dtype=wanted)
    except (ValueError, TypeError) as error:
        raise type(error)(f"feed for {tensor.name!r} of type {wanted.name}: {error}") from None


def _holds(wanted: np.dtype, number: int) -> bool:
    """Whether a number is still the same as an element of that type."""
    try:
        return bool(wanted.type(number).item() == number)
    except OverflowError:
        return False
    except TypeError:  # a type of several parts: its own conversion will tell
        return True


def _incompatible(tensor: Tensor, value: Any) -> TypeError:
    return TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
        f"{tensor.dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a "
        "larger type (e.g. int64)."
    )


def _string_array(tensor: Tensor, value: Any) -> np.ndarray:
    if isinstance(value, TensorHandle):
        value = value.handle if _takes_handle(tensor) else value.eval()
    if isinstance(value, Tensor):
        raise TypeError("The value of a feed cannot be a tf.Tensor object.")
    if isinstance(value, int):
        raise _incompatible(tensor, value)
    return to_array(value, dtypes.string)[0]
