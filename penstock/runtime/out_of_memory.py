"""What is told of a failed allocation: which tensor it was for, and who holds the memory."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import torch

from penstock.ir.step_graph import Node
from penstock.shapes import text
from penstock.state.variable import VariableState

_SHOWN = 5  # of the largest holders
_SMALL = 64  # elements up to which an input can be a shape or an axis
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")

Held = Callable[[], Mapping[str, Any]]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory of the host or of a device could not be had."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return "not enough memory" in str(error) or "can't allocate memory" in str(error)


def describe_shortage(
    node: Node, shapes: list[Any] | None, held: Mapping[str, Any], error: BaseException
) -> str:
    """The message of the error: `shapes` are those of the node's outputs, where they are known."""
    wanted = ""
    if shapes:
        described = [
            f"shape{text(shape)} and type {dtype.base_dtype.name}"
            for shape, dtype in zip(shapes, node.dtypes, strict=False)
        ]
        wanted = f" with {', '.join(described)}"
    where = f" on {node.device}" if node.device else ""
    lines = [f"OOM when allocating tensor{wanted}{where}: {error}", *_largest(held)]
    return "\n".join(lines)


def _largest(held: Mapping[str, Any]) -> list[str]:
    """Lines about the tensors that hold most memory, each piece of memory told once."""
    sizes: dict[tuple[str, int], tuple[int, str]] = {}
    for name, value in held.items():
        tensor = value.value if isinstance(value, VariableState) else value
        if not isinstance(tensor, torch.Tensor):
            continue
        kind = "variable" if isinstance(value, VariableState) else "value"
        storage = tensor.untyped_storage()
        dtype = str(tensor.dtype).removeprefix("torch.")
        told = f"{kind} {name}: {dtype}{list(tensor.shape)} in {tensor.device}"
        sizes.setdefault((str(tensor.device), storage.data_ptr()), (storage.nbytes(), told))
    largest = sorted(sizes.values(), reverse=True)[:_SHOWN]
    if not largest:
        return []
    return ["The largest holders of memory:", *(f"  {_amount(n)} {told}" for n, told in largest)]


def _amount(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} {_UNITS[-1]}"


def drop_values(trace: TracebackType | None) -> None:
    """Frees what the finished functions of a traceback hold, which its error would keep."""
    traceback.clear_frames(trace)
    while trace is not None:
        # Before Python 3.13 a copy of the variables, which is brought up to date by this.
        _ = trace.tb_frame.f_locals
        trace = trace.tb_next


def may_be_size(value: Any) -> bool:
    """Whether a value is small enough to be looked at for the shape of a result."""
    return not isinstance(value, torch.Tensor) or value.numel() <= _SMALL
