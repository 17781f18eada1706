"""Messages between tasks: a few fields, and the memory of tensors behind them.

A frame is a fixed head (magic, length of the fields, length of the tensors), the fields as JSON,
and the tensors, each at a multiple of 64 bytes, so that a received frame's tensors are views of one
buffer. Nothing in a frame is executed; sizes are checked before memory is taken.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock import errors

_HEAD = struct.Struct("<4sIQ")
_MAGIC = b"PSTK"
_ALIGNMENT = 64
_MOST_FIELDS = 1 << 26
_MOST_BUFFERS = 1000  # of one sendmsg; the system's limit is 1024
MOST_BYTES = 1 << 36

Fields = dict[str, Any]
Value = Any  # a tensor, a NumPy array of bytes, or bytes


class Disconnected(Exception):
    """The other side has gone, or speaks something else."""


def send(sock: socket.socket, fields: Fields, values: Sequence[Value] = ()) -> None:
    """Writes one frame; large tensors are not copied on the way."""
    heads, buffers, size = [], [], 0
    for value in values:
        head, parts = _encoded(value)
        length = sum(len(part) for part in parts)
        padding = -length % _ALIGNMENT
        heads.append([*head, length])
        buffers += parts
        if padding:
            buffers.append(memoryview(bytes(padding)))
        size += length + padding
    text = json.dumps({**fields, "values": heads} if heads else fields).encode()
    _write(sock, [_HEAD.pack(_MAGIC, len(text), size), text, *buffers])


def _write(sock: socket.socket, buffers: list[Any]) -> None:
    pending = [memoryview(buffer).cast("B") for buffer in buffers if len(buffer)]
    try:
        while pending:
            sent = sock.sendmsg(pending[:_MOST_BUFFERS])
            while pending and sent >= len(pending[0]):
                sent -= len(pending.pop(0))
            if sent:
                pending[0] = pending[0][sent:]
    except OSError as error:
        raise Disconnected(str(error)) from error


def receive(sock: socket.socket, most_bytes: int = MOST_BYTES) -> tuple[Fields, list[Value]]:
    """Reads one frame."""
    magic, fields_size, size = _HEAD.unpack(_read(sock, _HEAD.size))
    if magic != _MAGIC:
        raise Disconnected("the other side does not speak the protocol between tasks")
    if fields_size > _MOST_FIELDS or size > most_bytes:
        raise Disconnected(f"a message of {fields_size} and {size} bytes is too large")
    try:
        fields = json.loads(_read(sock, fields_size))
        heads = fields.pop("values", [])
        buffer = torch.empty(size, dtype=torch.uint8)
        _read_into(sock, memoryview(buffer.numpy()))
        return fields, _decoded(heads, buffer)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Disconnected(f"a message can't be read: {error}") from error


def _read(sock: socket.socket, size: int) -> bytes:
    buffer = bytearray(size)
    _read_into(sock, memoryview(buffer))
    return bytes(buffer)


def _read_into(sock: socket.socket, view: memoryview) -> None:
    while len(view):
        try:
            count = sock.recv_into(view)
        except OSError as error:
            raise Disconnected(str(error)) from error
        if count == 0:
            raise Disconnected("the connection was closed")
        view = view[count:]


# Values ---------------------------------------------------------------------------------------

_TYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}


def _encoded(value: Value) -> tuple[list[Any], list[memoryview]]:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ["bytes", None], [memoryview(value)]
    if isinstance(value, bool):
        value = torch.tensor(value)
    if isinstance(value, torch.Tensor):
        shape = list(value.shape)
        flat = value.detach().cpu().contiguous().reshape(-1)
        data = flat.view(torch.uint8) if flat.numel() else torch.empty(0, dtype=torch.uint8)
        return [str(value.dtype).removeprefix("torch."), shape], [memoryview(data.numpy())]
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = [bytes(item) for item in value.reshape(-1)]
        lengths = np.array([len(item) for item in items], np.int64)
        parts = [memoryview(lengths.tobytes()), memoryview(b"".join(items))]
        return ["string", list(value.shape)], parts
    raise errors.UnimplementedError(
        None, None, f"a value of the kind {type(value).__name__} can't be sent to another task"
    )


def _decoded(heads: list[Any], buffer: torch.Tensor) -> list[Value]:
    values, start = [], 0
    for kind, shape, length in heads:
        if not 0 <= length <= buffer.numel() - start:
            raise ValueError("a tensor is longer than its message")
        part = buffer[start : start + length]
        start += length + -length % _ALIGNMENT
        values.append(_value(kind, shape, part))
    return values


def _value(kind: str, shape: list[int], part: torch.Tensor) -> Value:
    if kind == "bytes":
        return part.numpy().tobytes()
    if kind == "string":
        return _strings(shape, part.numpy())
    dtype = _TYPES[kind]
    flat = part.view(dtype) if part.numel() else torch.empty(0, dtype=dtype)
    return flat.reshape(shape)


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
