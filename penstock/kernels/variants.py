"""Values of type variant among others: zeros and sums of what a list or an optional holds."""

import numpy as np
import torch


def zeros_like(value):
    """Zeros in the form of a tensor, an array of strings, or what a variant holds."""
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    if isinstance(value, np.ndarray):
        return np.full(value.shape, b"", dtype=object)
    return value.zeros_like()


def single(value):
    """A variant itself in place of an array without axes that holds it."""
    return value.item() if isinstance(value, np.ndarray) and not value.ndim else value


def added(a, b):
    """The sum of two values of one form."""
    return a.added(b) if hasattr(a, "added") else a + b
