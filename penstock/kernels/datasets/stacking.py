"""Putting elements together to a batch, and taking a batch apart."""

from __future__ import annotations

import numpy as np
import torch

from penstock.kernels.sparse_rows import brackets, invalid
from penstock.state.datasets import Dataset


def batch_of(elements):
    """Elements of equal shapes as one, with a new first dimension."""
    columns = zip(*elements, strict=True)
    return tuple([stacked(number, parts) for number, parts in enumerate(columns)])


def stacked(number, parts):
    """The parts of one component of elements as one; `number` is told if they don't fit."""
    first = parts[0]
    try:
        if not isinstance(first, torch.Tensor):
            return stack_host(parts)
        if first.numel() >= _LARGE and first.device.type == "cpu":
            return _stacked_alone(parts)
        return torch.stack(parts)
    except (RuntimeError, ValueError):
        for place, part in enumerate(parts):
            if tuple(part.shape) != tuple(first.shape):
                raise invalid(
                    f"Cannot batch tensors with different shapes in component {number}. First "
                    f"element had shape {brackets(first.shape)} and element {place} had shape "
                    f"{brackets(part.shape)}."
                ) from None
        raise


# For more numbers than these torch takes several threads, and lets them wait for more in a busy
# loop: that takes processors from the threads which compute the next elements.
_LARGE = 1 << 15


def _stacked_alone(parts):
    """Tensors as one, copied by this thread alone."""
    first = parts[0]
    result = torch.empty((len(parts), *first.shape), dtype=first.dtype)
    carried = result.view(torch.uint8) if first.element_size() == 1 else result
    if carried.dtype in (torch.bfloat16, torch.complex32):
        return torch.stack(parts)
    rows = carried.numpy()
    for place, part in enumerate(parts):
        if part.shape != first.shape:
            raise ValueError("shapes differ")
        rows[place] = (part.view(torch.uint8) if first.element_size() == 1 else part).numpy()
    return result


def stack_host(parts):
    """Strings, variants or datasets as one object array."""
    if isinstance(parts[0], np.ndarray) and parts[0].ndim:
        return np.stack(parts)
    result = np.empty(len(parts), dtype=object)
    for place, part in enumerate(parts):
        if isinstance(part, np.ndarray):
            if part.ndim:
                raise ValueError("shapes differ")
            part = part.item()
        result[place] = part
    return result


def row(part, position):
    """One entry of a batched value."""
    if isinstance(part, torch.Tensor):
        return part[position]
    entry = part[position, ...]
    if not entry.ndim and isinstance(entry.item(), Dataset):
        return entry.item()
    return entry
