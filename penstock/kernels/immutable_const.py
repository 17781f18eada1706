"""The kernel of constants in files."""

import math
import os

import numpy as np

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, is_host_type
from penstock.shapes import raw


@kernel("ImmutableConst", devices=HOST)
def _(node):
    dtype, shape = node.attrs["dtype"], raw(node.attrs["shape"])
    path = node.attrs["memory_region_name"]
    if is_host_type(dtype):
        raise errors.UnimplementedError(
            None, None, f"Sorry, ImmutableConst tensors can't be of type {dtype.name}"
        )
    kind = np.dtype(dtype.as_numpy_dtype)
    count = math.prod(shape)

    def run():
        if not os.path.exists(path):
            raise errors.NotFoundError(
                None, None, f"{os.fsdecode(path)}; No such file or directory"
            )
        if os.path.getsize(path) < count * kind.itemsize:
            raise errors.InternalError(
                None, None, f"{os.fsdecode(path)} is smaller than a tensor of shape {list(shape)}"
            )
        # Pages that nobody writes to stay those of the file.
        return from_array(np.memmap(path, kind, "c", shape=shape if shape else (1,)).reshape(shape))

    return run
