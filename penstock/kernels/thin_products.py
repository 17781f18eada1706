"""Products of a matrix of few rows and one that stays in a cache: steps of recurrent networks.

Both MKL and oneDNN bring the second matrix into an order of their own first, which is not worth it
for few rows. The kernel of native_code/thin_products.cpp takes 0.4 to 0.9 of their time, for sizes
within the limits below; beyond them it reads a matrix from memory too often.
"""

import ctypes
import time

import torch

from penstock.kernels.kernel_threads import kernel_threads
from penstock.kernels.with_compiler import NativeCode

_ROWS = range(2, 49)
_LEAST_SIZE = 1 << 15  # elements of the second matrix
_MOST_PER_THREAD = 1 << 19
_STRIP = 32  # columns that one thread computes at a time
_MANY_PRODUCTS = 1000


class _Product(ctypes.Structure):
    _fields_ = [
        ("few", ctypes.c_void_p),
        ("few_stride", ctypes.c_int64),
        ("large", ctypes.c_void_p),
        ("large_stride", ctypes.c_int64),
        ("result", ctypes.c_void_p),
        ("result_stride", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("depth", ctypes.c_int64),
        ("columns", ctypes.c_int64),
    ]


def is_thin(a, b):
    """Whether two matrices are those of a thin product, and there is the kernel for it."""
    size = b.numel()
    if size < _LEAST_SIZE or a.shape[0] not in _ROWS:
        return False
    threads = torch.get_num_threads()
    if size > _MOST_PER_THREAD * min(threads, 2) or b.shape[1] < 2 * _STRIP * threads:
        return False
    if a.shape[1] != b.shape[0] or a.stride(1) != 1 or b.stride(1) != 1:
        return False
    if _native.library is None:
        _native.count_use()
        return False
    return type(a) is torch.Tensor and type(b) is torch.Tensor  # there are numbers


def thin_product(a, b):
    return _multiplied(_native.library, a, b)


def _multiplied(library, a, b):
    rows, depth = a.shape
    columns = b.shape[1]
    result = torch.empty((rows, columns))
    product = _Product(
        a.data_ptr(),
        a.stride(0),
        b.data_ptr(),
        b.stride(0),
        result.data_ptr(),
        columns,
        rows,
        depth,
        columns,
    )
    library.multiply_thin(ctypes.byref(product), torch.get_num_threads())
    return result


def _is_good(library):
    """Whether the kernel is right, for tiles of all heights, and faster than ATen's on a thread."""
    library.multiply_thin.restype = None
    with kernel_threads(1):  # another one may be at work for a step
        return all(_is_right(library, rows) for rows in range(1, 14)) and _is_faster(library)


def _is_right(library, rows):
    a, b = torch.rand(rows, 100), torch.rand(100, 330)
    return torch.allclose(_multiplied(library, a, b), torch.mm(a, b))


def _is_faster(library):
    a, b = torch.rand(20, 400), torch.rand(400, 800)
    ours, atens = [], []
    for _ in range(50):
        start = time.perf_counter()
        _multiplied(library, a, b)
        middle = time.perf_counter()
        torch.mm(a, b)
        ours.append(middle - start)
        atens.append(time.perf_counter() - middle)
    return min(ours) < min(atens)


_native = NativeCode(
    "thin_products.cpp", _MANY_PRODUCTS, _is_good, ("-ffp-contract=fast", "-fopenmp")
)
