"""Runtime values as bytes, for the way to another process."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from penstock import dtypes, errors, proto
from penstock.kernels.optionals import OptionalValue
from penstock.kernels.tensor_lists import TensorList
from penstock.state.resource_handles import ResourceHandle, at_home, handle_of

_TYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
# The types that NumPy has, too: values of them take a shorter way.
_ARRAY_TYPES = {
    name: np.dtype(name)
    for name in _TYPES
    if name in np.sctypeDict and np.dtype(name).isbuiltin == 1
}
_ARRAY_NAMES = {dtype: name for name, dtype in _ARRAY_TYPES.items()}
# Those of them that are never conjugated or negated later.
_PLAIN = {_TYPES[name] for name, dtype in _ARRAY_TYPES.items() if dtype.kind != "c"}


# How single numbers become bytes: without arrays, whose code is seldom in a processor's cache.
_NUMBERS = {
    torch.float32: struct.Struct("<f").pack,
    torch.float64: struct.Struct("<d").pack,
    torch.int32: struct.Struct("<i").pack,
    torch.int64: struct.Struct("<q").pack,
}
# The same of NumPy's numbers, with the names of their types; and the way back.
_ARRAY_NUMBERS = {_ARRAY_TYPES[_NAMES[t]].type: (_NAMES[t], pack) for t, pack in _NUMBERS.items()}
_NUMBERS_FROM_BYTES = {
    name: (struct.Struct("<" + _ARRAY_TYPES[name].char), number)
    for number, (name, _) in _ARRAY_NUMBERS.items()
}

Buffer = bytes | memoryview
_LITTLE = 1 << 15  # bytes
_LENGTH = 8  # bytes of the length of what is known of a list


class Copied(NamedTuple):
    """A value as it was, encoded."""

    head: list[Any]
    content: bytes


def is_plain(value: Any) -> bool:
    """Whether a value is a tensor that surely can be encoded."""
    return isinstance(value, torch.Tensor) and value.dtype in _PLAIN


def is_plain_array(value: Any) -> bool:
    """Whether a value is an array of NumPy's own numbers."""
    return isinstance(value, np.ndarray) and value.dtype in _ARRAY_NAMES


def is_number(value: Any) -> bool:
    """Whether a value is one of NumPy's numbers that can be encoded as they are."""
    return type(value) in _ARRAY_NUMBERS


def copied(value: Any, most: int) -> Copied | None:
    """A value of at most so many bytes, which may change afterwards."""
    head, parts = encoded(value)
    content = b"".join(parts) if sum(map(len, parts)) <= most else None
    return None if content is None else Copied(head, content)


