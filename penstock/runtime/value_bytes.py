"""Runtime values as bytes, for the way to another process."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock import errors

_TYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}


def encoded(value: Any) -> tuple[list[Any], list[memoryview]]:
    """A value as what it is, `[kind, shape]`, and its bytes; a tensor of the host is not copied."""
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


def new_buffer(size: int) -> torch.Tensor:
    """Memory for received bytes."""
    return torch.empty(size, dtype=torch.uint8)


def decoded(kind: str, shape: list[int], part: torch.Tensor) -> Any:
    """The value in a part of a buffer, which a tensor shares."""
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
