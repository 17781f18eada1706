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


def added(a, b):
    """The sum of two values of one form."""
    return a.added(b) if hasattr(a, "added") else a + b