def encoded(value: Any) -> tuple[list[Any], list[Buffer]]:
    """A value as what it is, `[kind, shape]`, and its bytes; a tensor of the host is not copied."""
    if type(value) is Copied:
        return [*value.head], [value.content]
    if isinstance(value, torch.Tensor):
        dtype = value.dtype
        if not value.dim() and dtype in _NUMBERS and value.is_cpu:
            return [_NAMES[dtype], []], [_NUMBERS[dtype](value.item())]
        return [_NAMES[dtype], [*value.shape]], [_bytes_of(value)]
    if type(value) in _ARRAY_NUMBERS:
        name, pack = _ARRAY_NUMBERS[type(value)]
        return [name, []], [pack(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ["bytes", None], [memoryview(value)]
    if isinstance(value, bool):
        return encoded(torch.tensor(value))
    if is_plain_array(value):
        bytes_of = np.ascontiguousarray(value).data.cast("B") if value.size else b""
        return [_ARRAY_NAMES[value.dtype], [*value.shape]], [bytes_of]
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = [bytes(item) for item in value.reshape(-1)]
        lengths = np.array([len(item) for item in items], np.int64)
        return ["string", list(value.shape)], [lengths.tobytes(), b"".join(items)]
    if isinstance(value, TensorList):
        return ["list", []], _list_parts(value)
    if isinstance(value, OptionalValue):
        return ["optional", []], _several({"empty": value.element is None}, value.element or ())
    handle = handle_of(value)
    if handle is not None:
        return ["handle", []], [handle.message().SerializeToString()]
    raise errors.UnimplementedError(
        None, None, f"a value of the kind {type(value).__name__} can't be sent to another task"
    )


def _list_parts(value: TensorList) -> list[Buffer]:
    known = {
        "dtype": value.dtype.name,
        "element_shape": value.element_shape,
        "most": value.most,
    }
    return _several(known, value.elements)


def _several(known: dict[str, Any], elements: Sequence[Any]) -> list[Buffer]:
    """What is known of a list and of its elements, and the bytes of these one behind another."""
    parts = [None if element is None else encoded(element) for element in elements]
    content = [b"" if each is None else b"".join(each[1]) for each in parts]
    known = {
        **known,
        "heads": [None if each is None else each[0] for each in parts],
        "sizes": [len(each) for each in content],
    }
    described = json.dumps(known).encode()
    length = len(described).to_bytes(_LENGTH, "little")
    return [length + described, b"".join(content)]


def _bytes_of(value: torch.Tensor) -> Buffer:
    if not value.numel():
        return b""
    if value.is_cpu and value.is_contiguous() and value.dtype in _PLAIN:
        array = value.numpy()  # no value of a step knows gradients
        # A view is dear where its code is seldom in the cache, dearer than to copy a little.
        return array.tobytes() if array.nbytes <= _LITTLE else memoryview(array).cast("B")
    value = value.cpu().resolve_conj().resolve_neg().contiguous()
    if _NAMES[value.dtype] in _ARRAY_TYPES:
        return value.detach().numpy().reshape(-1).view(np.uint8).data
    return value.detach().reshape(-1).view(torch.uint8).numpy().data


def decoded(kind: str, shape: list[int], memory: Any, start: int, length: int) -> Any:
    """The value in a part of some memory, which a tensor shares."""
    if kind in _ARRAY_TYPES and length:
        return torch.from_numpy(_array(kind, shape, memory, start, length))
    return _rarely_decoded(kind, shape, np.frombuffer(memory, np.uint8, length, start))


def decoded_array(kind: str, shape: list[int], memory: Any, start: int, length: int) -> Any:
    """The same, as an array or a number of NumPy where NumPy has its type."""
    if not shape and kind in _NUMBERS_FROM_BYTES:
        form, number = _NUMBERS_FROM_BYTES[kind]
        if form.size == length:
            return number(form.unpack_from(memory, start)[0])
    if kind in _ARRAY_TYPES and length:
        return _array(kind, shape, memory, start, length)
    return _rarely_decoded(kind, shape, np.frombuffer(memory, np.uint8, length, start))


def _array(kind: str, shape: list[int], memory: Any, start: int, length: int) -> np.ndarray:
    array: np.ndarray = np.ndarray(shape, _ARRAY_TYPES[kind], memory, start)
    if array.nbytes != length:
        raise ValueError(f"a tensor of {shape} has {length} bytes")
    return array


def _rarely_decoded(kind: str, shape: list[int], part: np.ndarray) -> Any:
    if kind == "bytes":
        return part.tobytes()
    if kind == "string":
        return _strings(shape, part)
    if kind == "list":
        return _list(part)
    if kind == "optional":
        return _optional(part)
    if kind == "handle":
        message = proto.ResourceHandleProto.FromString(part.tobytes())
        return at_home(ResourceHandle.of_message(message))
    if not len(part):
        return torch.empty(shape, dtype=_TYPES[kind])
    return torch.from_numpy(part).view(_TYPES[kind]).reshape(shape)


def _strings(shape: list[int], data: np.ndarray) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    if count < 0 or 8 * count > len(data):
        raise ValueError("strings are longer than their message")
    ends = np.cumsum(data[: 8 * count].view(np.int64)) + 8 * count
    content = data.tobytes()
    found = np.empty(count, object)
    start = 8 * count
    for i, end in enumerate(ends.tolist()):
        if not start <= end <= len(content):
            raise ValueError("a string is longer than its message")
        found[i] = content[start:end]
        start = end
    return found.reshape(shape)


def _list(data: np.ndarray) -> TensorList:
    known, elements = _parts_of(data)
    shape = known["element_shape"]
    made: Any = TensorList
    return made(
        elements,
        dtypes.as_dtype(known["dtype"]),
        None if shape is None else tuple(shape),
        known["most"],
    )


def _optional(data: np.ndarray) -> OptionalValue:
    known, elements = _parts_of(data)
    made: Any = OptionalValue
    found: OptionalValue = made(None if known["empty"] else tuple(elements))
    return found


def _parts_of(data: np.ndarray) -> tuple[dict[str, Any], list[Any]]:
    """What `_several` has made bytes of."""
    start = _LENGTH + int.from_bytes(data[:_LENGTH].tobytes(), "little")
    known: dict[str, Any] = json.loads(data[_LENGTH:start].tobytes())
    elements = []
    for head, size in zip(known["heads"], known["sizes"], strict=True):
        part = data[start : start + size].copy()  # at an address that any type may have
        elements.append(None if head is None else decoded(head[0], head[1], part, 0, size))
        start += size
    return known, elements
