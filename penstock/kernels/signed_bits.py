"""Unsigned types of 16 to 64 bits, which ATen can store but hardly compute with.

Where elements are only moved, or added and subtracted modulo the size of the type, the bits are
those of the signed type of the same width.
"""

import torch

_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def as_signed(x):
    """`x`, or its bits as signed numbers where it is of such a type."""
    signed = _SIGNED.get(x.dtype)
    return x if signed is None else x.view(signed)


def moving(node, run):
    """The function for a node that moves elements of its first input: of any type."""
    if node.dtypes[0].name not in ("uint16", "uint32", "uint64"):
        return run
    return lambda x, *inputs: run(as_signed(x), *inputs).view(x.dtype)
