"""NumPy's loops on the host, where ATen's are not vectorised: comparisons and tests of numbers.

Results are the same to the bit. NumPy shares the memory of tensors.
"""

import torch

LARGE = 1 << 14  # elements from which the faster loop outweighs the way to NumPy and back

_SHARED = frozenset(
    {torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8}
)


def shares_memory(tensor):
    """Whether NumPy can work on a tensor, and it is worth it."""
    return tensor.numel() >= LARGE and tensor.is_cpu and tensor.dtype in _SHARED


def vectorised(function, numpy_function):
    """An ATen function; for large arrays of the host NumPy's equivalent of it."""

    def run(first, *others):
        if not shares_memory(first):
            return function(first, *others)
        arrays = [tensor.numpy(force=True) for tensor in (first, *others)]
        return torch.from_numpy(numpy_function(*arrays))

    return run


def fill_at_zeros(result, tested, value):
    """Overwrites a result where `tested`, which broadcasts to it, is zero.

    Few inputs have zeros, and to look for them is cheaper than to fill none.
    """
    if shares_memory(tested) and not (tested.numpy(force=True) == 0).any():
        return result
    return result.masked_fill_(tested == 0, value)
