"""Products of matrices on CPUs, by the library that multiplies those of their size the fastest.

MKL keeps its best kernels for Intel's processors. On others with AVX-512, oneDNN takes 0.75 to
0.9 of its time for large float32 matrices (benchmarks/README.md), but more for small ones. For a
matrix of few rows and another one that stays in a cache there is a kernel of our own.
"""

import functools
from pathlib import Path
from typing import Any

import torch

from penstock import dtypes
from penstock.kernels.thin_products import is_thin, thin_product

_LEAST_WORK = 1 << 25  # multiplications, from which oneDNN's longer way in is always worth it
_LEAST_ROWS = 8
_LEAST_FACTOR = 1 << 18  # elements of a second factor that is not transposed, for which it is, too


def product_of(dtype: Any, device: Any) -> Any:
    """The product of two matrices of a type: `torch.mm`, or a choice between it and others."""
    if dtype is dtypes.float32 and device.type == "cpu":
        return _product if _onednn_is_faster() else _thin_or_small_product
    return torch.mm


@functools.cache
def _onednn_is_faster():
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "GenuineIntel" not in facts and "avx512f" in facts


def biased_product_of(dtype: Any, device: Any, rectified: bool) -> Any:
    """The product of two matrices plus a vector, rectified or not, in the way of `product_of`."""
    if device.type != "cpu":
        return _biased_on_device if rectified else torch.addmm
    if dtype is dtypes.float32 and _onednn_is_faster():
        return functools.partial(_biased_product, "relu" if rectified else "none")
    return functools.partial(_small_biased_product, "relu") if rectified else torch.addmm


def _biased_on_device(bias, a, b):
    return torch._addmm_activation(bias, a, b, use_gelu=False)


def _small_biased_product(activation, bias, a, b):
    product = torch.addmm(bias, a, b)
    return product.relu_() if activation == "relu" else product


def _is_large(a, b):
    rows, size = a.shape[0], b.numel()
    if rows < _LEAST_ROWS or size < _LEAST_FACTOR or a.shape[1] != b.shape[0]:
        return False
    return rows * size >= _LEAST_WORK or (a.is_contiguous() and b.is_contiguous())


def _biased_product(activation, bias, a, b):
    if not _is_large(a, b):
        return _small_biased_product(activation, bias, a, b)
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), bias, activation, [], "")


def _thin_or_small_product(a, b):
    return thin_product(a, b) if is_thin(a, b) else torch.mm(a, b)


def _product(a, b):
    if is_thin(a, b):
        return thin_product(a, b)
    if not _is_large(a, b):
        return torch.mm(a, b)
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), None, "none", [], "")
